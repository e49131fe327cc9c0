import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from brasstag.documents.search.queries import parse
from brasstag.store.database.base import Database, Transaction
from brasstag.store.documents.find import best, body_of
from brasstag.store.documents.rows import DocumentRow, insert_rows
from brasstag.store.documents.select import Selection
from brasstag.store.fulltext.index import LONGEST_BODY, Indexed, Labels, drop_texts, put_texts, put_words
from brasstag.store.fulltext.lexemes import (
    NO_LETTER,
    TOKENIZER,
    fold,
    joined,
    lexemes_of,
    set_apart,
    storable,
)
from brasstag.store.fulltext.postgres_vectors import LAST_POSITION, MOST_PLACES, vector_of
from brasstag.words.previews import file_state
from tests.store.conftest import on_postgres
from tests.store.plain_reading import naive_words, naively_holds

NOW = "2026-03-01T09:30:00.000000Z"
LETTERS = "aAáÀâ\u0301bBß1２_-.'\"*東京カรไ가😀 \n"

bodies = st.text(st.sampled_from(LETTERS), max_size=24)
on_one_database = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def row(number: int, path: str = "", **told: Any) -> DocumentRow:
    who = ("ada", "task", NOW)
    return DocumentRow(
        number,
        path or f"{number}",
        1,
        file_state(f"{number:064x}"),
        3,
        0o644,
        "text/plain",
        "",
        *who,
        *who,
        **told,
    )


def clear(transaction: Transaction) -> None:
    transaction.execute(text("DELETE FROM fulltext"))
    transaction.execute(text("DELETE FROM documents"))


def fill(database: Database, texts: Mapping[int, str]) -> None:
    with database.write() as transaction:
        clear(transaction)
        insert_rows(transaction, [row(number, f"path{number}") for number in texts])
        put_texts(
            transaction,
            [Indexed(number, "", "", body) for number, body in texts.items()],
            are_new=True,
        )


def found(database: Database, query: str) -> set[int]:
    with database.read() as view:
        return {ranked.id for ranked in best(view, parse(query).sought, Selection(), 1000)}


def scores(database: Database, query: str) -> dict[int, float]:
    with database.read() as view:
        return {ranked.id: ranked.score for ranked in best(view, parse(query).sought, Selection(), 1000)}


def test_every_character_is_folded_as_the_tokenizer_of_sqlite_does() -> None:
    codes = [*range(1, 0x3200), *range(0xA000, 0xA100), *range(0xF900, 0x10800), *range(0x1D400, 0x1D500)]
    codes = [code for code in codes if not 0xD800 <= code < 0xE000]
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE told USING fts5(said, tokenize = '{TOKENIZER}')")
    connection.execute("CREATE VIRTUAL TABLE heard USING fts5vocab(told, instance)")
    connection.executemany(
        "INSERT INTO told (rowid, said) VALUES (?, ?)",
        [(code, set_apart(f"a{chr(code)}b {chr(code)}{chr(code)}")) for code in codes],
    )
    told: dict[int, list[str]] = {code: [] for code in codes}
    for number, word in connection.execute('SELECT doc, term FROM heard ORDER BY doc, "offset"'):
        told[number].append(word)
    connection.close()
    for code in codes:
        assert lexemes_of(f"a{chr(code)}b {chr(code)}{chr(code)}") == told[code], hex(code)


@given(st.text())
def test_folding_keeps_the_length_of_a_text_and_folds_no_further(body: str) -> None:
    folded = fold(body)
    assert len(folded) == len(body)
    again = fold(folded)
    assert again == folded.replace(NO_LETTER, " ")


@given(st.text())
def test_what_is_set_apart_is_shown_as_it_was(body: str) -> None:
    assert joined(set_apart(body)) == storable(body)
    assert len(storable(body)) == len(body)


@on_one_database
@given(
    texts=st.lists(bodies, min_size=1, max_size=6),
    sought=st.lists(bodies, min_size=1, max_size=3),
    is_prefix=st.booleans(),
)
def test_the_index_finds_what_a_plain_reading_finds(
    database: Database, texts: list[str], sought: list[str], is_prefix: bool
) -> None:
    phrases = [words for part in sought if (words := naive_words(part))]
    if not phrases:
        return
    fill(database, dict(enumerate(texts, start=1)))
    asked = [f'"{" ".join(words)}"{"*" if is_prefix else ""}' for words in phrases]

    def holds(body: str, words: Sequence[str]) -> bool:
        return naively_holds(body, words, is_prefix=is_prefix)

    numbered = list(enumerate(texts, start=1))
    every = {n for n, body in numbered if all(holds(body, words) for words in phrases)}
    assert found(database, " ".join(asked)) == every
    either = {n for n, body in numbered if any(holds(body, words) for words in phrases)}
    assert found(database, " OR ".join(asked)) == either
    first, *others = phrases
    without = {
        n for n, body in numbered if holds(body, first) and not any(holds(body, words) for words in others)
    }
    assert found(database, " -".join(asked)) == without


@on_postgres
def test_both_databases_give_the_same_scores(database: Database) -> None:
    from brasstag.store.database.sqlite import SqliteDatabase

    other = SqliteDatabase(None)
    texts = {
        number: " ".join(["whale"] * (number % 7) + ["sea", "ship"] * (number % 3) + ["calm"] * number)
        for number in range(1, 60)
    }
    for one in (database, other):
        fill(one, texts)
    for query in ("whale", "whale sea", '"sea ship" calm', "wha* OR ship"):
        assert scores(database, query) == pytest.approx(scores(other, query)), query
    other.close()


def test_a_word_in_a_path_or_a_tag_weighs_more_than_one_in_a_body(database: Database) -> None:
    with database.write() as transaction:
        insert_rows(transaction, [row(1), row(2), row(3), row(4), row(5), row(6), row(7)])
        put_texts(
            transaction,
            [
                Indexed(1, "a.md", "", "whale and sea"),
                Indexed(2, "whale.md", "", "and sea"),
                Indexed(3, "c.md", "whale", "and sea"),
                *(Indexed(number, "d.md", "", "and sea") for number in range(4, 8)),
            ],
            are_new=True,
        )
    with database.read() as view:
        assert [hit.id for hit in best(view, parse("whale").sought, Selection(), 10)] == [2, 3, 1]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(1, 4), bodies, bodies, bodies),
        st.tuples(st.just("words"), st.integers(1, 4), bodies, bodies),
        st.tuples(st.just("drop"), st.integers(1, 4)),
    ),
    max_size=12,
)


@on_one_database
@given(steps=steps)
def test_an_index_after_any_steps_is_the_one_built_anew(
    database: Database, steps: Sequence[tuple[Any, ...]]
) -> None:
    held: dict[int, Indexed] = {}
    with database.write() as transaction:
        clear(transaction)
        insert_rows(transaction, [row(number) for number in range(1, 5)])
    for name, number, *texts in steps:
        with database.write() as transaction:
            if name == "put":
                held[number] = Indexed(number, *texts)
                put_texts(transaction, [held[number]])
            elif name == "words":
                put_words(transaction, [Labels(number, *texts)])
                if number in held:
                    held[number] = Indexed(number, *texts, held[number].body)
            else:
                drop_texts(transaction, [number])
                held.pop(number, None)
    after = contents(database)
    with database.write() as transaction:
        transaction.execute(text("DELETE FROM fulltext"))
        put_texts(transaction, list(held.values()), are_new=True)
    assert after == contents(database)


def contents(database: Database) -> list[Any]:
    """Return all an index knows."""
    with database.read() as view:
        if view.dialect.name == "postgresql":
            query = "SELECT id, body, length, lexemes::text, in_order FROM fulltext ORDER BY id"
            return [tuple(found) for found in view.execute(text(query))]
        cursor = view.connection.cursor()
        cursor.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.heard USING fts5vocab(main, fulltext, instance)"
        )
        cursor.execute('SELECT term, doc, col, "offset" FROM temp.heard ORDER BY doc, col, "offset"')
        words = cursor.fetchall()
        cursor.execute("SELECT rowid, path, words, body FROM fulltext ORDER BY rowid")
        rows = cursor.fetchall()
        cursor.close()
        return [words, rows]


@pytest.mark.parametrize("body", ["a\0b", "a\ud800b", "\udfff", "\0", "東\0京\ud800"])
def test_a_body_that_no_database_takes_as_it_is_is_indexed_all_the_same(
    database: Database, body: str
) -> None:
    with database.write() as transaction:
        insert_rows(transaction, [row(1)])
        put_texts(transaction, [Indexed(1, body, body, f"whale {body}")])
    assert found(database, "whale") == {1}
    with database.read() as view:
        assert len(body_of(view, 1)) == len(f"whale {body}")


def test_phrases_are_found_far_down_a_long_text(database: Database) -> None:
    filler = [f"w{number}" for number in range(LAST_POSITION)]
    often = ["sea"] * (MOST_PLACES + 5)
    far = " ".join([*filler, *often, "white", "whale"])
    near = " ".join([*filler, *often, "white", "shark", "whale"])
    fill(database, {1: far, 2: near})
    assert found(database, '"white whale"') == {1}
    assert found(database, '"sea white wha"*') == {1}
    assert found(database, 'w1 -"white whale"') == {2}
    assert found(database, '"sea sea white"') == {1, 2}


def test_a_word_of_any_length_is_found(database: Database) -> None:
    long = "x" * 5_000
    fill(database, {1: long, 2: f"{long}y", 3: "x"})
    assert found(database, long[:1_900]) == set()
    assert found(database, f"{'x' * 150}*") == {1, 2}


def test_a_body_is_indexed_as_far_as_it_may_be_and_the_rest_is_told(database: Database) -> None:
    body = "whale " + "a " * (LONGEST_BODY // 2)
    with database.write() as transaction:
        insert_rows(transaction, [row(1)])
        notes = put_texts(transaction, [Indexed(1, "", "", body)])
    assert notes == {1: "only its first 6,000,000 characters are in the index"}
    assert found(database, "whale") == {1}


@on_postgres
def test_more_words_than_postgres_takes_are_cut_off_and_told(database: Database) -> None:
    body = " ".join(f"word{number}" for number in range(200_000))
    with database.write() as transaction:
        insert_rows(transaction, [row(1)])
        (note,) = put_texts(transaction, [Indexed(1, "", "", body)]).values()
    assert re.fullmatch(r"only its first [\d,]+ words are in the index", note)
    count = int(re.sub(r"\D", "", note))
    assert found(database, f"word{count - 1}") == {1}
    assert found(database, f"word{count}") == set()


def test_a_vector_knows_the_places_of_every_part_and_phrases_stay_within_one() -> None:
    vector = vector_of("a.md", "b", "c c")
    assert vector.lexemes == "'a':2A 'md':3A 'b':5B 'c':7,8"
    assert (vector.length, vector.in_order, vector.is_whole) == (5, "", True)
