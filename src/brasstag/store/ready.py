"""Which tasks are ready: the queue itself."""

from sqlalchemy import Connection, select

from brasstag.store.moves import ASIDE
from brasstag.store.schema import tasks


def ready_tasks(connection: Connection, queue: str, most: int) -> list[tuple[str, int]]:
    """Return ready tasks, of one queue or of all, with their wakes; who has waited longest comes first."""
    # Who has stepped aside comes forward by itself.
    query = select(tasks.c.id, tasks.c.wake).where(tasks.c.status == "ready", tasks.c.boot != ASIDE)
    if queue:
        query = query.where(tasks.c.queue == queue)
    found = connection.execute(query.order_by(tasks.c.woken_at, tasks.c.id).limit(most))
    return [(row.id, row.wake) for row in found]
