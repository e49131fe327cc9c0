"""Several processes on one room: no lost update, no broken chain, an approval used once."""

import asyncio
import os
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from brasstag import ApprovalResponse, Approver, Code, Done, Failed, Room, Waiting
from brasstag.store.database.schema import leases
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.processes import _context, end, start

PROCESSES = 3
EDITS = 12


async def test_no_update_is_lost_between_processes(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project(profile="trusted")
    (project / "data" / "count.txt").write_text("0.")
    results = _context.Queue()
    workers = [
        start(count_up, project, tmp_path / "user", f"p{number}", results) for number in range(PROCESSES)
    ]
    counted = [results.get(timeout=120) for _ in workers]
    assert [end(worker) for worker in workers] == [0] * PROCESSES
    assert sum(done for _, done in counted) == PROCESSES * EDITS
    assert (project / "data" / "count.txt").read_text() == f"{PROCESSES * EDITS}."
    async with Room.open(project) as room:
        report = await room.verify()
        assert report.ok, report.findings
        assert [one.partition(" (")[0] for one in report.unseen] == ["versions that no call made"]
        assert room.store.read(lambda view: view.execute(leases.select()).all()) == []


def count_up(project: Path, user: Path, name: str, results: Any) -> None:
    os.environ["BRASSTAG_USER_DIR"] = str(user)
    results.put((name, asyncio.run(_add_ones(project))))


async def _add_ones(project: Path) -> int:
    """Add one to the number in a file by reading it and replacing exactly what was read."""
    done = 0
    async with Room.open(project) as room:
        while done < EDITS:
            seen = await room.call("read_file", {"path": "count.txt"})
            assert isinstance(seen, Done)
            number = int(seen.value["content"].rstrip("."))
            edit = {"path": "count.txt", "search_text": f"{number}.", "replace_text": f"{number + 1}."}
            outcome = await room.call("edit_file", edit)
            done += isinstance(outcome, Done)
            if isinstance(outcome, Failed):
                assert outcome.code in (Code.TEXT_NOT_FOUND, Code.CHANGED, Code.BUSY), outcome
    return done


def use_approval(project: Path, user: Path, approval: str, barrier: Barrier, results: Any) -> None:
    os.environ["BRASSTAG_USER_DIR"] = str(user)
    results.put(asyncio.run(_use_approval(project, approval, barrier)))


async def _use_approval(project: Path, approval: str, barrier: Barrier) -> str:
    async with Room.open(project) as room:
        barrier.wait(60)
        outcome = await room.resume(approval)
        return outcome.code.value if isinstance(outcome, Failed) else type(outcome).__name__


async def test_an_approval_is_used_by_one_process_only(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project()
    (project / "data" / "a.md").write_text("old")
    async with Room.open(project) as room:
        waiting = await room.call("write_file", {"path": "a.md", "content": "new"})
        assert isinstance(waiting, Waiting)
        await room.decide(waiting.approval_id, ApprovalResponse(True), Approver("ada", "terminal"))
    barrier, results = _context.Barrier(PROCESSES), _context.Queue()
    workers = [
        start(use_approval, project, tmp_path / "user", waiting.approval_id, barrier, results)
        for _ in range(PROCESSES)
    ]
    outcomes = sorted(results.get(timeout=120) for _ in workers)
    assert [end(worker) for worker in workers] == [0] * PROCESSES
    assert outcomes == ["APPROVAL_CLOSED", "APPROVAL_CLOSED", "Done"]
    async with Room.open(project) as room:
        assert len([e for e in await room.timeline() if e.kind is EntryKind.SETTLED]) == 1
        assert (await room.verify()).ok


def replace_forever(path: Path, started: Any, stop: Any, written: Any) -> None:
    """An outside editor: writes numbered versions beside the file and renames each into place."""
    number = 0
    beside = path.with_name("beside.tmp")
    while not stop.is_set():
        beside.write_text(f"outside {number}")
        beside.rename(path)
        number += 1
        started.set()
    written.put(number)


async def test_an_outside_editor_loses_nothing_it_renamed_into_place(
    make_project: MakeProject, tmp_path: Path
) -> None:
    project = make_project(profile="trusted")
    path = project / "data" / "a.md"
    path.write_text("the first")
    started, stop, written = _context.Event(), _context.Event(), _context.Queue()
    editor = start(replace_forever, path, started, stop, written)
    started.wait(60)
    async with Room.open(project) as room:
        for number in range(40):
            outcome = await room.call("write_file", {"path": "a.md", "content": f"ours {number}"})
            if isinstance(outcome, Failed):
                assert outcome.code in (Code.CHANGED, Code.BUSY), outcome
        stop.set()
        last = f"outside {written.get(timeout=60) - 1}"
        assert end(editor) == 0
        # The editor's last version is in place, or a call of ours replaced it knowingly and its bytes are kept.
        replaced = {
            room.store.blobs.get(change["before"].removeprefix("file:")).decode()
            for entry in await room.timeline()
            if entry.kind is EntryKind.SETTLED
            for change in (entry.payload or {})["changes"]
        }
        assert path.read_text() == last or last in replaced
        assert (await room.verify()).ok
