"""Durable tool turns: how many a second and what each costs, against LangGraph doing the same with its own savers."""

import gc
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from crews import Reading, Works, make_project, postgres, working
from graphs import ReadingGraph
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from measuring import goal, goal_at_least, ratio, title
from places import scratch

TURNS = 150
ROUNDS = 5

TakeTurns = Callable[[int], Awaitable[None]]


@dataclass
class Contender:
    """Who takes turns, and what they took in each round."""

    take: TakeTurns
    rates: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    async def measure(self) -> None:
        gc.collect()
        started, spent = time.perf_counter(), _cpu_seconds()
        await self.take(TURNS)
        self.costs.append((_cpu_seconds() - spent) / TURNS)
        self.rates.append(TURNS / (time.perf_counter() - started))


async def run() -> None:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(scratch())
        server = stack.enter_context(postgres())
        chapter = make_project(folder, "sqlite") / "data" / "chapter.md"
        savers = {"SQLite": stack.enter_context(SqliteSaver.from_conn_string(f"{folder}/saver.db"))}
        rooms = {"SQLite": await stack.enter_async_context(working(folder / "sqlite"))}
        if server is not None:
            project = make_project(folder, "postgres", server.url)
            rooms["Postgres"] = await stack.enter_async_context(working(project, server.url))
            saver = stack.enter_context(PostgresSaver.from_conn_string(server.url))
            saver.setup()
            savers["Postgres"] = saver
        for database, works in rooms.items():
            await _compare(database, works, savers[database], chapter)


async def _compare(database: str, works: Works, saver: SqliteSaver | PostgresSaver, chapter: Path) -> None:
    graph = ReadingGraph(saver, chapter)

    async def ours(turns: int) -> None:
        await works.finished(await works.begin(Reading(turns)))

    async def theirs(turns: int) -> None:
        graph.run(turns)

    contenders = {"brasstag": Contender(ours), f"langgraph, {type(saver).__name__}": Contender(theirs)}
    for contender in contenders.values():
        await contender.take(TURNS // 3)
    for _ in range(ROUNDS):
        for contender in contenders.values():
            await contender.measure()
    title(f"{TURNS} durable tool turns of one task on {database}")
    for name, contender in contenders.items():
        rate, cost = statistics.median(contender.rates), statistics.median(contender.costs)
        print(f"  {name:<44} {rate:>9.0f} turns a second   {cost * 1e3:.2f} ms of CPU a turn")
    (mine, peer) = contenders.values()
    goal_at_least(f"turns a second on {database}, brasstag / langgraph", ratio(mine.rates, peer.rates), 2.0)
    goal(f"CPU a turn on {database}, brasstag / langgraph", ratio(mine.costs, peer.costs), 0.5)


def _cpu_seconds() -> float:
    """Return what this process, its threads and its children have used."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
