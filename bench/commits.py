"""The path with its transactions, against the same number of raw durable commits and fsyncs."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measuring import goal, interleaved, line, ratio, title
from places import scratch

from brasstag import Done, Room
from brasstag.app.project.create import create_project

CONTENT = "Call me Ishmael.\n" * 60


class Raw:
    """The same durable work by hand: commits of as many bytes, files written and fsynced, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0
        self.database = sqlite3.connect(folder / "raw.db", isolation_level=None, check_same_thread=False)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute("PRAGMA synchronous = FULL")
        self.database.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, payload TEXT)")

    def commit(self, size: int) -> None:
        self.database.execute("BEGIN IMMEDIATE")
        self.database.execute("INSERT INTO entries (payload) VALUES (?)", ("x" * size,))
        self.database.execute("COMMIT")

    def fsyncs(self, count: int) -> None:
        """Write and sync as many files and directories, in turn."""
        for _ in range((count + 1) // 2):
            self.number += 1
            descriptor = os.open(self.folder / str(self.number), os.O_WRONLY | os.O_CREAT)
            os.write(descriptor, CONTENT.encode())
            os.fsync(descriptor)
            os.close(descriptor)
        directory = os.open(self.folder, os.O_RDONLY)
        for _ in range(count // 2):
            os.fsync(directory)
        os.close(directory)


@contextmanager
def counting(room: Room) -> Iterator[dict[str, int]]:
    """Count the commits and fsyncs of a block."""
    counts = {"commits": 0, "fsyncs": 0}
    real = os.fsync

    def count_fsync(descriptor: int) -> None:
        counts["fsyncs"] += 1
        real(descriptor)

    def count_commit(statement: str) -> None:
        counts["commits"] += statement == "COMMIT"

    writer = room.store.database._writer.connection.driver_connection
    writer.set_trace_callback(count_commit)
    os.fsync = count_fsync
    try:
        yield counts
    finally:
        os.fsync = real
        writer.set_trace_callback(None)


async def run() -> None:
    with scratch() as folder:
        project = folder / "project"
        create_project(project)
        (project / "data" / "chapter.md").write_text(CONTENT)
        raw = Raw(folder)
        numbers = iter(range(10**9))
        async with Room.open(project) as room:
            reading = lambda: room.call("read_file", {"path": "chapter.md"})  # noqa: E731
            writing = lambda: room.call(  # noqa: E731
                "write_file", {"path": f"{next(numbers)}.md", "content": CONTENT + str(next(numbers))}
            )
            for name, act, limit in (("read_file", reading, 1.5), ("write_file (new)", writing, 1.5)):
                await _compare(room, raw, name, act, limit)


async def _compare(room: Room, raw: Raw, name: str, act: Callable[[], Any], limit: float) -> None:
    for _ in range(70):
        assert isinstance(await act(), Done)
    with counting(room) as counts:
        await act()
    commits, fsyncs = counts["commits"], counts["fsyncs"]

    def durable() -> None:
        for _ in range(commits):
            raw.commit(2000)
        if fsyncs:
            raw.fsyncs(fsyncs)

    async def by_hand() -> None:
        durable()

    async def off_the_loop() -> None:
        await asyncio.to_thread(durable)

    found = await interleaved({"brasstag": act, "raw": by_hand, "off": off_the_loop}, calls=40, rounds=15)
    title(f"{name}: with its transactions ({commits} commits, {fsyncs} fsyncs), against the same by hand")
    line("brasstag", found["brasstag"])
    line("raw sqlite3 and fsync, blocking the event loop", found["raw"])
    line("the same off the event loop, in a thread", found["off"])
    goal("brasstag / raw", ratio(found["brasstag"], found["raw"]), limit)
    print(f"  brasstag / raw off the event loop: {ratio(found['brasstag'], found['off']):.2f}x")
