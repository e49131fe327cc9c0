"""Search against bare FTS5 over the same 50,000 documents: same tokenizer, same texts, ten hits with a snippet each.

Bare FTS5 orders by its own rank and cuts its own snippets. Ours joins the documents' rows, sees that their index is up to
date, applies filters, and says in which line and column a match is.

Filling an index on Postgres takes minutes: it is measured, against ours on SQLite, where ON_POSTGRES=1 is set.
"""

import gc
import itertools
import os
import random
import sqlite3
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from crews import postgres
from measuring import goal, title
from places import scratch

from brasstag.documents.search.search import Query, search
from brasstag.store.database.base import Database
from brasstag.store.database.migrate import migrate
from brasstag.store.database.postgres import PostgresDatabase
from brasstag.store.database.postgres_address import Address
from brasstag.store.database.schema import SQLITE_FULLTEXT
from brasstag.store.database.sqlite import SqliteDatabase
from brasstag.store.documents.rows import DocumentRow, insert_rows
from brasstag.store.documents.select import Selection
from brasstag.store.fulltext.index import Indexed, put_texts
from brasstag.words.ids import new_id
from brasstag.words.previews import file_state

_DOCUMENTS = 50_000
_AT_ONCE = 500
_ROUNDS = 15
_AGENTS = 50
_BARE = "SELECT rowid, snippet(fulltext, 2, '', '', '', 32) FROM fulltext WHERE fulltext MATCH ? ORDER BY rank LIMIT 10"


def run() -> None:
    words, texts = _texts()
    with scratch() as folder:
        database = SqliteDatabase(folder / "ours.db")
        migrate(database, folder / "lock")
        title(f"Searching {_DOCUMENTS} documents")
        ours, theirs = fill(database, texts), _fill_bare(folder / "bare.db", texts)
        print(f"  index: {ours:.1f} s, with rows of documents; bare FTS5: {theirs:.1f} s")
        try:
            _measure(database, folder / "bare.db", words)
            if os.environ.get("ON_POSTGRES"):
                _measure_postgres(database, folder, words, texts)
        finally:
            database.close()


def _measure(database: Database, bare: Path, words: list[str]) -> None:
    ratios: list[float] = []
    with closing(sqlite3.connect(bare)) as connection:
        for name, query, asked in queries(words):
            mine, other = _side_by_side(
                lambda query=query: ask(database, query),
                lambda asked=asked: connection.execute(_BARE, (asked,)).fetchall(),
            )
            ratios.append(statistics.median(one / two for one, two in zip(mine, other, strict=True)))
            print(
                f"  {name:<32} {statistics.median(mine) * 1e3:>7.2f} ms   bare"
                f" {statistics.median(other) * 1e3:>7.2f} ms   {ratios[-1]:.2f}x"
            )
    goal("search / bare FTS5, median of all kinds", statistics.median(ratios), 1.3)


def _measure_postgres(lite: Database, folder: Path, words: list[str], texts: list[str]) -> None:
    with postgres() as server:
        if server is None:
            return
        room = new_id("room")
        database = PostgresDatabase(Address(server.url), room)
        migrate(database, folder / "postgres.lock")
        print(f"\n  index on Postgres: {fill(database, texts):.1f} s, with rows of documents")
        # What a server does by itself within a minute.
        server.execute(f"VACUUM ANALYZE {room}.fulltext, {room}.documents")
        medians: list[float] = []
        try:
            for name, query, _asked in queries(words):
                mine, other = _side_by_side(
                    lambda query=query: ask(database, query), lambda query=query: ask(lite, query)
                )
                medians.append(statistics.median(mine) * 1e3)
                print(
                    f"  {name:<32} {medians[-1]:>7.2f} ms   SQLite"
                    f" {statistics.median(other) * 1e3:>7.2f} ms   slowest {max(mine) * 1e3:>7.2f} ms"
                )
        finally:
            database.close()
        goal("search on Postgres, median of all kinds", statistics.median(medians), 50, " ms")
        goal("search on Postgres, slowest kind", max(medians), 150, " ms")


def queries(words: list[str]) -> list[tuple[str, Query, str]]:
    """Return kinds of queries: a name, what we are asked, and what FTS5 is asked."""
    rare, middling, common, first, second = words[20_000], words[1_000], words[60], words[0], words[1]
    plain = {
        "rare": rare,
        "middling": middling,
        "common": common,
        "in every document": first,
        "two common words": f"{first} {common}",
        "common and rare": f"{first} {rare}",
        "phrase": f'"{first} {common}"',
        "phrase of common words": f'"{first} {second}"',
    }
    filtered = {
        "middling, of one agent": (middling, Selection(by="agent7")),
        "common, of one agent": (common, Selection(by="agent7")),
        "common, with a tag": (common, Selection(tags=("kept",))),
    }
    return [(name, Query(text), text) for name, text in plain.items()] + [
        (name, Query(text, wanted), text) for name, (text, wanted) in filtered.items()
    ]


def ask(database: Database, query: Query) -> None:
    """Search once."""
    with database.read() as view:
        assert search(view, query).hits


def fill(database: Database, texts: list[str]) -> float:
    """Write every document and its index, in commits of 500; return the seconds it took."""
    started = time.perf_counter()
    for start in range(0, len(texts), _AT_ONCE):
        some = list(enumerate(texts[start : start + _AT_ONCE], start=start + 1))
        with database.write() as transaction:
            insert_rows(transaction, [_row(number, text) for number, text in some])
            put_texts(
                transaction,
                [Indexed(number, _path(number), "", text) for number, text in some],
                are_new=True,
            )
    return time.perf_counter() - started


def _fill_bare(path: Path, texts: list[str]) -> float:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(SQLITE_FULLTEXT[0])
        started = time.perf_counter()
        for start in range(0, len(texts), _AT_ONCE):
            connection.execute("BEGIN")
            connection.executemany(
                "INSERT INTO fulltext (rowid, path, words, body) VALUES (?, ?, '', ?)",
                [
                    (number, _path(number), text)
                    for number, text in enumerate(texts[start : start + _AT_ONCE], start=start + 1)
                ],
            )
            connection.execute("COMMIT")
        return time.perf_counter() - started


def _row(number: int, text: str) -> DocumentRow:
    agent, at = f"agent{number % _AGENTS}", "2026-03-01T09:30:00.000000Z"
    who = (agent, "task", at)
    tags = ("kept",) if number % 20 == 0 else ()
    state = file_state(f"{number:064x}")
    return DocumentRow(
        number, _path(number), 1, state, len(text), 0o644, "text/plain", "", *who, *who, tags=tags
    )


def _path(number: int) -> str:
    return f"part{number % 10}/chapter{number // 10 % 10}/page{number}.txt"


def _texts() -> tuple[list[str], list[str]]:
    """Return words, the commonest first, and texts of them as uneven as languages are."""
    chance = random.Random(1)
    words = list(
        dict.fromkeys(
            "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10)))
            for _ in range(40_000)
        )
    )
    weights = list(itertools.accumulate(1 / (place + 1) for place in range(len(words))))
    texts: list[str] = []
    for _ in range(_DOCUMENTS):
        lines = [
            " ".join(chance.choices(words, cum_weights=weights, k=10)) for _ in range(chance.randint(5, 40))
        ]
        texts.append("\n".join(lines))
    return words, texts


def _side_by_side(
    ours: Callable[[], object], theirs: Callable[[], object]
) -> tuple[list[float], list[float]]:
    seconds: tuple[list[float], list[float]] = ([], [])
    for counts in [False] * 2 + [True] * _ROUNDS:
        for act, kept in zip((ours, theirs), seconds, strict=True):
            started = time.perf_counter()
            act()
            if counts:
                kept.append(time.perf_counter() - started)
    gc.collect()
    return seconds
