"""Four workers against one, on Postgres, with tasks whose tool waits 50 ms a call."""

import asyncio
import json
import os
import statistics
import time
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from crews import accept_as_it_is, make_project, open_room, postgres
from measuring import goal_at_least, title
from places import scratch
from tests.engine.crews import call, turn, write_script

from brasstag import Room
from brasstag.store.timeline.timeline import entries_since
from brasstag.words.events import EntryKind
from processes import worker

RUNS = 24
CALLS = 5
ROUNDS = 2
WORKERS = 4
ENDS_WITHIN = 120.0

TOOL = """
import time

from brasstag import tool


@tool(execution_type="function")
def wait_a_moment() -> dict[str, float]:
    \"\"\"wait_a_moment\"\"\"
    time.sleep(0.05)
    return {"seconds": 0.05}
"""
CONFIG = {
    "tool_id": "wait_a_moment",
    "description": "Wait for fifty milliseconds.",
    "type": "function_tool",
    "parameters": {},
    "returns": {"seconds": "number"},
    "effects": "none",
    "approval": "auto",
    "replay": "safe",
}


async def run() -> None:
    with scratch() as folder, postgres() as server:
        if server is None:
            return
        project = _project(folder, server.url)
        rates: dict[int, list[float]] = {1: [], WORKERS: []}
        async with open_room(project, server.url) as room:
            for _ in range(ROUNDS):
                for count, found in rates.items():
                    with ExitStack() as stack:
                        for _ in range(count):
                            stack.enter_context(worker(project, server.url, concurrency=1))
                        found.append(await _calls_a_second(room))
    title(f"Calls that wait 50 ms, on Postgres, one task at a time a worker ({os.cpu_count()} cores)")
    for count, found in rates.items():
        print(f"  {f'{count} workers':<44} {statistics.median(found):>9.1f} calls a second")
    goal_at_least(f"{WORKERS} / 1", statistics.median(rates[WORKERS]) / statistics.median(rates[1]), 3.0)


def _project(folder: Path, url: str) -> Path:
    project = make_project(folder, "shared", url)
    write_script(project, {"clerk": [turn(call("wait_a_moment"))] * CALLS + [turn(text="Done.")]})
    tools = project / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "wait_a_moment.py").write_text(TOOL)
    (tools / "wait_a_moment.json").write_text(json.dumps(CONFIG))
    accept_as_it_is(project, url)
    return project


async def _calls_a_second(room: Room) -> float:
    """Have the workers do the runs; return the rate between the first turn and the end of the last run."""
    runs = [await room.start("Wait.", serve=False) for _ in range(RUNS)]
    deadline = time.monotonic() + ENDS_WITHIN
    left = set(runs)
    while left:
        assert time.monotonic() < deadline, f"{len(left)} runs have not ended"
        await asyncio.sleep(0.1)
        left = {task.id for task in await room.runs.standing("ready", "running", "blocked")} & left
    timelines = room.store.read(lambda view: [entries_since(view, run, 0) for run in runs])
    entries = [entry for timeline in timelines for entry in timeline]
    assert sum(entry.kind is EntryKind.CALLED for entry in entries) == RUNS * CALLS
    moments = [
        datetime.fromisoformat(one.at).timestamp() for one in entries if one.kind is not EntryKind.OPENED
    ]
    return RUNS * CALLS / (max(moments) - min(moments))
