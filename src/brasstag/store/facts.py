"""Single facts about a room."""

import re

from sqlalchemy import insert, select

from brasstag.store.database import Database
from brasstag.store.schema import facts
from brasstag.words.errors import StoreError
from brasstag.words.ids import new_id

_ROOM_ID = re.compile(r"room_[0-9a-f]{32}")


def room_id(database: Database) -> str:
    """Return the room's id; the first to ask gives it one."""
    query = select(facts.c.value).where(facts.c.name == "room_id")
    with database.read() as connection:
        known = connection.execute(query).scalar_one_or_none()
    if known is None:
        with database.write() as transaction:
            known = transaction.execute(query).scalar_one_or_none()
            if known is None:
                known = new_id("room")
                transaction.execute(insert(facts).values(name="room_id", value=known))
    # It names a directory of the user's, and the database may have come from anywhere.
    if not _ROOM_ID.fullmatch(str(known)):
        raise StoreError("this room's id is not one that Brasstag gives; its state was tampered with")
    return str(known)
