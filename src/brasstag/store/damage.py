"""Damage of the full-text index, told apart from damage of what nothing else holds: an index can be made anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from brasstag.words.errors import IndexDamaged

_SIGNS = (
    "no such table: fulltext",
    "no such table: main.fulltext",
    "vtable constructor",
    "invalid fts5 file",
)
_NO_REASON = "SQL logic error"
"""What SQLite says where a virtual table gives no reason, and the index is the only one there is."""

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
    return _name(error) == "SQLITE_CORRUPT_VTAB" or said == _NO_REASON or any(sign in said for sign in _SIGNS)


def _name(error: Any) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def _said(error: Any) -> str:
    return str(error).partition("\n")[0]
