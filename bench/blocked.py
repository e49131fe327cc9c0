"""10,000 tasks that wait for people: what they cost a worker, and how soon one goes on when its answer comes."""

import asyncio
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path

from crews import make_project, open_room, postgres
from filling import QUESTION, Filled, fill_project
from measuring import goal, title
from places import scratch
from tests.engine.crews import ADA, call, turn, write_script

from brasstag import Room
from brasstag.store.timeline.timeline import entries_since
from processes import environment, usage_of, worker

TASKS = 10_000
ANSWERS = 50
IDLE_SECONDS = 20.0
SETTLES_WITHIN = 6.0
"""After so long a fresh worker has done all that comes only once."""
GOES_ON_WITHIN = 30.0
BLOCKED_ENTRIES = 3
"""Opened, its turn, its question."""

RESTART = """
import asyncio, sys
from brasstag import Room
from brasstag.engine.recovery.reconcile import reconcile

async def restart(project):
    async with Room.open(project) as room:
        await room._counter.deadlines.run(reconcile, room._runtime, lambda task_id: False)

asyncio.run(restart(sys.argv[1]))
"""


@dataclass
class Crowd:
    """A room full of tasks that wait, and an empty one beside it, each with a worker of its own."""

    database: str
    url: str
    room: Room
    empty: Path
    full: Path
    filled: Filled = field(default_factory=lambda: Filled([], 0.0))
    workers: tuple[int, int] = (0, 0)


async def run() -> None:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(scratch())
        server = stack.enter_context(postgres())
        databases = {"SQLite": ""} | ({"Postgres": server.url} if server else {})
        crowds = [await _open(stack, folder, name, url) for name, url in databases.items()]
        await _gather(crowds)
        async with AsyncExitStack() as serving:
            for crowd in crowds:
                started = [
                    serving.enter_context(worker(place, crowd.url)) for place in (crowd.empty, crowd.full)
                ]
                crowd.workers = (started[0], started[1])
            await asyncio.sleep(SETTLES_WITHIN)
            before = [usage_of(crowd.workers[1]) for crowd in crowds]
            await asyncio.sleep(IDLE_SECONDS)
            for crowd, then in zip(crowds, before, strict=True):
                title(f"{TASKS:,} tasks that wait for people, on {crowd.database}")
                print(f"  opened in {crowd.filled.seconds:.0f} s")
                _compare(crowd, then.cpu_seconds)
                await _answer_some(crowd)
                _restart(crowd)


async def _gather(crowds: list[Crowd]) -> None:
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(len(crowds), get_context("spawn")) as fillers:
        filling = [loop.run_in_executor(fillers, fill_project, one.full, one.url, TASKS) for one in crowds]
        for crowd, filled in zip(crowds, await asyncio.gather(*filling), strict=True):
            crowd.filled = filled


async def _open(stack: AsyncExitStack, folder: Path, database: str, url: str) -> Crowd:
    empty, full = (make_project(folder, f"{database}-{name}", url) for name in ("empty", "full"))
    for project in (empty, full):
        write_script(project, {"clerk": [turn(call("ask_master", question=QUESTION)), turn(text="Done.")]})
    return Crowd(database, url, await stack.enter_async_context(open_room(full, url)), empty, full)


def _compare(crowd: Crowd, cpu_before: float) -> None:
    none, them = (usage_of(process) for process in crowd.workers)
    idle = (them.cpu_seconds - cpu_before) / IDLE_SECONDS
    print(f"  a worker's memory with none {none.megabytes:.0f} MB, with them {them.megabytes:.0f} MB")
    goal("memory they add", them.megabytes - none.megabytes, 30, " MB")
    goal("threads they add", them.threads - none.threads, 0, "")
    goal("idle worker, of a core", idle * 100, 3, "%")


async def _answer_some(crowd: Crowd) -> None:
    seconds = [await _answer(crowd.room, *one) for one in crowd.filled.questions[:: TASKS // ANSWERS]]
    print(f"  answer to resumed, the slowest of {ANSWERS}: {max(seconds) * 1e3:.0f} ms")
    goal("answer to resumed, median", statistics.median(seconds) * 1e3, 300, " ms")


async def _answer(room: Room, task_id: str, question_id: str) -> float:
    """Answer a question; return the seconds until the asker's next entry, by that entry's own stamp."""
    answered_at, deadline = time.time(), time.monotonic() + GOES_ON_WITHIN
    await room.answer(question_id, "You may.", ADA)
    seen = BLOCKED_ENTRIES + 1
    while time.monotonic() < deadline:
        entries = await asyncio.to_thread(room.store.read, lambda view: entries_since(view, task_id, seen))
        if entries:
            return datetime.fromisoformat(entries[0].at).timestamp() - answered_at
        await asyncio.sleep(0.02)
    raise AssertionError(f"{task_id} was answered, and did not go on within {GOES_ON_WITHIN:g} s")


def _restart(crowd: Crowd) -> None:
    seconds: dict[Path, list[float]] = {crowd.empty: [], crowd.full: []}
    for _ in range(3):
        for project, taken in seconds.items():
            started = time.perf_counter()
            command = [sys.executable, "-c", RESTART, str(project)]
            subprocess.run(command, env=environment(crowd.url), check=True)
            taken.append(time.perf_counter() - started)
    bare = statistics.median(seconds[crowd.empty])
    print(f"  a new process, its room opened and looked over, with none: {bare:.2f} s")
    goal("the same with them", statistics.median(seconds[crowd.full]), 3, " s")
