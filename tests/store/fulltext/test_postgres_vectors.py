import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.documents.search.queries import parse
from brasstag.store.database.base import Database
from brasstag.store.database.sqlite import SqliteDatabase
from brasstag.store.documents.find import best
from brasstag.store.documents.rows import insert_rows
from brasstag.store.documents.select import Selection
from brasstag.store.fulltext.index import Indexed, put_texts
from brasstag.store.fulltext.postgres_bm25 import MOST_RANKED
from brasstag.store.fulltext.postgres_vectors import LABEL_WEIGHT, SHORT, B, marks, tiers
from tests.store.conftest import on_postgres
from tests.store.fulltext.test_index import row

MANY = 2 * MOST_RANKED


@given(st.integers(1, 4_000_000), st.data())
def test_every_mark_is_in_one_tier_of_its_word(length: int, data: st.DataObject) -> None:
    frequency = data.draw(st.integers(2, min(LABEL_WEIGHT * length + 2, 5_000)))
    (mark,) = marks([("whale", frequency)], length)
    if frequency <= LABEL_WEIGHT * length:
        assert sum(tier.count(mark) for tier in tiers("whale", 230.0)) == 1


@given(*[st.tuples(st.integers(2, 500), st.integers(200, 100_000))] * 2, st.floats(10, 10_000))
def test_what_is_far_better_by_bm25_is_in_a_better_tier(
    one: tuple[int, int], other: tuple[int, int], average: float
) -> None:
    def rises(often: int, length: int) -> float:
        return often / (1 - B + B * length / average)

    better, worse = sorted((one, other), key=lambda text: -rises(*text))
    if rises(*better) > 3 * rises(*worse):
        assert _tier(*better, average) < _tier(*worse, average)


def _tier(frequency: int, length: int, average: float) -> int:
    (mark,) = marks([("whale", frequency)], length)
    return next(number for number, tier in enumerate(tiers("whale", average)) if mark in tier)


def test_a_word_that_is_there_once_stands_out_in_a_short_text_only() -> None:
    assert len(marks([("whale", 1)], SHORT)) == 1
    assert marks([("whale", 1)], SHORT + 1) == []


@pytest.fixture
def both(database: Database) -> tuple[Database, Database]:
    """The same many texts on both databases, with words as uneven as in a language."""
    chance = random.Random(5)
    words = [f"w{number}" for number in range(300)]
    weights = [1 / (place + 1) for place in range(len(words))]
    texts = [
        Indexed(
            number,
            f"w{number % 500}.txt",
            "",
            " ".join(chance.choices(words, weights, k=chance.randint(5, 60))),
        )
        for number in range(1, MANY + 1)
    ]
    other = SqliteDatabase(None)
    for one in (database, other):
        with one.write() as transaction:
            rows = [row(text.id, f"path{text.id}", tags=("kept",) if text.id % 3 else ()) for text in texts]
            insert_rows(transaction, rows)
            put_texts(transaction, texts, are_new=True)
    return database, other


@on_postgres
def test_the_best_of_very_many_matches_are_those_that_sqlite_finds(both: tuple[Database, Database]) -> None:
    for query in ("w0", "w1", "w0 w1", "w0 -w4", '"w0 w1"', "w0 OR w1", "w3", "w290"):
        ours, theirs = (_found(one, query, Selection(), 10) for one in both)
        # How long texts usually are is taken from some of them, which may change the order of neighbours.
        assert len(set(ours) & set(theirs)) >= 9, query
        assert ours[0] == theirs[0], query


@on_postgres
def test_filters_hold_among_very_many_matches(both: tuple[Database, Database]) -> None:
    wanted = Selection(tags=("kept",))
    ours, theirs = (_found(one, "w0", wanted, 10) for one in both)
    assert len(set(ours) & set(theirs)) >= 9
    every = [set(_found(one, "w0", wanted, MANY)) for one in both]
    assert every[0] == every[1]
    assert len(every[0]) > MOST_RANKED


@on_postgres
def test_as_many_are_found_as_are_asked_for(both: tuple[Database, Database]) -> None:
    for limit in (1, 100, MOST_RANKED - 1, MOST_RANKED + 1):
        assert len(_found(both[0], "w0", Selection(), limit)) == limit


@on_postgres
def test_the_same_question_has_the_same_answer_however_often_it_is_asked(
    both: tuple[Database, Database],
) -> None:
    with both[0].read() as view:
        answers = {tuple(best(view, parse("w0 OR w1").sought, Selection(), 50)) for _ in range(12)}
    assert len(answers) == 1


def _found(database: Database, query: str, wanted: Selection, limit: int) -> list[int]:
    with database.read() as view:
        return [ranked.id for ranked in best(view, parse(query).sought, wanted, limit)]
