"""After any sequence of operations and crashes the live catalog is the fold of the approved snapshots."""

import asyncio
import json
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag import Room
from brasstag.app.project.create import create_project
from brasstag.catalog.gate.decide import PersonsDecision, decide
from brasstag.words.approvals import Approver
from brasstag.words.errors import ToolError
from brasstag.words.review.proposals import ProposalState, ProposalStep
from tests.app.prompts.documents import live_file, live_ids, proposal
from tests.processes import start_server

STEPS = ("approval recorded", "snapshot written", "live file written", "applied")
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.preload"])


def approve_at_gate(room: Room, name: str, at: Callable[[str], None]) -> None:
    gate = room._runtime.gate
    assert gate is not None
    found = gate.get(name)
    decision = PersonsDecision(ProposalStep.APPROVE, Approver.named("ada"), found.digest)
    decide(replace(gate, at=at), room.task_id, name, decision, lambda one: one.harness)


def approve_and_die(project: Path, user: str, name: str, last: str) -> None:
    """Approve in a process of its own, which is killed right after a step."""
    os.environ["BRASSTAG_USER_DIR"] = user

    def at(step: str) -> None:
        if step == last:
            os.kill(os.getpid(), signal.SIGKILL)

    async def main() -> None:
        async with Room.open(project) as room:
            approve_at_gate(room, name, at)

    asyncio.run(main())


@pytest.mark.parametrize("last", STEPS)
@pytest.mark.parametrize("target", ["project", "user"])
def test_a_killed_approval_is_finished_by_the_next_opening(project: Path, last: str, target: str) -> None:
    async def propose() -> str:
        async with Room.open(project) as room:
            return (await room.prompts.propose(proposal(target=target))).id

    async def look() -> None:
        async with Room.open(project) as room:
            found = await room.prompts.proposal(name)
            assert (found.state, found.applied) == (ProposalState.APPROVED, True)
            entry = (await room.prompts.catalog()).find("tag_hunter")
            assert entry is not None
            assert entry.source == target
            assert len(await room.prompts.history("tag_hunter")) == 1
            assert (await room.verify()).findings == []

    name = asyncio.run(propose())
    start_server()
    child = _context.Process(
        target=approve_and_die, args=(project, os.environ["BRASSTAG_USER_DIR"], name, last)
    )
    child.start()
    child.join(120)
    assert child.exitcode == -signal.SIGKILL
    asyncio.run(look())


class Crash(BaseException):
    """Ends the process of the story between two steps."""


@dataclass
class Story:
    """What a catalog should hold after what has happened so far."""

    project: Path
    live: dict[str, str] = field(default_factory=dict)
    rationales: int = 0

    async def play(self, operations: list[tuple[Any, ...]]) -> None:
        left = list(operations)
        while left:
            try:
                async with Room.open(self.project) as room:
                    await self._play(room, left)
            except Crash:
                pass
        async with Room.open(self.project) as room:
            await self.check(room)

    async def _play(self, room: Room, left: list[tuple[Any, ...]]) -> None:
        await self.check(room)
        while left:
            operation, *arguments = left.pop(0)
            await getattr(self, f"_{operation}")(room, *arguments)
            await self.check(room)

    async def check(self, room: Room) -> None:
        catalog = await room.prompts.catalog()
        shown = {entry.tool.id: entry.tool.prompt for entry in catalog.entries if not entry.is_locked}
        assert shown == self.live
        folded: dict[str, str] = {}
        for tool_id in sorted(
            path.name for path in (self.history.iterdir() if self.history.exists() else ())
        ):
            newest = (await room.prompts.history(tool_id))[-1]
            if newest.tool is not None and not newest.is_retirement:
                folded[tool_id] = newest.tool.prompt
        assert folded == self.live
        assert live_ids(self.project) == sorted(self.live)

    @property
    def history(self) -> Path:
        return self.project / ".brasstag" / "prompts" / "history"

    def _document(self, name: str, prompt: str, *, retire: bool = False) -> dict[str, Any]:
        self.rationales += 1
        kind = "retire" if retire else "modify" if name in self.live else "new"
        return proposal(
            id=name,
            prompt=f"{prompt} {self.rationales}",
            proposalType=kind,
            rationale=f"reason {self.rationales}",
        )

    async def _approve(self, room: Room, name: str, prompt: str, last: str) -> None:
        found = await room.prompts.propose(self._document(name, prompt))
        shown = found.content.tool.prompt
        self._decide(room, found.id, last, lambda: self.live.__setitem__(name, shown))

    async def _retire(self, room: Room, name: str, last: str) -> None:
        if name in self.live:
            found = await room.prompts.propose(self._document(name, "", retire=True))
            self._decide(room, found.id, last, lambda: self.live.pop(name))

    def _decide(self, room: Room, name: str, last: str, then: Callable[[], object]) -> None:
        def at(step: str) -> None:
            if step == last:
                raise Crash

        try:
            approve_at_gate(room, name, at)
        finally:
            # From its record on an approval counts: what is left of it is finished by the next opening.
            then()

    async def _reject(self, room: Room, name: str, prompt: str) -> None:
        found = await room.prompts.propose(self._document(name, prompt))
        await room.prompts.reject(found.id, "ada", seen=found.digest)

    async def _rival(self, room: Room, name: str, prompt: str) -> None:
        ours = await room.prompts.propose(self._document(name, prompt), by="ada")
        theirs = await room.prompts.propose(self._document(name, prompt), by="bo")
        await room.prompts.approve(theirs.id, "cy", seen=theirs.digest)
        self.live[name] = theirs.content.tool.prompt
        with pytest.raises(ToolError):
            await room.prompts.approve(ours.id, "cy", seen=ours.digest)
        await room.prompts.reject(ours.id, "cy", seen=ours.digest)

    async def _edit(self, room: Room, name: str) -> None:
        """Edit the live file by hand, look, and put it back: nothing of it counts."""
        if name not in self.live:
            return
        file = live_file(self.project)
        before = file.read_bytes()
        entries = [
            entry | ({"prompt": "by hand"} if entry["id"] == name else {}) for entry in json.loads(before)
        ]
        file.write_text(json.dumps(entries))
        shown = {entry.tool.id: entry.tool.prompt for entry in (await room.prompts.catalog()).entries}
        assert shown[name] == self.live[name]
        file.write_text("[]")
        shown = {entry.tool.id: entry.tool.prompt for entry in (await room.prompts.catalog()).entries}
        assert shown[name] == self.live[name]
        file.write_bytes(before)


names = st.sampled_from(["alpha", "beta"])
prompts = st.sampled_from(["One.", "Two.", "Three."])
crashes = st.sampled_from([*STEPS, "never", "never", "never"])
operations = st.one_of(
    st.tuples(st.just("approve"), names, prompts, crashes),
    st.tuples(st.just("retire"), names, crashes),
    st.tuples(st.just("reject"), names, prompts),
    st.tuples(st.just("rival"), names, prompts),
    st.tuples(st.just("edit"), names),
)


@settings(max_examples=40)
@given(st.lists(operations, max_size=8))
def test_the_live_catalog_is_the_fold_of_approved_snapshots(played: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRASSTAG_USER_DIR", f"{scratch}/user")
        create_project(Path(scratch) / "project")
        asyncio.run(Story(Path(scratch) / "project").play(played))
