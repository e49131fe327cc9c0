"""Damage of the full-text index, told apart from other damage, because an index can be rebuilt."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from brasstag.words.errors import IndexDamaged

_SIGNS = (
    "no such table: fulltext",
    "no such table: main.fulltext",
    "vtable constructor",
    "invalid fts5 file",
)
_NO_REASON = "SQL logic error"
"""What SQLite says where it has no reason to give, as of an index that lacks a part."""
_PARTS: Mapping[str, str] = {
    "data": "id, block",
    "idx": "segid, term, pgno",
    "content": "id, c0, c1, c2",
    "docsize": "id, sz",
    "config": "k, v",
}
"""The tables that FTS5 keeps the index in, and their columns."""

_STATES = ("42P01", "XX001", "XX002")
"""What a server says of a table that is gone, and of damaged tables and indexes."""


@contextmanager
def of_the_index() -> Iterator[None]:
    """Raise IndexDamaged where a statement about the index finds damage, which may not say what is damaged."""
    try:
        yield
    except Exception as error:
        cause = getattr(error, "orig", None) or error
        is_damage = "CORRUPT" in _name(cause) or getattr(cause, "sqlstate", None) in _STATES
        if is_damage or is_of_the_index(cause):
            raise IndexDamaged(_said(cause)) from error
        raise


def is_of_the_index(error: Any) -> bool:
    """Say whether an error of SQLite is plainly about the index, whatever was to be done."""
    said = str(error)
    return _name(error) == "SQLITE_CORRUPT_VTAB" or any(sign in said for sign in _SIGNS)


def is_of_an_index_in_parts(error: Any, path: Path) -> bool:
    """Say whether an error for which SQLite gave no reason has this one: that a part of the index in a file is missing."""
    return str(error) == _NO_REASON and _lacks_a_part(path)


def _lacks_a_part(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            for name, columns in _PARTS.items():
                connection.execute(f"SELECT {columns} FROM fulltext_{name} LIMIT 0")  # noqa: S608 - our own words
    except sqlite3.Error as error:
        return "no such" in str(error)
    return False


def _name(error: Any) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def _said(error: Any) -> str:
    return str(error).partition("\n")[0]
