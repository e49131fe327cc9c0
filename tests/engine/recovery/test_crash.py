"""kill -9 at every step between claim and settle, then a restart: nothing lost, doubled or unrecorded."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from brasstag import Failed, Room, UntrustedError, Waiting
from brasstag.app.state import open_state
from brasstag.store.contents.versions import history
from brasstag.store.database.schema import approvals, calls, facts
from brasstag.store.tasks.ledger import open_claims
from brasstag.words.calls import Call
from brasstag.words.canonical import stored_json
from brasstag.words.errors import Code, StoreError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change
from tests.conftest import MakeProject, accept
from tests.processes import KILLED, call_and_die, end, start

MOST_STEPS = 80


def contents(root: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes()
        for path in sorted(root.rglob("*"))
    }


CASES: list[tuple[str, dict[str, Any]]] = [
    ("write_file", {"path": "new/n.md", "content": "new"}),
    ("write_file", {"path": "a.md", "content": "new"}),
    ("edit_file", {"path": "a.md", "search_text": "old", "replace_text": "new"}),
    ("delete_file", {"path": "d", "recursive": True}),
    ("move_file", {"from": "a.md", "to": "d/b.md", "overwrite": True}),
    ("move_file", {"from": "d", "to": "e"}),
]


FAST = (1, 5)
"""One that changes a file, and one that changes several; each case is as many processes as it has steps."""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param(*case, id=f"{case[0]}-{number}", marks=() if number in FAST else pytest.mark.slow)
        for number, case in enumerate(CASES)
    ],
)
async def test_killed_at_any_step_a_call_is_whole_and_recorded_once(
    make_project: MakeProject,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: dict[str, Any],
) -> None:
    project, user = make_project(profile="trusted"), tmp_path / "user"
    data = project / "data"
    (data / "d").mkdir()
    (data / "a.md").write_text("old")
    (data / "d" / "b.md").write_text("b")
    (data / "d" / "c.md").write_text("c")
    before, after, killed = contents(data), None, 0
    for step in range(MOST_STEPS):
        place = tmp_path / f"try{step}"
        shutil.copytree(tmp_path / "project", place / "project", symlinks=True)
        shutil.copytree(user, place / "user")
        code = end(start(call_and_die, place / "project", place / "user", step, [(name, arguments)]))
        monkeypatch.setenv("BRASSTAG_USER_DIR", str(place / "user"))
        async with Room.open(place / "project") as room:
            found = contents(place / "project" / "data")
            entries = await room.timeline()
            ended = [entry for entry in entries if entry.kind is EntryKind.SETTLED]
            claimed = [entry for entry in entries if entry.kind is EntryKind.CLAIMED]
            assert room.store.read(lambda view: list(open_claims(view))) == []
            assert len(ended) == len(claimed) <= 1
            assert all((entry.payload or {})["outcome"] == "done" for entry in ended)
            report = await room.verify()
            assert report.ok, report.findings
            if code != KILLED:
                assert code == 0
                after = found
                break
            killed += 1
            # Not claimed: it never happened. Claimed: recovery finished it, or found it finished.
            assert (found == before) if not claimed else (found != before), (step, found)
            if claimed:
                after = after or found
                assert found == after
        shutil.rmtree(place)
    assert after is not None
    assert after != before
    assert killed >= 5, "the call has fewer steps than it should"


async def test_an_approval_used_by_a_call_that_died_is_used_up_and_the_call_finished(
    make_project: MakeProject, tmp_path: Path
) -> None:
    project = make_project()
    (project / "data" / "a.md").write_text("old")
    calls = [("write_file", {"path": "a.md", "content": "new"})]
    assert end(start(call_and_die, project, tmp_path / "user", 3, calls, True)) == KILLED
    async with Room.open(project) as room:
        assert [approval.state for approval in await room.approvals()] == ["consumed"]
        assert (project / "data" / "a.md").read_text() == "new"
        assert len([e for e in await room.timeline() if e.kind is EntryKind.SETTLED]) == 1
        versions = room.store.read(lambda view: history(view, "a.md"))
        assert [version.by for version in versions] == ["outside", "operator"]
        assert (await room.verify()).ok


EXTERNAL = """
import os
from brasstag import tool

def happened(call_id, arguments):
    return {{"sent": True}} if os.path.exists({marker!r}) else None

@tool(execution_type="function"{check})
def send(call_id: str) -> dict:
    '''send'''
    with open({marker!r}, "a") as file:
        file.write(call_id + "\\n")
    return {{"sent": True}}
"""


@pytest.mark.parametrize(
    ("replay", "step", "outcome", "sent"),
    [
        ("ask", 0, "unknown", 0),  # died after the claim, before the act
        ("ask", 1, "unknown", 1),  # died after the act, before it settled
        ("safe", 0, "done", 1),
        ("safe", 1, "done", 2),  # at least once is what safe means
        ("check", 0, "failed", 0),
        ("check", 1, "done", 1),
    ],
)
async def test_a_call_outside_is_finished_as_its_replay_says(
    make_project: MakeProject, tmp_path: Path, replay: str, step: int, outcome: str, sent: int
) -> None:
    project, marker = make_project(), tmp_path / "sent"
    (project / "tools").mkdir()
    (project / "tools" / "send.py").write_text(
        EXTERNAL.format(marker=str(marker), check=", check=happened" if replay == "check" else "")
    )
    (project / "tools" / "send.json").write_text(
        '{"tool_id": "send", "description": "Send.", "type": "function_tool", "approval": "auto",'
        f' "returns": {{"sent": "boolean"}}, "replay": "{replay}"}}'
    )
    accept(project)
    assert end(start(call_and_die, project, tmp_path / "user", step, [("send", {})])) == KILLED
    async with Room.open(project) as room:
        settled = [entry.payload or {} for entry in await room.timeline() if entry.kind is EntryKind.SETTLED]
        assert [payload["outcome"] for payload in settled] == [outcome]
        assert (len(marker.read_text().splitlines()) if marker.exists() else 0) == sent
        assert (await room.verify()).ok
    async with Room.open(project) as again:
        assert again.recovered.calls == []


async def test_a_desk_whose_process_died_is_closed(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project()
    calls = [
        ("write_file", {"path": "a.md", "content": "a"}),
        ("write_file", {"path": "b.md", "content": "b"}),
    ]
    assert end(start(call_and_die, project, tmp_path / "user", 0, calls)) == KILLED
    async with Room.open(project) as room:
        assert len(room.recovered.tasks) == 1
        report = await room.verify()
        assert report.ok
        assert report.unseen == []
        assert len(list((project / ".brasstag" / "boots").glob("boot_*"))) == 1


async def test_a_live_process_is_left_alone(make_project: MakeProject) -> None:
    project = make_project()
    async with Room.open(project) as first:
        await first.call("write_file", {"path": "a.md", "content": "a"})
        async with Room.open(project) as second:
            assert second.recovered.tasks == []
        await first.call("write_file", {"path": "b.md", "content": "b"})
        assert (await first.verify()).ok


async def test_nothing_of_a_call_stays_in_the_workspace(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project(profile="trusted")
    (project / "data" / "a.md").write_text("old")
    for step in range(1, 8):
        calls = [("write_file", {"path": "a.md", "content": f"new{step}"})]
        end(start(call_and_die, project, tmp_path / "user", step, calls))
        async with Room.open(project):
            pass
        assert os.listdir(project / "data") == ["a.md"]


async def test_a_forged_claim_changes_nothing(make_project: MakeProject) -> None:
    """Somebody who can write the database, but has no key, leaves a claim for recovery to find."""
    project = make_project(workspace=".")
    async with Room.open(project) as room:
        await room.call("write_file", {"path": "a.md", "content": "#!/bin/sh"})
        digest = room.store.blobs.put(b"#!/bin/sh")
        task = room.task_id
    changes = [
        Change(".git/hooks/pre-commit", "absent", f"file:{digest}", mode=0o755),
        Change("b.md", "absent", f"file:{digest}"),
    ]
    room_state = open_state(project)
    for number, change in enumerate(changes):
        with room_state.store.database.write() as transaction:
            transaction.execute(
                calls.insert().values(
                    id=f"call_forged{number}", task_id=task, tool="write_file", state="claimed", attempt=1, boot="boot_dead",
                    changes=stored_json([change.as_json()]),
                )
            )  # fmt: skip
    room_state.close()
    async with Room.open(project) as room:
        assert not (project / ".git").exists()
        assert not (project / "b.md").exists()
        assert not (await room.verify()).ok


async def test_an_approval_forged_in_the_table_is_not_used(make_project: MakeProject) -> None:
    project = make_project()
    (project / "data" / "a.md").write_text("old")
    async with Room.open(project) as room:
        waiting = await room.call("write_file", {"path": "a.md", "content": "new"})
        assert isinstance(waiting, Waiting)
        with room.store.database.write() as transaction:
            transaction.execute(approvals.update().values(state="approved", decided_by="eve"))
        outcome = await room.resume(waiting.approval_id)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.APPROVAL_STALE
        assert (project / "data" / "a.md").read_text() == "old"


async def test_a_room_id_that_is_a_path_is_refused(make_project: MakeProject) -> None:
    project = make_project()
    room_state = open_state(project)
    with room_state.store.database.write() as transaction:
        transaction.execute(facts.update().values(value="../../x"))
    room_state.close()
    with pytest.raises(StoreError, match="tampered"):
        async with Room.open(project):
            pass


async def test_an_older_state_put_back_is_noticed_when_the_room_opens(
    make_project: MakeProject, tmp_path: Path
) -> None:
    project = make_project()
    async with Room.open(project) as room:
        await room.call("write_file", {"path": "a.md", "content": "a"})
    shutil.copytree(project / ".brasstag", tmp_path / "older")
    async with Room.open(project) as room:
        await room.call("write_file", {"path": "b.md", "content": "b"})
    shutil.rmtree(project / ".brasstag")
    shutil.copytree(tmp_path / "older", project / ".brasstag")
    with pytest.raises(UntrustedError, match="put back"):
        async with Room.open(project):
            pass
    accept(project)
    async with Room.open(project) as room:
        assert (await room.verify()).ok


async def test_openings_at_the_same_time_share_what_the_dead_left(
    make_project: MakeProject, tmp_path: Path
) -> None:
    project = make_project()
    for number in range(3):
        calls_made = [("write_file", {"path": f"{number}{name}.md", "content": "a"}) for name in "ab"]
        assert end(start(call_and_die, project, tmp_path / "user", 0, calls_made)) == KILLED

    async def open_and_call(name: str) -> bool:
        async with Room.open(project) as room:
            await room.call("write_file", {"path": f"{name}.md", "content": "a"})
            return len(room.recovered.unknown) == 0

    assert await asyncio.gather(*(open_and_call(name) for name in ("x", "y", "z"))) == [True, True, True]
    async with Room.open(project) as room:
        assert (await room.verify()).ok


async def test_recovery_leaves_the_temporary_files_of_live_calls_alone(
    make_project: MakeProject, tmp_path: Path
) -> None:
    project = make_project()
    temporary = project / "data" / ".brasstag-call_live-0.tmp"
    stale = project / "data" / ".brasstag-call_gone-0.tmp"
    async with Room.open(project) as room:
        await room.call("write_file", {"path": "a.md", "content": "a"})
        room.store.claim(
            Call("call_live", "send", {}, "a", "operator", room.task_id), (), None, {"tool": "send"}
        )
        calls_made = [("write_file", {"path": f"{name}.md", "content": "a"}) for name in "bc"]
        assert end(start(call_and_die, project, tmp_path / "user", 0, calls_made)) == KILLED
        temporary.write_text("ours")
        stale.write_text("nobody's")
        async with Room.open(project) as other:
            assert len(other.recovered.tasks) == 1
        assert temporary.exists()
        assert not stale.exists()
