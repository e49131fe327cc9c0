"""Rooms of earlier releases: today's code opens, verifies and resumes them, and writes the same names."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import brasstag
from brasstag import ApprovalState, Done, Room, Task, Unknown
from tests.postgres import Server
from tests.stored_rooms import archive, project
from tests.stored_rooms.facts import facts_of, hits
from tests.stored_rooms.names import names_of
from tests.stored_rooms.resume import BOB, finish, is_of_desk, resume_everything, use, worked_on
from tests.stored_rooms.write import vocabulary, waits, write_room
from tests.surfaces.commands.test_timeline import recompute
from tests.surfaces.conftest import Pipe

RELEASES = archive.releases()
NEWEST = RELEASES[-1]


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored room that was restored for one test."""

    home: Path
    kind: str
    golden: dict[str, Any]
    """What the release itself found in it."""
    is_newest: bool

    def text(self, path: str) -> str:
        """Return what a file of the workspace holds."""
        return (self.home / "data" / path).read_text()


# Of earlier releases, those on Postgres take as long again.
ROOMS = [
    pytest.param(
        (folder, kind),
        id=f"{folder.name}-{kind}",
        marks=pytest.mark.slow if kind == "postgres" and folder != NEWEST else (),
    )
    for folder in RELEASES
    for kind in ("sqlite", "postgres")
]
on_postgres = pytest.mark.parametrize("stored", [(NEWEST, "postgres")], indirect=True, ids=["postgres"])


@pytest.fixture(params=ROOMS)
def stored(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stored]:
    """A room as it was stored, in another place than where it was written, with the user's directory beside it."""
    folder, kind = request.param
    server: Server | None = request.getfixturevalue("postgres") if kind == "postgres" else None
    if server is not None:
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", server.url)
    home = archive.restore(folder, kind, tmp_path, server.url if server else "")
    yield Stored(home, kind, json.loads((folder / f"{kind}.json").read_text()), folder == NEWEST)
    if server is not None:
        server.execute(f"DROP SCHEMA {(home / '.brasstag' / 'room').read_text().strip()} CASCADE")


@pytest.fixture
def pipe(stored: Stored, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pipe:
    """Run commands in the stored project."""
    monkeypatch.chdir(stored.home)
    return Pipe(monkeypatch, capsys)


async def run_of(room: Room, request: str) -> Task:
    """Return the run that was asked for something."""
    (run,) = [task for task in await room.tasks() if task.title == request and not task.parent_id]
    return run


def missing(found: Any, wanted: Any) -> list[str]:
    """Return the names that are wanted and were not found."""
    if isinstance(wanted, dict):
        return [f"{name}: {lost}" for name in wanted for lost in missing(found.get(name, ()), wanted[name])]
    return [str(one) for one in wanted if one not in found]


def test_the_room_stores_what_the_lists_beside_it_say(stored: Stored) -> None:
    assert names_of(stored.home) == stored.golden["names"]


def test_no_word_of_a_release_is_lost(stored: Stored) -> None:
    """Words may be added; a stored one that is renamed or removed cannot be read any more."""
    known = vocabulary()
    lost = {name: sorted({*words} - {*known[name]}) for name, words in stored.golden["vocabulary"].items()}
    assert not any(lost.values()), lost


def test_it_verifies_before_it_is_recovered_and_its_export_can_be_recomputed(
    stored: Stored, pipe: Pipe
) -> None:
    found = pipe("timeline", "verify", "-o", "json")
    assert (found.code, found.json["findings"]) == (0, [])
    assert [one["name"] for one in pipe("approvers").lines] == ["ada"]
    lines = pipe("timeline", "export").lines
    recompute(lines)
    assert lines[-1]["hash"] == pipe("timeline", "head").json["hash"]


async def test_recovery_finishes_what_dead_processes_had_claimed(stored: Stored) -> None:
    assert not (stored.home / "data" / "claimed.md").exists()
    async with Room.open(stored.home) as room:
        endings = [ending for _, ending in room.recovered.calls]
        assert sorted(type(ending).__name__ for ending in endings) == ["Done", "Done", "Unknown"]
        assert (stored.text("claimed.md"), stored.text("half.md")) == ("as intended\n", "as intended\n")
        assert not [path.name for path in (stored.home / "data").rglob(".brasstag-*")]
        report = await room.verify(contents=True)
        assert report.ok, report.findings
        unseen = " ".join(report.unseen)
        assert "no witness" not in unseen, "the witness beside the key was not found"
        assert "not on this machine" not in unseen, "the key of the seals was not found"
    async with Room.open(stored.home) as again:
        assert again.recovered.calls == []


async def test_people_find_in_it_what_the_release_found(stored: Stored) -> None:
    async with Room.open(stored.home) as room:
        facts = await facts_of(room)
    tools, stored_tools = facts.pop("tools"), stored.golden["facts"].pop("tools")
    wanted = stored.golden["facts"]
    assert (facts if stored.is_newest else _as_asked(facts, wanted)) == wanted
    for name, tool in stored_tools.items():
        same_code = name == "send" or stored.golden["release"] == brasstag.__version__
        if same_code and tools[name]["config"] == tool["config"]:
            assert tools[name] == tool, (
                f"approvals of {name} are void, and neither it nor the release changed"
            )


def _as_asked(found: Any, wanted: Any) -> Any:
    """Return what was found without fields that came after what was wanted was written down."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return {name: _as_asked(value, wanted[name]) for name, value in found.items() if name in wanted}
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        return [_as_asked(one, other) for one, other in zip(found, wanted, strict=True)]
    return found


async def test_open_and_approved_calls_of_a_desk_land(stored: Stored) -> None:
    async with Room.open(stored.home) as room:
        waiting = await room.approvals(ApprovalState.OPEN, ApprovalState.APPROVED)
        of_desks = [one for one in waiting if await is_of_desk(room, one)]
        assert sorted((one.tool, str(one.state)) for one in of_desks) == [
            ("run_code", "open"),
            ("write_file", "approved"),
            ("write_file", "open"),
        ]
        for approval in of_desks:
            assert isinstance(await use(room, approval), Done)
        report = await room.verify(contents=True)
        assert report.ok, report.findings
    assert (stored.text("desk.md"), stored.text("approved.md")) == ("as approved\n", "as approved\n")
    assert stored.text("sums.csv") == f"{project.FILES['sums.csv']}July,5\n"
    assert stored.text("July.md") == "five\n"


LEFT = {
    project.OVERWRITE: ("blocked", "The plan is new.", "plan.md", "# Plan\n\nSail on Tuesday.\n"),
    project.AGREED: ("ready", "The terms are written.", "agreed.md", "new terms\n"),
    project.TOTALS: ("blocked", "It is added up.", "totals.csv", "month,total\nMay,3\nJune,7\n"),
    project.PAINT: ("blocked", "painted", "paint.md", "green\n"),
    project.SHIP: ("blocked", "named", "ship.md", "Aurora\n"),
    project.LATER: ("ready", "worked", "later.md", "later\n"),
    project.STOPPED: ("cancelled", "It was prepared.", "notes.md", "# Notes\n\nThe harbour is shallow.\n"),
}
"""How a run was left, and what comes of it: its result, and what a file holds then.

Runs wait for an approval, for a worker after an approval, for what code has changed to land, for a child, for a person,
for a worker; one was stopped."""


async def test_runs_that_were_left_go_on_to_their_ends(stored: Stored) -> None:
    found = {}
    async with Room.open(stored.home) as room:
        runs = {request: await run_of(room, request) for request in LEFT}
        await room.resume_run(runs[project.STOPPED].id, BOB, serve=False)
        async with worked_on(room):
            await asyncio.gather(*(finish(room, run.id) for run in runs.values()))
        for request, (_, _, path, _) in LEFT.items():
            ended = await room.finished(runs[request].id)
            found[request] = (runs[request].status, ended.result, path, stored.text(path))
        report = await room.verify(contents=True)
        assert report.ok, report.findings
    assert found == LEFT


async def test_a_person_says_whether_a_call_outside_happened(stored: Stored) -> None:
    async with Room.open(stored.home) as room:
        assert [type(ending) for _, ending in room.recovered.calls].count(Unknown) == 1
        run = await run_of(room, project.LETTER)
        async with worked_on(room):
            (question,) = (await waits(room, run.id)).questions
            asked = (await room.timeline(question.id))[0].payload or {}
            assert "Did send happen?" in asked["input"]["request"]
            await room.answer(question.id, "It is in the box.", BOB)
            assert (await room.finished(run.id)).result == "It is settled."


async def test_documents_are_restored_undone_and_found_again(stored: Stored) -> None:
    async with Room.open(stored.home) as room:
        restored = await room.call("restore_document", {"path": "gone.md", "version": "1"})
        assert isinstance(restored, Done), restored
        assert stored.text("gone.md") == "deleted words\n"
        assert [hit.document.path for hit in await hits(room, "deleted")] == ["gone.md"]
        (written,) = (await room.documents.history("undo.md")).as_json()
        outcome = await room.undo(written["tag"])
        approvals = [one for one in await room.approvals(ApprovalState.OPEN) if one.tool == "undo"]
        for approval in approvals:
            outcome = await use(room, approval)
        assert isinstance(outcome, Done), outcome
        assert not (stored.home / "data" / "undo.md").exists()
        report = await room.verify(contents=True)
        assert report.ok, report.findings


async def test_when_everything_is_resumed_no_stored_name_has_changed(stored: Stored) -> None:
    """Entries that today's code adds have the kinds, keys, codes and words that the release would have added.

    Names that came with a later release are allowed in the rooms of earlier ones.
    """
    async with Room.open(stored.home, actor="person") as room:
        await resume_everything(room)
        waiting = await room.approvals(ApprovalState.OPEN, ApprovalState.APPROVED)
        assert waiting == []
        assert {task.status for task in await room.tasks() if not task.parent_id} <= {
            "done",
            "failed",
            "running",
        }
        report = await room.verify(contents=True)
        assert report.ok, report.findings
    found, wanted = names_of(stored.home), stored.golden["names after"]
    if not stored.is_newest:
        # A room of an earlier release is brought to today's tables when it is opened.
        wanted.pop("alembic_version.version_num")
        # Events are for watchers, and are not kept for long: their first table went with its rows.
        wanted = {name: said for name, said in wanted.items() if "outbox" not in name}
        wanted["tables"].pop("outbox", None)
    assert found == wanted if stored.is_newest else not missing(found, wanted)


@on_postgres
async def test_a_ready_task_is_queued_under_the_stored_name(stored: Stored) -> None:
    assert stored.golden["names"]["jobs"], "no stored job waits"
    async with Room.open(stored.home) as room:
        await room.start(project.LATER, serve=False)
    assert names_of(stored.home)["jobs"] == stored.golden["names"]["jobs"]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_room_written_today_has_the_names_of_the_newest_release(tmp_path: Path) -> None:
    """A name that is missing breaks stored rooms. For one that is new, ``write`` stores another room beside these."""
    golden = json.loads((NEWEST / "sqlite.json").read_text())
    write_room(tmp_path)
    assert names_of(tmp_path / "project") == golden["names"]
    asyncio.run(resume_room(tmp_path / "project"))
    assert names_of(tmp_path / "project") == golden["names after"]


async def resume_room(home: Path) -> None:
    async with Room.open(home, actor="person") as room:
        await resume_everything(room)
