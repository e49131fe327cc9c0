"""First looks: every call under way gets its own, however many there are, and calls that ended leave nothing behind."""

import asyncio
import gc
import threading
import weakref
from typing import Any

from brasstag import Done, Failed, Room, tool
from brasstag.engine.calls.function import OFFERED
from brasstag.engine.deadline import Deadline, FirstChecks
from brasstag.toolkit.tool import INJECTABLE
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind

PATIENCE = 120.0


def watched(checks: FirstChecks, looked: "asyncio.Queue[Deadline]") -> Deadline:
    watch = Deadline(checks.loop)
    watch.look = lambda: looked.put_nowait(watch)
    checks.add(watch)
    return watch


async def test_every_watch_is_looked_at_once_in_the_order_they_began() -> None:
    checks = FirstChecks(asyncio.get_running_loop())
    looked: asyncio.Queue[Deadline] = asyncio.Queue()
    begun = [watched(checks, looked) for _ in range(3)]
    async with asyncio.timeout(PATIENCE):
        assert [await looked.get() for _ in begun] == begun
        # One that begins when no round goes on any more is looked at all the same, and nobody else is.
        late = watched(checks, looked)
        assert await looked.get() is late
    assert looked.empty()


async def test_a_watch_that_begins_between_two_rounds_is_looked_at_after_those_before_it() -> None:
    checks = FirstChecks(asyncio.get_running_loop())
    looked: asyncio.Queue[Deadline] = asyncio.Queue()
    first = Deadline(checks.loop)
    second: list[Deadline] = []

    def look() -> None:
        looked.put_nowait(first)
        second.append(watched(checks, looked))

    first.look = look
    checks.add(first)
    async with asyncio.timeout(PATIENCE):
        assert await looked.get() is first
        assert await looked.get() is second[0]


async def test_calls_of_two_event_loops_are_each_ended_by_their_own(room: Room) -> None:
    released = threading.Event()

    @tool(effects="none", limits={"timeout_seconds": 0.05})
    def dawdle() -> str:
        """Take too long."""
        released.wait(PATIENCE)
        return "done"

    room.register(dawdle)

    async def of_another_loop() -> Any:
        return await room.call("dawdle", {})

    here = asyncio.create_task(room.call("dawdle", {}))
    there = asyncio.create_task(asyncio.to_thread(lambda: asyncio.run(of_another_loop())))
    ended = await asyncio.gather(here, there)
    again = await room.call("dawdle", {})
    released.set()
    for outcome in (*ended, again):
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.TIMEOUT


async def test_nothing_holds_a_call_that_has_ended(room: Room) -> None:
    drafts: list[weakref.ref[Any]] = []

    @tool(effects="none")
    def peek(workspace: Any) -> str:
        """Look at nothing."""
        drafts.append(weakref.ref(workspace))
        return "seen"

    room.register(peek)
    gc.disable()
    try:
        assert isinstance(await room.call("peek", {}), Done)
        assert [draft() for draft in drafts] == [None]
    finally:
        gc.enable()


def test_everything_a_function_may_ask_for_is_offered() -> None:
    assert OFFERED.keys() == INJECTABLE


async def test_a_look_that_fails_keeps_no_other_watch_from_being_looked_at() -> None:
    loop = asyncio.get_running_loop()
    checks = FirstChecks(loop)
    looked: asyncio.Queue[Deadline] = asyncio.Queue()
    told: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _loop, context: told.append(context))

    def fail() -> None:
        raise RuntimeError("no threads left")

    watched(checks, looked).look = fail
    other = watched(checks, looked)
    async with asyncio.timeout(PATIENCE):
        assert await looked.get() is other
    assert [str(context["exception"]) for context in told] == ["no threads left"]


async def test_a_call_whose_task_is_stopped_twice_ends_once(room: Room) -> None:
    running, released = threading.Event(), threading.Event()

    @tool(effects="none")
    def dawdle() -> str:
        """Take too long."""
        running.set()
        released.wait(PATIENCE)
        return "done"

    room.register(dawdle)
    called = asyncio.create_task(room.call("dawdle", {}, call_id=f"{room.task_id}:0.0"))
    await asyncio.to_thread(running.wait, PATIENCE)
    for _ in range(3):
        room._counter.hurry(room.task_id)
    ended = await called
    released.set()
    assert isinstance(ended, Failed)
    entries = [one for one in await room.timeline() if one.call_id == f"{room.task_id}:0.0"]
    assert [one.kind for one in entries] == [EntryKind.CALLED]
