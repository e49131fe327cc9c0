"""A program waits, and a person decides at the command line, which also performs the call."""

import asyncio
from pathlib import Path

import pytest

from brasstag import Done, Failed, Outcome, Room, Waiting
from tests.surfaces.conftest import OpenTerminal


async def decided(project: Path, terminal: OpenTerminal, *decision: str) -> tuple[Outcome, int]:
    (project / "data" / "a.md").write_text("old")
    async with Room.open(project) as room:
        waiting = await room.call("write_file", {"path": "a.md", "content": "new"})
        assert isinstance(waiting, Waiting)
        at = terminal("approvals", *decision, waiting.approval_id)
        outcome, code = await asyncio.gather(room.wait(waiting), asyncio.to_thread(at.ends))
        return outcome, code


async def test_an_approved_call_has_happened_once_for_both(project: Path, terminal: OpenTerminal) -> None:
    outcome, code = await decided(project, terminal, "approve")
    assert isinstance(outcome, Done)
    assert outcome.value["path"] == "a.md"
    assert (project / "data" / "a.md").read_text() == "new"
    # Whichever of the two used the approval, the other one says so and nothing else.
    assert code in (0, 1)
    async with Room.open(project) as room:
        kinds = [entry.kind.value for entry in await room.timeline()]
        assert (kinds.count("claimed"), kinds.count("settled")) == (1, 1)


async def test_a_denied_call_is_told_so(project: Path, terminal: OpenTerminal) -> None:
    outcome, code = await decided(project, terminal, "deny", "--reason", "no")
    assert code == 0
    assert isinstance(outcome, Failed)
    assert outcome.message == "a person denied this call: no"


@pytest.mark.parametrize("content", ["changed by hand"])
async def test_a_call_asked_anew_goes_on_waiting(project: Path, terminal: OpenTerminal, content: str) -> None:
    (project / "data" / "a.md").write_text("old")
    async with Room.open(project) as room:
        first = await room.call("write_file", {"path": "a.md", "content": "new"})
        assert isinstance(first, Waiting)
        (project / "data" / "a.md").write_text(content)
        at = terminal("approvals", "approve", first.approval_id)

        def leave_open() -> int:
            return at.until("[later]:").type("later\n").ends()

        again, _ = await asyncio.gather(room.wait(first), asyncio.to_thread(leave_open))
        assert isinstance(again, Waiting)
        assert again.approval_id != first.approval_id
