"""Dates that could be read in another order of day and month, and a note on them."""

import re
from collections.abc import Mapping, Sequence

import duckdb

from brasstag.documents.data.sources import identifier

_NAMED: Mapping[str, str] = {"d": "day", "m": "month", "y": "year", "Y": "year"}
_PART = re.compile(r"%([dmyY])")
_SETTLED = ("%Y", "%d.")
"""Beginnings of date formats that can be read in one order only."""
_DAYS = ("DATE", "TIMESTAMP")


def order_told(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[Mapping[str, str]],
    written: str | None,
) -> list[str]:
    """Say in what order dates are read where no row settles it; raise ConversionException where one tells otherwise."""
    names = [column["name"] for column in columns if column["type"].startswith(_DAYS)]
    if not written or not names or written.startswith(_SETTLED):
        return []
    if "%y" not in written and _has_late_day(connection, relation, names):
        return []
    order = ", ".join(_NAMED[part] for part in _PART.findall(written))
    return [
        f"no row tells in what order the dates of {', '.join(names)} are written; they are read as {order}"
    ]


def _has_late_day(connection: duckdb.DuckDBPyConnection, relation: str, names: Sequence[str]) -> bool:
    """Say whether there is a day that can be no month."""
    late = " OR ".join(f"day({identifier(name)}) > 12" for name in names)
    return connection.execute(f"FROM {relation} WHERE {late} LIMIT 1").fetchone() is not None
