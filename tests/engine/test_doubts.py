"""Calls of which nobody knows whether they happened: a person is asked, and the task goes on with their word."""

from pathlib import Path

from brasstag import Room, tool
from brasstag.engine.render import render
from brasstag.settings.crew import PERSON
from brasstag.store.tasks import Task
from brasstag.words.events import EntryKind
from tests.engine.crews import ADA, call, turn, write_script


@tool(effects="external", approval="auto")
def post(letter: str) -> str:
    """Post a letter, and fall over on the way back."""
    raise RuntimeError(f"fell over after posting {letter}")


async def question_of(room: Room, run: str) -> Task:
    """Wait until a person is asked."""
    async for happening in room.watch(run):
        if happening.entry is not None and happening.entry.kind is EntryKind.QUESTIONED:
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
    assert "It is in the box." in str(render(entries)[-2:])
