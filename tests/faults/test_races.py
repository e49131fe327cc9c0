"""Things that happen at the same moment: one of them comes first, and nothing is lost between them."""

import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import pytest

from brasstag import ApprovalResponse, Room
from brasstag.engine.calls.approvals import Decisions
from brasstag.engine.graph.people import answer_question, stop_task
from brasstag.store.database.base import View
from brasstag.store.tasks.approvals import approvals_of_task
from brasstag.store.tasks.ledger import Claimed
from brasstag.store.tasks.rows import get_task, live_children
from brasstag.store.tasks.types import Ending, Held
from brasstag.words.approvals import ApprovalState
from brasstag.words.calls import Tag
from brasstag.words.errors import Code, LeaseHeld, ToolError
from brasstag.words.events import EntryKind
from tests.engine.crews import ADA, Script, call, turn
from tests.faults.checking import ends_of
from tests.faults.conftest import MakeWorld
from tests.faults.harness import PATIENCE, say_yes, until
from tests.runtimes import put_in

ROUNDS = 12

Act = Callable[[], Any]


class Meeting:
    """Lets several things happen at once, each on a thread of its own, and remembers how they ended."""

    def __init__(self) -> None:
        self.ended: Counter[str] = Counter()
        self.strange: list[BaseException] = []

    def hold(self, act: Callable[[], Any], others: list[tuple[str, Act]]) -> Any:
        """Act here, and let others act at the same moment; return what came of the one here."""
        barrier = threading.Barrier(len(others) + 1, timeout=PATIENCE)
        threads = [threading.Thread(target=self._attend, args=(barrier, *other)) for other in others]
        for thread in threads:
            thread.start()
        try:
            barrier.wait()
            return act()
        finally:
            for thread in threads:
                thread.join()

    def _attend(self, barrier: threading.Barrier, name: str, act: Act) -> None:
        try:
            barrier.wait()
            act()
            self.ended[f"{name}: done"] += 1
        except ToolError as error:
            self.ended[f"{name}: {error.code}"] += 1
        except BaseException as error:
            self.strange.append(error)


WAITING: Script = {
    "boss": [turn(call("ask_master", question="So?"), call("repeat")), turn(text="built")],
}


async def test_answers_and_decisions_that_come_as_a_task_blocks_are_heard_and_the_second_is_told(
    make_world: MakeWorld,
) -> None:
    world = make_world(WAITING)
    world.mill.write_tool("repeat", approval="confirm")
    world.mill.accept()
    meeting = Meeting()
    async with Room.open(world.mill.project) as room:
        graph: Any = room.store.graph
        block = graph.block

        def blocked(held: Held, seen: int) -> bool:
            moved: bool = meeting.hold(lambda: block(held, seen), _people(room, held.id))
            return moved

        graph.block = blocked
        runs = [await room.start(f"Build {number}") for number in range(ROUNDS)]
        for run in runs:
            assert (await room.finished(run)).result == "built"
        assert await world.violations(room) == []
    assert meeting.strange == []
    told = meeting.ended
    assert (told["answer: done"], told[f"answer: {Code.TASK_CLOSED}"]) == (ROUNDS, ROUNDS)
    assert (told["decide: done"], told[f"decide: {Code.APPROVAL_CLOSED}"]) == (ROUNDS, ROUNDS)


def _people(room: Room, task_id: str) -> list[tuple[str, Act]]:
    """Two who answer, and two who decide, one yes and one no, whatever a task waits for."""
    store = room.store
    questions = store.read(lambda view: live_children(view, task_id))
    approvals = store.read(lambda view: approvals_of_task(view, task_id, ApprovalState.OPEN))
    answers: list[tuple[str, Act]] = [
        ("answer", partial(answer_question, store, question.id, words, ADA))
        for question in questions
        for words in ("Blue", "Red")
    ]
    decisions: list[tuple[str, Act]] = [
        ("decide", partial(Decisions(store).decide, approval, ApprovalResponse(yes), ADA))
        for approval in approvals
        for yes in (True, False)
    ]
    return answers + decisions


SIBLINGS: Script = {
    "boss": [turn(*(call("route_to_helper", request=f"Part {part}") for part in "abc")), turn(text="built")],
    "helper": [turn(text="helped")],
}


async def test_siblings_that_end_together_all_tell_their_parent(make_world: MakeWorld) -> None:
    world = make_world(SIBLINGS)
    barrier = threading.Barrier(3, timeout=PATIENCE)
    async with Room.open(world.mill.project) as room:
        graph: Any = room.store.graph
        finish = graph.finish

        def finished(held: Held, ending: Ending) -> Tag:
            if held.task.role == "helper":
                barrier.wait()
            tag: Tag = finish(held, ending)
            return tag

        graph.finish = finished
        for number in range(ROUNDS):
            run = await room.start(f"Build {number}")
            assert (await room.finished(run)).result == "built"
            assert sorted(ends_of(await room.timeline(run)).values()) == [1, 1, 1]
        assert await world.violations(room) == []


SAME_FILE: Script = {
    "boss": [turn(*(call("route_to_helper", request=f"Part {part}") for part in "ab")), turn(text="built")],
    "helper": [
        {
            "when": f"Part {part}",
            "turns": [turn(call("write_file", path="shared.md", content=part)), turn(text="helped")],
        }
        for part in "ab"
    ],
}


@pytest.mark.parametrize("claims", ["while the other acts", "after the other has settled"])
async def test_of_two_who_write_the_same_new_file_one_is_asked_whether_to_overwrite_it(
    make_world: MakeWorld, claims: str
) -> None:
    world = make_world(SAME_FILE)
    looked = threading.Barrier(2, timeout=PATIENCE)
    places = count(1)
    first_settled, second_refused = threading.Event(), threading.Event()
    async with Room.open(world.mill.project) as room:
        store: Any = room.store
        claim = store.claim

        def claimed(*arguments: Any) -> Claimed:
            try:
                taken: Claimed = claim(*arguments)
            except LeaseHeld:
                second_refused.set()
                raise
            return taken

        def at(step: str) -> None:
            # Both have looked when the first of them has persisted, and neither saw a file.
            place = next(places) if step == "persisted" else 0
            if place in (1, 2):
                looked.wait()
            if claims == "after the other has settled" and place == 2:
                assert first_settled.wait(PATIENCE)
            if claims == "while the other acts" and step == "claimed":
                assert second_refused.wait(PATIENCE)
            if step == "settled":
                first_settled.set()

        store.claim = claimed
        put_in(room, at=at)
        run = await room.start("Build")

        async def ended() -> bool:
            await say_yes(room)
            return await room.runs.ended(run) is not None

        await until(ended, "the run ended")
        assert len(await room.approvals()) == 1
        settled = [entry.payload or {} for entry in await room.timeline() if entry.kind is EntryKind.SETTLED]
        assert [payload["outcome"] for payload in settled] == ["done", "done"]
        first, second = sorted(
            (payload["changes"][0] for payload in settled), key=lambda one: bool(one["before"])
        )
        assert second["before"] == first["after"]
        assert await world.violations(room) == []


DEEP: Script = {
    "boss": [turn(call("route_to_worker", request="Go on")), turn(text="built")],
    "worker": [turn(call("route_to_helper", request="Go on")), turn(text="worked")],
    "helper": [turn(text="helped")],
}


@pytest.mark.parametrize("stopped", ["boss", "worker", "helper"])
async def test_a_task_that_ends_as_it_is_stopped_from_above_ends_once(
    make_world: MakeWorld, stopped: str
) -> None:
    world = make_world(DEEP)
    meeting = Meeting()
    async with Room.open(world.mill.project) as room:
        graph: Any = room.store.graph
        finish = graph.finish

        def finished(held: Held, ending: Ending) -> Tag:
            others: list[tuple[str, Act]] = []
            if held.task.role == "helper":
                above = room.store.read(lambda view: _lineage(view, held))
                others.append(("stop", lambda: stop_task(room.store, above[stopped], "ada")))
            tag: Tag = meeting.hold(lambda: finish(held, ending), others)
            return tag

        graph.finish = finished
        runs = [await room.start(f"Build {number}") for number in range(ROUNDS)]
        for run in runs:
            await room.finished(run)
        assert await world.violations(room) == []
    assert meeting.strange == []
    assert sum(meeting.ended.values()) == ROUNDS
    assert meeting.ended.keys() <= {"stop: done", f"stop: {Code.TASK_CLOSED}"}


def _lineage(view: View, held: Held) -> dict[str, str]:
    """Return the ids of a task and of all above it, by role."""
    found, task = {}, held.task
    while True:
        found[task.role] = task.id
        if not task.parent_id:
            return found
        task = get_task(view, task.parent_id)
