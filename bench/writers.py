"""Processes that write to one room on SQLite: calls a second, and how long the slowest wait, with the queues and without."""

import asyncio
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from measuring import goal, goal_at_least, title
from places import scratch

from brasstag import Room
from brasstag.app.project.create import create_project
from brasstag.engine.path_queue import PathQueue

SECONDS = 4.0
PROCESSES = (1, 3, 8)

Request = Callable[[int], tuple[str, dict[str, Any]]]


def read(_number: int) -> tuple[str, dict[str, Any]]:
    """One small commit, and no path is needed."""
    return "read_file", {"path": "a.md"}


def edit(number: int) -> tuple[str, dict[str, Any]]:
    """Two commits, and all editors need the same path."""
    old, new = ("o", "x") if number % 2 else ("x", "o")
    return "edit_file", {"path": "a.md", "search_text": old, "replace_text": new}


async def run() -> None:
    for what, request in (("one small commit a call", read), ("edits of one file", edit)):
        title(f"Writers of one SQLite room: {what}")
        found: dict[int, list[float]] = {}
        for count in PROCESSES:
            for queued, name in ((False, "by chance"), (True, "in order")):
                found[count] = _measure(count, request, queued=queued)
                print(f"  {count} processes, {name}: {_told(found[count])}", flush=True)
        alone = statistics.median(found[1])
        goal_at_least("3 processes together, against 1", len(found[3]) / len(found[1]), 1)
        goal("p99 of 8 processes, against 8 calls of 1", _slowest(found[8]) / (8 * alone), 3)


def _measure(count: int, request: Request, *, queued: bool) -> list[float]:
    """Return the seconds of every call that so many processes made at the same time, in order."""
    with scratch() as folder:
        project = folder / "project"
        create_project(project, "data", "trusted")
        (project / "data" / "a.md").write_text("xo" * 100)
        context = multiprocessing.get_context("spawn")
        results, barrier = context.Queue(), context.Barrier(count)
        arguments = (project, request, queued, results, barrier)
        writers = [context.Process(target=_write, args=arguments) for _ in range(count)]
        for writer in writers:
            writer.start()
        seconds = sorted(one for _ in writers for one in results.get())
        for writer in writers:
            writer.join()
        return seconds


def _write(project: Path, request: Request, queued: bool, results: Any, barrier: Barrier) -> None:
    results.put(asyncio.run(_call(project, request, queued, barrier)))


async def _call(project: Path, request: Request, queued: bool, barrier: Barrier) -> list[float]:
    seconds: list[float] = []
    async with Room.open(project) as room:
        if not queued:
            object.__setattr__(room._runtime, "path_queue", PathQueue())
            room.store.database._fair_lock = None  # type: ignore[attr-defined]
        await room.call(*request(os.getpid()))
        barrier.wait()
        until = time.monotonic() + SECONDS
        while (started := time.monotonic()) < until:
            await room.call(*request(len(seconds)))
            seconds.append(time.monotonic() - started)
    return seconds


def _slowest(seconds: list[float]) -> float:
    return seconds[int(len(seconds) * 0.99)]


def _told(seconds: list[float]) -> str:
    p50, p99 = statistics.median(seconds) * 1000, _slowest(seconds) * 1000
    return f"{len(seconds) / SECONDS:5.0f} a second, p50 {p50:6.1f} ms, p99 {p99:7.1f} ms, max {seconds[-1] * 1000:7.1f} ms"
