from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brasstag.documents.search.queries import parse
from brasstag.documents.search.search import FullText, Query, SearchResult, Spot, fuse, search
from brasstag.documents.search.snippets import Finder, Snippet
from brasstag.store.database.base import Database, View
from brasstag.store.documents.find import Ranked
from brasstag.store.documents.rows import DocumentRow, insert_rows
from brasstag.store.documents.select import Selection
from brasstag.store.fulltext.index import Indexed, put_texts
from brasstag.store.fulltext.query import Alternative, Phrase, wanted_phrases
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT, file_state
from tests.store.conftest import database, kind, open_bare, open_database
from tests.store.plain_reading import naively_holds

__all__ = ["database", "kind", "open_bare", "open_database"]

NOW = "2026-03-01T09:30:00.000000Z"


def row(number: int, path: str, **told: object) -> DocumentRow:
    values: dict[str, object] = {
        "version": 1,
        "state": file_state(f"{number:064x}"),
        "size": 3,
        "mode": 0o644,
        "media_type": "text/plain",
        "fingerprint": "",
        "created_by": "ada",
        "created_task": "task_a",
        "created_at": NOW,
        "updated_by": "ada",
        "updated_task": "task_a",
        "updated_at": NOW,
    }
    return DocumentRow(number, path, **values | told)  # type: ignore[arg-type]


def add_documents(database: Database, rows: Sequence[DocumentRow], body: str = "the white whale") -> None:
    with database.write() as transaction:
        insert_rows(transaction, rows)
        put_texts(transaction, [Indexed(one.id, one.path, one.words, body) for one in rows], are_new=True)


def ask(database: Database, query: Query | str, **options: object) -> SearchResult:
    with database.read() as view:
        asked = Query(query) if isinstance(query, str) else query
        return search(view, asked, **options)  # type: ignore[arg-type]


def paths(answer: SearchResult) -> list[str]:
    return sorted(hit.document.path for hit in answer.hits)


def phrase(*lexemes: str, is_prefix: bool = False) -> Phrase:
    return Phrase(lexemes, is_prefix)


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ("White whale", [Alternative((phrase("white"), phrase("whale")))]),
        ('"White Whale"', [Alternative((phrase("white", "whale"),))]),
        ("wha* -shark", [Alternative((phrase("wha", is_prefix=True),), (phrase("shark"),))]),
        ('sea -"white whale"', [Alternative((phrase("sea"),), (phrase("white", "whale"),))]),
        ("a b OR c", [Alternative((phrase("a"), phrase("b"))), Alternative((phrase("c"),))]),
        ("a or b", [Alternative((phrase("a"), phrase("or"), phrase("b")))]),
        ("OR a OR OR b OR", [Alternative((phrase("a"),)), Alternative((phrase("b"),))]),
        ("foo_bar.py", [Alternative((phrase("foo", "bar", "py"),))]),
        ("東京", [Alternative((phrase("東", "京"),))]),
        ('"not closed', [Alternative((phrase("not", "closed"),))]),
        ("a a", [Alternative((phrase("a"),))]),
        ("body:x NEAR(a b)", None),
    ],
)
def test_a_query_is_read_as_it_is_meant(text: str, sought: list[Alternative] | None) -> None:
    read = parse(text).sought
    if sought is None:
        assert wanted_phrases(read) == [phrase("body", "x"), phrase("near", "a"), phrase("b")]
    else:
        assert read == tuple(sought)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no word to search for"),
        ('  - * "" 😀', "no word to search for"),
        ("-whale", "only exclusions"),
        ("sea OR -whale", "only exclusions"),
        ("a" * 2_001, "2,001 characters"),
        ("a " * 65, "65 words and phrases"),
    ],
)
def test_a_query_that_asks_for_nothing_is_refused_with_what_to_do(text: str, said: str) -> None:
    with pytest.raises(ToolError, match=said) as refused:
        parse(text)
    assert refused.value.code is Code.INVALID_ARGUMENTS


def test_what_no_index_knows_is_told_as_ignored(database: Database) -> None:
    add_documents(database, [row(1, "a.md")])
    answer = ask(database, "whale 😀 ++")
    assert answer.ignored == ("😀", "++")
    assert paths(answer) == ["a.md"]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(max_size=30) | st.text(st.sampled_from("ab\"'*-()^:{}+\\;%\0 ORNEAT東&|!<>"), max_size=30),
    filtered=st.text(max_size=8),
)
def test_nothing_that_can_be_typed_is_anything_but_a_query(
    database: Database, text: str, filtered: str
) -> None:
    wanted = Selection(
        media_type=filtered,
        by=filtered,
        task=filtered,
        since=filtered,
        until=filtered,
        prefix=filtered,
        tags=(filtered,),
    )
    for query in (Query(text), Query(f"a {text}"), Query("a", wanted), Query("a", globs=(filtered,))):
        refusals: list[Code] = []
        try:
            ask(database, query)
        except ToolError as error:
            refusals.append(error.code)
        assert set(refusals) <= {Code.INVALID_ARGUMENTS}


def test_only_documents_whose_index_is_up_to_date_are_found_and_the_others_are_counted(
    database: Database,
) -> None:
    add_documents(
        database,
        [
            row(1, "a.md"),
            row(2, "b.md", pending="text"),
            row(3, "c.pdf", pending="convert"),
            row(4, "gone.md", state=ABSENT),
            row(5, "gone.pdf", state=ABSENT, pending="convert"),
        ],
    )
    answer = ask(database, "whale")
    assert paths(answer) == ["a.md"]
    assert answer.pending == 2
    assert ask(database, Query("whale", globs=("*.pdf",))).pending == 1
    assert ask(database, "whale", visible=lambda path: path != "b.md").pending == 1
    assert ask(database, Query("whale", Selection(by="bob"))).pending == 0


def test_filters_narrow_what_is_found(database: Database) -> None:
    later = "2026-04-01T00:00:00.000000Z"
    add_documents(
        database,
        [
            row(1, "reports/a.md", tags=("draft", "q3"), media_type="text/markdown"),
            row(2, "reports/deep/b.csv", tags=("draft",), created_by="bob", media_type="text/csv"),
            row(3, "Reports/c.md", tags=('a","b', ",", "Draft"), updated_task="task_b"),
            row(4, "d.md", tags=("a,", ",b"), updated_at=later),
        ],
    )
    for wanted, numbers in (
        (Selection(tags=("draft",)), [1, 2]),
        (Selection(tags=("draft", "q3")), [1]),
        (Selection(tags=(",",)), [3]),
        (Selection(tags=('a","b',)), [3]),
        (Selection(tags=("b",)), []),
        (Selection(by="bob"), [2]),
        (Selection(task="task_b"), [3]),
        (Selection(media_type="text/csv"), [2]),
        (Selection(media_type="text/*"), [1, 2, 3, 4]),
        (Selection(since=later), [4]),
        (Selection(since=NOW), [1, 2, 3, 4]),
        (Selection(until=NOW), []),
        (Selection(until=later), [1, 2, 3]),
        (Selection(prefix="reports/"), [1, 2]),
    ):
        hits = ask(database, Query("whale", wanted)).hits
        assert sorted(hit.document.id for hit in hits) == numbers, wanted
    for globs, numbers in (
        (("*.md",), [1, 3, 4]),
        (("reports/**",), [1, 2]),
        (("/reports/*.md",), [1]),
        (("reports/**/*.{md,csv}", "!a.md"), [2]),
        (("!*.md",), [2]),
        (("{reports,Reports}/*.md",), [1, 3]),
    ):
        hits = ask(database, Query("whale", globs=globs)).hits
        assert sorted(hit.document.id for hit in hits) == numbers, globs


def test_hidden_paths_are_passed_over_however_many_there_are(database: Database) -> None:
    add_documents(database, [row(number, f"secret/{number}.md") for number in range(1, 300)], "whale whale")
    add_documents(database, [row(number, f"{number}.md") for number in range(300, 303)], "a whale in the sea")

    def visible(path: str) -> bool:
        return not path.startswith("secret/")

    answer = ask(database, Query("whale", limit=2), visible=visible)
    assert paths(answer) == ["300.md", "301.md"]
    assert answer.has_more
    rest = ask(database, Query("whale", limit=2, offset=2), visible=visible)
    assert paths(rest) == ["302.md"]
    assert not rest.has_more
    nothing = ask(database, "whale", visible=lambda _path: False)
    assert (nothing.hits, nothing.has_more, nothing.pending) == ((), False, 0)


def test_pages_follow_one_another_without_a_gap(database: Database) -> None:
    add_documents(database, [row(number, f"{number}.md") for number in range(1, 26)])
    pages = [ask(database, Query("whale", limit=10, offset=offset)) for offset in (0, 10, 20)]
    assert [hit.document.id for page in pages for hit in page.hits] == list(range(1, 26))
    assert [page.has_more for page in pages] == [True, True, False]


@pytest.mark.parametrize("query", [Query("a", limit=0), Query("a", limit=101), Query("a", offset=-1)])
def test_a_limit_out_of_bounds_is_refused(database: Database, query: Query) -> None:
    with pytest.raises(ToolError) as refused:
        ask(database, query)
    assert refused.value.code is Code.INVALID_ARGUMENTS


def test_a_hit_says_where_it_is_and_what_is_missing(database: Database) -> None:
    add_documents(
        database, [row(1, "a.md", note="only its first part is in the index")], "one\ntwo Wále whale\n"
    )
    (hit,) = ask(database, "whale").hits
    assert hit.spot == Spot(line=2, column=10)
    assert hit.document.note == "only its first part is in the index"
    ((start, end),) = hit.snippet.matches
    assert hit.snippet.text[start:end] == "whale"
    (named,) = ask(database, "md").hits
    assert (named.spot, named.snippet.matches) == (None, ())


class ByLetters:
    """A ranker that knows nothing of words: the shorter a path, the better."""

    def rank(self, view: View, query: Query, limit: int) -> Sequence[Ranked]:
        return [Ranked(3, 9.0), Ranked(4, 8.0), Ranked(2, 1.0)][:limit]


def test_another_ranker_stands_beside_the_index(database: Database) -> None:
    add_documents(database, [row(1, "1.md"), row(2, "2.md")])
    add_documents(database, [row(3, "3.md"), row(4, "4.md", pending="text")], "ein weißer Wal")
    answer = ask(database, "whale", rankers=(FullText(), ByLetters()))
    assert [hit.document.id for hit in answer.hits] == [2, 1, 3]
    assert answer.hits[2].snippet == Snippet("ein weißer Wal")
    only = ask(database, Query("whale", Selection(prefix="1")), rankers=(FullText(), ByLetters()))
    assert [hit.document.id for hit in only.hits] == [1]


def test_orders_are_joined_by_reciprocal_rank() -> None:
    one, two = [Ranked(1, 5.0), Ranked(2, 4.0)], [Ranked(2, 0.1), Ranked(3, 0.1)]
    assert [ranked.id for ranked in fuse([one, two])] == [2, 1, 3]
    assert fuse([one]) == one


def shown(body: str, query: str) -> tuple[Snippet, list[str]]:
    snippet = Finder(wanted_phrases(parse(query).sought)).snippet(body)
    return snippet, [snippet.text[start:end] for start, end in snippet.matches]


@pytest.mark.parametrize(
    ("body", "query", "matches"),
    [
        ("Crème BRÛLÉE, creme", "creme brulee", ["Crème", "BRÛLÉE", "creme"]),
        ("cafe\u0301s and cafe\u0301 here", "café", ["cafe\u0301"]),
        ("東京タワーへ", "タワー", ["タワー"]),
        ("in東京now", "東京", ["東京"]),
        ("foo_bar foo-bar foobar", "foo_bar", ["foo_bar", "foo-bar"]),
        ("whales, awhale", "wha*", ["whales"]),
        ("a whale of a white\n\nwhale", '"white whale"', ["white\n\nwhale"]),
        ("whales", "whale", []),
    ],
)
def test_a_snippet_marks_what_matches_and_nothing_else(body: str, query: str, matches: list[str]) -> None:
    assert shown(body, query)[1] == matches


def test_a_snippet_is_cut_around_the_place_with_the_most_of_what_was_sought() -> None:
    body = "sea " * 300 + "and then the white whale in the sea " + "calm " * 300
    snippet, matches = shown(body, "sea whale white")
    assert {"white", "whale", "sea"} <= set(matches)
    assert len(snippet.text) <= 240
    assert body[snippet.start : snippet.start + len(snippet.text)] == snippet.text


@pytest.mark.parametrize("before", [0, 16_380, 16_384, 300_000, 2_000_000])
def test_a_match_is_found_wherever_it_is(before: int) -> None:
    snippet, matches = shown("é" + "x" * before + " white whale", '"white whale"')
    assert matches == ["white whale"]
    assert snippet.offset == before + 2


@given(
    st.text(st.sampled_from("aáA\u0301 _b東é\n"), max_size=60),
    st.sampled_from(["a", "ab", "東", "a*", '"a b"']),
)
def test_a_snippet_of_a_found_text_always_has_a_match(body: str, query: str) -> None:
    (sought,) = wanted_phrases(parse(query).sought)
    matches = shown(body, query)[1]
    assert bool(matches) == naively_holds(body, sought.lexemes, is_prefix=sought.is_prefix)
