"""Lists the names a room has stored, read from its tables without the code that wrote them."""

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

Names = dict[str, Any]

STATES = {
    "tasks": ("kind", "status", "role"),
    "calls": ("state", "tool"),
    "approvals": ("state", "rule"),
    "versions": ("why",),
    "facts": ("name",),
    "outbox": ("topic",),
    "events": ("topic",),
    "alembic_version": ("version_num",),
}
"""Columns that hold one of few words; an earlier release may lack a table, or have one that is gone now."""

JSON = (
    ("approvals", "arguments"),
    ("approvals", "preview"),
    ("permissions", "rule"),
    ("calls", "changes"),
    ("outbox", "payload"),
    ("events", "payload"),
    ("tasks", "budget"),
)
"""Columns that hold JSON."""

WORDS = ("type", "outcome", "status", "decision", "change", "stop", "state", "to", "effects")
"""Keys of payloads that hold one of few words."""

LASTING = {"events": "(SELECT * FROM events WHERE topic <> 'output') AS lasting"}
"""Where not every row of a table is read: whether output is among the events depends on how long a program took."""

OPEN = ("confinement",)
"""Keys below which a machine says what it has; their names differ from machine to machine."""


_CODE = re.compile("[A-Z_]+")
_WORD = re.compile("[a-z_ ]+")


def names_of(home: Path) -> Names:
    """Return the names stored by a project's room."""
    with _Tables(home) as tables:
        entries: dict[str, set[str]] = {}
        codes: set[str] = set()
        words: set[str] = set()
        for kind, text in tables.rows("SELECT kind, payload FROM entries"):
            found = entries.setdefault(str(kind), set())
            payload = json.loads(text) if text else {}
            found.update(_keys(payload))
            codes.update(_values(payload, ("code",), _CODE))
            words.update(_values(payload, WORDS, _WORD))
        names: Names = {
            "entries": {kind: sorted(found) for kind, found in entries.items()},
            "codes": sorted(codes),
            "words": sorted(words),
            "tables": tables.columns(),
        }
        for table, columns in STATES.items():
            for column in columns if table in names["tables"] else ():
                rows = tables.rows(f"SELECT DISTINCT {column} FROM {LASTING.get(table, table)}")
                names[f"{table}.{column}"] = sorted(str(row[0]) for row in rows)
        for table, column in JSON:
            if table not in names["tables"]:
                continue
            texts = tables.rows(f"SELECT {column} FROM {LASTING.get(table, table)}")
            found = {key for (text,) in texts if text for key in _keys(json.loads(text))}
            names[f"keys of {table}.{column}"] = sorted(found)
        names["jobs"] = tables.jobs()
    return names


def _keys(value: Any, above: str = "") -> Iterator[str]:
    """Yield the path of each key in a payload."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield f"{above}{key}"
            if key not in OPEN:
                yield from _keys(inside, f"{above}{key}.")
    elif isinstance(value, list):
        for inside in value:
            yield from _keys(inside, above)


def _values(value: Any, keys: tuple[str, ...], pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield what stands under one of these keys, wherever it fits the pattern."""
    if isinstance(value, dict):
        for key, inside in value.items():
            if key in keys and isinstance(inside, str) and pattern.fullmatch(inside):
                yield inside if keys == ("code",) else f"{key}: {inside}"
            yield from _values(inside, keys, pattern)
    elif isinstance(value, list):
        for inside in value:
            yield from _values(inside, keys, pattern)


class _Tables:
    """The tables of a room, wherever they are."""

    def __init__(self, home: Path) -> None:
        state = home / ".brasstag"
        self._schema = (state / "room").read_text().strip() if (state / "room").exists() else ""
        self._connection: Any = (
            psycopg.connect(os.environ["BRASSTAG_DATABASE_URL"], options=f"-c search_path={self._schema}")
            if self._schema
            else sqlite3.connect(state / "state.db")
        )

    def __enter__(self) -> "_Tables":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return list(self._connection.execute(query).fetchall())

    def columns(self) -> dict[str, list[str]]:
        """Return the columns of each table of ours; those of the queue and of the index belong to others."""
        query = (
            "SELECT table_name, column_name FROM information_schema.columns "
            f"WHERE table_schema = '{self._schema}'"
            if self._schema
            else "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
        )
        found: dict[str, list[str]] = {}
        for table, column in sorted(self.rows(query)):
            if not table.startswith(("procrastinate_", "fulltext", "sqlite_")):
                found.setdefault(table, []).append(column)
        return found

    def jobs(self) -> list[dict[str, Any]]:
        """Return the jobs that wait for everybody, by name, queue and the names of their arguments."""
        if not self._schema:
            return []
        query = "SELECT task_name, queue_name, args FROM procrastinate_jobs WHERE queue_name NOT LIKE 'boot%'"
        found = {(name, queue, *sorted(arguments)) for name, queue, arguments in self.rows(query)}
        return [
            {"name": name, "queue": queue, "arguments": arguments}
            for name, queue, *arguments in sorted(found)
        ]
