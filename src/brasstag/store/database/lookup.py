"""Look up a row by its id, or by the end of its id."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Connection, Row, select

from brasstag.words.ids import SHORTEST_TAIL


def rows_named(connection: Connection, ids: Column[str], name: str) -> Sequence[Row[Any]]:
    """Return the row with this id, or those with an id that ends so: two at most, which are too many."""
    query = select(ids.table)
    found = connection.execute(query.where(ids == name)).all()
    if found or len(name) < SHORTEST_TAIL:
        return found
    return connection.execute(query.where(ids.endswith(name, autoescape=True)).limit(2)).all()
