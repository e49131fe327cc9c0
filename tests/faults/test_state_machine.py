"""Whatever happens in whatever order, and wherever a worker dies: the room holds what it should, as a plain model says."""

import asyncio
import tempfile
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from brasstag import ApprovalResponse, Code, Room
from brasstag.app.open import open_project
from brasstag.engine.recovery.reconcile import reconcile
from brasstag.engine.worker.advance import TaskRunner
from brasstag.words.approvals import ApprovalState
from brasstag.words.errors import ToolError
from brasstag.words.messages import ToolUse
from brasstag.words.times import utc_now
from brasstag.words.turns import ModelError, OnText, Turn, TurnRequest
from tests.conftest import examples
from tests.engine.crews import ADA
from tests.faults.checking import is_doubt, is_end, violations
from tests.faults.expected import FAIL, SAY, Expected, Key, Node, Plan
from tests.faults.mill import Mill
from tests.runtimes import put_in

_T = TypeVar("_T")

ACTS = st.sampled_from(["route_to_worker", "route_to_helper", "ask_master", "send", "repeat", "write_file"])
CALLS = st.lists(ACTS, min_size=1, max_size=3)
ENDS = st.sampled_from([["handoff"], SAY, FAIL])
PLANS = st.one_of(
    st.tuples(CALLS),
    st.tuples(CALLS, CALLS),
    st.tuples(CALLS.map(lambda calls: [*calls, "handoff"])),
    st.tuples(CALLS, ENDS),
    st.tuples(ENDS),
)
"""What a model will say, in this turn and the next; after that it has nothing to add."""
WHICH = st.integers(0, 99)


class Died(BaseException):
    """The worker is dead."""


class Puppet:
    """A model that answers as it is told beforehand, by task and turn."""

    name = "puppet"
    sees_images = False
    context_tokens = 100_000

    def __init__(self) -> None:
        self.plans: dict[int, Plan] = {}

    async def respond(self, request: TurnRequest, _on_text: OnText) -> Turn:
        """Answer as planned."""
        plan = self.plans.get(request.turn, SAY)
        if plan == FAIL:
            raise ModelError("as planned")
        if plan == SAY:
            return Turn("said")
        arguments = {
            "ask_master": {"question": "So?"},
            "handoff": {"result": "done"},
            "send": {},
            "repeat": {},
        }
        uses = [
            ToolUse(
                "",
                tool,
                {"path": f"{request.task_id}/{request.turn}.{index}.md", "content": "text"}
                if tool == "write_file"
                else arguments.get(tool, {"request": "Do it"}),
            )
            for index, tool in enumerate(plan)
        ]
        return Turn(calls=tuple(uses), stop="calls")


class Life(RuleBasedStateMachine):
    """One room, its people and its workers, one step at a time."""

    folder: ClassVar[Path]
    """Where rooms are built, one for each life."""

    def __init__(self) -> None:
        super().__init__()
        self.mill = Mill.build(Path(tempfile.mkdtemp(dir=self.folder)) / "mill", {}, ("send",))
        self.mill.write_tool("repeat", approval="confirm")
        self.mill.accept()
        self.runner = asyncio.Runner()
        self.expected = Expected()
        self.ids: dict[Key, str] = {}
        self.keys: dict[str, Key] = {}
        self.puppet = Puppet()
        self.room = self.run(self.open())

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run something to its end."""
        return self.runner.run(work)

    async def open(self) -> Room:
        """Open the room, as a new process would, and look over it once."""
        room = Room(await open_project(self.mill.project, utc_now), "library", "")
        room._runtime.agents.find_model = lambda _name, _fallback: self.puppet
        await room._runtime.in_flight.run(reconcile, room._runtime, lambda _: False)
        return room

    @precondition(lambda self: not self.of("ready"))
    @rule()
    def start(self) -> None:
        self.know(self.run(self.room.start("Build", serve=False)), self.expected.start().key)

    @precondition(lambda self: self.of("ready"))
    @rule(which=WHICH, plans=PLANS)
    def advance(self, which: int, plans: Sequence[Plan]) -> None:
        node = self.plan(which, plans)
        self.run(self.work(node))
        self.expected.advance(node, self.puppet.plans)

    @precondition(lambda self: self.of("ready"))
    @rule(which=WHICH, plans=PLANS, deaths=st.lists(st.integers(0, 8), min_size=1, max_size=2))
    def die_and_advance(self, which: int, plans: Sequence[Plan], deaths: list[int]) -> None:
        node = self.plan(which, plans)
        died = False
        for steps in deaths:
            died = self.run(self.die(node, steps)) or died
        self.run(self.work(node))
        self.expected.advance(node, self.puppet.plans, self.doubts() if died else ())

    @precondition(lambda self: self.questions())
    @rule(which=WHICH)
    def answer(self, which: int) -> None:
        node = _pick(self.questions(), which)
        self.run(self.room.answer(self.ids[node.key], "Blue", ADA))
        self.expected.end(node, "done")
        assert self.refused(self.room.answer(self.ids[node.key], "Red", ADA)) is Code.TASK_CLOSED

    @precondition(lambda self: self.expected.asked())
    @rule(which=WHICH, yes=st.booleans())
    def decide(self, which: int, yes: bool) -> None:
        key = _pick(sorted(self.expected.asked()), which)
        approval = self.approvals()[key]
        self.run(self.room.decide(approval, ApprovalResponse(yes), ADA))
        self.expected.decide(key, yes=yes)
        again = self.room.decide(approval, ApprovalResponse(not yes), ADA)
        assert self.refused(again) is Code.APPROVAL_CLOSED

    @precondition(lambda self: self.of("ready", "blocked"))
    @rule(which=WHICH)
    def stop(self, which: int) -> None:
        node = _pick(self.of("ready", "blocked"), which)
        if self.expected.is_doubt(node):
            assert self.refused(self.room.stop(self.ids[node.key])) is Code.NOT_SUPPORTED
            return
        self.run(self.room.stop(self.ids[node.key]))
        self.expected.cancel(node)
        assert self.refused(self.room.stop(self.ids[node.key])) is Code.TASK_CLOSED

    @precondition(lambda self: self.ended_roots())
    @rule(which=WHICH)
    def resume(self, which: int) -> None:
        root = _pick(self.ended_roots(), which)
        self.run(self.room.resume_run(self.ids[root.key], serve=False))
        self.expected.resume(root)
        assert self.refused(self.room.resume_run(self.ids[root.key], serve=False)) is Code.TASK_CLOSED

    @precondition(lambda self: self.of("blocked"))
    @rule()
    def restart(self) -> None:
        self.run(self.room._close())
        self.room = self.run(self.open())

    @invariant()
    def holds_what_it_should(self) -> None:
        assert self.statuses() == self.expected.statuses()
        ends, expected = self.ends(), self.expected.ends()
        assert ends.keys() == expected.keys()
        assert [key for key, end in ends.items() if end not in expected[key]] == []
        assert self.approvals().keys() == self.expected.asked().keys()

    def teardown(self) -> None:
        """Stop whatever still goes on; nothing may be left over."""
        try:
            for root in self.expected.roots:
                if root.is_live:
                    self.run(self.room.stop(self.ids[root.key]))
            assert self.run(violations(self.room, self.mill)) == []
        finally:
            self.run(self.room._close())
            self.runner.close()

    def of(self, *statuses: str) -> list[Node]:
        """Return the tasks that stand so, as they should."""
        return [node for node in self.expected.nodes() if node.status in statuses]

    def questions(self) -> list[Node]:
        """Return what waits for a person's answer."""
        return [node for node in self.of("blocked") if node.role == "person"]

    def ended_roots(self) -> list[Node]:
        """Return the runs that can go on."""
        return [root for root in self.expected.roots if root.status in ("failed", "cancelled")]

    def plan(self, which: int, plans: Sequence[Plan]) -> Node:
        """Choose a ready task, and what its model will say."""
        node = _pick(self.of("ready"), which)
        if node.kind == "question":
            # Who only answers may ask, but change nothing.
            plans = [["ask_master"] if plan[0] == "ask_master" else SAY for plan in plans]
        self.puppet.plans = {len(node.turns) + number: plan for number, plan in enumerate(plans)}
        return node

    async def work(self, node: Node) -> None:
        """Take a task as far as it goes, unless a worker that died has done so."""
        name = self.ids[node.key]
        task = await self.room.runs.task(name)
        if task.status == "ready":
            await TaskRunner(self.room._runtime, self.room._counter).advance(name, task.wake)

    async def die(self, node: Node, steps: int) -> bool:
        """Work on a task and die after so many steps; the next worker opens the room. Say whether it came to that."""
        left, room = steps, self.room

        def at(_step: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Died

        put_in(room, at=at)
        try:
            await self.work(node)
        except Died:
            # Its threads have nobody to tell; whatever they still do they did before it died.
            await room._runtime.threads.drain(60)
        room._open_room.close()
        self.room = await self.open()
        return left < 0

    def statuses(self) -> dict[Key, str]:
        """Return where each task stands, and learn their names."""
        found: dict[Key, str] = {}
        tasks = [task for task in self.run(self.room.tasks()) if task.kind != "desk"]
        for task in sorted(tasks, key=lambda task: task.depth):
            if task.id not in self.keys:
                self.know(task.id, self.key_of(task.parent_call))
            found[self.keys[task.id]] = task.status
        return found

    def know(self, task_id: str, key: Key) -> None:
        """Remember which task is meant by a key."""
        self.ids[key], self.keys[task_id] = task_id, key

    def ends(self) -> dict[Key, str]:
        """Return how each call ended."""
        ends = [entry for entry in self.run(self.room.timeline()) if is_end(entry)]
        found = {self.key_of(entry.call_id): (entry.payload or {})["outcome"] for entry in ends}
        assert len(found) == len(ends), "a call ended twice"
        return found

    def doubts(self) -> set[Key]:
        """Return the calls of which nobody knew what came of them."""
        return {self.key_of(entry.call_id) for entry in self.run(self.room.timeline()) if is_doubt(entry)}

    def approvals(self) -> dict[Key, str]:
        """Return the requests that wait for a person, by call."""
        waiting = self.run(self.room.approvals(ApprovalState.OPEN))
        return {self.key_of(approval.call_id): approval.id for approval in waiting}

    def key_of(self, call_id: str) -> Key:
        """Return the way to a call."""
        task_id, _, name = call_id.rpartition(":")
        return (*self.keys[task_id], name)

    def refused(self, act: Coroutine[Any, Any, Any]) -> Code | None:
        """Try something that must not be possible, and say why it was not."""
        try:
            self.run(act)
        except ToolError as error:
            return error.code
        return None


def _pick(among: list[_T], which: int) -> _T:
    return among[which % len(among)]


@pytest.mark.hypothesis
def test_any_history_leads_where_it_should(tmp_path: Path) -> None:
    Life.folder = tmp_path
    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=examples(25),
            # To find a shorter history takes minutes; one of twenty steps can be read.
            phases=[Phase.generate],
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
