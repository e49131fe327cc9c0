"""What a task is, is told by its timeline: nothing is done in one whose row says otherwise, and verify finds it."""

from pathlib import Path
from typing import Any

import pytest

from brasstag import Budget, Room
from brasstag.settings.crew import PERSON
from brasstag.store.tasks.rows import Task
from brasstag.words.events import EntryKind
from tests.engine.crews import ADA, call, turn, write_script
from tests.engine.forging import forge

THINK = turn(call("stop_and_think", thoughts="…"))

ASKING_ON: dict[str, Any] = {
    "boss": [
        {
            "when": "May I?",
            "turns": [
                turn(call("ask_master", question="May they?")),
                turn(call("write_file", path="new.md", content="written by one that only answers")),
                turn(text="You may."),
            ],
        },
        {"turns": [turn(call("route_to_worker", request="Work")), turn(text="Done.")]},
    ],
    "worker": [turn(call("ask_master", question="May I?")), *[THINK] * 8, turn(text="Worked.")],
}
"""A worker asks its lead, and the lead's answering node asks a person."""


async def asking_on(room: Room, crew: Path, budget: Budget | None = None) -> tuple[str, dict[str, Task]]:
    """Return a run that waits for a person, and its tasks: of lead, worker, the lead's answer, the person."""
    write_script(crew, ASKING_ON)
    run = await room.start("Go", budget=budget or Budget())
    async for event in room.watch(run):
        entry = event.entry
        if entry is not None and (entry.payload or {}).get("to") == PERSON:
            break
    found = await room.tasks(run)
    names = {("boss", "agent"): "lead", ("worker", "agent"): "worker", ("boss", "question"): "answer"}
    return run, {names.get((task.role, task.kind), PERSON): task for task in found}


async def test_a_node_that_answers_is_not_made_one_that_acts(crew: Path) -> None:
    async with Room.open(crew) as room:
        run, found = await asking_on(room, crew)
        forge(room, found["answer"].id, kind="agent")
        await room.answer(found[PERSON].id, "They may.", ADA)
        assert (await room.finished(run)).result == "Done."
        assert not (crew / "data" / "new.md").exists()
        ended = await room.finished(found["answer"].id)
        assert "nothing is done in it" in ended.result["error"]["message"]
        [heard] = [one for one in await room.timeline(found["worker"].id) if one.kind is EntryKind.ANSWERED]
        assert (heard.payload or {})["outcome"] == "failed"
        findings = [(one.where, one.what) for one in (await room.verify()).findings]
        assert findings == [(found["answer"].id, "its row has another kind than its first entry")]


async def test_a_task_does_not_leave_the_budget_of_its_run(crew: Path) -> None:
    async with Room.open(crew) as room:
        run, found = await asking_on(room, crew, Budget(max_steps=5))
        forge(room, found["worker"].id, tree=found["worker"].id)
        await room.answer(found[PERSON].id, "They may.", ADA)
        await room.finished(run)
        worker = (await room.finished(found["worker"].id)).task
        assert (worker.status, worker.steps) == ("failed", 1)
        assert "another tree" in str((await room.verify()).findings)


async def test_whoever_waits_for_a_task_with_a_forged_parent_is_told(crew: Path) -> None:
    async with Room.open(crew) as room:
        run, found = await asking_on(room, crew)
        forge(room, found["worker"].id, parent_id="task_nobody", parent_call="task_nobody:0.0")
        await room.answer(found[PERSON].id, "They may.", ADA)
        assert (await room.finished(run)).result == "Done."
        [heard] = [one for one in await room.timeline(run) if one.kind is EntryKind.RETURNED]
        assert (heard.payload or {})["outcome"] == "failed"


@pytest.mark.parametrize(
    "forged",
    [
        {"kind": "question"}, {"kind": "desk"}, {"role": "helper"}, {"actor": "mallory"}, {"tree": "task_other"},
        {"depth": 0}, {"parent_id": ""}, {"parent_call": "task_other:0.0"}, {"title": "Something harmless"},
    ],
    ids=str,
)  # fmt: skip
async def test_a_row_that_tells_another_task_than_its_timeline_is_found(
    crew: Path, forged: dict[str, Any]
) -> None:
    async with Room.open(crew) as room:
        _, found = await asking_on(room, crew)
        assert (await room.verify()).ok
        forge(room, found["worker"].id, **forged)
        [finding] = (await room.verify()).findings
        [column] = forged
        assert finding.where == found["worker"].id
        assert finding.what == f"its row has another {column} than its first entry"


async def test_limits_of_a_run_that_were_raised_in_the_table_are_not_believed_below_its_root(
    crew: Path,
) -> None:
    async with Room.open(crew) as room:
        run, found = await asking_on(room, crew, Budget(max_steps=5))
        for task in found.values():
            forge(room, task.id, budget="{}")
        await room.answer(found[PERSON].id, "They may.", ADA)
        await room.finished(run)
        assert sum(task.steps for task in await room.tasks(run)) == 5
