"""Writes the stored rooms of the present release: ``python -m tests.stored_rooms.write``.

Everything goes through the command line and the library. Only a process that has to die between claim and settle reaches
inside. Opening a room settles what dead processes left in it, so the processes that die have opened it before.
"""

import argparse
import asyncio
import io
import json
import os
import re
import signal
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

import brasstag
from brasstag import (
    ApprovalResponse,
    ApprovalState,
    Approver,
    Budget,
    Code,
    Done,
    EntryKind,
    Failed,
    Outcome,
    Room,
    ToolError,
    Waiting,
)
from brasstag.app import add_approver
from brasstag.surfaces.cli.main import main
from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from tests.app.prompts.documents import proposal
from tests.postgres import Server, find_binaries
from tests.processes import KILLED, _context, end
from tests.runtimes import put_in
from tests.stored_rooms import archive, project
from tests.stored_rooms.facts import facts_of
from tests.stored_rooms.names import names_of
from tests.stored_rooms.resume import resume_everything, worked_on

ADA = Approver("ada", "terminal")
YES = ApprovalResponse(True)


def write_room(place: Path) -> None:
    """Write one room below a folder: ``project`` and ``user``; the environment names the database."""
    os.environ["BRASSTAG_USER_DIR"] = str(place / "user")
    home = place / "project"
    command("init", str(home), "--workspace", "data", "--profile", "careful")
    project.write_files(home)
    os.environ[TOKEN_VARIABLE] = add_approver("ada")
    command("trust", "--yes", "-C", str(home))
    secret = asyncio.run(live(home))
    command("timeline", "redact", secret, "--reason", "a secret", "-C", str(home))
    del os.environ[TOKEN_VARIABLE]
    die_in_the_middle(home)


def command(*arguments: str) -> None:
    """Run a command as a person would."""
    with pytest.raises(SystemExit) as ended, redirect_stdout(io.StringIO()):
        main(list(arguments))
    assert not ended.value.code, f"{arguments} ended with {ended.value.code}"


async def live(home: Path) -> str:
    """Do everything that needs no death, and return the tag of a call that is to be redacted."""
    async with Room.open(home, actor="person") as room:
        await room.documents.scan()
        await room.documents.index()
        secret = await use_files(room)
        await use_prompts(room)
        async with worked_on(room):
            await finish_runs(room)
            await leave_runs_waiting(room)
        await room.start(project.LATER, serve=False)
        # No worker is there any more, so the approved call stays as it is.
        (agreed,) = [one for one in await room.approvals() if one.arguments.get("path") == "agreed.md"]
        await room.decide(agreed.id, YES, ADA)
    async with Room.open(home, actor="person") as room:
        await leave_calls_waiting(room)
        await room.documents.scan()
        await room.documents.index()
    return secret


async def permit_for_a_time(room: Room) -> None:
    """Let one call through by a timed permission, and take that back."""
    done(await room.call("write_file", {"path": "stories/plan.md", "content": "One.\n"}))
    waiting = await room.call("write_file", {"path": "stories/plan.md", "content": "Two.\n"})
    assert isinstance(waiting, Waiting)
    permission = await room.permit(waiting.approval_id, ADA, pattern="stories/**")
    done(await room.resume(waiting.approval_id))
    done(await room.call("write_file", {"path": "stories/plan.md", "content": "Three.\n"}))
    await room.revoke(permission.id, ADA)


async def use_files(room: Room) -> str:
    """Write, move, annotate, undo, restore and fail; return the tag of a call that tells a secret."""
    done(await room.call("write_file", {"path": "story.md", "content": "The harbour at night.\n"}))
    await approved(room, "write_file", {"path": "story.md", "content": "The harbour at dawn.\n"})
    done(await room.call("move_file", {"from": "story.md", "to": "stories/harbour.md"}))
    await approved(
        room, "edit_file", {"path": "stories/harbour.md", "search_text": "dawn", "replace_text": "noon"}
    )
    await permit_for_a_time(room)
    done(await room.call("tag_document", {"path": "stories/harbour.md", "add": ["sea", "fiction"]}))
    about = {"path": "stories/harbour.md", "description": "A tale of a quay."}
    done(await room.call("describe_document", about))
    undone = done(await room.call("write_file", {"path": "undone.md", "content": "not for long\n"}))
    assert undone.tag is not None
    taken_back = await room.undo(undone.tag.id)
    await landed(room, taken_back)
    done(await room.call("write_file", {"path": "undo.md", "content": "to be taken back\n"}))
    done(await room.call("write_file", {"path": "gone.md", "content": "deleted words\n"}))
    await approved(room, "delete_file", {"path": "gone.md"})
    await approved(room, "restore_document", {"path": "gone.md", "version": "1"})
    await approved(room, "delete_file", {"path": "gone.md"})
    denied = await room.call("write_file", {"path": "notes.md", "content": "never\n"})
    assert isinstance(denied, Waiting)
    await room.decide(denied.approval_id, ApprovalResponse(False, reason="not this one"), ADA)
    edited = await room.call("write_file", {"path": "desk.md", "content": "proposed\n"})
    assert isinstance(edited, Waiting)
    other = {"path": "desk.md", "content": "edited by a person\n"}
    seen = await room.preview_edit(await room.approval(edited.approval_id), other)
    await room.decide(edited.approval_id, ApprovalResponse(True, other), ADA, seen=seen.preview.digest)
    done(await room.resume(edited.approval_id))
    failed(await room.call("read_file", {"path": "nowhere.md"}))
    failed(await room.call("no_such_tool", {}))
    failed(await room.call("read_file", {"wrong": True}))
    failed(await room.call("read_file", {"path": "../outside"}))
    failed(await room.call("shell", {"command": "rm -rf /"}))
    secret = done(await room.call("write_file", {"path": "secret.md", "content": "the secret words\n"}))
    assert secret.tag is not None
    return secret.tag.id


async def use_prompts(room: Room) -> None:
    """Bring proposals to each of their states, with a prompt tool that is live, and issues."""
    live_tool = await room.prompts.propose(proposal())
    await room.prompts.approve(live_tool.id, ADA, seen=live_tool.digest)
    back = await room.prompts.propose(proposal(id="second_tool"))
    await room.prompts.needs_changes(back.id, ADA, seen=back.digest, note="say which")
    rejected = await room.prompts.propose(proposal(id="third_tool"))
    await room.prompts.reject(rejected.id, ADA, seen=rejected.digest, note="not needed")
    with pytest.raises(ToolError):
        await room.prompts.approve(rejected.id, ADA, seen=rejected.digest)
    await room.prompts.propose(proposal(id="fourth_tool"), review=False)
    await room.prompts.propose(proposal(id="fifth_tool"))
    await room.prompts.draft(proposal(id="sixth_tool", rationale=""))
    issue = await room.issues.open("The harbour", "It is deep.", tags=["sea"], assignee="editor")
    await room.issues.comment(issue.id, "Or shallow.")


async def finish_runs(room: Room) -> None:
    """Bring runs to their ends: with delegation, questions, a denial, a compaction, evidence, and one out of budget."""
    report = await room.start(project.REPORT, documents=["plan.md"], serve=False)
    questions = (await waits(room, report)).questions
    # A file that the agent has read changes meanwhile.
    await approved(
        room, "write_file", {"path": "notes.md", "content": "# Notes\n\nThe harbour is shallow.\n"}
    )
    await room.answer(questions[0].id, "Yes, public.", ADA, documents=["desk.md"])
    approvals = (await waits(room, report)).approvals
    await room.decide(approvals[0].id, ApprovalResponse(False, reason="keep the draft"), ADA)
    assert (await room.finished(report)).ok
    assert (await room.finished(await room.start(project.READING, serve=False))).ok
    assert (await room.finished(await room.start(project.CHECK, role="editor", serve=False))).ok
    count = await room.start(project.COUNT, budget=Budget(max_steps=1), serve=False)
    assert not (await room.finished(count)).ok
    await room.resume_run(count, ADA, budget=Budget(max_steps=5), note="go on", serve=False)
    (edit,) = (await waits(room, count)).approvals
    await room.decide(edit.id, YES, ADA)
    assert (await room.finished(count)).ok


async def leave_runs_waiting(room: Room) -> None:
    """Begin runs that come to wait for people, and stop one of them."""
    waiting = (project.OVERWRITE, project.AGREED, project.TOTALS, project.PAINT, project.SHIP)
    for request in waiting:
        await waits(room, await room.start(request, serve=False))
    stopped = await room.start(project.STOPPED, serve=False)
    await waits(room, stopped)
    await room.stop(stopped, ADA)


async def leave_calls_waiting(room: Room) -> None:
    """Leave calls of a desk to a person: one open, one approved, and what code has changed."""
    for path in ("desk.md", "approved.md"):
        outcome = await room.call("write_file", {"path": path, "content": "as approved\n"})
        assert isinstance(outcome, Waiting)
    await room.decide(outcome.approval_id, YES, ADA)
    outcome = await room.call("run_code", {"language": "python", "code": project.CODE})
    assert isinstance(outcome, Waiting), outcome


async def waits(room: Room, run: str) -> Any:
    """Wait until only people can go on with a run, and return what they are asked."""
    async for event in room.watch(run):
        if event.waiting is not None:
            return event.waiting
    raise AssertionError(f"the run ended: {(await room.finished(run)).result}")


async def approved(room: Room, tool: str, arguments: dict[str, Any]) -> None:
    await landed(room, await room.call(tool, arguments))


async def landed(room: Room, outcome: Outcome) -> None:
    """Have a call that asks approved."""
    if isinstance(outcome, Waiting):
        await room.decide(outcome.approval_id, YES, ADA)
        outcome = await room.resume(outcome.approval_id)
    done(outcome)


def done(outcome: Outcome) -> Done:
    assert isinstance(outcome, Done), outcome
    return outcome


def failed(outcome: Outcome) -> None:
    assert isinstance(outcome, Failed), outcome


def die_in_the_middle(home: Path) -> None:
    """Kill one process inside a tool that acts outside, and two between claim and settle of a file."""
    deaths: list[Callable[[Path, Connection], None]] = [
        die_sending,
        die_claimed,
        die_exchanged,
    ]
    opened = [_open_process(death, home) for death in deaths]
    for _, ours in opened:
        assert ours.recv() == "open"
    for process, ours in opened:
        ours.send("die")
        code = end(process)
        assert code == KILLED, f"{process.name} ended with {code}"


def _open_process(death: Callable[[Path, Connection], None], home: Path) -> Any:
    ours, theirs = _context.Pipe()
    process = _context.Process(target=_in_environment, args=(dict(os.environ), death, home, theirs))
    process.start()
    return process, ours


def _in_environment(
    environment: dict[str, str], death: Callable[[Path, Connection], None], home: Path, told: Connection
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    death(home, told)


def die_sending(home: Path, told: Connection) -> None:
    """Begin a run, and die while its tool acts outside."""

    async def run() -> None:
        async with Room.open(home, actor="person") as room:
            await _ready(told)
            os.environ["STORED_ROOM_DIES"] = "yes"
            await room.finished(await room.start(project.LETTER))

    asyncio.run(run())


def die_claimed(home: Path, told: Connection) -> None:
    """Die after a new file was claimed, and before it is there."""
    asyncio.run(_die_at("claimed", home, told, "claimed.md"))


def die_exchanged(home: Path, told: Connection) -> None:
    """Die after an approved file has taken the place of the one before, and before that is settled."""
    asyncio.run(_die_at("exchanged", home, told, "half.md"))


async def _die_at(point: str, home: Path, told: Connection, path: str) -> None:
    def pass_point(step: str) -> None:
        if step.endswith(point):
            os.kill(os.getpid(), signal.SIGKILL)

    async with Room.open(home, actor="person") as room:
        await _ready(told)
        put_in(room, at=pass_point)
        await approved(room, "write_file", {"path": path, "content": "as intended\n"})


async def _ready(told: Connection) -> None:
    told.send("open")
    await asyncio.to_thread(told.recv)


async def golden_of(home: Path) -> dict[str, Any]:
    """Return the names and facts of a room as they are now, and its names after everything was resumed."""
    stored = names_of(home)
    async with Room.open(home, actor="person") as room:
        facts = await facts_of(room)
        await resume_everything(room)
    return {
        "release": brasstag.__version__,
        "names": stored,
        "facts": facts,
        "names after": names_of(home),
        "vocabulary": vocabulary(),
    }


def vocabulary() -> dict[str, list[str]]:
    """Return every word the code has for a kind of entry, a code, a state of an approval; and its migrations."""
    source = Path(brasstag.__file__).parent
    ids = [
        found[1]
        for file in source.rglob("migrations/versions/*.py")
        if (found := re.search(r'^revision\b.*= "(.*)"', file.read_text(), re.MULTILINE))
    ]
    return {
        "kinds of entries": sorted(EntryKind),
        "codes": sorted(Code),
        "states of approvals": sorted(ApprovalState),
        "migrations": sorted(ids),
    }


def write_release() -> None:
    """Write the rooms, then restore each and list what is found in it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", nargs="?", type=Path, default=archive.HERE / brasstag.__version__)
    folder = asked.parse_args().folder
    folder.mkdir(parents=True)
    binaries = find_binaries()
    assert binaries is not None, "Postgres is needed to write its room"
    server = Server(binaries)
    try:
        for kind, url in (("sqlite", ""), ("postgres", server.url)):
            with tempfile.TemporaryDirectory(prefix="stored-room-") as scratch:
                os.environ["BRASSTAG_DATABASE_URL"] = url
                write_room(Path(scratch))
                archive.pack(Path(scratch), folder / f"{kind}.tar.xz")
                if url:
                    archive.dump(url, binaries, Path(scratch), folder / "postgres.sql.gz")
            with tempfile.TemporaryDirectory(prefix="stored-room-") as scratch:
                os.environ["BRASSTAG_USER_DIR"] = str(Path(scratch) / "user")
                home = archive.restore(folder, kind, Path(scratch), url)
                golden = json.dumps(asyncio.run(golden_of(home)), indent=1, sort_keys=True)
                (folder / f"{kind}.json").write_text(f"{golden}\n")
    finally:
        server.remove()


if __name__ == "__main__":
    write_release()
