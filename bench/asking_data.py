"""ask_data against bare DuckDB, which asks the same CSV file of 500,000 rows the same query, in one run.

A call reads the file through the workspace, keeps it, starts a confined Python, and asks; what each of these takes is shown
beside the whole. Bare DuckDB is measured in this process, and in a fresh Python, which any errand has to be.
"""

import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from measuring import goal, ratio, title
from places import scratch

from brasstag import Room
from brasstag.app.project.create import create_project
from brasstag.sandbox.process.job import FILES, JobLimits
from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.words.calls import Done

_ROWS = 500_000
_ROUNDS = 7
_QUERY = "SELECT region, product, round(sum(revenue), 2) AS revenue FROM {} GROUP BY ALL ORDER BY revenue DESC LIMIT 100"
_BARE = "import duckdb, sys; print(len(duckdb.sql(sys.argv[1]).fetchall()))"
_NOTHING = "brasstag.documents.data.stdio"


async def run() -> None:
    with scratch() as folder:
        project = folder / "project"
        create_project(project)
        file = (project / "data" / "sales.csv").resolve()
        _fill(file)
        async with Room.open(project) as room:
            await _measure(room, file)


async def _measure(room: Room, file: Path) -> None:
    import duckdb

    bare = _QUERY.format(f"read_csv('{file}')")
    sandbox = room._runtime.sandbox
    assert sandbox is not None
    request = {
        "documents": [{"path": "sales.csv", "file": f"{FILES}/0"}],
        "seconds": 30,
        "memory_mb": 1024,
        "sql": _QUERY.format("sales"),
        "most_rows": 200,
        "most_bytes": 400_000,
    }
    limits = JobLimits(memory_bytes=2 << 30, output_bytes=8 << 20)

    def in_process() -> None:
        assert len(duckdb.connect().sql(bare).fetchall()) == 100

    def in_fresh_process() -> None:
        ran = subprocess.run([sys.executable, "-c", _BARE, bare], capture_output=True, check=True)
        assert ran.stdout.strip() == b"100"

    def idle() -> None:
        subprocess.run([sys.executable, "-m", _NOTHING], check=True)

    def errand(module: str, asked: bytes) -> None:
        ran = sandbox.run_module(ModuleJob(module, asked, (("0", file),), limits))
        assert ran.exit_code == 0, ran.stderr

    async def call() -> None:
        outcome = await room.call("ask_data", {"documents": ["sales.csv"], "sql": _QUERY.format("sales")})
        assert isinstance(outcome, Done), outcome
        assert outcome.value["row_count"] == 100

    title(f"One query over {_ROWS:,} rows of CSV")
    blocking: dict[str, Callable[[], None]] = {
        "duckdb, in this process": in_process,
        "duckdb, in a fresh Python": in_fresh_process,
        "a fresh Python that does nothing": idle,
        "a confined Python that does nothing": lambda: errand(_NOTHING, b""),
        "the errand, with the query": lambda: errand(
            "brasstag.documents.data.query", json.dumps(request).encode()
        ),
    }
    seconds: dict[str, list[float]] = {name: [] for name in (*blocking, "the whole call")}
    for number in range(_ROUNDS + 1):
        for name, act in blocking.items():
            taken = await asyncio.to_thread(_timed, act)
            if number:
                seconds[name].append(taken)
        started = time.perf_counter()
        await call()
        if number:
            seconds["the whole call"].append(time.perf_counter() - started)
    _show(seconds)


def _show(seconds: dict[str, list[float]]) -> None:
    for name, taken in seconds.items():
        print(f"  {name:<44} {statistics.median(taken) * 1e3:>7.0f} ms")
    process, fresh, idle, walled, errand, call = seconds.values()
    walls = [one - other for one, other in zip(walled, idle, strict=True)]
    beside = [one - wall for one, wall in zip(call, walls, strict=True)]
    print(f"  confinement itself: {statistics.median(walls) * 1e3:.0f} ms")
    print(f"  the errand against a fresh Python with bare DuckDB: {ratio(errand, fresh):.2f}x")
    print(
        f"  the whole call against that: {ratio(call, fresh):.2f}x; in a process that has it: {ratio(call, process):.2f}x"
    )
    goal("the whole call, without confinement, against a fresh Python", ratio(beside, fresh), 1.2)


def _timed(act: Callable[[], None]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _fill(file: Path) -> None:
    chance = random.Random(7)
    regions = ("North", "South", "East", "West", "Online")
    with file.open("w") as out:
        out.write("id,day,region,product,units,revenue,note\n")
        for number in range(_ROWS):
            day = f"2025-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
            product, units = f"P{chance.randint(1, 300)}", chance.randint(1, 50)
            out.write(
                f"{number},{day},{chance.choice(regions)},{product},{units},{chance.random() * 1000:.2f},n{number}\n"
            )


if __name__ == "__main__":
    asyncio.run(run())
