"""The id of a room, given once."""

import re

from sqlalchemy import insert, select

from brasstag.store.database.base import Database
from brasstag.store.database.locks import Lock
from brasstag.store.database.schema import facts
from brasstag.words.errors import StoreError
from brasstag.words.ids import new_id

_ROOM_ID = re.compile(r"room_[0-9a-f]{32}")


def room_id(database: Database, offered: str = "") -> str:
    """Return the room's id; the first call gives the room its id: the one ``offered``, or a new one."""
    query = select(facts.c.value).where(facts.c.name == "room_id")
    with database.read() as connection:
        known = connection.execute(query).scalar_one_or_none()
    if known is None:
        with database.write() as transaction:
            transaction.lock(Lock.FACTS)
            known = transaction.execute(query).scalar_one_or_none()
            if known is None:
                known = offered or new_id("room")
                transaction.execute(insert(facts).values(name="room_id", value=known))
    return require_room_id(str(known))


def require_room_id(name: str) -> str:
    """Return a room's id, or raise StoreError for what is none."""
    # It names a directory of the user's and a schema, and may have come from anywhere.
    if not _ROOM_ID.fullmatch(name):
        raise StoreError("this room's id is not one that Brasstag gives; its state was tampered with")
    return name
