"""Memories: what agents chose to remember, for later tasks of their role."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select

from brasstag.store.database.base import Transaction
from brasstag.store.database.lookup import rows_named
from brasstag.store.database.schema import memories
from brasstag.store.database.statements import Prepared
from brasstag.store.timeline.seals import Key
from brasstag.words.canonical import stored_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import not_one

_COLUMNS = tuple(column.name for column in memories.columns)
_insert = Prepared(insert(memories).values({name: bindparam(name) for name in _COLUMNS}))
_SIGNED = tuple(name for name in _COLUMNS if name != "signature")


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing a role remembers."""

    id: str
    role: str
    tree: str
    """The run it is good for; empty where it is kept for good."""
    content: str
    task_id: str
    call_id: str
    at: str


def add_memory(transaction: Transaction, memory: Memory, key: Key) -> None:
    """Keep a memory; what a role remembers already, for the same run or for good, is kept once."""
    columns = {name: getattr(memory, name) for name in _SIGNED} | {"content": stored_json(memory.content)}
    same = [memories.c[name] == columns[name] for name in ("role", "tree", "content")]
    known = transaction.connection.execute(select(memories).where(*same))
    # A memory whose signature does not hold does not count, so it cannot take the place of this one.
    if not any(is_signed(row, key) for row in known):
        transaction.run(_insert, **columns, signature=key.sign(_words(columns)))


def _memory(row: Row[Any]) -> Memory:
    # As JSON, like every text of a model: it may hold what a database does not take as it is.
    columns = {name: row._mapping[name] for name in _SIGNED}
    return Memory(**columns | {"content": json.loads(columns["content"])})


def memories_of(connection: Connection, role: str, tree: str, key: Key) -> list[Memory]:
    """Return what a role remembers in a run: what it keeps for good, and what belongs to this run.

    Models act on it, so only what was written with this key counts; `verify` finds the rest.
    """
    query = select(memories).where(
        memories.c.role == role, or_(memories.c.tree == "", memories.c.tree == tree)
    )
    rows = connection.execute(query.order_by(memories.c.id))
    return [_memory(row) for row in rows if is_signed(row, key)]


def is_signed(row: Row[Any], key: Key) -> bool:
    """Say whether a row is what was written with this key."""
    return key.signed(_words(dict(row._mapping)), row.signature)


def _words(columns: Mapping[str, Any]) -> str:
    """Return what is signed of a memory: all of it."""
    return "\n".join(("memory", *(columns[name] for name in _SIGNED)))


def all_memories(connection: Connection, role: str = "") -> list[Memory]:
    """Return every memory, of one role where one is named, oldest first."""
    query = select(memories).order_by(memories.c.id)
    if role:
        query = query.where(memories.c.role == role)
    return [_memory(row) for row in connection.execute(query)]


def forget_memory(transaction: Transaction, name: str) -> Memory:
    """Delete the memory with this id, or with the only id that ends so, and return it."""
    found = rows_named(transaction.connection, memories.c.id, name)
    if len(found) != 1:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            not_one("memory", name, several=len(found) > 1),
            hint="`brasstag memories list` names them",
        )
    transaction.execute(delete(memories).where(memories.c.id == found[0].id))
    return _memory(found[0])
