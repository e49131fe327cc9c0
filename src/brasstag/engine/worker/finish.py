"""Finish a held task: write its end, and tell the tasks that wait for it."""

import logging
from dataclasses import replace
from typing import Any

from brasstag.engine.graph.close import ended
from brasstag.engine.runtime import Runtime
from brasstag.store.tasks.rows import Status
from brasstag.store.tasks.types import Held
from brasstag.words.calls import Failed
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.turns import ModelError

log = logging.getLogger("brasstag")


async def finish(runtime: Runtime, held: Held, status: Status, result: Any, unwritten: float = 0.0) -> None:
    """End a task; ``unwritten`` are seconds of work that no other entry tells of."""
    off_loop = runtime.threads.run_short
    ending = await off_loop(runtime.store.read, lambda view: ended(view, held.task, status, result))
    if unwritten:
        ending = replace(ending, payload=ending.payload | {"seconds": unwritten})
    await off_loop(runtime.store.graph.finish, held, ending)
    runtime.at("finished")


def as_failure(task_id: str, error: Exception) -> Failed:
    """Return how a task ends that met this error."""
    match error:
        case ModelError():
            return Failed.by(error.as_tool_error())
        case ToolError():
            return Failed.by(error)
        case StoreError():
            log.error("%s cannot go on: %s", task_id, error)
            return Failed(Code.INTERNAL_ERROR, f"the task cannot go on: {error}")
        case _:
            log.error("%s failed in an unforeseen way", task_id, exc_info=error)
            what = type(error).__name__
            return Failed(Code.INTERNAL_ERROR, f"the task failed in an unforeseen way: {what}")
