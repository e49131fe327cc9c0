"""10,000 tasks that wait for people: what they cost a worker, and how soon one goes on when its answer comes."""

import asyncio
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from crews import make_project, open_room, postgres, scratch
from measuring import goal, title
from tests.engine.crews import call, turn, write_script

from brasstag import Room
from brasstag.engine.nodes import Asked, question_task, root_task
from brasstag.store.jobs import Unheard
from brasstag.store.timeline import entries_since
from brasstag.words.approvals import Approver
from brasstag.words.calls import Call
from brasstag.words.events import EntryKind
from brasstag.words.messages import ToolUse
from brasstag.words.turns import Usage
from processes import environment, usage_of, worker

TASKS = 10_000
ANSWERS = 50
IDLE_SECONDS = 20.0
SETTLES_WITHIN = 6.0
"""After so long a fresh worker has done all that comes only once."""
FILLING_THREADS = 4
QUESTION = "May I?"

RESTART = """
import asyncio, sys
from brasstag import Room
from brasstag.engine.reconciling import reconcile

async def restart(project):
    async with Room.open(project) as room:
        await room._counter.watched(reconcile, room._shop, lambda task_id: False)

asyncio.run(restart(sys.argv[1]))
"""


async def run() -> None:
    with scratch() as folder, postgres() as server:
        await _measure(folder, "SQLite", "")
        if server is not None:
            await _measure(folder, "Postgres", server.url)


async def _measure(folder: Path, database: str, url: str) -> None:
    title(f"{TASKS:,} tasks that wait for people, on {database}")
    empty, full = (make_project(folder, f"{database}-{name}", url) for name in ("empty", "full"))
    for project in (empty, full):
        write_script(project, {"clerk": [turn(call("ask_master", question=QUESTION)), turn(text="Done.")]})
    async with open_room(full, url) as room:
        started = time.perf_counter()
        questions = await asyncio.to_thread(_fill, room)
        print(f"  opened in {time.perf_counter() - started:.0f} s")
        with ExitStack() as stack:
            alone, crowded = (stack.enter_context(worker(project, url)) for project in (empty, full))
            await _idle(alone, crowded)
            latencies = [await _answer(room, *one) for one in questions[:: TASKS // ANSWERS]]
    goal("answer to resumed, median", statistics.median(latencies) * 1e3, 300, " ms")
    _restart(empty, full, url)


def _fill(room: Room) -> list[tuple[str, str]]:
    """Open the tasks as an engine would; return each with its question."""
    # Nobody serves them meanwhile, so hints would only pile up.
    heard, room.books.graph.jobs = room.books.graph.jobs, Unheard()
    try:
        with ThreadPoolExecutor(FILLING_THREADS) as threads:
            return list(threads.map(lambda number: _open(room, number), range(TASKS)))
    finally:
        room.books.graph.jobs = heard


def _open(room: Room, number: int) -> tuple[str, str]:
    shop, books, graph = room._shop, room.books, room.books.graph
    asked = Asked(f"Order {number}", "clerk", "bench")
    task = books.read(lambda view: root_task(shop, view, asked))
    graph.open_root(task)
    held = graph.take(task.id, 1)
    assert held is not None
    use = ToolUse("c0_0", "ask_master", {"question": QUESTION})
    said = {"type": "turn", "turn": 0, "model": "", "text": "", "thinking": [], "calls": [use.as_json()]}
    said |= {"usage": Usage().as_json(), "stop": "calls", "seconds": 0.0, "note": ""}
    graph.record_turn(held, said, Usage(), 0)
    asking = Call(
        f"{task.id}:0.0", use.tool, use.arguments, "agent:clerk", "clerk", task.id, epoch=held.epoch
    )
    node = books.read(lambda view: question_task(shop, view, asking, QUESTION, ()))
    about = {
        "type": "ask_master",
        "tool": use.tool,
        "input": use.arguments,
        "actor": asking.actor,
        "role": "clerk",
    }
    about |= {"result": f"→ asked a person ({node.id})", "child": node.id, "to": node.role}
    graph.open_child(asking, EntryKind.QUESTIONED, about, node, None)
    assert graph.block(held, 3)
    return task.id, node.id


async def _idle(alone: int, crowded: int) -> None:
    await asyncio.sleep(SETTLES_WITHIN)
    before = usage_of(crowded)
    await asyncio.sleep(IDLE_SECONDS)
    after, none = usage_of(crowded), usage_of(alone)
    print(f"  memory with none {none.megabytes:.0f} MB, with them {after.megabytes:.0f} MB")
    goal("memory they add", after.megabytes - none.megabytes, 30, " MB")
    goal("threads they add", after.threads - none.threads, 0, "")
    goal("idle, of a core", (after.cpu_seconds - before.cpu_seconds) / IDLE_SECONDS * 100, 3, "%")


async def _answer(room: Room, task_id: str, question_id: str) -> float:
    """Answer a question; return the seconds until its asker's next entry is on disk."""
    asked_at = time.time()
    await room.answer(question_id, "You may.", Approver("ada", "terminal"))
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        entries = await asyncio.to_thread(room.books.read, lambda view: entries_since(view, task_id, 4))
        if entries:
            return datetime.fromisoformat(entries[0].at).timestamp() - asked_at
        await asyncio.sleep(0.02)
    raise AssertionError(f"{task_id} was answered, and did not go on")


def _restart(empty: Path, full: Path, url: str) -> None:
    seconds: dict[Path, list[float]] = {empty: [], full: []}
    for _ in range(3):
        for project, taken in seconds.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", RESTART, str(project)], env=environment(url), check=True)
            taken.append(time.perf_counter() - started)
    bare = statistics.median(seconds[empty])
    print(f"  a new process, its room open and looked over: with none {bare:.2f} s")
    goal("restart with them", statistics.median(seconds[full]), 3, " s")
