"""Reconcile: makes a lost hint, a dead worker or a stopped worker harmless.

No tool runs here, so a look over the room is over as soon as the database has answered.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from brasstag.engine.calls.approvals import Decisions
from brasstag.engine.graph.people import stop_task
from brasstag.engine.in_flight import Deadline
from brasstag.engine.recovery.crashed import recover_at_once
from brasstag.engine.runtime import Runtime
from brasstag.store.tasks.ledger import claims_of_tasks
from brasstag.store.tasks.rows import Task, long_ready, orphans, read_tasks
from brasstag.words.errors import StoreError, ToolError
from brasstag.words.times import stamp

log = logging.getLogger("brasstag")

OVERLOOKED_SECONDS = 10.0
"""After so long a ready task's hint is given again."""


def reconcile(runtime: Runtime, is_here: Callable[[str], bool], deadline: Deadline) -> None:
    """Look once over the room, and repair what was left behind; ``is_here`` says which tasks this process works on."""
    for mend in (
        _dead,
        _stopped,
        partial(_forgotten, is_here),
        _overlooked,
        _orphaned,
        _expired,
        _old_events,
    ):
        try:
            mend(runtime, deadline)
        except (StoreError, ToolError) as error:
            # Another worker may repair the same room at the same time; what it has done already does no harm.
            log.info("reconciling was cut short: %s", error)


def _dead(runtime: Runtime, deadline: Deadline) -> None:
    recover_at_once(runtime, deadline)


def _stopped(runtime: Runtime, _deadline: Deadline) -> None:
    """Take tasks from stopped processes, but not their claims: a stopped process may wake at any time and act."""
    for task in runtime.store.read(lambda view: read_tasks(view, ("running",))):
        if task.is_desk or task.is_outside or not runtime.boot.is_stopped(task.boot, runtime.stopped_seconds):
            continue
        if not _is_acting(runtime, task) and runtime.store.graph.reclaim(task):
            log.warning("%s was taken from a worker that has stopped", task.id)


def _forgotten(is_here: Callable[[str], bool], runtime: Runtime, _deadline: Deadline) -> None:
    """Give back tasks that this process holds by the store, but no worker here runs: the reply to a write was lost."""
    for task in runtime.store.read(lambda view: read_tasks(view, ("running",))):
        here = task.is_desk or task.is_outside or is_here(task.id)
        if task.boot == runtime.boot.id and not here:
            runtime.store.graph.reclaim(task)


def _is_acting(runtime: Runtime, task: Task) -> bool:
    return bool(runtime.store.read(lambda view: claims_of_tasks(view, [task.id])))


def _overlooked(runtime: Runtime, _deadline: Deadline) -> None:
    before = stamp(datetime.fromisoformat(runtime.store.now()) - timedelta(seconds=OVERLOOKED_SECONDS))
    waiting = runtime.store.read(lambda view: long_ready(view, before))
    if waiting:
        runtime.store.graph.hint_again(waiting)


def _orphaned(runtime: Runtime, _deadline: Deadline) -> None:
    for task_id in runtime.store.read(orphans):
        stop_task(runtime.store, task_id, "the task above it ended")


def _expired(runtime: Runtime, _deadline: Deadline) -> None:
    Decisions(runtime.store).expire_due()


def _old_events(runtime: Runtime, _deadline: Deadline) -> None:
    runtime.store.forget_old_events()
