"""A person may remove what any entry says: the timeline still holds, limits stay, and a live run goes on or says why not."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from brasstag import Budget, Room
from brasstag.settings.crew import PERSON
from brasstag.store.database.schema import entries
from brasstag.store.maintenance.redact import redact
from brasstag.words.approvals import ApprovalResponse, ApprovalState
from brasstag.words.errors import Code, ToolError, Unproven
from brasstag.words.events import ABOUT_PROPOSALS, Entry, EntryKind
from tests.engine.crews import ADA, call, turn, write_script
from tests.engine.forging import forge

READ = turn(call("read_file", path="big.md"))
THINK = turn(call("stop_and_think", thoughts="…"))
PROVEN = "NO_CLAIMS: done."
LAST = "Shall I end?"

EVENTFUL: dict[str, Any] = {
    "boss": [
        {"when": "May I?", "turns": [turn(text="You may.")]},
        {
            "turns": [
                turn(
                    call("route_to_worker", request="Work"),
                    call("write_file", path="big.md", content="Lorem ipsum dolor. " * 900),
                    call("no_such_tool"),
                ),
                *[READ] * 4,
                turn(call("route_to_helper", request="Change what I have read")),
                turn(call("ask_master", question="Shall I go on?")),
                turn(text="Done."),
                turn(call("ask_master", question=LAST)),
                turn(text=PROVEN),
            ]
        },
    ],
    "worker": [turn(call("ask_master", question="May I?")), turn(text="Worked.")],
    "helper": [turn(call("write_file", path="big.md", content="other")), turn(text="Changed.")],
}
"""A run with an entry of every kind on its lead's timeline; a person lets it go on once."""

STEPS_BEFORE_A_PERSON_EXTENDS_IT = 8


async def agree(room: Room, run: str, until: str) -> str:
    """Say yes to whatever the run asks, until it asks this; return that question."""
    async with asyncio.timeout(60):
        while True:
            for approval in await room.approvals(ApprovalState.OPEN):
                if approval.task_id == run:
                    permission = await room.permit(approval.id, ADA)
                    await room.revoke(permission.id, ADA)
                else:
                    yes = ApprovalResponse(approved=True)
                    await room.decide(approval.id, yes, ADA, seen=approval.preview.digest)
            for task in await room.tasks(run):
                if task.role == PERSON and not task.has_ended:
                    if task.title == until:
                        return task.id
                    await room.answer(task.id, "Yes.", ADA)
                if task.id == run and task.status == "failed":
                    await room.resume_run(run, budget=Budget(max_steps=50), note="the password is hunter2")
            await asyncio.sleep(0.01)


async def eventful(room: Room, crew: Path) -> tuple[str, str]:
    """Return a live run that has seen everything, and the question it waits for."""
    (crew / "data" / "big.md").write_text("old")
    write_script(crew, EVENTFUL)
    roles = room._runtime.agents.roles
    room._runtime.agents.roles = {**roles, "boss": roles["boss"].model_copy(update={"evidence": True})}
    budget = Budget(max_steps=STEPS_BEFORE_A_PERSON_EXTENDS_IT)
    run = await room.start("Go", budget=budget, model="scripted:script.json?context=22000")
    return run, await agree(room, run, LAST)


async def first(room: Room, run: str, kind: EntryKind) -> Entry:
    return next(entry for entry in await room.timeline(run) if entry.kind is kind)


@pytest.mark.parametrize("kind", sorted(set(EntryKind) - ABOUT_PROPOSALS - {EntryKind.REDACTED}))
async def test_whatever_is_redacted_in_a_live_run_it_goes_on_or_says_why_not(
    crew: Path, kind: EntryKind
) -> None:
    async with Room.open(crew) as room:
        run, question = await eventful(room, crew)
        redact(room.store, await first(room, run, kind), "ada", "a secret")
        report = await room.verify()
        assert report.ok, report.findings
        await room.answer(question, "Yes.", ADA)
        ended = await room.finished(run)
        if kind is EntryKind.OPENED:
            assert ended.result["error"]["code"] == Code.CANCELLED
            assert "removed by a person" in ended.result["error"]["message"]
        else:
            assert ended.result == PROVEN
        report = await room.verify()
        assert report.ok, report.findings


async def test_whatever_is_redacted_of_a_run_that_ended_the_timeline_holds(crew: Path) -> None:
    async with Room.open(crew) as room:
        run, question = await eventful(room, crew)
        await room.answer(question, "Yes.", ADA)
        assert (await room.finished(run)).ok
        for task in await room.tasks(run):
            for entry in await room.timeline(task.id):
                # A call goes whole, so its later entries are gone by now.
                with suppress(ToolError):
                    redact(room.store, entry, "ada", "a secret")
                report = await room.verify()
                assert report.ok, (entry.kind, report.findings)
        told = [entry for entry in await room.timeline() if entry.payload is not None]
        assert {entry.kind for entry in told} == {EntryKind.REDACTED}
        assert "hunter2" not in str([entry.payload for entry in await room.timeline()])


@pytest.mark.parametrize("which", [0, 1])
async def test_redacting_what_a_person_wrote_does_not_take_back_what_they_allowed(
    crew: Path, which: int
) -> None:
    write_script(crew, {"boss": [THINK] * 9})
    async with Room.open(crew) as room:
        run = await room.start("Go", budget=Budget(max_steps=1))
        await room.finished(run)
        for steps in (2, 3):
            await room.resume_run(run, budget=Budget(max_steps=steps), note="hunter2")
            assert (await room.finished(run)).result["error"]["code"] == Code.BUDGET_EXCEEDED
        resumed = [entry for entry in await room.timeline(run) if entry.kind is EntryKind.RESUMED]
        redact(room.store, resumed[which], "ada", "a password")
        await room.resume_run(run, budget=Budget(max_tokens=100_000))
        assert "has used 3 of its 3 turns" in (await room.finished(run)).result["error"]["message"]
        await room.resume_run(run, budget=Budget(max_steps=5))
        assert "has used 5 of its 5 turns" in (await room.finished(run)).result["error"]["message"]
        report = await room.verify()
        assert report.ok, report.findings


async def test_a_row_with_other_limits_shows_after_a_redaction_too(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go", budget=Budget(max_steps=5))
        await room.finished(run)
        redact(room.store, await first(room, run, EntryKind.OPENED), "ada", "private")
        assert (await room.verify()).ok
        forge(room, run, budget="{}")
        assert "other limits" in str((await room.verify()).findings)


async def test_limits_that_were_forged_are_not_kept_by_a_redaction(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go", budget=Budget(max_steps=5))
        await room.finished(run)
        opened = await first(room, run, EntryKind.OPENED)
        with room.store.database.write() as transaction:
            transaction.execute(update(entries).where(entries.c.tag == opened.tag).values(payload="{}"))
        with pytest.raises(Unproven):
            redact(room.store, opened, "ada", "private")
        assert "its payload was changed" in str((await room.verify()).findings)
