"""Single facts about a room."""

from sqlalchemy import insert, select

from brasstag.store.database import Database
from brasstag.store.schema import facts
from brasstag.words.ids import new_id


def room_id(database: Database) -> str:
    """Return the room's id; the first to ask gives it one."""
    query = select(facts.c.value).where(facts.c.name == "room_id")
    with database.read() as connection:
        known = connection.execute(query).scalar_one_or_none()
    if known is not None:
        return str(known)
    with database.write() as transaction:
        known = transaction.execute(query).scalar_one_or_none()
        if known is None:
            known = new_id("room")
            transaction.execute(insert(facts).values(name="room_id", value=known))
        return str(known)
