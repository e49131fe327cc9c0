"""Those from whom documents are hidden learn nothing of them, not even by the order of what they find."""

from collections.abc import Sequence

import pytest

from brasstag.documents.search.private_ranking import WEIGHED, Discreet
from brasstag.documents.search.search import FullText, Query, search
from brasstag.documents.search.snippets import Finder
from brasstag.store.database.base import Database
from brasstag.store.fulltext.query import Phrase
from tests.documents.search.test_search import add_documents, row
from tests.store.conftest import database, kind, open_bare, open_database

__all__ = ["database", "kind", "open_bare", "open_database"]

NIGHTLY = "nightly " * 2 + "salary " + "x " * 20
PAID = "nightly " + "salary " * 2 + "x " * 20


def visible(path: str) -> bool:
    return not path.startswith("hidden/")


def discreetly(database: Database, query: Query | str) -> list[str]:
    asked = Query(query) if isinstance(query, str) else query
    with database.read() as view:
        answer = search(view, asked, visible=visible, rankers=(Discreet(visible),))
    return [hit.document.path for hit in answer.hits]


def by_bm25(database: Database, query: str) -> list[str]:
    with database.read() as view:
        answer = search(view, Query(query), visible=visible, rankers=(FullText(),))
    return [hit.document.path for hit in answer.hits]


def shelve_hidden(database: Database, first: int, bodies: Sequence[str]) -> None:
    for number, body in enumerate(bodies, start=first):
        add_documents(database, [row(number, f"hidden/{number}.md")], body)


def test_the_order_does_not_depend_on_what_is_hidden_as_that_of_bm25_does(database: Database) -> None:
    add_documents(database, [row(1, "a.md")], NIGHTLY)
    add_documents(database, [row(2, "b.md")], PAID)
    add_documents(database, [row(number, f"{number}.md") for number in range(3, 40)], "x")
    shelve_hidden(database, 100, ["nightly x"] * 12)
    before, plainly = discreetly(database, "nightly sal*"), by_bm25(database, "nightly sal*")
    shelve_hidden(database, 200, ["salary x"] * 24)
    assert discreetly(database, "nightly sal*") == before
    assert sorted(before) == ["a.md", "b.md"]
    assert by_bm25(database, "nightly sal*") != plainly


def test_what_says_it_more_often_in_fewer_words_or_in_its_path_comes_first(database: Database) -> None:
    add_documents(database, [row(1, "long.md")], "whale " + "sea " * 5_000)
    add_documents(database, [row(2, "often.md")], "whale whale whale sea")
    add_documents(database, [row(3, "once.md")], "whale sea")
    add_documents(database, [row(4, "whale.md", tags=("whale",))], "whale sea")
    shelve_hidden(database, 5, ["whale " * 9])
    assert discreetly(database, "whale") == ["whale.md", "often.md", "once.md", "long.md"]
    assert discreetly(database, "whale -often") == ["whale.md", "once.md", "long.md"]
    assert discreetly(database, Query("whale", globs=("o*.md",))) == ["often.md", "once.md"]


def test_what_is_beyond_those_that_are_weighed_follows_the_newest_first(database: Database) -> None:
    count = WEIGHED + 5
    rows = [
        row(number, f"{number:03}.md", updated_at=f"2026-03-01T09:{number // 60:02}:{number % 60:02}.000000Z")
        for number in range(count)
    ]
    add_documents(database, rows[1:])
    add_documents(database, rows[:1], "whale whale whale")
    shelve_hidden(database, 500, ["whale"] * 200)
    with database.read() as view:
        found = search(
            view, Query("whale", limit=100, offset=10), visible=visible, rankers=(Discreet(visible),)
        )
    assert not found.has_more
    # The oldest says it most often, and is still the last: it was not weighed.
    assert [hit.document.path for hit in found.hits][-5:] == [
        "004.md",
        "003.md",
        "002.md",
        "001.md",
        "000.md",
    ]


@pytest.mark.parametrize(
    ("text", "counts"), [("", [0, 0]), ("Sea, SEA; seaside", [2, 3]), ("über sea", [1, 1])]
)
def test_phrases_are_counted(text: str, counts: list[int]) -> None:
    assert Finder([Phrase(("sea",)), Phrase(("sea",), is_prefix=True)]).counts(text) == counts
