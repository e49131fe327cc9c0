"""Approvals: bound to exactly what a person saw, decided once, used once."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from brasstag import (
    Approval,
    ApprovalResponse,
    ApprovalState,
    Approver,
    Done,
    Failed,
    Outcome,
    Room,
    Verdict,
    Waiting,
    tool,
)
from brasstag.engine.calls.approvals import decided
from brasstag.store.tasks.end import Decision
from brasstag.testing.clock import FakeClock
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.engine.forging import forge

ADA = Approver("ada", "terminal")
YES, NO = ApprovalResponse(True), ApprovalResponse(False, reason="too early")


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.md").write_text("old")
    async with Room.in_memory(workspace) as opened:
        yield opened


@pytest.fixture
def expiring(make_project: MakeProject) -> Path:
    """A project whose approvals expire after two hours, with a file that a call would overwrite."""
    project = make_project('[approvals]\nexpires_after = "2h"\n')
    (project / "data" / "a.md").write_text("old")
    return project


async def overwrite(room: Room, content: str = "new") -> Approval:
    waiting = await room.call("write_file", {"path": "a.md", "content": content})
    assert isinstance(waiting, Waiting)
    return await room.approval(waiting.approval_id)


def code_of(outcome: Outcome) -> Code:
    assert isinstance(outcome, Failed), outcome
    return outcome.code


async def test_an_approval_is_the_request_people_are_shown(room: Room) -> None:
    approval = await overwrite(room)
    assert approval.request.as_json() == {
        "stepId": approval.call_id,
        "tool": "write_file",
        "args": {
            "path": "a.md", "content": "new", "encoding": "utf-8", "create_dirs": True, "why_created": "",
        },
        "reason": "it overwrites a.md; profile careful asks first",
    }  # fmt: skip
    assert [change.path for change in approval.preview.changes] == ["a.md"]
    assert room.store.blobs.get(approval.preview.changes[0].before.removeprefix("file:")) == b"old"


async def test_an_approved_call_runs_once(room: Room) -> None:
    approval = await overwrite(room)
    await room.decide(approval.id, YES, ADA)
    assert isinstance(await room.resume(approval.id), Done)
    assert (room.workspace / "a.md").read_text() == "new"
    assert code_of(await room.resume(approval.id)) is Code.APPROVAL_CLOSED
    assert (await room.approval(approval.id)).state is ApprovalState.CONSUMED
    assert (await room.verify()).ok


async def test_of_two_who_use_one_approval_at_once_one_is_told_it_is_used(room: Room) -> None:
    approval = await overwrite(room)
    await room.decide(approval.id, YES, ADA)
    outcomes = await asyncio.gather(room.resume(approval.id), room.resume(approval.id))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Done", "Failed"]
    settled = [entry for entry in await room.timeline() if entry.kind is EntryKind.SETTLED]
    assert len(settled) == 1


async def test_the_second_to_decide_is_told_who_was_first(room: Room) -> None:
    approval = await overwrite(room)
    await room.decide(approval.id, NO, ADA)
    with pytest.raises(ToolError, match=r"already denied by ada \(terminal\)"):
        await room.decide(approval.id, YES, Approver("bob", "token"))


async def test_a_denial_reaches_whoever_asked_with_its_reason(room: Room) -> None:
    waiting = await room.call("write_file", {"path": "a.md", "content": "new"})
    assert isinstance(waiting, Waiting)
    await room.decide(waiting.approval_id, NO, ADA)
    outcome = await room.wait(waiting)
    assert code_of(outcome) is Code.DENIED
    assert "too early" in outcome.message  # type: ignore[union-attr]
    assert (room.workspace / "a.md").read_text() == "old"
    decided = (await room.timeline())[-1].payload
    assert decided is not None
    assert decided["result"]["error"]["code"] == "DENIED"


async def test_waiting_ends_when_a_person_approves(room: Room) -> None:
    waiting = await room.call("write_file", {"path": "a.md", "content": "new"})
    assert isinstance(waiting, Waiting)
    waiter = asyncio.create_task(room.wait(waiting))
    await room.decide(waiting.approval_id, YES, ADA)
    assert isinstance(await waiter, Done)


async def test_a_target_that_changed_voids_the_approval_and_asks_anew(room: Room) -> None:
    approval = await overwrite(room)
    await room.decide(approval.id, YES, ADA)
    (room.workspace / "a.md").write_text("somebody else was here")
    outcome = await room.resume(approval.id)
    assert isinstance(outcome, Waiting)
    assert outcome.approval_id != approval.id
    assert (await room.approval(approval.id)).state is ApprovalState.VOID
    assert (room.workspace / "a.md").read_text() == "somebody else was here"
    again = await room.approval(outcome.approval_id)
    assert again.state is ApprovalState.OPEN
    assert again.call_id == approval.call_id
    assert (await room.verify()).ok


async def test_a_rule_added_since_can_only_tighten(room: Room) -> None:
    approval = await overwrite(room)
    await room.decide(approval.id, YES, ADA)
    room.add_rule(lambda call, preview: Verdict("deny", "frozen", "freeze"))
    assert code_of(await room.resume(approval.id)) is Code.BLOCKED_BY_RULE
    assert (await room.approval(approval.id)).state is ApprovalState.VOID
    assert (room.workspace / "a.md").read_text() == "old"


async def test_a_tool_that_changed_since_is_asked_anew(make_project: MakeProject) -> None:
    from tests.conftest import accept

    project = make_project()
    (project / "tools").mkdir()
    source = project / "tools" / "act.py"
    (project / "tools" / "act.json").write_text(
        '{"tool_id": "act", "description": "Act.", "type": "function_tool", "approval": "confirm"}'
    )
    body = "from brasstag import tool\n\n\n@tool(execution_type='function')\ndef act() -> str:\n    '''act'''\n    return "
    source.write_text(f"{body}'one'\n")
    accept(project)
    async with Room.open(project) as room:
        waiting = await room.call("act", {})
        assert isinstance(waiting, Waiting)
        await room.decide(waiting.approval_id, YES, ADA)
    source.write_text(f"{body}'two'\n")
    accept(project)
    async with Room.open(project) as room:
        assert isinstance(await room.resume(waiting.approval_id), Waiting)


async def test_edited_arguments_run_as_the_person_saw_them(room: Room) -> None:
    approval = await overwrite(room)
    edited = {"path": "a.md", "content": "edited"}
    looked = await room.preview_edit(approval, edited)
    response = ApprovalResponse(True, modified_args=edited)
    await room.decide(approval.id, response, ADA, seen=looked.preview.digest)
    outcome = await room.resume(approval.id)
    assert isinstance(outcome, Done)
    assert outcome.meta["edited"]["by"] == "ada (terminal)"
    assert outcome.meta["edited"]["arguments"]["content"] == "edited"
    assert (room.workspace / "a.md").read_text() == "edited"
    used = await room.approval(approval.id)
    assert used.original_arguments is not None
    assert used.original_arguments["content"] == "new"


@pytest.mark.parametrize(
    ("edited", "code"),
    [
        ({"path": "../out.md", "content": "x"}, Code.INVALID_PATH),
        ({"path": "a.md"}, Code.INVALID_ARGUMENTS),
        ({"path": "a.md", "content": "x", "extra": 1}, Code.INVALID_ARGUMENTS),
        ({"path": ".env", "content": "x"}, Code.BLOCKED_BY_RULE),
        ({"path": ".git/config", "content": "x"}, Code.CONTROL_FILE),
    ],
)
async def test_edited_arguments_are_validated_and_judged(
    room: Room, edited: dict[str, Any], code: Code
) -> None:
    approval = await overwrite(room)
    with pytest.raises(ToolError) as caught:
        await room.decide(approval.id, ApprovalResponse(True, modified_args=edited), ADA, seen="whatever")
    assert caught.value.code is code
    assert (await room.approval(approval.id)).state is ApprovalState.OPEN


async def test_edited_arguments_without_the_preview_the_person_saw_do_not_count(room: Room) -> None:
    approval = await overwrite(room)
    edited = {"path": "a.md", "content": "edited"}
    looked = await room.preview_edit(approval, edited)
    (room.workspace / "a.md").write_text("changed meanwhile")
    for seen in (None, looked.preview.digest):
        with pytest.raises(ToolError) as caught:
            await room.decide(approval.id, ApprovalResponse(True, modified_args=edited), ADA, seen=seen)
        assert caught.value.code is Code.APPROVAL_STALE


@pytest.mark.parametrize("which", ["none", "that of the call as it was asked about"])
async def test_an_edit_with_no_or_the_wrong_digest_is_told_what_to_pass_and_where_to_get_it(
    room: Room, which: str
) -> None:
    approval = await overwrite(room)
    edited = {"path": "a.md", "content": "edited"}
    seen = None if which == "none" else approval.preview.digest
    with pytest.raises(ToolError) as caught:
        await room.decide(approval.id, ApprovalResponse(True, modified_args=edited), ADA, seen=seen)
    assert caught.value.code is Code.APPROVAL_STALE
    assert "pass seen=edited.preview.digest to decide" in caught.value.message
    assert "edited = await room.preview_edit(approval, arguments)" in caught.value.message
    assert (await room.approval(approval.id)).state is ApprovalState.OPEN


async def test_resuming_a_denied_call_tells_the_denial_as_waiting_for_it_does(room: Room) -> None:
    approval = await overwrite(room)
    await room.decide(approval.id, NO, ADA)
    resumed = await room.resume(approval.id)
    assert isinstance(resumed, Failed)
    assert (resumed.code, resumed.message) == (Code.DENIED, "a person denied this call: too early")
    assert resumed == await room.wait(Waiting(approval.id, approval.reason))
    assert resumed.tag is not None


async def test_resuming_a_call_that_no_person_answered_in_time_tells_so(expiring: Path) -> None:
    clock = FakeClock()
    async with Room.open(expiring, clock=clock) as room:
        approval = await overwrite(room)
        clock.move(timedelta(hours=2))
        resumed = await room.resume(approval.id)
        assert isinstance(resumed, Failed)
        assert (resumed.code, resumed.message) == (Code.DENIED, "no person answered in time")


async def test_the_timeline_tells_the_true_reason_for_what_a_profile_allows(tmp_path: Path) -> None:
    calls = [
        ("write_file", {"path": "a.md", "content": "one"}, "creating, which can be undone"),
        ("write_file", {"path": "a.md", "content": "two"}, "overwriting, which can be undone"),
        ("move_file", {"from": "a.md", "to": "b.md"}, "moving, which can be undone"),
        ("read_file", {"path": "b.md"}, "reading"),
        ("delete_file", {"path": "b.md"}, "deleting, which can be undone"),
    ]
    async with Room.in_memory(tmp_path, profile="trusted") as room:
        for name, arguments, allowed in calls:
            assert isinstance(await room.call(name, arguments), Done)
            told = [
                entry.payload["verdict"]
                for entry in await room.timeline()
                if "verdict" in (entry.payload or {})
            ]
            assert told[-1]["because"] == f"profile trusted allows {allowed}"


async def test_approving_something_else_than_was_shown_is_stale(room: Room) -> None:
    approval = await overwrite(room)
    with pytest.raises(ToolError) as caught:
        await room.decide(approval.id, YES, ADA, seen="0" * 64)
    assert caught.value.code is Code.APPROVAL_STALE


async def test_an_approval_lapses_when_policy_says_so(expiring: Path) -> None:
    clock = FakeClock()
    async with Room.open(expiring, clock=clock) as room:
        approval = await overwrite(room)
        clock.move(timedelta(hours=1, minutes=59))
        assert (await room.approval(approval.id)).state is ApprovalState.OPEN
        clock.move(timedelta(minutes=1))
        with pytest.raises(ToolError, match="already expired"):
            await room.decide(approval.id, YES, ADA)
        assert (await room.approvals(ApprovalState.EXPIRED))[0].id == approval.id
        assert (await room.verify()).ok


async def test_looking_at_an_approval_whose_time_is_up_writes_nothing(expiring: Path) -> None:
    clock = FakeClock()
    async with Room.open(expiring, clock=clock) as room:
        approval = await overwrite(room)
        clock.move(timedelta(hours=2))
        before = len(await room.timeline())
        assert (await room.approval(approval.id)).state is ApprovalState.EXPIRED
        assert await room.approvals(ApprovalState.OPEN) == []
        assert [one.id for one in await room.approvals()] == [approval.id]
        assert [one.id for one in await room.approvals(ApprovalState.EXPIRED)] == [approval.id]
        assert len(await room.timeline()) == before
        outcome = await room.wait(Waiting(approval.id, approval.reason))
        assert isinstance(outcome, Failed)
        assert outcome.message == "no person answered in time"
        assert (await room.timeline())[-1].kind is EntryKind.DECIDED


@pytest.mark.parametrize("opened_again", [True, False])
async def test_an_approval_expires_on_the_timeline_when_its_room_is_opened_or_it_is_decided(
    expiring: Path, opened_again: bool
) -> None:
    clock = FakeClock()
    async with Room.open(expiring, clock=clock) as room:
        approval = await overwrite(room)
        clock.move(timedelta(hours=2))
        if not opened_again:
            with pytest.raises(ToolError, match="already expired"):
                await room.decide(approval.id, YES, ADA)
    async with Room.open(expiring, clock=clock) as room:
        decided = [entry.payload or {} for entry in await room.timeline() if entry.kind is EntryKind.DECIDED]
        assert [payload["state"] for payload in decided] == ["expired"]


async def test_an_approval_that_has_expired_says_when(expiring: Path) -> None:
    clock = FakeClock()
    async with Room.open(expiring, clock=clock) as room:
        approval = await overwrite(room)
        clock.move(timedelta(hours=3))
        with pytest.raises(
            ToolError, match=f"already expired by .* at {re.escape(str(approval.expires_at))}"
        ):
            await room.decide(approval.id, YES, ADA)


async def test_an_expired_approval_on_a_timeline_that_cannot_be_believed_keeps_no_room_from_opening(
    expiring: Path,
) -> None:
    clock = FakeClock()
    async with Room.open(expiring, clock=clock) as room:
        approval = await overwrite(room)
        forge(room, approval.task_id, head="0" * 64)
        clock.move(timedelta(hours=3))
    async with Room.open(expiring, clock=clock) as room:
        assert isinstance(await room.call("list_files", {}), Done)
        assert (await room.approval(approval.id)).state is ApprovalState.EXPIRED
        assert not (await room.verify()).ok


async def test_a_yes_in_the_last_moment_counts_for_the_caller_that_waits(
    expiring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    async with Room.open(expiring, clock=clock) as room:
        approval = await overwrite(room)
        expire_due = room._approvals.expire_due

        async def decided_before_that() -> None:
            # The person looked before the time was up; their answer is written before the expiry is.
            response = Decision(ApprovalState.APPROVED, str(ADA), "")
            room.store.decide(approval, response, decided(approval, response))
            await expire_due()

        monkeypatch.setattr(room._approvals, "expire_due", decided_before_that)
        clock.move(timedelta(hours=3))
        assert isinstance(await room.wait(Waiting(approval.id, approval.reason)), Done)
    assert (expiring / "data" / "a.md").read_text() == "new"


async def test_by_default_an_approval_never_lapses(tmp_path: Path) -> None:
    clock = FakeClock()
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "a.md").write_text("old")
    async with Room.in_memory(tmp_path / "w", clock=clock) as room:
        approval = await overwrite(room)
        clock.move(timedelta(days=5000))
        assert (await room.approval(approval.id)).state is ApprovalState.OPEN


async def test_an_approval_can_be_named_by_the_end_of_its_id(room: Room) -> None:
    approval = await overwrite(room)
    assert (await room.approval(approval.id[-6:])).id == approval.id
    for name in ("abc", "nothing like it", "%", ""):
        with pytest.raises(ToolError) as caught:
            await room.approval(name)
        assert caught.value.code is Code.APPROVAL_NOT_FOUND


async def test_a_call_that_would_fail_asks_nobody(room: Room) -> None:
    assert code_of(await room.call("delete_file", {"path": "missing.md"})) is Code.FILE_NOT_FOUND
    assert await room.approvals() == []


async def test_a_call_a_rule_asks_about_asks_even_if_it_would_fail(room: Room) -> None:
    """Whether a secret holds a text is itself a secret."""
    room.add_rule(
        lambda call, preview: Verdict("ask", "private", "private") if "a.md" in preview.paths else None
    )
    edit = {"path": "a.md", "search_text": "not there", "replace_text": ""}
    assert isinstance(await room.call("edit_file", edit), Waiting)


async def test_requires_approval_may_be_a_function_of_the_arguments(room: Room) -> None:
    @tool(requires_approval=lambda arguments: arguments["amount"] > 100)
    def pay(amount: int) -> str:
        """Pay somebody.

        Args:
            amount: How much.
        """
        return f"paid {amount}"

    room.register(pay)
    assert isinstance(await room.call("pay", {"amount": 5}), Done)
    waiting = await room.call("pay", {"amount": 500})
    assert isinstance(waiting, Waiting)
    await room.decide(waiting.approval_id, YES, ADA)
    paid = await room.resume(waiting.approval_id)
    assert isinstance(paid, Done)
    assert paid.value == "paid 500"


async def test_a_notice_goes_out_when_something_waits(make_project: MakeProject, tmp_path: Path) -> None:
    heard = tmp_path / "heard.json"
    project = make_project(f'[approvals]\nnotify_command = ["sh", "-c", "cat > {heard}"]\n')
    (project / "data" / "a.md").write_text("old")
    async with Room.open(project) as room:
        approval = await overwrite(room)
    assert approval.id in heard.read_text()


async def test_a_notice_that_cannot_go_out_does_not_stop_the_call(make_project: MakeProject) -> None:
    project = make_project('[approvals]\nnotify_command = ["/no/such/program"]\n')
    (project / "data" / "a.md").write_text("old")
    async with Room.open(project) as room:
        assert (await overwrite(room)).state is ApprovalState.OPEN
