"""Recall: an earlier result, read again by its tag."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from brasstag import Done, Failed, Room
from brasstag.engine.calls.capabilities.history import CallHistory
from brasstag.store.maintenance.redact import redact
from brasstag.store.tasks.types import NewTask
from brasstag.store.timeline.timeline import find_entry, first_entry
from brasstag.words.errors import Code, ToolError


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "a.md").write_text("0123456789" * 5000)
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


async def read(room: Room) -> str:
    outcome = await room.call("read_file", {"path": "a.md"})
    assert isinstance(outcome, Done)
    assert outcome.tag is not None
    return outcome.tag.id


async def test_a_result_is_given_back_in_parts_that_make_up_the_whole(room: Room) -> None:
    tag = await read(room)
    parts = []
    while True:
        outcome = await room.call("recall", {"tag": tag, "start": sum(map(len, parts)), "characters": 20_000})
        assert isinstance(outcome, Done)
        parts.append(outcome.value["text"])
        if sum(map(len, parts)) == outcome.value["total_characters"]:
            break
    assert len(parts) == 3
    assert "".join(parts).startswith('{"content": "0123456789')
    assert '"size": 50000' in "".join(parts)


async def test_a_failure_is_given_back_as_it_was_told(room: Room) -> None:
    failed = await room.call("read_file", {"path": "missing.md"})
    assert isinstance(failed, Failed)
    assert failed.tag is not None
    outcome = await room.call("recall", {"tag": failed.tag.id})
    assert isinstance(outcome, Done)
    assert outcome.value["text"].startswith(f"FILE_NOT_FOUND: {failed.message}")


async def test_a_place_beyond_the_end_is_refused(room: Room) -> None:
    outcome = await room.call("recall", {"tag": await read(room), "start": 10**9})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.INVALID_ARGUMENTS


async def test_an_unknown_tag_is_refused(room: Room) -> None:
    outcome = await room.call("recall", {"tag": "tag_nothing"})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.TAG_NOT_FOUND


async def test_a_result_of_another_task_is_not_given(room: Room) -> None:
    tag = await read(room)
    # A handoff ends the desk; what follows is another task.
    assert isinstance(await room.call("handoff", {"result": "done"}), Done)
    outcome = await room.call("recall", {"tag": tag})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.TAG_NOT_FOUND
    assert "0123456789" not in outcome.message


async def test_a_removed_result_is_not_given(room: Room) -> None:
    tag = await read(room)
    store = room._runtime.store
    entry = store.read(lambda view: find_entry(view, tag))
    assert entry is not None
    redact(store, entry, "ada", "private")
    outcome = await room.call("recall", {"tag": tag})
    assert isinstance(outcome, Failed)
    assert outcome.message == f"the result behind {tag} was removed by a person"


async def test_a_tag_that_ends_no_call_has_no_result(room: Room) -> None:
    tag = await read(room)
    store = room._runtime.store
    entry = store.read(lambda view: find_entry(view, tag))
    assert entry is not None
    first = store.read(lambda view: first_entry(view, entry.task_id))
    assert first is not None
    outcome = await room.call("recall", {"tag": first.tag})
    assert isinstance(outcome, Failed)
    assert "not the end of a call" in outcome.message


async def test_a_node_that_answers_a_question_may_recall_what_its_context_shows(room: Room) -> None:
    tag = await read(room)
    store = room._runtime.store
    seen = store.read(lambda view: find_entry(view, tag))
    assert seen is not None
    context = {"context": {"task": seen.task_id, "entries": 2}}
    for name, payload in (("task_answering", context), ("task_stranger", {})):
        store.graph.open_root(
            NewTask(name, "question", "agent:analyst", "lead", "Euros?", payload, tree=name)
        )
    history = CallHistory(store, lambda: 20_000)
    assert "0123456789" in history.result_behind(tag, "task_answering")
    with pytest.raises(ToolError):
        history.result_behind(tag, "task_stranger")
