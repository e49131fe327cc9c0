"""Reconciling: what makes a lost hint, a dead worker or a stopped one harmless.

No tool runs here, so a look over the room is over as soon as the database has answered.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from brasstag.engine.decisions import Decisions
from brasstag.engine.recovery import recover_at_once
from brasstag.engine.shop import Shop
from brasstag.engine.steering import stop_task
from brasstag.engine.watch import Watch
from brasstag.store.ledger import claims_of_tasks
from brasstag.store.tasks import Task, long_ready, orphans, read_tasks
from brasstag.words.errors import StoreError, ToolError
from brasstag.words.times import stamp

log = logging.getLogger("brasstag")

OVERLOOKED_SECONDS = 10.0
"""After so long a ready task's hint is given again."""


def reconcile(shop: Shop, is_here: Callable[[str], bool], watch: Watch) -> None:
    """Look once over the room, and mend what has been left lying; ``is_here`` says which tasks this process is at."""
    for mend in (_dead, _stopped, partial(_forgotten, is_here), _overlooked, _orphaned, _expired):
        try:
            mend(shop, watch)
        except (StoreError, ToolError) as error:
            # Another worker mends the same room; what it has done already is no trouble.
            log.info("reconciling was cut short: %s", error)


def _dead(shop: Shop, watch: Watch) -> None:
    recover_at_once(shop, watch)


def _stopped(shop: Shop, _watch: Watch) -> None:
    """A stopped process may wake at any time: its claims stay its own, but what it only holds goes to another."""
    for task in shop.books.read(lambda view: read_tasks(view, ("running",))):
        if task.kind == "desk" or not shop.boot.is_stopped(task.boot, shop.stopped_seconds):
            continue
        if not _is_acting(shop, task) and shop.books.graph.reclaim(task):
            log.warning("%s was taken from a worker that has stopped", task.id)


def _forgotten(is_here: Callable[[str], bool], shop: Shop, _watch: Watch) -> None:
    """What this process holds by the books and nobody here is at: the answer to taking it, or to leaving it, got lost."""
    for task in shop.books.read(lambda view: read_tasks(view, ("running",))):
        if task.kind != "desk" and task.boot == shop.boot.id and not is_here(task.id):
            shop.books.graph.reclaim(task)


def _is_acting(shop: Shop, task: Task) -> bool:
    return bool(shop.books.read(lambda view: claims_of_tasks(view, [task.id])))


def _overlooked(shop: Shop, _watch: Watch) -> None:
    before = stamp(datetime.fromisoformat(shop.books.now()) - timedelta(seconds=OVERLOOKED_SECONDS))
    waiting = shop.books.read(lambda view: long_ready(view, before))
    if waiting:
        shop.books.graph.hint_again(waiting)


def _orphaned(shop: Shop, _watch: Watch) -> None:
    for task_id in shop.books.read(orphans):
        stop_task(shop.books, task_id, "the task above it ended")


def _expired(shop: Shop, _watch: Watch) -> None:
    Decisions(shop.books).expire_due()
