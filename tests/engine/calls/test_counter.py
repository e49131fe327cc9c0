"""The path of a call: each gate, in order, and what it leaves on the timeline."""

import asyncio
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from brasstag import Done, Failed, Room, SafetyRule, Unknown, Verdict, Waiting, tool
from brasstag.engine.calls.perform import PERFORMERS
from brasstag.policy.grants import Grant
from brasstag.policy.roles import EVERYONES
from brasstag.store.tasks.ledger import open_claims
from brasstag.toolkit.kinds import BEHAVIOUR, Action, ToolType
from brasstag.words.calls import Call
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Preview
from tests.conftest import MakeProject


async def kinds(room: Room) -> list[EntryKind]:
    return [entry.kind for entry in await room.timeline() if entry.kind is not EntryKind.OPENED]


async def last(room: Room) -> dict[str, Any]:
    payload = (await room.timeline())[-1].payload
    assert payload is not None
    return payload


def test_every_kind_that_runs_no_code_and_can_be_called_has_a_performer() -> None:
    called = {kind for kind, row in BEHAVIOUR.items() if row.action is not Action.ENTER}
    assert PERFORMERS.keys() == {kind for kind in called if not BEHAVIOUR[kind].executes_code}


async def test_an_unknown_tool_is_refused_with_the_one_that_was_meant(room: Room) -> None:
    outcome = await room.call("reed_file", {"path": "a"})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.UNKNOWN_TOOL
    assert "read_file" in outcome.message
    assert await kinds(room) == [EntryKind.REFUSED]


async def test_wrong_arguments_are_refused_before_anything_is_looked_at(room: Room) -> None:
    looked = []

    @tool(effects="none")
    def peek(path: str) -> str:
        """Look at a path.

        Args:
            path: What to look at.
        """
        looked.append(path)
        return path

    room.register(peek)
    outcome = await room.call("peek", {"path": 7})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert looked == []


async def test_a_role_may_use_its_tools_and_no_others(make_project: MakeProject) -> None:
    project = make_project('[roles.reader]\ntools = ["read_file", "list_directory"]\n')
    (project / "data" / "a.md").write_text("x")
    async with Room.open(project) as room:
        assert isinstance(await room.call("read_file", {"path": "a.md"}, role="reader"), Done)
        assert isinstance(await room.call("list_files", {}, role="reader"), Done)
        for role in ("reader", "nobody"):
            outcome = await room.call("write_file", {"path": "b.md", "content": ""}, role=role)
            assert isinstance(outcome, Failed)
            assert outcome.code is Code.NOT_ALLOWED
        offered = {t["function"]["name"] for t in room.tools.for_openai("reader")}
        assert offered == {"read_file", "list_files"} | EVERYONES


async def test_a_denied_call_never_reaches_perform(room: Room) -> None:
    ran = []

    @tool
    def launch(target: str) -> str:
        """Launch something.

        Args:
            target: What to launch.
        """
        ran.append(target)
        return "launched"

    room.register(launch)
    room.add_rule(SafetyRule(name="no_launch", forbidden_patterns=["moon"], tools=["launch"]))
    room.add_rule(lambda call, preview: Verdict("deny", "not today", "no") if call.tool == "launch" else None)
    outcome = await room.call("launch", {"target": "moon"})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.BLOCKED_BY_RULE
    assert ran == []


async def test_silence_means_ask(room: Room) -> None:
    @tool
    def act() -> str:
        """Act somewhere outside."""
        return "acted"

    room.register(act)
    assert isinstance(await room.call("act", {}), Waiting)


async def test_a_rule_that_fails_means_ask(room: Room) -> None:
    (room.workspace / "a.md").write_text("x")

    def broken(call: Call, preview: Preview) -> Verdict | None:
        raise RuntimeError("oops")

    room.add_rule(broken)
    outcome = await room.call("read_file", {"path": "a.md"})
    assert isinstance(outcome, Waiting)
    assert "oops" in outcome.reason


async def test_a_call_without_effects_is_one_entry_and_one_with_effects_two(room: Room) -> None:
    await room.call("write_file", {"path": "a.md", "content": "x"})
    await room.call("read_file", {"path": "a.md"})
    assert await kinds(room) == [EntryKind.CLAIMED, EntryKind.SETTLED, EntryKind.CALLED]


async def test_a_files_tool_that_changes_nothing_has_no_effects(room: Room) -> None:
    @tool(effects="files")
    def hesitate(workspace: Any) -> str:
        """Change nothing after all."""
        return "done"

    room.register(hesitate)
    assert isinstance(await room.call("hesitate", {}), Done)
    assert await kinds(room) == [EntryKind.CALLED]


async def test_an_entry_carries_the_five_fields_of_a_timeline(room: Room) -> None:
    (room.workspace / "a.md").write_text("x")
    await room.call("read_file", {"path": "a.md"})
    entry = await last(room)
    assert entry["type"] == "function_tool"
    assert entry["tool"] == "read_file"
    assert entry["input"] == {"path": "a.md", "encoding": "utf-8"}
    assert entry["result"]["content"] == "x"
    assert entry["timestamp"].endswith("Z")


async def test_a_note_is_logged_and_runs_nothing(room: Room) -> None:
    outcome = await room.call("stop_and_think", {"thoughts": "I should look first."})
    assert isinstance(outcome, Done)
    entry = await last(room)
    assert entry["type"] == ToolType.NON_FUNCTION_TOOL.value
    assert entry["input"] == {"thoughts": "I should look first."}
    assert entry["result"] == {"logged": True}


async def test_a_handoff_ends_the_desk_and_the_next_call_opens_another(room: Room) -> None:
    (room.workspace / "report.md").write_text("x")
    first = room.task_id
    given = {"result": {"findings": 3}, "documents": ["report.md"]}
    assert isinstance(await room.call("handoff", given), Done)
    assert room.task_id != first
    closing = (await room.timeline(first))[-1]
    assert closing.kind is EntryKind.CLOSED
    assert closing.payload is not None
    assert closing.payload["input"] == given
    assert isinstance(await room.call("read_file", {"path": "report.md"}), Done)
    assert (await room.verify()).ok


async def test_a_handoff_with_a_missing_document_fails_and_ends_nothing(room: Room) -> None:
    outcome = await room.call("handoff", {"result": "done", "documents": ["nowhere.md"]})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.FILE_NOT_FOUND
    assert EntryKind.CLOSED not in await kinds(room)


async def test_a_task_for_a_role_nobody_has_fails_at_a_desk(room: Room) -> None:
    given = {"target_agent": "narrator", "task_description": "Write the fight scene"}
    outcome = await room.call("assign_task", given)
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.UNKNOWN_ROLE


async def test_a_root_is_begun_and_never_called(room: Room, tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "begin.json").write_text(
        '{"tool_id": "begin", "description": "Begin.", "type": "root",'
        ' "parameters": {"request": {"type": "string", "description": "What to do.", "required": true}}}'
    )
    room.register_folder(folder)
    outcome = await room.call("begin", {"request": "write"})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.NOT_SUPPORTED


async def test_sync_functions_run_off_the_event_loop_and_async_ones_on_it(room: Room) -> None:
    @tool(effects="none")
    def beside() -> bool:
        """Say whether this is the main thread."""
        return threading.current_thread() is threading.main_thread()

    @tool(effects="none")
    async def on_it() -> bool:
        """Say whether this is the main thread."""
        return threading.current_thread() is threading.main_thread()

    room.register(beside)
    room.register(on_it)
    one, other = await room.call("beside", {}), await room.call("on_it", {})
    assert isinstance(one, Done)
    assert isinstance(other, Done)
    assert (one.value, other.value) == (False, True)


async def test_whatever_a_tool_raises_is_a_coded_failure_without_host_paths(room: Room) -> None:
    @tool(effects="none")
    def stumble() -> str:
        """Fail in an unforeseen way."""
        return (room.workspace / "missing").read_text()

    room.register(stumble)
    outcome = await room.call("stumble", {})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.EXECUTION_ERROR
    assert str(room.workspace) not in outcome.message


async def test_a_tool_that_acts_outside_and_raises_may_have_acted(room: Room) -> None:
    def act() -> str:
        """Act, then stumble."""
        raise ValueError("half way")

    room.register(tool(name="once", requires_approval=False)(act))
    assert isinstance(await room.call("once", {}), Unknown)

    def act_again() -> str:
        """Act in a way that can be repeated, then stumble."""
        raise ValueError("half way")

    room.register(tool(name="again", requires_approval=False, replay="safe")(act_again))
    outcome = await room.call("again", {})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.EXECUTION_ERROR


async def test_a_result_that_breaks_its_promise_is_a_failure_and_nothing_lands(
    room: Room, tmp_path: Path
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "lie.json").write_text(
        '{"tool_id": "lie", "description": "Promise a number.", "type": "function_tool", "effects": "files",'
        ' "returns": {"count": "integer"}}'
    )
    (folder / "lie.py").write_text(
        "from brasstag import Draft, tool\n\n\n@tool(execution_type='function')\n"
        "def lie(workspace: Draft) -> dict:\n    '''lie'''\n"
        "    workspace.write_text('lie.txt', 'x')\n    return {'count': 'many'}\n"
    )
    room.register_folder(folder)
    outcome = await room.call("lie", {})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.INVALID_RESULT
    assert not (room.workspace / "lie.txt").exists()


async def test_a_tool_on_a_draft_that_takes_too_long_fails_and_can_do_nothing_any_more(room: Room) -> None:
    released, ended = threading.Event(), threading.Event()
    found: list[BaseException] = []

    @tool(effects="files", limits={"timeout_seconds": 0.05})
    def dawdle(workspace: Any) -> str:
        """Write too late."""
        released.wait(120)
        try:
            workspace.write_text("late.md", "x")
        except ToolError as error:
            found.append(error)
        finally:
            ended.set()
        return "done"

    room.register(dawdle)
    outcome = await room.call("dawdle", {})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.TIMEOUT
    released.set()
    assert await asyncio.to_thread(ended.wait, 10)
    assert [error.code for error in found if isinstance(error, ToolError)] == [Code.CANCELLED]
    assert not (room.workspace / "late.md").exists()


async def test_a_tool_outside_that_takes_too_long_is_unknown(room: Room) -> None:
    released = threading.Event()

    @tool(requires_approval=False, limits={"timeout_seconds": 0.05})
    def send() -> str:
        """Send something, slowly."""
        released.wait(120)
        return "sent"

    room.register(send)
    assert isinstance(await room.call("send", {}), Unknown)
    released.set()


async def test_a_caller_that_goes_away_does_not_leave_a_claim_open(room: Room) -> None:
    started, release = asyncio.Event(), asyncio.Event()

    @tool(requires_approval=False)
    async def slow() -> str:
        """Act slowly."""
        started.set()
        await release.wait()
        return "acted"

    room.register(slow)
    caller = asyncio.create_task(room.call("slow", {}))
    await started.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    release.set()
    async with asyncio.timeout(120):
        while EntryKind.SETTLED not in await kinds(room):  # each look gives the shielded call a turn
            pass
    assert (await last(room))["outcome"] == "done"


async def test_mended_json_is_told_on_the_timeline_and_cut_json_is_refused(room: Room) -> None:
    (room.workspace / "a.md").write_text("x")
    assert isinstance(await room.call("read_file", '{"path": "a.md",}'), Done)
    assert (await last(room))["repaired"]
    outcome = await room.call("write_file", '{"path": "b.md", "content": "half of i')
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert not (room.workspace / "b.md").exists()
    assert (await kinds(room))[-1] is EntryKind.REFUSED


async def test_reading_through_a_link_is_judged_by_where_it_leads(room: Room) -> None:
    (room.workspace / ".env").write_text("SECRET=1")
    (room.workspace / "notes.md").symlink_to(".env")
    for name, arguments in (
        ("read_file", {"path": "notes.md"}),
        ("edit_file", {"path": "notes.md", "search_text": "SECRET", "replace_text": "x"}),
        ("edit_file", {"path": "notes.md", "search_text": "not there", "replace_text": "x"}),
        ("read_file", {"path": "notes.md", "start_line": 9, "end_line": 2}),
    ):
        outcome = await room.call(name, arguments)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.BLOCKED_BY_RULE, (name, outcome)


async def test_project_defaults_and_limits_hold(make_project: MakeProject) -> None:
    project = make_project(
        '[tools.search_code]\ndefaults = { directory = "manuscripts" }\n\n[tools.read_file]\nlimits = { max_bytes = 4 }\n'
    )
    data = project / "data"
    (data / "manuscripts").mkdir()
    (data / "manuscripts" / "ch01.md").write_text("whale")
    (data / "notes.md").write_text("whale")
    async with Room.open(project) as room:
        found = await room.call("search_code", {"query": "whale"})
        assert isinstance(found, Done)
        assert [match["path"] for match in found.value["matches"]] == ["manuscripts/ch01.md"]
        everywhere = await room.call("search_code", {"query": "whale", "path": "."})
        assert isinstance(everywhere, Done)
        assert len(everywhere.value["matches"]) == 2
        refused = await room.call("read_file", {"path": "notes.md"})
        assert isinstance(refused, Failed)
        assert refused.code is Code.TOO_LARGE


def test_a_grant_cannot_be_made_by_hand() -> None:
    call = Call("c", "t", {}, "a", "r", "t")
    with pytest.raises(TypeError):
        Grant(call, Preview(), Verdict("allow", "", ""), "v")


async def test_a_room_in_memory_leaves_nothing_behind() -> None:
    async with Room.in_memory() as room:
        await room.call("write_file", {"path": "a.md", "content": "x"})
        place = room.workspace
        assert (place / "a.md").exists()
    assert not place.exists()


async def test_a_rule_that_asks_about_a_file_is_heard_by_a_search_that_reads_it(
    make_project: MakeProject,
) -> None:
    project = make_project('[[rules]]\nask = "*(private/**)"\nbecause = "private"\n')
    for name in ("private", "public"):
        (project / "data" / name).mkdir()
        (project / "data" / name / "a.md").write_text("whale")
    async with Room.open(project) as room:
        assert isinstance(await room.call("search_code", {"query": "whale"}), Waiting)
        assert isinstance(await room.call("search_code", {"query": "whale", "directory": "public"}), Done)


async def test_a_caller_that_goes_away_does_not_stop_the_watch(room: Room) -> None:
    started, released = threading.Event(), threading.Event()

    @tool(requires_approval=False, limits={"timeout_seconds": 0.1})
    def hang() -> str:
        """Hang."""
        started.set()
        released.wait(120)
        return "late"

    room.register(hang)
    caller = asyncio.create_task(room.call("hang", {}))
    await asyncio.to_thread(started.wait, 10)
    caller.cancel()
    async with asyncio.timeout(120):
        while EntryKind.SETTLED not in await kinds(room):  # each look gives the watch a turn
            pass
    released.set()
    assert (await last(room))["outcome"] == "unknown"


async def test_a_function_that_comes_back_late_says_nothing_more(room: Room) -> None:
    released = threading.Event()

    @tool(requires_approval=False, limits={"timeout_seconds": 0.05})
    def hang() -> str:
        """Hang for a while."""
        released.wait(120)
        return "late"

    room.register(hang)
    assert isinstance(await room.call("hang", {}), Unknown)
    released.set()
    await room._runtime.threads.drain(10)
    assert await kinds(room) == [EntryKind.CLAIMED, EntryKind.SETTLED]
    assert (await room.verify()).ok


class _Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "error",
    [
        SystemExit(0), KeyboardInterrupt(), asyncio.CancelledError(), _Unreadable(), StopIteration(), TimeoutError("mine"),
        ToolError(Code.BUSY, "x", {"bad": object()}), ToolError("strange", "x"), ToolError(Code.BUSY, "x" * 10_000_000),
        GeneratorExit(), MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_whatever_a_tool_raises_ends_as_an_outcome_and_leaves_no_claim(
    room: Room, error: BaseException, kind: str
) -> None:
    def stumble() -> str:
        """Raise something."""
        raise error

    async def stumble_later() -> str:
        """Raise something."""
        raise error

    room.register(tool(name="stumble", requires_approval=False)(stumble if kind == "sync" else stumble_later))
    outcome = await room.call("stumble", {})
    assert isinstance(outcome, Failed | Unknown), outcome
    assert len(outcome.message) < 10_000
    assert "took longer" not in outcome.message
    assert room.store.read(lambda view: list(open_claims(view))) == []
    assert (await room.verify()).ok


@pytest.mark.parametrize("call_id", ["", "a/b", "../x", "a\0b", "\ud800", "x" * 65, ".x", 5, b"x"])
async def test_a_call_id_that_cannot_be_used_is_refused(room: Room, call_id: Any) -> None:
    outcome = await room.call("write_file", {"path": "a.md", "content": ""}, call_id=call_id)
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.INVALID_ARGUMENTS


async def test_a_call_id_names_one_call_only(room: Room) -> None:
    assert isinstance(await room.call("write_file", {"path": "a.md", "content": ""}, call_id="toolu_1"), Done)
    again = await room.call("write_file", {"path": "b.md", "content": ""}, call_id="toolu_1")
    assert isinstance(again, Failed)
    assert again.code is Code.INVALID_ARGUMENTS
    assert not (room.workspace / "b.md").exists()


@pytest.mark.parametrize(("name", "role"), [(None, "operator"), (5, "operator"), ("read_file", ["operator"])])
async def test_names_that_are_no_texts_are_refused(room: Room, name: Any, role: Any) -> None:
    assert isinstance(await room.call(name, {}, role=role), Failed)


async def test_a_stopped_task_does_nothing_more(room: Room) -> None:
    await room.call("write_file", {"path": "a.md", "content": "a"})
    room.store.close_task(room.task_id, "cancelled", {"result": None}, withdraw="ada")
    for name, arguments in (
        ("write_file", {"path": "b.md", "content": "b"}),
        ("read_file", {"path": "a.md"}),
    ):
        outcome = await room.call(name, arguments)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.CANCELLED
    assert not (room.workspace / "b.md").exists()
    assert (await room.verify()).ok


async def test_a_closed_room_says_so(tmp_path: Path) -> None:
    async with Room.in_memory() as room:
        pass
    outcome = await room.call("list_files", {})
    assert isinstance(outcome, Failed)
    assert "closed" in outcome.message


async def test_what_may_not_be_read_may_not_be_carried_off_or_edited(make_project: MakeProject) -> None:
    project = make_project(
        '[[rules]]\ndeny = "read_file(private/**)"\nbecause = "private"\n', profile="trusted"
    )
    (project / "data" / "private").mkdir()
    (project / "data" / "private" / "s.txt").write_text("secret")
    async with Room.open(project) as room:
        for name, arguments in (
            ("move_file", {"from": "private/s.txt", "to": "s.txt"}),
            ("move_file", {"from": "private", "to": "public"}),
            ("edit_file", {"path": "private/s.txt", "search_text": "secret", "replace_text": ""}),
            ("edit_file", {"path": "private/s.txt", "search_text": "not there", "replace_text": ""}),
        ):
            outcome = await room.call(name, arguments)
            assert isinstance(outcome, Failed)
            assert outcome.code is Code.BLOCKED_BY_RULE, (name, outcome)
        assert isinstance(await room.call("write_file", {"path": "private/new.txt", "content": "in"}), Done)


async def test_an_ending_that_could_not_be_written_is_written_with_the_next_call(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("database or disk is full.")

    monkeypatch.setattr(room.store, "settle", full)
    assert isinstance(await room.call("write_file", {"path": "a.md", "content": "a"}), Unknown)
    monkeypatch.undo()
    unsettled = room._runtime.in_flight.unsettled
    unsettled[:] = [partial(room.store.settle, *write.args) for write in unsettled]  # type: ignore[attr-defined]
    await room.call("list_files", {})
    assert room.store.read(lambda view: list(open_claims(view))) == []
    assert (await room.verify()).ok


async def test_a_refused_call_is_written_down_in_part_however_large_it_is(room: Room) -> None:
    for arguments in (
        {"path": "a.md", "content": "x" * 30_000_000},
        {"path": "a.md", "content": ["y" * 12_000_000]},
    ):
        assert isinstance(await room.call("write_file", arguments), Failed)
        assert len(str(await last(room))) < 100_000
    long = await room.call("plan_next_steps", {"steps": ["z" * 12_000_000]})
    assert isinstance(long, Failed)
    assert long.code is Code.INVALID_ARGUMENTS


async def test_what_goes_wrong_after_a_commit_does_not_unsay_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    async with Room.open(project) as room:
        monkeypatch.setattr(room.store.sealer, "_remember", read_only)
        assert isinstance(await room.call("write_file", {"path": "a.md", "content": "a"}), Done)
    assert (project / "data" / "a.md").read_text() == "a"


async def test_no_place_of_the_host_shows_in_what_a_tool_raised(
    make_project: MakeProject, tmp_path: Path
) -> None:
    project = make_project(workspace="deep/er/data")

    def stumble() -> str:
        """Name places of the host."""
        raise OSError(f"{project}/tools/x {project}/.brasstag/state.db {tmp_path}/user/rooms")

    async with Room.open(project) as room:
        room.register(tool(name="stumble", effects="none")(stumble))
        outcome = await room.call("stumble", {})
        assert isinstance(outcome, Failed)
        assert str(tmp_path) not in outcome.message
