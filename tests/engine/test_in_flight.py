"""Deadlines: each is checked, however many there are, moves through its states, and holds nothing of a call that ended."""

import asyncio
import gc
import threading
import weakref
from typing import Any

import pytest

from brasstag import Done, Failed, Room, tool
from brasstag.engine.calls.function import OFFERED
from brasstag.engine.in_flight import GRACE_SECONDS, Deadline, FirstChecks, Late, LeftBehind, State
from brasstag.toolkit.tool import INJECTABLE
from brasstag.words.calls import Settled
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind

PATIENCE = 120.0


def checked(checks: FirstChecks, looked: "asyncio.Queue[Deadline]") -> Deadline:
    deadline = Deadline(checks.loop, None)
    deadline.check = lambda: looked.put_nowait(deadline)  # type: ignore[method-assign]
    checks.add(deadline)
    return deadline


async def test_every_deadline_is_checked_once_in_the_order_they_began() -> None:
    checks = FirstChecks(asyncio.get_running_loop())
    looked: asyncio.Queue[Deadline] = asyncio.Queue()
    begun = [checked(checks, looked) for _ in range(3)]
    async with asyncio.timeout(PATIENCE):
        assert [await looked.get() for _ in begun] == begun
        # One that begins when no round goes on any more is checked all the same, and no other is.
        late = checked(checks, looked)
        assert await looked.get() is late
    assert looked.empty()


async def test_a_deadline_that_begins_between_two_rounds_is_checked_after_those_before_it() -> None:
    checks = FirstChecks(asyncio.get_running_loop())
    looked: asyncio.Queue[Deadline] = asyncio.Queue()
    first = Deadline(checks.loop, None)
    second: list[Deadline] = []

    def look() -> None:
        looked.put_nowait(first)
        second.append(checked(checks, looked))

    first.check = look  # type: ignore[method-assign]
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


async def test_a_check_that_fails_keeps_no_other_deadline_from_being_checked() -> None:
    loop = asyncio.get_running_loop()
    checks = FirstChecks(loop)
    looked: asyncio.Queue[Deadline] = asyncio.Queue()
    told: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _loop, context: told.append(context))

    def fail() -> None:
        raise RuntimeError("no threads left")

    checked(checks, looked).check = fail  # type: ignore[method-assign]
    other = checked(checks, looked)
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
    name = f"{room.task_id}:0.0"
    called = asyncio.create_task(room.call("dawdle", {}, call_id=name))
    await asyncio.to_thread(running.wait, PATIENCE)
    for _ in range(3):
        room._runtime.in_flight.stop(room.task_id)
    ended = await called
    released.set()
    assert isinstance(ended, Failed)
    async with asyncio.timeout(PATIENCE):
        # The function that was left behind returns, and records nothing.
        while name in room._runtime.in_flight:  # noqa: ASYNC110 - no event tells when a thread has ended
            await asyncio.sleep(0.01)
    entries = [one for one in await room.timeline() if one.call_id == name]
    assert [one.kind for one in entries] == [EntryKind.CALLED]


def ending() -> Settled:
    return Failed(Code.TIMEOUT, "late")


async def test_a_function_in_time_leaves_its_deadline_idle() -> None:
    deadline = Deadline(asyncio.get_running_loop(), None)
    assert deadline.begin(60, ending) == 60
    assert deadline.state is State.RUNNING
    deadline.end()
    assert (deadline.state, deadline.stopped) == (State.IDLE, False)


async def test_a_function_whose_time_is_up_is_left_behind_once_and_cannot_record_its_end() -> None:
    late: list[Late] = []
    deadline = Deadline(asyncio.get_running_loop(), None, late.append)
    deadline.begin(0, ending)
    deadline.check()
    deadline.check()
    assert (late, deadline.state) == ([ending], State.EXPIRED)
    for act in (deadline.end, lambda: deadline.begin(60, ending)):
        with pytest.raises(LeftBehind):
            act()


async def test_a_function_has_no_more_time_than_its_task() -> None:
    deadline = Deadline(asyncio.get_running_loop(), 2.0)
    assert (deadline.begin(60, ending), deadline.cut_short) == (2.0, True)
    deadline.end()
    assert (deadline.begin(1.0, ending), deadline.cut_short) == (1.0, False)


async def test_a_function_inside_another_has_what_that_one_has_left_and_is_stopped_with_it() -> None:
    late: list[Late] = []
    deadline = Deadline(asyncio.get_running_loop(), None, late.append)
    deadline.begin(10, ending)
    deadline.stop()
    assert deadline.begin(60, lambda: Done(1)) == 0
    deadline.check()
    assert (late, deadline.stopped) == ([ending], True)


@pytest.mark.parametrize(("only_drafts", "stopped"), [(True, True), (False, False)])
async def test_only_a_draft_is_broken_off_when_its_caller_goes_away(only_drafts: bool, stopped: bool) -> None:
    broken_off: list[str] = []
    deadline = Deadline(asyncio.get_running_loop(), None)
    deadline.on_end(lambda: broken_off.append("now"))
    deadline.begin(60, ending, only_drafts=only_drafts)
    deadline.leave()
    assert (deadline.caller_left, deadline.stopped, bool(broken_off)) == (True, stopped, stopped)


async def test_a_draft_that_begins_after_its_caller_went_away_is_broken_off_at_once() -> None:
    broken_off: list[str] = []
    deadline = Deadline(asyncio.get_running_loop(), None)
    deadline.leave()
    assert deadline.begin(60, ending, only_drafts=True) == GRACE_SECONDS
    deadline.on_end(lambda: broken_off.append("now"))
    assert broken_off == ["now"]


async def test_a_closed_deadline_is_not_checked_any_more() -> None:
    late: list[Late] = []
    deadline = Deadline(asyncio.get_running_loop(), None, late.append)
    deadline.begin(0, ending)
    deadline.close()
    deadline.check()
    assert (late, deadline.state) == ([], State.ENDED)
