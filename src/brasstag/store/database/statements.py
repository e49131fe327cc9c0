"""Statements that are built once and run often, and long lists of values cut into parts.

Every call passes through a handful of statements. Compiling is cached by SQLAlchemy, but finding the cached form, building
a result object and firing its events costs several times what SQLite needs for the work itself.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    Table,
    Update,
    bindparam,
    insert,
    literal,
    select,
)
from sqlalchemy.sql.compiler import SQLCompiler


class Prepared:
    """One statement, ready to run on a driver's cursor; its parameters are text and integers only."""

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._known: dict[Any, tuple[str, Any]] = {}

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

    def _compiled(self, dialect: Dialect) -> tuple[str, Any]:
        # Every open database has a dialect object of its own; those of one name and version compile alike.
        key = (dialect.name, dialect.server_version_info)
        if key not in self._known:
            self._known[key] = self._compile(dialect)
        return self._known[key]

    def _compile(self, dialect: Dialect) -> tuple[str, Any]:
        compiled: SQLCompiler = self._statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        fixed = {name: bind.value for name, bind in compiled.binds.items() if not bind.required}
        if compiled.positiontup is None:
            return compiled.string, lambda values: {**fixed, **values}
        order = tuple(compiled.positiontup)
        if not fixed and len(order) > 1:
            return compiled.string, itemgetter(*order)
        if not fixed:
            return compiled.string, lambda values: [values[name] for name in order]
        return compiled.string, lambda values: [
            values[name] if name in values else fixed[name] for name in order
        ]


@dataclass(frozen=True, slots=True)
class RowBeside:
    """A row of another table that goes in together with a guarded one."""

    table: Table
    values: Mapping[str, ColumnElement[Any]]
    more: Mapping[str, Mapping[str, ColumnElement[Any]]] = field(default_factory=dict)
    """Values that only one database has, by its name."""

    def of(self, database: str) -> Mapping[str, ColumnElement[Any]]:
        """Return the values on a database."""
        return {**self.values, **self.more.get(database, {})}


class Guarded:
    """A row that goes into a table only if an update finds what it expects: then both happen, else neither.

    A row beside it goes into another table.
    """

    def __init__(self, move: Update, table: Table, beside: RowBeside | None = None) -> None:
        row = {column.name: bindparam(column.name, type_=column.type) for column in table.columns}
        self._move = Prepared(move)
        self._inserts = [Prepared(insert(table).values(row))]
        moved = move.returning(literal(1)).cte("moved")
        at_once = insert(table).from_select(list(row), select(*row.values()).select_from(moved))
        if beside is not None:
            self._inserts.append(Prepared(insert(beside.table).values(beside.of("sqlite"))))
            values = beside.of("postgresql")
            further = select(*values.values()).select_from(moved)
            at_once = at_once.add_cte(insert(beside.table).from_select(list(values), further).cte("further"))
        self._at_once = Prepared(at_once)

    def run(self, cursor: Any, dialect: Dialect, values: Mapping[str, Any]) -> bool:
        """Execute with one set of values, for the update and the rows; returns whether they went in."""
        if dialect.name == "postgresql":
            # One round trip to the server instead of three; SQLite has no such statement, and no server.
            return bool(self._at_once.run(cursor, dialect, values).rowcount == 1)
        moved: bool = self._move.run(cursor, dialect, values).rowcount == 1
        if moved:
            for statement in self._inserts:
                statement.run(cursor, dialect, values)
        return moved


AT_ONCE = 500

_Item = TypeVar("_Item")


def in_parts(items: Collection[_Item]) -> Iterator[Sequence[_Item]]:
    """Yield all items in order, as many at a time as one statement takes."""
    rest = iter(items)
    while some := list(islice(rest, AT_ONCE)):
        yield some
