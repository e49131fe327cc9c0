"""Confined code: what it changed is judged before it lands, lands whole or not at all, and it never runs twice for that."""

import asyncio
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Done, Failed, Outcome, Room, Waiting
from brasstag.engine.calls.landing import ALREADY_THERE
from brasstag.words.approvals import ApprovalState
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script
from tests.runtimes import put_in

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

TOKEN = "import os; print(os.urandom(8).hex())\n"
"""Prints something else each time it runs."""


async def python(room: Room, code: str, **more: Any) -> Outcome:
    return await room.call("run_code", {"language": "python", "code": code, **more})


async def bash(room: Room, command: str, **more: Any) -> Outcome:
    return await room.call("shell", {"command": command, **more})


async def decide(room: Room, waiting: Outcome, *, yes: bool) -> Outcome:
    """Answer a request, and go on with its call."""
    assert isinstance(waiting, Waiting)
    await room.decide(waiting.approval_id, ApprovalResponse(yes, reason="so be it"), ADA)
    return await room.resume(waiting.approval_id) if yes else waiting


async def require_sound(room: Room) -> None:
    report = await room.verify()
    assert report.ok, report.findings


async def test_what_code_creates_lands_at_once_and_can_be_undone(project: Path) -> None:
    async with Room.open(project) as room:
        outcome = await python(room, "open('made.md', 'w').write('new')")
        assert isinstance(outcome, Done)
        assert outcome.value["changes"] == [{"path": "made.md", "change": "creates"}]
        assert (project / "data" / "made.md").read_text() == "new"
        assert outcome.tag is not None
        undone = await room.undo(outcome.tag.id)
        if isinstance(undone, Waiting):
            undone = await decide(room, undone, yes=True)
        assert isinstance(undone, Done)
        assert not (project / "data" / "made.md").exists()
        await require_sound(room)


async def test_what_code_overwrites_waits_and_lands_without_running_again(project: Path) -> None:
    file = project / "data" / "a.md"
    file.write_text("old")
    async with Room.open(project) as room:
        waiting = await python(room, f"{TOKEN}open('a.md', 'w').write('new'); open('b.md', 'w').write('b')")
        assert file.read_text() == "old"
        assert not (project / "data" / "b.md").exists()
        asked = next(entry for entry in await room.timeline() if entry.kind is EntryKind.ASKED)
        done = await decide(room, waiting, yes=True)
        assert isinstance(done, Done)
        assert done.value["stdout"] == (asked.payload or {})["intended"]["result"]["stdout"]
        assert (file.read_text(), (project / "data" / "b.md").read_text()) == ("new", "b")
        await require_sound(room)


async def test_what_a_person_denies_does_not_land_and_is_kept_as_a_patch(project: Path) -> None:
    data = project / "data"
    (data / "a.md").write_text("old\nsame\n")
    async with Room.open(project) as room:
        waiting = await bash(room, "echo said; sed -i s/old/new/ a.md; echo b > b.md")
        await decide(room, waiting, yes=False)
        decided = (await room.timeline())[-1].payload or {}
        error = decided["result"]["error"]
        assert error["code"] == Code.DENIED
        assert error["details"]["ran"]["stdout"] == "said\n"
        assert (data / "a.md").read_text() == "old\nsame\n"
        assert not (data / "b.md").exists()
        patch = project / error["details"]["patch"]
    subprocess.run(["git", "apply", str(patch)], cwd=data, check=True)  # noqa: ASYNC221 - the room is closed
    assert ((data / "a.md").read_text(), (data / "b.md").read_text()) == ("new\nsame\n", "b\n")


async def test_changes_that_a_rule_denies_are_refused_whole(make_project: MakeProject) -> None:
    project = make_project('[[rules]]\ndeny = "*(locked/**)"\nbecause = "it is locked"\n', profile="trusted")
    async with Room.open(project) as room:
        hidden = "name = 'lock' + 'ed'; import os; os.mkdir(name); open(name + '/a', 'w'); open('b', 'w')"
        outcome = await python(room, hidden)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.BLOCKED_BY_RULE
        assert "it is locked" in outcome.message
        assert outcome.details["ran"]["exit_code"] == 0
        assert list((project / "data").iterdir()) == []
        assert (project / outcome.details["patch"]).is_file()
        await require_sound(room)


async def test_rules_speak_of_what_code_changed_by_a_name_of_its_own(make_project: MakeProject) -> None:
    project = make_project(
        '[[rules]]\nask = "apply_changes(src/**)"\nbecause = "look first"\n', profile="trusted"
    )
    async with Room.open(project) as room:
        assert isinstance(await bash(room, "echo x > free.txt"), Done)
        waiting = await bash(room, "mkdir src && echo x > src/a.py")
        assert isinstance(waiting, Waiting)
        assert waiting.reason == "look first"


async def test_code_and_its_changes_may_each_need_a_yes(make_project: MakeProject) -> None:
    project = make_project(profile="locked")
    async with Room.open(project) as room:
        first = await python(room, "open('made.md', 'w').write('new')")
        second = await decide(room, first, yes=True)
        assert isinstance(second, Waiting)
        assert not (project / "data" / "made.md").exists()
        assert isinstance(await decide(room, second, yes=True), Done)
        assert (project / "data" / "made.md").read_text() == "new"
        states = [approval.state for approval in await room.approvals()]
        assert states == [ApprovalState.CONSUMED, ApprovalState.CONSUMED]
        await require_sound(room)


async def test_approved_code_is_asked_about_anew_when_a_file_it_names_has_changed(
    make_project: MakeProject,
) -> None:
    project = make_project(profile="locked")
    (project / "data" / "job.py").write_text("print('harmless')")
    async with Room.open(project) as room:
        waiting = await bash(room, "python3 job.py")
        (project / "data" / "job.py").write_text("print('something else')")
        again = await decide(room, waiting, yes=True)
        assert isinstance(again, Waiting)
        assert "has changed since" in again.reason


async def test_changes_are_asked_about_anew_when_their_target_has_changed(project: Path) -> None:
    file = project / "data" / "a.md"
    file.write_text("old")
    async with Room.open(project) as room:
        waiting = await python(room, "open('a.md', 'w').write('new')")
        file.write_text("newer")
        again = await decide(room, waiting, yes=True)
        assert isinstance(again, Waiting)
        assert file.read_text() == "newer"
        assert isinstance(await decide(room, again, yes=True), Done)
        assert file.read_text() == "new"
        await require_sound(room)


async def test_changes_that_are_there_already_leave_nothing_to_change_and_say_so(project: Path) -> None:
    file = project / "data" / "s"
    file.write_text("b\na\n")
    async with Room.open(project) as room:
        first, second = [await bash(room, "sort -o s s") for _ in range(2)]
        assert isinstance(await decide(room, first, yes=True), Done)
        done = await decide(room, second, yes=True)
        assert isinstance(done, Done)
        assert (done.value["changes"], done.value["notes"]) == ([], [ALREADY_THERE])
        assert isinstance(second, Waiting)
        assert (await room.approval(second.approval_id)).state is ApprovalState.CONSUMED
        assert file.read_text() == "a\nb\n"
        assert list((project / ".brasstag" / "patches").iterdir()) == []
        await require_sound(room)


async def test_changes_of_which_some_are_there_are_asked_about_and_told_as_they_are_now(
    project: Path,
) -> None:
    data = project / "data"
    (data / "a").write_text("old a")
    (data / "b").write_text("old b")
    async with Room.open(project) as room:
        waiting = await bash(room, "printf new > a; printf new > b")
        (data / "a").write_text("new")
        again = await decide(room, waiting, yes=True)
        done = await decide(room, again, yes=True)
        assert isinstance(done, Done)
        assert done.value["changes"] == [{"path": "b", "change": "overwrites"}]
        assert (data / "b").read_text() == "new"


async def test_a_patch_is_kept_only_as_long_as_its_changes_have_not_landed(project: Path) -> None:
    (project / "data" / "a.md").write_text("old")
    patches = project / ".brasstag" / "patches"
    async with Room.open(project) as room:
        waiting = await bash(room, "echo new > a.md")
        assert len(list(patches.iterdir())) == 1
        done = await decide(room, waiting, yes=True)
        assert isinstance(done, Done)
        assert list(patches.iterdir()) == []
        assert "patch" not in done.meta


async def test_whoever_is_asked_is_told_of_every_effect(project: Path) -> None:
    data = project / "data"
    (data / "a").write_text("a")
    (data / "b").write_text("b")
    async with Room.open(project) as room:
        waiting = await bash(room, "echo new > a; rm b; echo c > c; echo d > d")
        assert isinstance(waiting, Waiting)
        assert "(in all: creates 2, overwrites 1, deletes 1)" in waiting.reason


@pytest.mark.parametrize(
    "command", ["sort -o s s", "rm s", "mv s 'a [b]*'; echo x > s", "mkdir d; mv s d/s; echo y > 'd/ä'"]
)
async def test_a_narrow_rule_for_changes_lets_the_same_landing_pass(
    make_project: MakeProject, command: str
) -> None:
    project = make_project(profile="locked")
    (project / "data" / "s").write_text("b\na\n")
    rules: list[str] = []
    async with Room.open(project) as room:
        waiting = await bash(room, command)
        for _ in ("to run", "to land"):
            assert isinstance(waiting, Waiting)
            rule = room.narrow_rule(await room.approval(waiting.approval_id), "seen before")
            assert isinstance(rule, str)
            rules.append(rule)
            waiting = await decide(room, waiting, yes=True)
        assert isinstance(waiting, Done)
    assert "apply_changes(" in rules[1]
    again = make_project("".join(rules), profile="locked", name="again")
    (again / "data" / "s").write_text("b\na\n")
    async with Room.open(again) as room:
        assert isinstance(await bash(room, command), Done)
        (again / "data" / "other").write_text("b\na\n")
        assert isinstance(await bash(room, "sort -o other other"), Waiting)


async def test_code_that_runs_out_of_time_tells_what_it_said_and_leaves_nothing(project: Path) -> None:
    async with Room.open(project) as room:
        outcome = await bash(room, "echo begun; echo x > made; sleep 60", timeout=1)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.TIMEOUT
        assert outcome.details["stdout"] == "begun\n"
        assert list((project / "data").iterdir()) == []


async def test_the_exit_code_of_a_program_is_its_own_word(project: Path) -> None:
    async with Room.open(project) as room:
        outcome = await bash(room, "echo no >&2; exit 3")
        assert isinstance(outcome, Done)
        assert (outcome.value["exit_code"], outcome.value["stderr"]) == (3, "no\n")


async def test_stopping_a_task_ends_the_code_it_runs(make_project: MakeProject) -> None:
    project = make_project(CREW)
    write_script(project, {"boss": [turn(call("shell", command="echo begun; sleep 4242", timeout=600))]})
    async with Room.open(project) as room:
        run = await room.start("Wait")
        await anext(one async for one in room.watch(run) if one.output is not None)
        await room.stop(run, "ada")
        assert (await room.finished(run)).task.status == "cancelled"
    left = subprocess.run(["pgrep", "-f", "sleep 4242"], capture_output=True, check=False)  # noqa: ASYNC221 - the same
    assert left.stdout == b""


async def test_an_agent_waits_for_a_yes_to_what_its_code_changed(make_project: MakeProject) -> None:
    project = make_project(CREW)
    (project / "data" / "a.md").write_text("old")
    write_script(project, {"boss": [turn(call("shell", command="echo new > a.md")), turn(text="Done.")]})
    async with Room.open(project) as room:
        run = await room.start("Change it")
        async for _ in room.watch(run):
            waiting = await room.approvals(ApprovalState.OPEN)
            if waiting:
                break
        await room.decide(waiting[0].id, ApprovalResponse(True), ADA)
        assert (await room.finished(run)).ok
        assert (project / "data" / "a.md").read_text() == "new\n"
        await require_sound(room)


async def test_what_rules_hide_is_empty_to_code_however_it_is_named(project: Path) -> None:
    data = project / "data"
    (data / "deep").mkdir()
    (data / ".env").write_text("KEY=top")
    (data / "deep" / "id_rsa").write_text("PRIVATE")
    (data / "plain.txt").write_text("plain")
    async with Room.open(project) as room:
        code = "import os\nfor at, _, names in os.walk('.'):\n  for n in names: print(n, open(os.path.join(at, n)).read())"
        outcome = await python(room, code)
        assert isinstance(outcome, Done)
        assert "plain.txt plain" in outcome.value["stdout"]
        assert "top" not in outcome.value["stdout"]
        assert "PRIVATE" not in outcome.value["stdout"]
        assert outcome.value["changes"] == []
    assert (data / ".env").read_text() == "KEY=top"


@pytest.mark.parametrize("first_lands", [True, False])
async def test_code_whose_paths_another_call_holds_waits_and_is_not_run_again(
    make_project: MakeProject, first_lands: bool
) -> None:
    project = make_project(profile="trusted")
    made = project / "data" / "made.txt"
    ran: list[str] = []
    first_holds, second_has_tried, first_is_over = threading.Event(), threading.Event(), threading.Event()

    def at(step: str) -> None:
        if step == "claimed" and not first_holds.is_set():
            first_holds.set()
            assert second_has_tried.wait(60)
            if not first_lands:
                made.write_text("in the way")
        elif step == "persisted" and first_holds.is_set():
            tries.append(step)
            if len(tries) == 2:
                second_has_tried.set()
                assert first_is_over.wait(60)
        elif step == "performed" and not first_is_over.is_set():
            if not first_lands:
                made.unlink()
            first_is_over.set()

    tries: list[str] = []
    async with Room.open(project) as room:
        put_in(room, at=at)
        first = asyncio.create_task(bash(room, "echo first > made.txt"))
        await asyncio.to_thread(first_holds.wait, 60)
        code = {"language": "bash", "code": "echo ran; echo second > made.txt"}
        second = await room.call("run_code", code, on_output=lambda output: ran.append(output.text))
        ended = await first
        await require_sound(room)
    assert "".join(ran) == "ran\n"
    if first_lands:
        assert isinstance(ended, Done)
        assert isinstance(second, Failed)
        assert second.code is Code.CHANGED
        assert second.details["ran"]["stdout"] == "ran\n"
        assert (project / second.details["patch"]).is_file()
        assert made.read_text() == "first\n"
    else:
        assert isinstance(ended, Failed)
        assert isinstance(second, Done)
        assert made.read_text() == "second\n"
