"""kill -9 while code runs, while what it changed lands, and while a person is asked: old or new, never between."""

import asyncio
import os
import random
import shutil
import signal
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from brasstag import ApprovalResponse, Done, Room, Waiting
from brasstag.store.database.schema import leases
from brasstag.store.tasks.ledger import open_claims
from brasstag.words.approvals import ApprovalState
from brasstag.words.events import Entry, EntryKind
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script
from tests.engine.worker.test_many_runs import descendants
from tests.processes import KILLED, call_and_die, end, start
from tests.sandbox.process.support import running_with, until
from tests.sandbox.support import Snapshot, snapshot

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

MOST_STEPS = 150
CODE = """
import os, pathlib, shutil
open("new", "w").write("new")
os.makedirs("x/y"); open("x/y/z", "w").write("deep")
open("a", "w").write("changed")
open("b", "a").write("more")
os.remove("c")
os.remove("d/one"); os.remove("d/sub/two"); os.rmdir("d/sub"); os.rmdir("d")
shutil.move("e", "f")
os.rename("g", "h")
os.chmod("run", 0o755)
os.remove("link"); os.symlink("b", "link")
os.symlink("a", "second")
os.remove("i"); os.mkdir("i"); open("i/in", "w").write("in")
os.remove("j/four"); os.rmdir("j"); open("j", "w").write("plain")
os.mkdir("shut"); open("shut/in", "w").write("in"); os.chmod("shut", 0o500)
"""
"""Changes of every kind; shutil.move, as a layer cannot rename a directory beneath it."""

CALL = ("run_code", {"language": "python", "code": CODE})


def fill(data: Path) -> None:
    for name in ("a", "b", "c", "d/one", "d/sub/two", "e/three", "g", "run", "i", "j/four"):
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (data / "link").symlink_to("a")


def mixed(found: Snapshot, before: Snapshot, after: Snapshot) -> list[str]:
    """Return the files that are neither old nor new; where one becomes a directory, or was one, nothing may be yet."""
    names = [name for name in before.keys() | after.keys() | found.keys() if ".brasstag-" not in name]
    wrong = [name for name in names if found.get(name) not in (before.get(name), after.get(name))]
    return [name for name in wrong if not any(is_directory(one.get(name)) for one in (found, before, after))]


def is_directory(one: tuple[str, bytes, int] | None) -> bool:
    return one is not None and one[0] == "directory"


async def recovered(project: Path) -> tuple[Snapshot, list[Entry]]:
    """Open the room again; return what the workspace holds then, and the timeline."""
    async with Room.open(project) as room:
        assert room.store.read(lambda view: list(open_claims(view))) == []
        assert room.store.read(lambda view: view.execute(leases.select()).all()) == []
        report = await room.verify()
        assert report.ok, report.findings
        return snapshot(project / "data"), list(await room.timeline())


async def require_whole(project: Path, user: Path, before: Snapshot, after: Snapshot) -> bool:
    """Check a workspace whose process has died, before and after recovery; return whether the call happened."""
    assert mixed(snapshot(project / "data"), before, after) == []
    found, entries = await recovered(project)
    claimed = [entry for entry in entries if entry.kind is EntryKind.CLAIMED]
    settled = [entry for entry in entries if entry.kind is EntryKind.SETTLED]
    # Not claimed: it never happened. Claimed: recovery finished it, or found it finished.
    assert found == (after if claimed else before)
    assert len(settled) == len(claimed) <= 1
    assert all((entry.payload or {})["outcome"] == "done" for entry in settled)
    assert layers(user) == []
    return bool(claimed)


def layers(user: Path, what: str = "*") -> list[Path]:
    """Return what runs have left, or what those that run stand on."""
    return list(user.glob(f"rooms/*/layers/{what}"))


@pytest.fixture
def expected(make_project: MakeProject, tmp_path: Path) -> tuple[Snapshot, Snapshot]:
    """What the workspace holds before the call, and after one that nobody disturbs."""
    project = make_project(profile="trusted", name="undisturbed")
    fill(project / "data")
    before = snapshot(project / "data")
    assert end(start(call_and_die, project, tmp_path / "user", MOST_STEPS, [CALL])) == 0
    after = snapshot(project / "data")
    assert len(after.items() ^ before.items()) > 20
    return before, after


@pytest.mark.parametrize("step", [0, 1, 12, 30])
async def test_killed_at_a_step_of_landing_every_file_is_old_or_new_and_recovery_finishes(
    make_project: MakeProject, tmp_path: Path, expected: tuple[Snapshot, Snapshot], step: int
) -> None:
    project = make_project(profile="trusted")
    fill(project / "data")
    assert end(start(call_and_die, project, tmp_path / "user", step, [CALL])) == KILLED
    assert await require_whole(project, tmp_path / "user", *expected) is (step > 0)


@pytest.mark.slow
async def test_killed_at_any_step_of_landing_every_file_is_old_or_new_and_recovery_finishes(
    make_project: MakeProject, tmp_path: Path, expected: tuple[Snapshot, Snapshot]
) -> None:
    happened = []
    for step in range(MOST_STEPS):
        project = make_project(profile="trusted", name=f"try{step}")
        fill(project / "data")
        code = end(start(call_and_die, project, tmp_path / "user", step, [CALL]))
        happened.append(await require_whole(project, tmp_path / "user", *expected))
        if code != KILLED:
            assert code == 0
            break
        shutil.rmtree(project)
    # The first step comes before the claim, all others after it.
    assert happened[0] is False
    assert all(happened[1:])
    assert len(happened) > 40, "the landing has fewer steps than it should"


@pytest.mark.parametrize("step", [0, 1, 5, 20, 45])
async def test_on_postgres_it_is_the_same(
    make_project: MakeProject,
    tmp_path: Path,
    expected: tuple[Snapshot, Snapshot],
    step: int,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BRASSTAG_DATABASE_URL", request.getfixturevalue("postgres").url)
    project = make_project(profile="trusted")
    fill(project / "data")
    assert end(start(call_and_die, project, tmp_path / "user", step, [CALL])) == KILLED
    assert await require_whole(project, tmp_path / "user", *expected) is (step > 0)


async def test_killed_at_a_moment_every_file_is_old_or_new_and_recovery_finishes(
    make_project: MakeProject, tmp_path: Path, expected: tuple[Snapshot, Snapshot]
) -> None:
    await kill_at_moments(make_project, tmp_path, expected, 2)


@pytest.mark.slow
async def test_killed_at_any_moment_every_file_is_old_or_new_and_recovery_finishes(
    make_project: MakeProject, tmp_path: Path, expected: tuple[Snapshot, Snapshot]
) -> None:
    await kill_at_moments(make_project, tmp_path, expected, 12)


async def kill_at_moments(
    make_project: MakeProject, tmp_path: Path, expected: tuple[Snapshot, Snapshot], moments: int
) -> None:
    dice = random.Random(4)
    for number in range(moments):
        project = make_project(profile="trusted", name=f"moment{number}")
        fill(project / "data")
        child = start(call_and_die, project, tmp_path / "user", MOST_STEPS, [CALL])
        until(lambda: layers(tmp_path / "user", "run-*") != [] or not child.is_alive())  # noqa: B023 - asked at once
        child.join(dice.random() / 2)
        kill_all_below(child)
        await require_whole(project, tmp_path / "user", *expected)


def kill(process: BaseProcess) -> None:
    process.kill()
    process.join()


def kill_all_below(process: BaseProcess) -> None:
    """Kill a process, and wait until what it had started is gone, too: until then that may write to its layer."""
    try:
        os.kill(process.pid or 0, signal.SIGSTOP)
    except ProcessLookupError:
        # It came to its end before it could be killed.
        process.join()
        return
    below = [pid for pid in descendants(process.pid or 0) if is_running(pid)]
    kill(process)
    until(lambda: not any(map(is_running, below)), seconds=120)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def written(user: Path, name: str) -> Callable[[], bool]:
    """Say whether code that runs has written a file."""
    return lambda: layers(user, f"run-*/upper/{name}") != []


async def test_killed_while_code_runs_nothing_has_happened_and_nothing_is_left(
    make_project: MakeProject, tmp_path: Path
) -> None:
    project, user = make_project(profile="trusted"), tmp_path / "user"
    fill(project / "data")
    before = snapshot(project / "data")
    command = {"command": "echo x > a; rm b; touch mark; sleep 5151"}
    child = start(call_and_die, project, user, MOST_STEPS, [("shell", command)])
    until(written(user, "mark"))
    kill(child)
    until(lambda: running_with("sleep 5151") == [])
    found, entries = await recovered(project)
    assert found == before
    assert [entry.kind for entry in entries if entry.call_id] == []
    assert layers(user) == []
    assert str(user) not in mounts()


def mounts() -> str:
    return Path("/proc/self/mountinfo").read_text()


def start_run(project: Path) -> None:
    """Work on a run until it ends."""

    async def work() -> None:
        async with Room.open(project) as room:
            await room.finished(await room.start("Build"))

    asyncio.run(work())


async def test_code_of_an_agent_that_was_killed_runs_again_for_the_next_worker(
    make_project: MakeProject, tmp_path: Path
) -> None:
    project = make_project(CREW, profile="trusted")
    command = "touch mark; echo once >> made; test -e go || sleep 6161"
    write_script(project, {"boss": [turn(call("shell", command=command)), turn(text="Done.")]})
    child = start(start_run, project)
    until(written(tmp_path / "user", "mark"))
    kill(child)
    (project / "data" / "go").touch()
    async with Room.open(project) as room:
        run = next(task.id for task in await room.tasks() if task.kind != "desk")
        serving = asyncio.create_task(room.serve())
        assert (await room.finished(run)).ok
        room.runs.drain()
        await serving
        ends = [entry for entry in await room.timeline() if entry.kind is EntryKind.SETTLED]
        assert len(ends) == 1
        report = await room.verify()
        assert report.ok, report.findings
    assert (project / "data" / "made").read_text() == "once\n"
    assert layers(tmp_path / "user") == []


ASKED = """
import os
for name in ("a", "b", "new"):
    open(name, "w").write(os.urandom(8).hex())
os.remove("c"); os.chmod("run", 0o755); os.symlink("a", "second")
"""


def ask_and_die(project: Path) -> None:
    """Make a call that waits for a person, and die."""

    async def ask() -> None:
        async with Room.open(project) as room:
            assert isinstance(await room.call("run_code", {"language": "python", "code": ASKED}), Waiting)
            os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(ask())


async def test_what_was_approved_after_its_process_died_lands_as_it_was_shown(
    make_project: MakeProject,
) -> None:
    project = make_project()
    data = project / "data"
    fill(data)
    before = snapshot(data)
    assert end(start(ask_and_die, project)) == KILLED
    async with Room.open(project) as room:
        [approval] = await room.approvals(ApprovalState.OPEN)
        assert snapshot(data) == before
        await room.decide(approval.id, ApprovalResponse(True), ADA)
        outcome = await room.resume(approval.id)
        assert isinstance(outcome, Done), outcome
        shown = {change.path: change.after for change in approval.preview.changes}
        # What it wrote was chosen by chance: had it run again, these would be other bytes.
        for name in ("a", "b", "new"):
            assert shown[name] == f"file:{room.store.blobs.put((data / name).read_bytes())}"
        assert sorted(shown) == ["a", "b", "c", "new", "run", "second"]
        assert not (data / "c").exists()
        assert (data / "run").stat().st_mode & 0o777 == 0o755
        assert (await room.verify()).ok


async def test_what_was_approved_is_asked_about_anew_and_nothing_lands_where_a_file_changed_since(
    make_project: MakeProject,
) -> None:
    project = make_project()
    data = project / "data"
    fill(data)
    assert end(start(ask_and_die, project)) == KILLED
    (data / "b").write_text("by somebody else")
    before = snapshot(data)
    async with Room.open(project) as room:
        [approval] = await room.approvals(ApprovalState.OPEN)
        await room.decide(approval.id, ApprovalResponse(True), ADA)
        again = await room.resume(approval.id)
        assert isinstance(again, Waiting), again
        assert snapshot(data) == before
        await room.decide(again.approval_id, ApprovalResponse(True), ADA)
        assert isinstance(await room.resume(again.approval_id), Done)
        shown = {change.path: change.after for change in approval.preview.changes}
        assert shown["b"] == f"file:{room.store.blobs.put((data / 'b').read_bytes())}"
        assert (await room.verify()).ok
