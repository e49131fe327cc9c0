"""What somebody can do who has the database, but not the key."""

from typing import Any

from sqlalchemy import update

from brasstag import Room
from brasstag.store.database.schema import tasks


def forge(room: Room, task: str, **columns: Any) -> None:
    """Change the row of a task."""
    with room.store.database.write() as transaction:
        transaction.execute(update(tasks).where(tasks.c.id == task).values(columns))
