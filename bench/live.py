"""Many tasks live at once: how long a call waits from the turn that made it to its end, with 1,000 of them and with 10."""

import asyncio
import random
import statistics
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from crews import Reading, Works, make_project, working
from measuring import title
from places import scratch

from brasstag.store.timeline.timeline import entries_since
from brasstag.words.events import Entry, EntryKind
from brasstag.words.turns import OnText, Turn, TurnRequest

FEW, MANY = 10, 1000
PACE = 50
"""Turns a second, by all of them together, well below what one process can do."""
SECONDS = 10.0
HURRIED = (0.02, 0.05)
"""Seconds a model thinks where all of them want more turns than one process can do."""
HURRIED_TURNS = {FEW: 200, MANY: 2}


class Pondering(Reading):
    """Begins to think once so many tasks ask it, for as long as it is told, until the bell; then it is done."""

    def __init__(self, live: int, turns: int, shortest: float, longest: float) -> None:
        super().__init__(turns)
        self.everybody = asyncio.Event()
        self.bell = asyncio.Event()
        self._missing = live
        self._first = (0.0, longest)
        self._later = (shortest, longest)

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        if not request.turn:
            self._missing -= 1
            if not self._missing:
                self.everybody.set()
            await self.everybody.wait()
        seconds = random.uniform(*(self._later if request.turn else self._first))
        with suppress(TimeoutError):
            await asyncio.wait_for(self.bell.wait(), seconds)
            self.turns = 0
        return await super().respond(request, on_text)


async def run() -> None:
    with scratch() as folder:
        title(f"Live tasks on SQLite, {PACE} turns a second in all: from a turn to the end of its call")
        paced = {live: await _paced(folder, live) for live in (FEW, MANY)}
        print(f"  p95, {MANY:,} / {FEW}: {paced[MANY] / paced[FEW]:.2f}x")
        title(
            f"Live tasks on SQLite, whose models think {HURRIED[0] * 1e3:.0f} to {HURRIED[1] * 1e3:.0f} ms: the same"
        )
        for live in (FEW, MANY):
            await _hurried(folder, live)


async def _paced(folder: Path, live: int) -> float:
    period = live / PACE
    model = Pondering(live, 10**9, period, period)
    async with working(make_project(folder, f"paced-{live}"), concurrency=live) as works:
        runs = await _begin(works, model, live)
        await asyncio.sleep(SECONDS)
        model.bell.set()
        return await _report(works, runs, live)


async def _hurried(folder: Path, live: int) -> None:
    model = Pondering(live, HURRIED_TURNS[live], *HURRIED)
    async with working(make_project(folder, f"hurried-{live}"), concurrency=live) as works:
        await _report(works, await _begin(works, model, live), live)


async def _begin(works: Works, model: Pondering, live: int) -> list[str]:
    runs = [await works.begin(model) for _ in range(live)]
    await model.everybody.wait()
    return runs


async def _report(works: Works, runs: list[str], live: int) -> float:
    """Print and return the 95th percentile of a call's wait."""
    for run in runs:
        await works.finished(run)
    timelines = await asyncio.to_thread(_read, works, runs)
    waits = [wait for entries in timelines for wait in _waits(entries)]
    made = min(_moment(one) for entries in timelines for one in entries if one.kind is EntryKind.TURN)
    ended = max(_moment(one) for entries in timelines for one in entries if one.kind is EntryKind.CALLED)
    p95 = statistics.quantiles(waits, n=20)[-1]
    rate = len(waits) / (ended - made)
    print(
        f"  {f'{live:,} live tasks':<44} p50 {statistics.median(waits) * 1e3:.1f} ms   p95 {p95 * 1e3:.1f} ms   "
        f"{len(waits)} calls, {rate:.0f} a second",
        flush=True,
    )
    return p95


def _read(works: Works, runs: list[str]) -> list[list[Entry]]:
    return works.room.store.read(lambda view: [entries_since(view, run, 0) for run in runs])


def _waits(entries: list[Entry]) -> list[float]:
    made: dict[str, float] = {}
    for entry in entries:
        if entry.kind is EntryKind.TURN:
            turn = (entry.payload or {})["turn"]
            made[f"{entry.task_id}:{turn}.0"] = _moment(entry)
    return [_moment(one) - made[one.call_id] for one in entries if one.kind is EntryKind.CALLED]


def _moment(entry: Entry) -> float:
    return datetime.fromisoformat(entry.at).timestamp()
