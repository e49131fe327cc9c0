"""Calls as they are exported: one line each, however many entries tell of them."""

import json

from brasstag import Room, tool
from brasstag.store.maintenance.export import export_calls
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script


@tool(effects="external", approval="auto")
def post(letter: str) -> str:
    """Post a letter, and fall over on the way back."""
    raise RuntimeError(f"fell over after posting {letter}")


async def test_a_doubtful_call_is_one_line_with_what_it_was_made_with_and_the_word_of_a_person(
    make_project: MakeProject,
) -> None:
    project = make_project(CREW)
    write_script(project, {"boss": [turn(call("post", letter="to Bob")), turn(text="Done.")]})
    async with Room.open(project) as room:
        room.register(post)
        run = await room.start("Write to Bob")
        waiting = await anext(one.waiting async for one in room.watch(run) if one.waiting)
        before = [json.loads(line) for line in room.store.read(lambda view: [*export_calls(view, run)])]
        await room.answer(waiting.questions[0].id, "It is in the box.", ADA)
        assert (await room.finished(run)).ok
        after = [json.loads(line) for line in room.store.read(lambda view: [*export_calls(view, run)])]
    assert [(one["tool"], one["input"], one["status"]) for one in before] == [
        ("post", {"letter": "to Bob"}, "waiting")
    ]
    (ended,) = after
    assert (ended["type"], ended["input"]) == ("function_tool", {"letter": "to Bob"})
    assert ended["status"] == "done"
    assert ended["said"].startswith("← answer from ada")
