"""Calls of which nobody knows whether they happened: a person is asked, and the task goes on with their word."""

from pathlib import Path

import pytest

from brasstag import Room, tool
from brasstag.engine.transcript.render import render
from brasstag.settings.crew import PERSON
from brasstag.store.tasks.rows import Task
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from tests.engine.crews import ADA, call, turn, write_script
from tests.engine.timelines import FENCE


@tool(effects="external", approval="auto")
def post(letter: str) -> str:
    """Post a letter, and fall over on the way back."""
    raise RuntimeError(f"fell over after posting {letter}")


async def question_of(room: Room, run: str, but: str = "") -> Task:
    """Wait until a person is asked, about another question than one."""
    async for event in room.watch(run):
        entry = event.entry
        if entry is not None and entry.kind is EntryKind.QUESTIONED and (entry.payload or {})["child"] != but:
            break
    [question] = [task for task in await room.tasks(run) if task.role == PERSON and not task.has_ended]
    return question


async def test_a_person_is_asked_whether_it_happened_and_the_model_hears_their_word(crew: Path) -> None:
    write_script(crew, {"boss": [turn(call("post", letter="to Bob")), turn(text="Done.")]})
    async with Room.open(crew) as room:
        room.register(post)
        run = await room.start("Write to Bob")
        question = await question_of(room, run)
        asked = (await room.timeline(question.id))[0].payload or {}
        assert "Did post happen?" in asked["input"]["request"]
        assert "fell over after posting to Bob" in asked["input"]["request"]
        assert [entry.kind for entry in await room.timeline(run)].count(EntryKind.TURN) == 1
        await room.answer(question.id, "It is in the box.", ADA)
        ended = await room.finished(run)
        assert ended.result == "Done."
        report = await room.verify()
        assert report.ok, report.findings
        entries = await room.timeline(run)
    kinds = [entry.kind for entry in entries]
    order = [EntryKind.CLAIMED, EntryKind.SETTLED, EntryKind.QUESTIONED, EntryKind.ANSWERED, EntryKind.TURN]
    assert kinds[kinds.index(EntryKind.CLAIMED) :][:5] == order
    assert "It is in the box." in str(render(entries, FENCE)[-2:])


async def test_a_doubt_outlives_the_stop_of_its_run(crew: Path) -> None:
    write_script(crew, {"boss": [turn(call("post", letter="to Bob")), turn(text="Done.")]})
    async with Room.open(crew) as room:
        room.register(post)
        run = await room.start("Write to Bob")
        first = await question_of(room, run)
        stopped = await room.stop(run, "ada")
        assert stopped.acting == [f"{run}:0.0"]
        await room.resume_run(run)
        second = await question_of(room, run, but=first.id)
        assert [entry.kind for entry in await room.timeline(run)].count(EntryKind.TURN) == 1
        await room.answer(second.id, "It is in the box.", ADA)
        assert (await room.finished(run)).result == "Done."
        shown = str(render(await room.timeline(run), FENCE))
        assert "It is in the box." in shown
        assert "stopped together" not in shown
        report = await room.verify()
        assert report.ok, report.findings


async def test_the_question_about_a_doubt_cannot_be_stopped_away(crew: Path) -> None:
    write_script(crew, {"boss": [turn(call("post", letter="to Bob")), turn(text="Done.")]})
    async with Room.open(crew) as room:
        room.register(post)
        question = await question_of(room, await room.start("Write to Bob"))
        with pytest.raises(ToolError) as refused:
            await room.stop(question.id, "nobody")
        assert refused.value.code is Code.NOT_SUPPORTED


async def test_stopping_a_task_below_names_the_doubt_it_leaves(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [turn(call("route_to_worker", request="Post it", documents=[])), turn(text="Then not.")],
            "worker": [turn(call("post", letter="to Bob"))],
        },
    )
    async with Room.open(crew) as room:
        room.register(post)
        run = await room.start("Write to Bob")
        worker = (await question_of(room, run)).parent_id
        assert (await room.stop(worker, "ada")).acting == [f"{worker}:0.0"]
        assert (await room.finished(run)).result == "Then not."
