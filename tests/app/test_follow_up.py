"""follow_up: an ended run is asked for more, and its lead goes on with all it knows."""

import json
from pathlib import Path
from typing import Any

import pytest

from brasstag import Budget, Room, ToolError
from brasstag.words.errors import Code
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script


def script(project: Path, *turns: dict[str, Any]) -> None:
    write_script(project, {"boss": list(turns)})


async def test_the_lead_goes_on_with_what_it_knows_and_is_given_the_documents(
    make_project: MakeProject,
) -> None:
    project = make_project(CREW)
    (project / "data" / "more.md").write_text("the second part\n")
    first = turn(call("write_file", path="a.md", content="one\n"))
    script(project, first, turn(text="First done."), turn(text="Second done."))
    async with Room.open(project) as room:
        run = await room.start("Do the first part")
        assert (await room.finished(run)).result == "First done."
        task = await room.follow_up(run[-8:], "Do the second part", ADA, documents=["more.md"])
        assert task.id == run
        ended = await room.finished(run)
        assert (ended.ok, ended.result) == (True, "Second done.")
        messages = json.dumps(await shown(room, run))
        report = await room.verify()
    assert report.ok, report.findings
    for said in (
        "Do the first part",
        "First done.",
        "asks for more",
        "Do the second part",
        "the second part",
    ):
        assert said in messages


async def shown(room: Room, run: str) -> list[Any]:
    """Return what the model of a run would be shown, as OpenAI reads it."""
    from brasstag.engine.transcript.render import Transcript
    from brasstag.models.forms import openai_messages

    transcript = Transcript(room.store.fence)
    for entry in await room.timeline(run):
        transcript.add(entry)
    return list(openai_messages(transcript.messages(), lambda _digest: b""))


async def test_it_may_use_as_much_again_and_no_more(make_project: MakeProject) -> None:
    project = make_project(CREW)
    looking = turn(call("list_files"))
    script(
        project, looking, turn(text="One."), looking, turn(text="Two."), looking, looking, turn(text="Three.")
    )
    async with Room.open(project) as room:
        run = await room.start("Begin", budget=Budget(max_steps=2))
        assert (await room.finished(run)).result == "One."
        await room.follow_up(run, "Go on", ADA)
        assert (await room.finished(run)).result == "Two."
        await room.follow_up(run, "Go on again", ADA)
        assert (await room.finished(run)).result["error"]["code"] == "BUDGET_EXCEEDED"
        await room.resume_run(run, ADA, budget=Budget(max_steps=10))
        assert (await room.finished(run)).result == "Three."
        assert (await room.verify()).ok


async def test_what_has_not_ended_is_empty_or_was_opened_by_another_task_is_refused(
    make_project: MakeProject,
) -> None:
    project = make_project(CREW)
    delegating = turn(call("assign_task", target_agent="worker", task_description="Work"))
    write_script(project, {"boss": [delegating, turn(text="Done.")], "worker": [turn(text="Worked.")]})
    async with Room.open(project) as room:
        run = await room.start("Delegate", serve=False)
        for request, code in (
            ("more", Code.BUSY),
            ("  ", Code.INVALID_ARGUMENTS),
            ("\ud800", Code.INVALID_ARGUMENTS),
        ):
            with pytest.raises(ToolError) as refused:
                await room.follow_up(run, request, ADA, serve=False)
            assert refused.value.code is code
        await room.runs.serve_run(run)
        assert (await room.finished(run)).ok
        (child,) = [task for task in await room.tasks(run) if task.parent_id]
        for name, code in ((child.id, Code.NOT_SUPPORTED), ("nowhere", Code.TASK_NOT_FOUND)):
            with pytest.raises(ToolError) as refused:
                await room.follow_up(name, "more", ADA)
            assert refused.value.code is code
        before = len(await room.timeline(run))
        with pytest.raises(ToolError):
            await room.follow_up(run, "more", ADA, documents=["nowhere.md"])
        assert len(await room.timeline(run)) == before
