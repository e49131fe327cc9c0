"""Prepared statements: SQLAlchemy writes the SQL once, and the driver runs it.

Every call passes through a handful of statements. Compiling is cached by SQLAlchemy, but finding the cached form, building
a result object and firing its events costs several times what SQLite needs for the work itself.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect, Executable
from sqlalchemy.sql.compiler import SQLCompiler


class Prepared:
    """One statement, ready to run on a driver's cursor; its parameters are text and integers only."""

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._compiled = cache(self._compile)

    def run(self, cursor: Any, dialect: Dialect, values: Mapping[str, Any]) -> Any:
        """Execute with one set of values; returns the cursor."""
        text, arrange = self._compiled(dialect)
        cursor.execute(text, arrange(values))
        return cursor

    def rows(self, connection: Connection, **values: Any) -> list[Any]:
        """Execute beside SQLAlchemy, on a reader's connection, and return every row as a tuple."""
        with closing(connection.connection.cursor()) as cursor:
            self.run(cursor, connection.dialect, values)
            return list(cursor.fetchall())

    def run_many(self, cursor: Any, dialect: Dialect, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute once for each set of values."""
        text, arrange = self._compiled(dialect)
        cursor.executemany(text, [arrange(row) for row in rows])

    def _compile(self, dialect: Dialect) -> tuple[str, Any]:
        compiled = self._statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)  # noqa: S101 - what compiling a statement gives
        fixed = {name: bind.value for name, bind in compiled.binds.items() if not bind.required}
        if compiled.positiontup is None:
            return compiled.string, lambda values: {**fixed, **values}
        order = tuple(compiled.positiontup)
        if not fixed:
            return compiled.string, lambda values: [values[name] for name in order]
        return compiled.string, lambda values: [
            values[name] if name in values else fixed[name] for name in order
        ]
