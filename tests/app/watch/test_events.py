"""Watching a run from a program: what it waits for is said, with types, and whoever answers is named alike everywhere."""

import pytest

from brasstag import ApprovalResponse, Approver, Room, RunEvent
from brasstag.words.events import EntryKind
from brasstag.words.turns import Retrying
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script


async def test_that_only_people_can_go_on_is_said_once_each_time_it_becomes_so(
    make_project: MakeProject,
) -> None:
    project = make_project(CREW)
    (project / "data" / "a.md").write_text("old")
    first = turn(call("write_file", path="a.md", content="new"), call("ask_master", question="Which colour?"))
    write_script(project, {"boss": [first, turn(call("ask_master", question="Good?")), turn(text="Thanks.")]})
    waits: list[tuple[list[str], list[str]]] = []
    happenings: list[RunEvent] = []
    async with Room.open(project) as room:
        run = await room.start("Paint")
        async for event in room.watch(run):
            happenings.append(event)
            if event.waiting is None:
                continue
            waiting = event.waiting
            waits.append(([one.tool for one in waiting.approvals], [one.text for one in waiting.questions]))
            assert {one.role for one in waiting.questions} == {"boss"}
            assert {one.task_id for one in waiting.questions} == {run}
            for approval in waiting.approvals:
                await room.decide(approval.id, ApprovalResponse(approved=True), ADA)
            for question in waiting.questions:
                await room.answer(question.id, "Blue.", ADA)
        assert (await room.finished(run)).ok
    assert waits == [(["write_file"], ["Which colour?"]), ([], ["Good?"])]
    asked = [one.question for one in happenings if one.question is not None]
    assert [(one.text, one.role) for one in asked] == [("Which colour?", "boss"), ("Good?", "boss")]
    wanted = [one.approval_id for one in happenings if one.approval_id is not None]
    assert [name.startswith("apr_") for name in wanted] == [True]


async def test_a_happening_of_another_kind_has_neither_question_nor_approval(
    make_project: MakeProject,
) -> None:
    project = make_project(CREW)
    write_script(project, {"boss": [turn(text="Done.")]})
    async with Room.open(project) as room:
        run = await room.start("Do it")
        found = [one async for one in room.watch(run)]
    assert {one.entry.kind for one in found if one.entry} >= {EntryKind.OPENED, EntryKind.CLOSED}
    assert {(one.question, one.approval_id, one.waiting) for one in found} == {(None, None, None)}


@pytest.mark.parametrize("by", [Approver("ada", "token"), "ada"], ids=["approver", "name"])
async def test_every_verb_takes_an_approver_or_a_name(make_project: MakeProject, by: Approver | str) -> None:
    project = make_project(CREW)
    (project / "data" / "a.md").write_text("old")
    asking = turn(
        call("write_file", path="a.md", content="new"), call("ask_master", question="Which colour?")
    )
    write_script(project, {"boss": [asking, turn(text="Thanks.")]})
    async with Room.open(project) as room:
        run = await room.start("Paint")
        waiting = await anext(one.waiting async for one in room.watch(run) if one.waiting)
        await room.decide(waiting.approvals[0].id, ApprovalResponse(approved=False), by)
        await room.answer(waiting.questions[0].id, "Blue.", by)
        assert (await room.finished(run)).ok
        decided = {entry.kind: (entry.payload or {}).get("by") for entry in await room.timeline(run)}
        other = await room.start("Paint", serve=False)
        await room.stop(other, by)
        await room.resume_run(other, by, serve=False)
        steered = {entry.kind: (entry.payload or {}).get("by") for entry in await room.timeline(other)}
    told = "ada (token)" if isinstance(by, Approver) else "ada (library)"
    assert (decided[EntryKind.DECIDED], decided[EntryKind.ANSWERED]) == (told, told)
    assert (steered[EntryKind.CLOSED], steered[EntryKind.RESUMED]) == (told, told)


def retrying(seconds: float) -> Retrying:
    return Retrying("m", "it is busy", seconds, 2, 5)


async def test_what_was_told_before_the_watch_began_is_told_in_its_place(make_project: MakeProject) -> None:
    project = make_project(CREW)
    write_script(project, {"boss": [turn(text="Done.")]})
    async with Room.open(project) as room:
        run = await room.start("Do it", serve=False)
        room.runs._watchers.retry(run, retrying(1))
        room.runs._watchers.retry(run, retrying(2))
        await room.runs.serve_run(run)
        await room.finished(run)
        found = [one async for one in room.watch(run)]
        known = {run: len([one for one in found if one.entry])}
        assert [one async for one in room.watch(run, seen=known) if one.retrying] == []
    told = [one.entry.kind if one.entry else one.retrying for one in found]
    assert told[:3] == [EntryKind.OPENED, retrying(1), retrying(2)]
    assert told[-1] is EntryKind.CLOSED


async def test_what_is_told_of_a_task_that_the_watch_does_not_know_yet_is_not_lost(
    make_project: MakeProject,
) -> None:
    project = make_project(CREW)
    delegating = turn(call("route_to_worker", request="Work"))
    write_script(project, {"boss": [delegating, turn(text="Done.")], "worker": [turn(text="Worked.")]})
    async with Room.open(project) as room:
        run = await room.start("Do it", serve=False)
        watched = room.watch(run)
        first = await anext(watched)
        assert first.entry is not None
        await room.runs.serve_run(run)
        await room.finished(run)
        child = next(task.id for task in await room.tasks(run) if task.role == "worker")
        # The watch has not looked since the run began, so it knows of no child.
        room.runs._watchers.retry(child, retrying(1))
        found = [one async for one in watched]
    assert [one.task.role for one in found if one.retrying] == ["worker"]


async def test_what_models_said_before_the_first_look_is_told_in_its_place(make_project: MakeProject) -> None:
    project = make_project(CREW)
    delegating = turn(call("route_to_worker", request="Work"), text="Go on.")
    write_script(project, {"boss": [delegating, turn(text="Done.")], "worker": [turn(text="Worked.")]})
    async with Room.open(project) as room:
        run, other = await room.start("Do it"), await room.start("Do that")
        await room.finished(run)
        await room.finished(other)
        found = [one async for one in room.watch(run)]
        known = {one.task.id: one.entry.seq + 1 for one in found if one.entry}
        assert [one async for one in room.watch(run, seen=known) if one.text] == []
    told = [one.text or one.entry.kind for one in found if one.text or one.entry]
    said = "".join(one.text for one in found)
    assert said == "Go on.Worked.Done."
    assert told[0] is EntryKind.OPENED
    assert told[-1] is EntryKind.CLOSED
    assert told.index(EntryKind.TURN) == 2


async def test_of_other_runs_nothing_is_told(make_project: MakeProject) -> None:
    project = make_project(CREW)
    write_script(project, {"boss": [turn(text="Done.")]})
    async with Room.open(project) as room:
        run, other = await room.start("Do it"), await room.start("Do that")
        room.runs._watchers.retry(other, retrying(1))
        assert [one async for one in room.watch(run) if one.retrying] == []
