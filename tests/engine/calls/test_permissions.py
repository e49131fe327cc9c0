"""Timed permissions: what they let through, what they never do, and what is done to them by people with the database."""

import math
import shutil
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update

from brasstag import (
    ApprovalResponse,
    ApprovalState,
    Approver,
    Done,
    Failed,
    Outcome,
    Permission,
    Room,
    Rule,
    Waiting,
    tool,
)
from brasstag.store.database.schema import entries, permissions, tasks
from brasstag.store.maintenance.redact import redact
from brasstag.testing.clock import FakeClock
from brasstag.words.approvals import PermissionState
from brasstag.words.calls import Call
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject, accept
from tests.processes import KILLED, call_and_die, end, start
from tests.runtimes import put_in

ADA = Approver("ada", "terminal")
FILES = ("reports/a.md", "reports/b.md", "reports/c.md", "notes.md")


def fill(workspace: Path) -> None:
    (workspace / "reports").mkdir(parents=True)
    for name in FILES:
        (workspace / name).write_text("old")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def room(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Room]:
    fill(tmp_path / "workspace")
    async with Room.in_memory(tmp_path / "workspace", clock=clock) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgres"])
def project(
    request: pytest.FixtureRequest, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> Path:
    if request.param == "postgres":
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", request.getfixturevalue("postgres").url)
    made = make_project()
    fill(made / "data")
    return made


async def write(room: Room, path: str, **more: Any) -> Outcome:
    return await room.call("write_file", {"path": path, "content": "new"}, **more)


async def ask(room: Room, path: str = "reports/a.md") -> str:
    waiting = await write(room, path)
    assert isinstance(waiting, Waiting), waiting
    return waiting.approval_id


async def permit(room: Room, path: str = "reports/a.md", **more: Any) -> Permission:
    return await room.permit(await ask(room, path), ADA, **({"pattern": "reports/**"} | more))


async def verdict_on(room: Room, outcome: Outcome) -> dict[str, Any]:
    """Return the verdict that the timeline has for a call."""
    assert isinstance(outcome, Done), outcome
    assert outcome.tag is not None
    last = room.store.entry(outcome.tag.id)
    assert last is not None
    first = next(
        entry for entry in room.store.entries(call_id=last.call_id) if "verdict" in (entry.payload or {})
    )
    return dict((first.payload or {})["verdict"])


async def is_asked(room: Room, path: str = "reports/b.md") -> bool:
    outcome = await write(room, path)
    assert isinstance(outcome, Done | Waiting), outcome
    return isinstance(outcome, Waiting)


async def findings(room: Room) -> list[str]:
    return [finding.what for finding in (await room.verify()).findings]


async def test_it_lets_the_like_through_and_every_call_names_it(room: Room) -> None:
    permission = await permit(room)
    assert (permission.tool, permission.role, permission.approver) == ("write_file", "operator", str(ADA))
    assert isinstance(await room.resume(permission.approval_id), Done)
    outcome = await write(room, "reports/b.md")
    assert await verdict_on(room, outcome) == {
        "decision": "allow",
        "because": f"ada (terminal) allowed write_file(reports/**) when overwrites until {permission.expires_at}",
        "rule": permission.id,
        "permission": permission.id,
    }
    assert await is_asked(room, "notes.md")
    assert isinstance(await room.call("delete_file", {"path": "reports/c.md"}), Waiting)
    (listed,) = await room.permissions()
    assert (listed.calls, listed.state) == (1, PermissionState.ACTIVE)
    explained = await room.explain("write_file", {"path": "reports/c.md", "content": "new"})
    assert explained.explanation is not None
    assert explained.explanation.verdict.rule == permission.id
    assert [line.verdict.rule for line in explained.explanation.lines if line.decided] == [permission.id]
    assert await findings(room) == []


async def test_the_open_approval_is_approved_in_the_same_commit(room: Room) -> None:
    permission = await permit(room)
    assert (await room.approval(permission.approval_id)).state is ApprovalState.APPROVED
    newest = (await room.timeline())[-2:]
    assert [entry.kind for entry in newest] == [EntryKind.DECIDED, EntryKind.PERMITTED]
    await room.resume(permission.approval_id)
    later = await room.permit(permission.approval_id, ADA, minutes=5)
    assert [one.id for one in await room.permissions()] == [permission.id, later.id]


async def test_without_a_pattern_only_the_same_call_is_let_through(room: Room) -> None:
    permission = await permit(room, pattern="")
    await room.resume(permission.approval_id)
    assert not await is_asked(room, "reports/a.md")
    assert await is_asked(room, "reports/b.md")


async def test_only_its_own_role_is_let_through(make_project: MakeProject) -> None:
    roles = '[roles.writer]\ninstructions = "Write."\ntools = ["write_file"]\n'
    project = make_project(roles)
    fill(project / "data")
    async with Room.open(project) as room:
        waiting = await write(room, "reports/a.md", role="writer")
        assert isinstance(waiting, Waiting)
        await room.permit(waiting.approval_id, ADA, pattern="reports/**")
        assert isinstance(await write(room, "reports/b.md"), Waiting)
        assert isinstance(await write(room, "reports/b.md", role="writer"), Done)


@pytest.mark.parametrize(
    "path",
    ["reports/../notes.md", "reports/link.md", "reports/folder/notes.md", "REPORTS/b.md", "./notes.md"],
)
async def test_no_spelling_of_a_path_leads_elsewhere(room: Room, path: str) -> None:
    (room.workspace / "reports" / "link.md").symlink_to("../notes.md")
    (room.workspace / "reports" / "folder").symlink_to("..")
    (room.workspace / "REPORTS").mkdir()
    (room.workspace / "REPORTS" / "b.md").write_text("old")
    await permit(room)
    assert not isinstance(await write(room, path), Done)
    assert (room.workspace / "notes.md").read_text() == "old"


async def test_what_changed_meanwhile_is_asked_about(room: Room) -> None:
    await permit(room)
    await room.call("read_file", {"path": "reports/b.md"})
    (room.workspace / "reports" / "b.md").write_text("by another program")
    approval = await room.approval(await ask(room, "reports/b.md"))
    with pytest.raises(ToolError, match="had changed since") as refused:
        await room.permit(approval.id, ADA)
    assert refused.value.code is Code.NOT_SUPPORTED


class TestTime:
    async def test_it_ends_when_its_time_is_up(self, room: Room, clock: FakeClock) -> None:
        permission = await permit(room, minutes=10)
        clock.move(timedelta(minutes=10, microseconds=-1))
        assert not await is_asked(room)
        clock.move(timedelta(microseconds=1))
        assert await is_asked(room)
        assert await room.permissions() == []
        assert [one.state for one in await room.permissions(all=True)] == [PermissionState.EXPIRED]
        assert permission.expires_at == "2026-01-01T00:10:00.000000Z"

    async def test_one_that_ends_before_the_claim_is_not_used(self, room: Room, clock: FakeClock) -> None:
        await permit(room)
        put_in(room, at=lambda step: clock.move(timedelta(hours=1)) if step == "persisted" else None)
        assert await is_asked(room)
        assert (room.workspace / "reports" / "b.md").read_text() == "old"
        assert await findings(room) == []

    async def test_one_that_ends_before_the_entry_of_a_call_without_effects_is_not_used(
        self, room: Room, clock: FakeClock
    ) -> None:
        @tool(approval="confirm", effects="none")
        def count(number: int) -> int:
            """Count."""
            return number

        room.register(count)
        waiting = await room.call("count", {"number": 1})
        assert isinstance(waiting, Waiting)
        await room.permit(waiting.approval_id, ADA)
        assert isinstance(await room.call("count", {"number": 1}), Done)
        used = room._runtime.permissions.hold

        def hold_for_long(*given: Any) -> bool:
            clock.move(timedelta(hours=1))
            return used(*given)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(room._runtime.permissions, "hold", hold_for_long)
            assert isinstance(await room.call("count", {"number": 1}), Waiting)

    async def test_one_that_is_revoked_before_the_claim_is_not_used(self, room: Room) -> None:
        from brasstag.engine.calls.permit import revoke

        permission = await permit(room)

        def at(step: str) -> None:
            if step == "persisted":
                revoke(room.store, permission.id, ADA)

        put_in(room, at=at)
        assert await is_asked(room)

    async def test_a_clock_that_goes_back_does_not_lengthen_it(self, room: Room, clock: FakeClock) -> None:
        await permit(room)
        clock.move(-timedelta(hours=1))
        assert await is_asked(room)
        clock.move(timedelta(hours=1, minutes=50))
        assert not await is_asked(room)
        clock.move(-timedelta(minutes=40))
        assert await is_asked(room, "reports/c.md")

    @pytest.mark.parametrize("minutes", [0, -1, 480.1, math.nan, math.inf, True, "60", None])
    async def test_a_time_that_is_none_or_too_long_is_refused(self, room: Room, minutes: Any) -> None:
        with pytest.raises(ToolError, match="at most 480 minutes") as refused:
            await permit(room, minutes=minutes)
        assert refused.value.code is Code.INVALID_ARGUMENTS
        assert await room.permissions(all=True) == []


class TestRules:
    @pytest.mark.parametrize("decision", ["ask", "deny"])
    async def test_a_rule_that_comes_later_wins_at_once(self, room: Room, decision: Any) -> None:
        permission = await permit(room)
        room.add_rule(Rule(decision, ("write_file(reports/b.md)",), "not this one", "later"))
        outcome = await write(room, "reports/b.md")
        if isinstance(outcome, Waiting):
            assert (await room.approval(outcome.approval_id)).rule == "later"
        else:
            assert isinstance(outcome, Failed)
            assert outcome.code is Code.BLOCKED_BY_RULE
        # Another file of which the rule says nothing: the policy is another one.
        assert await is_asked(room, "reports/c.md")
        assert [one.state for one in await room.permissions(all=True)] == [PermissionState.VOID]
        assert await room.permissions() == []
        assert permission.state is PermissionState.ACTIVE

    async def test_a_rule_that_comes_before_the_claim_ends_it(self, room: Room) -> None:
        await permit(room)
        later = Rule("ask", ("write_file(reports/b.md)",), "not this one")
        put_in(room, at=lambda step: room.add_rule(later) if step == "persisted" else None)
        assert await is_asked(room)

    async def test_what_a_rule_asked_about_cannot_be_permitted(self, room: Room) -> None:
        room.add_rule(Rule("ask", ("write_file(reports/**)",), "reports are read by many", "readers"))
        with pytest.raises(ToolError, match=r"the rule readers .* reports are read by many") as refused:
            await permit(room)
        assert refused.value.code is Code.BLOCKED_BY_RULE
        assert refused.value.details == {"rule": "readers"}
        (approval,) = await room.approvals()
        assert approval.state is ApprovalState.OPEN

    async def test_a_rule_that_fails_is_no_yes(self, room: Room) -> None:
        permission = await permit(room)
        assert not await is_asked(room)

        def broken(_call: Any, _preview: Any) -> None:
            raise LookupError("no table")

        room.add_rule(broken)
        assert await is_asked(room)
        with pytest.raises(ToolError, match="the rule failed with LookupError"):
            await room.permit(permission.approval_id, ADA)

    async def test_what_a_rule_asks_before_reading_is_asked_about(self, room: Room) -> None:
        async def edit(path: str) -> Outcome:
            return await room.call("edit_file", {"path": path, "search_text": "old", "replace_text": "new"})

        room.add_rule(Rule("ask", ("read_file(reports/b.md)",), "private", "private"))
        waiting = await edit("reports/a.md")
        assert isinstance(waiting, Waiting)
        await room.permit(waiting.approval_id, ADA, pattern="**")
        assert isinstance(await edit("reports/c.md"), Done)
        private = await edit("reports/b.md")
        assert isinstance(private, Waiting)
        assert (await room.approval(private.approval_id)).rule == "private"

    async def test_another_version_of_the_tool_is_asked_about(self, make_project: MakeProject) -> None:
        project = make_project()
        (project / "tools").mkdir()
        code = (
            'from brasstag import tool\n@tool(effects="external")\ndef send(to: str) -> str:\n'
            '    """Send."""\n    return "{0}"\n'
        )
        for version, asked in (("one", True), ("one", False), ("two", True)):
            (project / "tools" / "send.py").write_text(code.format(version))
            accept(project)
            async with Room.open(project) as room:
                outcome = await room.call("send", {"to": "ben"})
                assert isinstance(outcome, Waiting) is asked, version
                if version == "one" and isinstance(outcome, Waiting):
                    first = await room.permit(outcome.approval_id, ADA, pattern="to: b*")
                elif version == "two":
                    with pytest.raises(ToolError) as stale:
                        await room.permit(first.approval_id, ADA)
                    assert stale.value.code is Code.APPROVAL_STALE

    async def test_a_tool_that_cannot_say_whether_to_ask_is_asked_about(self, room: Room) -> None:
        def may(arguments: dict[str, Any]) -> bool:
            return bool(1 / arguments["number"])

        @tool(requires_approval=may, effects="none")
        def count(number: int) -> int:
            """Count."""
            return number

        room.register(count)
        waiting = await room.call("count", {"number": 1})
        assert isinstance(waiting, Waiting)
        await room.permit(waiting.approval_id, ADA, pattern="number: *")
        assert isinstance(await room.call("count", {"number": 2}), Done)
        unsure = await room.call("count", {"number": 0})
        assert isinstance(unsure, Waiting)
        with pytest.raises(ToolError, match="ZeroDivisionError"):
            await room.permit(unsure.approval_id, ADA)


class TestAsking:
    @pytest.mark.parametrize("pattern", ["notes/**", "url://x", "[", "content: other", "reports/b.md"])
    async def test_a_pattern_that_cannot_be_read_or_covers_something_else(
        self, room: Room, pattern: str
    ) -> None:
        with pytest.raises(ToolError) as refused:
            await permit(room, pattern=pattern)
        assert refused.value.code is Code.INVALID_ARGUMENTS
        (approval,) = await room.approvals()
        assert approval.state is ApprovalState.OPEN

    async def test_an_approval_that_is_gone_or_was_denied(self, room: Room) -> None:
        with pytest.raises(ToolError) as unknown:
            await room.permit("apr_nothing", ADA)
        assert unknown.value.code is Code.APPROVAL_NOT_FOUND
        denied = await ask(room)
        await room.decide(denied, ApprovalResponse(False), ADA)
        with pytest.raises(ToolError) as closed:
            await room.permit(denied, ADA)
        assert closed.value.code is Code.APPROVAL_CLOSED
        with pytest.raises(ToolError) as other:
            await room.permit(await ask(room), ADA, seen="another digest")
        assert other.value.code is Code.APPROVAL_STALE

    async def test_it_is_revoked_once_and_only_in_its_own_room(self, room: Room, tmp_path: Path) -> None:
        permission = await permit(room)
        revoked = await room.revoke(permission.id[-8:], "ben")
        assert (revoked.state, revoked.revoked_by) == (PermissionState.REVOKED, "ben (library)")
        assert await is_asked(room)
        with pytest.raises(ToolError, match=r"revoked by ben \(library\)") as twice:
            await room.revoke(permission.id, ADA)
        assert twice.value.code is Code.PERMISSION_CLOSED
        assert await findings(room) == []
        async with Room.in_memory(tmp_path / "workspace") as other:
            with pytest.raises(ToolError) as stranger:
                await other.revoke(permission.id, ADA)
        assert stranger.value.code is Code.PERMISSION_NOT_FOUND

    async def test_what_is_redacted_permits_nothing_any_more(self, room: Room) -> None:
        permission = await permit(room)
        await room.resume(permission.approval_id)
        assert not await is_asked(room)
        (entry,) = [one for one in await room.timeline() if one.kind is EntryKind.PERMITTED]
        redact(room.store, entry, "ada", "private")
        assert await is_asked(room, "reports/c.md")
        (row,) = await room.permissions(all=True)
        assert (row.rule, row.pattern, row.covers) == ("", "", "write_file (redacted)")
        assert await findings(room) == []


def raise_expiry(_row: dict[str, Any]) -> dict[str, Any]:
    return {"expires_at": "2036-01-01T00:00:00.000000Z"}


def widen(row: dict[str, Any]) -> dict[str, Any]:
    return {"pattern": "**", "rule": row["rule"].replace("reports/**", "**")}


class TestTampering:
    @pytest.mark.parametrize("change", [raise_expiry, widen])
    async def test_a_row_that_was_changed_by_hand_is_not_believed(
        self, room: Room, clock: FakeClock, change: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> None:
        permission = await permit(room)
        with room.store.database.write() as transaction:
            row = transaction.execute(select(permissions)).one()
            transaction.execute(update(permissions).values(**change(dict(row._mapping))))
        if change is raise_expiry:
            clock.move(timedelta(hours=2))
        assert await is_asked(room)
        assert await is_asked(room, "notes.md")
        assert "the table permits something else than the timelines tell" in await findings(room)
        assert permission.id in [one.id for one in await room.permissions(all=True)]

    async def test_a_row_that_was_copied_or_removed_is_not_believed(self, room: Room) -> None:
        permission = await permit(room)
        with room.store.database.write() as transaction:
            row = dict(transaction.execute(select(permissions)).one()._mapping)
            transaction.execute(delete(permissions))
            transaction.execute(insert(permissions).values(row | {"id": f"{permission.id[:-1]}x"}))
        assert await is_asked(room)
        assert {
            "the timelines know nothing of this permission",
            "the timelines tell of this permission, but it is gone",
        } <= set(await findings(room))

    async def test_a_revoked_row_that_was_put_back_is_not_believed(self, room: Room) -> None:
        permission = await permit(room)
        await room.revoke(permission.id, ADA)
        with room.store.database.write() as transaction:
            transaction.execute(update(permissions).values(revoked_at=None, revoked_by=None))
        assert await is_asked(room)
        assert any("revoked" in what for what in await findings(room))

    async def test_an_older_timeline_that_was_put_back_is_not_believed(self, project: Path) -> None:
        async with Room.open(project) as room:
            permission = await permit(room)
            task = tasks.c.id == permission.task_id
            with room.store.database.read() as view:
                before = dict(view.execute(select(tasks).where(task)).one()._mapping)
            await room.revoke(permission.id, ADA)
            with room.store.database.write() as transaction:
                later = (entries.c.task_id == permission.task_id) & (entries.c.seq >= before["next_seq"])
                transaction.execute(delete(entries).where(later))
                transaction.execute(update(tasks).where(task).values(before))
                transaction.execute(update(permissions).values(revoked_at=None, revoked_by=None))
            async with Room.open(project) as other:
                assert await is_asked(other)
            # Here the timeline was longer before.
            assert room._runtime.permissions.hold(room.store, permission) is False
            with room.store.database.write() as transaction:
                # Its desk cannot be closed with such a timeline.
                transaction.execute(update(tasks).where(task).values(status="cancelled"))

    async def test_a_call_that_a_permission_did_not_cover_in_time_is_found(
        self, room: Room, clock: FakeClock
    ) -> None:
        permission = await permit(room)
        clock.move(timedelta(hours=2))
        for call_id, name in (("late", permission.id), ("invented", "perm_x")):
            made = Call(call_id, "write_file", {}, "library", "operator", room.task_id)
            payload = {"tool": "write_file", "verdict": {"decision": "allow", "permission": name}}
            room.store.settle(room.store.claim(made, (), None, payload), {"outcome": "done"}, (), "x", "x")
        assert await findings(room) == [
            f"it acted on {permission.id} after that had ended",
            "it acted on perm_x, but the timeline has no person who permitted that",
        ]

    async def test_a_row_of_another_room_is_not_believed(self, room: Room, tmp_path: Path) -> None:
        await permit(room)
        with room.store.database.read() as view:
            row = dict(view.execute(select(permissions)).one()._mapping)
        async with Room.in_memory(tmp_path / "workspace") as other:
            with other.store.database.write() as transaction:
                transaction.execute(insert(permissions).values(row))
            assert await is_asked(other)


async def test_every_process_of_a_room_has_the_same_permissions(project: Path) -> None:
    async with Room.open(project) as one, Room.open(project) as two:
        permission = await permit(one)
        assert not await is_asked(two)
        await two.revoke(permission.id, ADA)
        assert await is_asked(one)
        assert [one.calls for one in await one.permissions(all=True)] == [1]
        assert await findings(one) == []


async def test_a_process_that_dies_before_the_claim_leaves_the_permission_as_it_is(
    make_project: MakeProject, tmp_path: Path
) -> None:
    project = make_project()
    fill(project / "data")
    async with Room.open(project) as room:
        await permit(room)
    died = start(
        call_and_die,
        project,
        tmp_path / "user",
        0,
        [("write_file", {"path": "reports/b.md", "content": "new"})],
    )
    assert end(died) == KILLED
    async with Room.open(project) as room:
        assert (project / "data" / "reports" / "b.md").read_text() == "old"
        assert not await is_asked(room)
        assert [one.calls for one in await room.permissions()] == [1]
        assert await findings(room) == []


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
class TestLanding:
    async def test_what_code_changes_is_permitted_by_itself(self, room: Room) -> None:
        async def overwrite(path: str) -> Outcome:
            return await room.call("shell", {"command": f"echo new > {path}"})

        waiting = await overwrite("reports/a.md")
        assert isinstance(waiting, Waiting)
        permission = await room.permit(waiting.approval_id, ADA, pattern="reports/**")
        assert permission.tool == "apply_changes"
        assert isinstance(await room.resume(waiting.approval_id), Done)
        outcome = await overwrite("reports/b.md")
        assert (await verdict_on(room, outcome))["permission"] == permission.id
        assert isinstance(await overwrite("notes.md"), Waiting)
        assert await is_asked(room, "reports/c.md")
        assert await findings(room) == []

    async def test_changes_are_asked_about_if_the_permission_ends_while_the_code_runs(
        self, tmp_path: Path, clock: FakeClock
    ) -> None:
        fill(tmp_path / "workspace")
        async with Room.in_memory(tmp_path / "workspace", profile="locked", clock=clock) as room:
            waiting = await room.call("shell", {"command": "touch a.md"})
            assert isinstance(waiting, Waiting)
            running = await room.permit(waiting.approval_id, ADA, pattern="command: touch *")
            asked = await room.resume(waiting.approval_id)
            assert isinstance(asked, Waiting)
            landing = await room.permit(asked.approval_id, ADA, pattern="*.md")
            assert isinstance(await room.call("shell", {"command": "touch b.md"}), Done)
            put_in(room, at=lambda step: clock.move(timedelta(hours=1)) if step == "persisted" else None)
            late = await room.call("shell", {"command": "touch c.md"})
            assert isinstance(late, Waiting)
            assert not (room.workspace / "c.md").exists()
            put_in(room, at=lambda _step: None)
            await room.decide(late.approval_id, ApprovalResponse(True), ADA)
            assert isinstance(await room.resume(late.approval_id), Done)
            listed = {one.id: one.calls for one in await room.permissions(all=True)}
            assert listed == {running.id: 2, landing.id: 1}
            assert await findings(room) == []
