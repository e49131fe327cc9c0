"""A call that would replace something newer than its task has seen is asked about, with base, theirs and ours."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag import Approval, ApprovalResponse, Done, Failed, Room, Verdict, Waiting
from brasstag.policy.conflicts import CHANGED_MEANWHILE
from brasstag.policy.narrow import NoRule
from brasstag.policy.replay import recorded_calls, replay
from brasstag.settings.crew import PERSON
from brasstag.store.contents.versions import OUTSIDE
from brasstag.words.approvals import ApprovalState
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from brasstag.words.previews import ABSENT, Preview, file_state
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script
from tests.sandbox.network.servers import replying, serving
from tests.tools.test_web_fetch import towards

_T = TypeVar("_T")

YES, NO = ApprovalResponse(True), ApprovalResponse(False, reason="look first")
SEEN, THEIRS, OURS = "one\ntwo\nthree\n", "one\nTWO\nthree\n", "one\ntwo\n3\n"


def state(text: str) -> str:
    return file_state(sha256(text.encode()))


@pytest.fixture(params=["sqlite", "postgres"])
def project(
    request: pytest.FixtureRequest, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A project that trusts undo, on either database, with one document."""
    if request.param == "postgres":
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", request.getfixturevalue("postgres").url)
    made = make_project(CREW, profile="trusted")
    (made / "data" / "a.md").write_text(SEEN)
    return made


async def read(room: Room, path: str = "a.md") -> None:
    assert isinstance(await room.call("read_file", {"path": path}), Done)


async def write(room: Room, content: str = OURS, path: str = "a.md") -> Any:
    return await room.call("write_file", {"path": path, "content": content})


async def asked(room: Room, outcome: Any) -> Approval:
    assert isinstance(outcome, Waiting), outcome
    return await room.approval(outcome.approval_id)


def change_outside(room: Room, content: str = THEIRS, path: str = "a.md") -> None:
    (room.workspace / path).write_text(content)


async def test_writing_over_what_changed_since_it_was_read_is_asked_about_even_where_undo_is_trusted(
    project: Path,
) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        approval = await asked(room, await write(room))
        (conflict,) = approval.preview.conflicts
        (change,) = approval.preview.changes
        assert (conflict.base, change.before, change.after) == (state(SEEN), state(THEIRS), state(OURS))
        assert (conflict.path, conflict.by) == ("a.md", OUTSIDE)
        read_at = next(entry.at for entry in await room.timeline() if entry.kind is EntryKind.CALLED)
        assert conflict.seen_at == read_at
        assert approval.rule == CHANGED_MEANWHILE
        assert approval.reason == (
            f"a.md was changed by outside after this task last saw it ({read_at}), "
            "and this would replace what it has not seen"
        )
        assert (room.workspace / "a.md").read_text() == THEIRS
        assert (await room.verify()).ok


async def load(room: Room, version: str) -> None:
    assert isinstance(await room.call("load_to_context", {"path": "a.md", "version": version}), Done)


async def test_to_load_an_old_version_is_not_to_have_seen_the_present_one(project: Path) -> None:
    async with Room.open(project) as room:
        await room.documents.scan()
        change_outside(room)
        await load(room, "1")
        (conflict,) = (await asked(room, await write(room))).preview.conflicts
        assert (conflict.path, conflict.base) == ("a.md", state(SEEN))


async def test_whoever_knows_the_present_version_may_look_at_an_old_one_and_write(project: Path) -> None:
    async with Room.open(project) as room:
        await room.documents.scan()
        change_outside(room)
        await read(room)
        await load(room, "1")
        assert isinstance(await write(room), Done)


async def test_to_load_the_present_version_by_its_number_is_to_have_seen_it(project: Path) -> None:
    async with Room.open(project) as room:
        await room.documents.scan()
        await read(room)
        change_outside(room)
        await load(room, "1")
        await load(room, "2")
        assert isinstance(await write(room), Done)


async def test_an_old_version_that_a_person_let_the_task_load_counts_no_more_than_any_other(
    make_project: MakeProject,
) -> None:
    made = make_project('[[rules]]\nask = "read_file(a.md)"\nbecause = "private"', profile="trusted")
    (made / "data" / "a.md").write_text(SEEN)
    async with Room.open(made) as room:
        await room.documents.scan()
        change_outside(room)
        approval = await asked(room, await room.call("load_to_context", {"path": "a.md", "version": "1"}))
        await room.decide(approval.id, YES, ADA)
        assert isinstance(await room.resume(approval.id), Done)
        (conflict,) = (await asked(room, await write(room))).preview.conflicts
        assert conflict.base == state(SEEN)


async def test_what_others_at_the_same_counter_wrote_is_told_with_their_name(project: Path) -> None:
    async with Room.open(project) as room, Room.open(project) as other:
        await read(room)
        written = await other.call("write_file", {"path": "a.md", "content": THEIRS}, role="boss")
        assert isinstance(written, Done), written
        (conflict,) = (await asked(room, await write(room))).preview.conflicts
        assert (conflict.by, conflict.base) == ("boss", state(SEEN))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("delete_file", {"path": "a.md"}),
        ("delete_file", {"path": "folder", "recursive": True}),
        ("move_file", {"source": "b.md", "target": "a.md", "overwrite": True}),
    ],
)
async def test_deleting_and_moving_over_it_are_asked_about_too(
    project: Path, tool: str, arguments: dict[str, Any]
) -> None:
    (project / "data" / "folder").mkdir()
    (project / "data" / "folder" / "c.md").write_text(SEEN)
    (project / "data" / "b.md").write_text("b")
    async with Room.open(project) as room:
        changed = "folder/c.md" if arguments.get("recursive") else "a.md"
        await read(room, changed)
        change_outside(room, path=changed)
        approval = await asked(room, await room.call(tool, arguments))
        assert [conflict.path for conflict in approval.preview.conflicts] == [changed]


@pytest.mark.parametrize("profile", ["careful", "trusted"])
async def test_writing_again_what_somebody_deleted_is_asked_about(
    make_project: MakeProject, profile: str
) -> None:
    project = make_project(profile=profile)
    (project / "data" / "a.md").write_text(SEEN)
    async with Room.open(project) as room:
        await read(room)
        (room.workspace / "a.md").unlink()
        approval = await asked(room, await write(room))
        (conflict,) = approval.preview.conflicts
        (change,) = approval.preview.changes
        assert (conflict.base, change.before, change.after) == (state(SEEN), ABSENT, state(OURS))
        assert approval.rule == CHANGED_MEANWHILE
        assert approval.reason.startswith("a.md was deleted by outside after this task last saw it")
        assert not (room.workspace / "a.md").exists()
        await room.decide(approval.id, YES, by=ADA)
        assert isinstance(await room.resume(approval.id), Done)
        assert (room.workspace / "a.md").read_text() == OURS
        assert (await room.verify()).ok


async def test_who_deleted_it_at_the_same_counter_is_named(project: Path) -> None:
    (project / "data" / "b.md").write_text("b")
    async with Room.open(project) as room, Room.open(project) as other:
        await read(room)
        deleted = await other.call("delete_file", {"path": "a.md"}, role="boss")
        assert isinstance(deleted, Done), deleted
        (conflict,) = (await asked(room, await write(room))).preview.conflicts
        assert (conflict.by, conflict.base) == ("boss", state(SEEN))
        moved = await room.call("move_file", {"source": "b.md", "target": "a.md"})
        assert [one.path for one in (await asked(room, moved)).preview.conflicts] == ["a.md"]


async def test_what_the_task_itself_deleted_or_moved_may_be_written_again(project: Path) -> None:
    (project / "data" / "folder").mkdir()
    (project / "data" / "folder" / "c.md").write_text(SEEN)
    async with Room.open(project) as room:
        for path in ("a.md", "folder/c.md"):
            await read(room, path)
        for tool, arguments in (
            ("delete_file", {"path": "a.md"}),
            ("move_file", {"source": "folder", "target": "other"}),
        ):
            assert isinstance(await room.call(tool, arguments), Done)
        for path in ("a.md", "folder/c.md"):
            assert isinstance(await write(room, path=path), Done)


async def test_what_it_never_saw_or_knows_to_be_gone_may_be_written_again(project: Path) -> None:
    async with Room.open(project) as room:
        (room.workspace / "b.md").write_text("b")
        await room.call("list_documents", {})
        await read(room)
        for path in ("a.md", "b.md"):
            (room.workspace / path).unlink()
        missing = await room.call("read_file", {"path": "a.md"})
        assert isinstance(missing, Failed)
        assert missing.code is Code.FILE_NOT_FOUND
        for path in ("a.md", "b.md"):
            assert isinstance(await write(room, path=path), Done)


async def test_what_the_call_itself_reads_is_no_conflict(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        edit = {"path": "a.md", "search_text": "TWO", "replace_text": "2"}
        assert isinstance(await room.call("edit_file", edit), Done)
        assert isinstance(await write(room), Done)


async def test_what_a_task_never_saw_is_judged_as_ever(project: Path) -> None:
    async with Room.open(project) as room:
        await room.call("list_files", {})
        await room.call("search_code", {"query": "two"})
        change_outside(room)
        assert isinstance(await write(room), Done)


async def test_reading_it_again_settles_it(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        await read(room)
        assert isinstance(await write(room), Done)


async def test_a_read_that_failed_has_shown_nothing(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        edit = {"path": "a.md", "search_text": "nowhere", "replace_text": "2"}
        assert isinstance(await room.call("edit_file", edit), Failed)
        assert (await asked(room, await write(room))).preview.conflicts


async def test_what_came_into_being_where_a_task_saw_nothing_is_a_conflict(project: Path) -> None:
    async with Room.open(project) as room:
        assert isinstance(await room.call("read_file", {"path": "new.md"}), Failed)
        change_outside(room, path="new.md")
        (conflict,) = (await asked(room, await write(room, path="new.md"))).preview.conflicts
        assert conflict.base == ABSENT


async def test_the_same_bytes_replace_nothing(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        assert isinstance(await write(room, THEIRS), Done)


async def test_no_allow_loosens_it_and_a_denial_stays_one(project: Path) -> None:
    async with Room.open(project) as room:
        room.add_rule(lambda _call, _preview: Verdict("allow", "all is fine", "fine"))
        await read(room)
        change_outside(room)
        assert (await asked(room, await write(room))).rule == CHANGED_MEANWHILE
        room.add_rule(lambda _call, _preview: Verdict("deny", "frozen", "freeze"))
        outcome = await write(room)
        assert isinstance(outcome, Failed)
        assert (outcome.code, outcome.message) == (Code.BLOCKED_BY_RULE, "frozen")


async def test_where_it_is_asked_about_anyway_both_reasons_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(SEEN)
    async with Room.in_memory(tmp_path) as room:
        await read(room)
        change_outside(room)
        approval = await asked(room, await write(room))
        assert approval.rule == CHANGED_MEANWHILE
        assert approval.reason.endswith("; besides, it overwrites a.md; profile careful asks first")
        explained = await room.explain("write_file", {"path": "a.md", "content": OURS})
        assert explained.explanation is not None
        first, *others = explained.explanation.lines
        assert (first.verdict.rule, first.decided) == (CHANGED_MEANWHILE, True)
        assert not any(line.decided for line in others)
        assert "profile careful" in {line.verdict.rule for line in others}


async def test_an_approved_conflict_runs_once_and_is_then_known(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        approval = await asked(room, await write(room))
        await room.decide(approval.id, YES, ADA, seen=approval.preview.digest)
        assert isinstance(await room.resume(approval.id), Done)
        assert (room.workspace / "a.md").read_text() == OURS
        assert isinstance(await write(room, "more"), Done)
        assert (await room.verify()).ok


async def test_an_approved_conflict_stands_though_its_task_has_seen_theirs_since(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        approval = await asked(room, await write(room))
        await room.decide(approval.id, YES, ADA)
        await read(room)
        assert isinstance(await room.resume(approval.id), Done)


async def test_another_change_voids_the_approval_and_is_asked_anew_with_new_theirs(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        approval = await asked(room, await write(room))
        await room.decide(approval.id, YES, ADA)
        change_outside(room, "again")
        again = await asked(room, await room.resume(approval.id))
        assert (await room.approval(approval.id)).state is ApprovalState.VOID
        assert again.preview.changes[0].before == state("again")
        assert again.preview.conflicts[0].base == state(SEEN)
        assert "a.md was changed by outside" in again.reason


async def test_a_plain_approval_whose_target_changes_is_asked_anew_as_a_conflict(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(SEEN)
    async with Room.in_memory(tmp_path) as room:
        await read(room)
        approval = await asked(room, await write(room))
        assert not approval.preview.conflicts
        await room.decide(approval.id, YES, ADA)
        change_outside(room)
        again = await asked(room, await room.resume(approval.id))
        assert [conflict.base for conflict in again.preview.conflicts] == [state(SEEN)]


async def test_whoever_is_denied_is_told_to_read_it_again(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        waiting = await write(room)
        await room.decide(waiting.approval_id, NO, ADA)
        denied = await room.wait(waiting)
        assert isinstance(denied, Failed)
        assert denied.message == (
            "a person denied this call: look first. Changed since you last saw it: a.md; "
            "read it again before you write it"
        )


async def test_no_rule_is_written_for_a_conflict(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        approval = await asked(room, await write(room))
        assert isinstance(room.narrow_rule(approval, "always"), NoRule)


async def test_replayed_under_the_same_rules_it_is_asked_about_again(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        await write(room)
        calls = list(recorded_calls(await room.timeline(), lambda _call: None))
        assert [one.shift for one in replay(calls, room._runtime.policy.rules)][-1] == "same"


async def test_another_process_that_goes_on_with_it_knows_what_was_seen(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        approval = await asked(room, await write(room))
    async with Room.open(project) as other:
        change_outside(other, "again")
        await other.decide(approval.id, YES, ADA)
        again = await asked(other, await other.resume(approval.id))
        assert [conflict.base for conflict in again.preview.conflicts] == [state(SEEN)]


async def test_an_agent_is_asked_about_a_document_that_came_with_its_task(project: Path) -> None:
    pause = turn(call("ask_master", question="Now?"))
    wrote = turn(call("write_file", path="a.md", content=OURS))
    write_script(project, {"boss": [pause, wrote, turn(text="Done.")]})
    async with Room.open(project) as room:
        run = await room.start("Go", documents=["a.md"])
        question = await until(lambda: _question(room, run))
        change_outside(room)
        await room.answer(question, "Now.", ADA)
        approval = await until(lambda: _open_approval(room))
        assert [conflict.base for conflict in approval.preview.conflicts] == [state(SEEN)]
        await room.decide(approval.id, YES, ADA)
        assert (await room.finished(run)).result == "Done."
        assert (room.workspace / "a.md").read_text() == OURS


async def test_what_comes_back_from_an_agent_below_is_seen_by_the_one_above(project: Path) -> None:
    delegate = turn(call("route_to_worker", request="Work"))
    theirs = turn(call("write_file", path="a.md", content=THEIRS))
    ours = turn(call("write_file", path="a.md", content=OURS))
    for documents, is_conflict in ((["a.md"], False), ([], True)):
        hand_off = turn(call("handoff", result="", documents=documents))
        boss = [turn(call("read_file", path="a.md")), delegate, ours, turn(text="Done.")]
        write_script(project, {"boss": boss, "worker": [theirs, hand_off]})
        async with Room.open(project) as room:
            change_outside(room, SEEN)
            run = await room.start("Go")
            if is_conflict:
                approval = await until(lambda: _open_approval(room))
                assert [conflict.by for conflict in approval.preview.conflicts] == ["worker"]
                await room.decide(approval.id, YES, ADA)
            assert (await room.finished(run)).result == "Done."
            assert (room.workspace / "a.md").read_text() == OURS


async def until(find: Callable[[], Awaitable[_T | None]]) -> _T:
    async with asyncio.timeout(120):
        while True:
            found = await find()
            if found is not None:
                return found
            await asyncio.sleep(0.01)


async def _question(room: Room, run: str) -> str | None:
    waiting = [task.id for task in await room.tasks(run) if task.role == PERSON and not task.has_ended]
    return waiting[0] if waiting else None


async def _open_approval(room: Room) -> Approval | None:
    waiting = await room.approvals(ApprovalState.OPEN)
    return waiting[0] if waiting else None


async def test_calls_at_once_of_one_desk_are_never_a_conflict_to_each_other(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        outcomes = await asyncio.gather(*(write(room, f"{number}\n") for number in range(12)))
        assert not [outcome for outcome in outcomes if isinstance(outcome, Waiting)]


async def test_what_is_fetched_and_saved_over_a_changed_document_is_asked_about_before_it_lands(
    make_project: MakeProject,
) -> None:
    anywhere = '[[rules]]\nallow = "web_fetch"\nbecause = "a test"\n'
    async with (
        serving(replying(b"fetched", Content_Type="text/plain")) as server,
        Room.open(make_project(anywhere, profile="trusted")) as opened,
    ):
        room = towards(opened, server)
        fetch = {"url": server.url("/x", "docs.test"), "save_as": "a.md"}
        assert isinstance(await room.call("web_fetch", fetch), Done)
        change_outside(room)
        approval = await asked(room, await room.call("web_fetch", fetch))
        assert [conflict.base for conflict in approval.preview.conflicts] == [state("fetched")]
        assert (room.workspace / "a.md").read_text() == THEIRS
        await room.decide(approval.id, YES, ADA)
        assert isinstance(await room.resume(approval.id), Done)
        assert (room.workspace / "a.md").read_text() == "fetched"
        assert server.connections == 2


async def test_code_that_replaces_a_changed_document_is_judged_as_ever(project: Path) -> None:
    async with Room.open(project) as room:
        await read(room)
        change_outside(room)
        code = {"language": "python", "code": "open('a.md', 'w').write('by code')"}
        assert isinstance(await room.call("run_code", code), Done)
        assert (room.workspace / "a.md").read_text() == "by code"
        assert isinstance(await write(room), Done)


def test_a_preview_from_before_there_were_conflicts_has_the_digest_it_had() -> None:
    stored = Preview().as_json()
    del stored["conflicts"]
    assert Preview.from_json(stored) == Preview()
    assert Preview().digest == "e6dda29f9f52624607e6cc1bee2ac180af27dba6baaf5cc68026d837458b3566"


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["read", "write", "edit", "delete", "move", "outside", "vanish"]),
        st.sampled_from(["a.md", "b.md"]),
        st.sampled_from(["one", "two", "three"]),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_a_write_over_what_the_task_last_saw_or_made_is_never_a_conflict_and_any_other_is(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    workspace = tmp_path_factory.mktemp("workspace")
    asyncio.run(_follow(workspace, steps))


async def _follow(workspace: Path, steps: list[tuple[str, str, str]]) -> None:
    known: dict[str, str | None] = {}
    async with Room.in_memory(workspace, profile="trusted") as room:
        for step, path, content in steps:
            other = "b.md" if path == "a.md" else "a.md"
            now = {name: _held(workspace / name) for name in (path, other)}
            if step == "outside":
                (workspace / path).write_text(content)
                continue
            if step == "vanish":
                (workspace / path).unlink(missing_ok=True)
                continue
            replaced = {"write": path, "delete": path, "move": other}.get(step)
            unseen = replaced in known and known[replaced] != now[replaced]
            outcome = await _act(room, step, path, other, content)
            if (step == "write" and now[path] == content) or (step == "move" and now[path] == now[other]):
                unseen = False
            if isinstance(outcome, Failed):
                if step in ("read", "edit") and now[path] is None:
                    known[path] = None
                continue
            assert isinstance(outcome, Waiting) == unseen, (step, path, known, now)
            if unseen:
                await room.decide(outcome.approval_id, YES, ADA)
                assert isinstance(await room.resume(outcome.approval_id), Done)
            touched = (path, other) if step == "move" else (path,)
            known |= {name: _held(workspace / name) for name in touched}


async def _act(room: Room, step: str, path: str, other: str, content: str) -> Any:
    match step:
        case "read":
            return await room.call("read_file", {"path": path})
        case "write":
            return await write(room, content, path)
        case "edit":
            edit = {"path": path, "search_text": "o", "replace_text": "0"}
            return await room.call("edit_file", edit)
        case "delete":
            return await room.call("delete_file", {"path": path})
        case _:
            return await room.call("move_file", {"source": path, "target": other, "overwrite": True})


def _held(path: Path) -> str | None:
    return path.read_text() if os.path.lexists(path) else None
