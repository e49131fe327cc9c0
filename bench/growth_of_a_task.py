"""Whether a long task slows down or swells: call 2,000 of a task against call 20 of others, and LangGraph's beside it."""

import asyncio
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crews import Reading, Works, make_project, working
from graphs import ReadingGraph
from langgraph.checkpoint.sqlite import SqliteSaver
from measuring import goal, title
from places import scratch

from brasstag.words.turns import OnText, Turn, TurnRequest

EARLY, LATE, PEER_LATE = 20, 2000, 200
STRETCH = 10
"""Calls measured together; those of call 20 are calls 15 to 25."""
ROUNDS = 10
PEER_ROUNDS = 3

Size = Callable[[], int]


class Paced(Reading):
    """Reads as far as it is let, and says when it has come there."""

    def __init__(self) -> None:
        super().__init__(10**9)
        self._until = 0
        self._there = asyncio.Event()
        self._go = asyncio.Event()

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        if request.turn == self._until:
            self._there.set()
            await self._go.wait()
        return await super().respond(request, on_text)

    async def read_until(self, turn: int) -> None:
        """Return when the model is asked for this turn."""
        self._until = turn
        self._there.clear()
        self._let_go()
        await self._there.wait()

    def end(self) -> None:
        """Say that it is done, in the turn that waits."""
        self.turns = 0
        self._let_go()

    def _let_go(self) -> None:
        go, self._go = self._go, asyncio.Event()
        go.set()


class Stretches:
    """What stretches of calls took, in time and on disk."""

    def __init__(self, size: Size) -> None:
        self._size = size
        self._seconds: list[float] = []
        self._bytes: list[int] = []

    @contextmanager
    def measured(self) -> Iterator[None]:
        before, started = self._size(), time.perf_counter()
        yield
        self._seconds.append((time.perf_counter() - started) / STRETCH)
        self._bytes.append(self._size() - before)

    @property
    def seconds(self) -> float:
        return statistics.median(self._seconds)

    @property
    def bytes(self) -> float:
        # The mean: a file grows by whole pages, so single stretches differ.
        return statistics.mean(self._bytes) / STRETCH

    def print(self, name: str) -> None:
        print(f"  {name:<44} {self.seconds * 1e3:>9.2f} ms   {self.bytes / 1024:>6.1f} KB a call")


async def run() -> None:
    with scratch() as folder:
        await _ours(folder)
        _theirs(folder)


async def _ours(folder: Path) -> None:
    projects = [make_project(folder, name) for name in ("old", "young")]
    async with working(projects[0]) as old, working(projects[1]) as young:
        late, early = (Stretches(_size_of(project / ".brasstag" / "state.db")) for project in projects)
        long = Paced()
        run = await old.begin(long)
        first = LATE - ROUNDS * STRETCH
        await long.read_until(first)
        # The two take turns, so that both see the same machine.
        for stretch in range(ROUNDS):
            await _read_early(young, early)
            with late.measured():
                await long.read_until(first + (stretch + 1) * STRETCH)
        long.end()
        await old.finished(run)
    title(f"One task on SQLite: call {LATE:,} against call {EARLY} of others")
    early.print(f"call {EARLY}")
    late.print(f"call {LATE:,}")
    goal(f"time of a call, {LATE:,} / {EARLY}", late.seconds / early.seconds, 1.2)
    goal(f"bytes of a call, {LATE:,} / {EARLY}", late.bytes / early.bytes, 1.2)


async def _read_early(works: Works, early: Stretches) -> None:
    model = Paced()
    run = await works.begin(model)
    await model.read_until(EARLY - STRETCH // 2)
    with early.measured():
        await model.read_until(EARLY + STRETCH // 2)
    model.end()
    await works.finished(run)


def _theirs(folder: Path) -> None:
    file = folder / "saver.db"
    places = (EARLY - STRETCH // 2, PEER_LATE - STRETCH)
    early, late = Stretches(_size_of(file)), Stretches(_size_of(file))
    with SqliteSaver.from_conn_string(str(file)) as saver:
        graph = ReadingGraph(saver, folder / "old" / "data" / "chapter.md")
        for _ in range(PEER_ROUNDS):
            stretches = {places[0]: early.measured(), places[1]: late.measured()}

            def on_turn(turn: int, stretches: dict = stretches) -> None:
                if turn in stretches:
                    stretches[turn].__enter__()
                if turn - STRETCH in stretches:
                    stretches[turn - STRETCH].__exit__(None, None, None)

            graph.run(PEER_LATE, on_turn)
    early.print(f"langgraph, SqliteSaver: call {EARLY}")
    late.print(f"langgraph, SqliteSaver: call {PEER_LATE}")
    print(
        f"  langgraph, {PEER_LATE} / {EARLY}: {late.seconds / early.seconds:.2f}x in time, "
        f"{late.bytes / early.bytes:.2f}x in bytes"
    )


def _size_of(file: Path) -> Size:
    def size() -> int:
        with sqlite3.connect(file) as connection:
            pages, page = (
                connection.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "page_size")
            )
        connection.close()
        return int(pages * page)

    return size
