"""The worker that holds a task follows it: its own words without reading them back, those of others by reading."""

from pathlib import Path
from typing import Any

from brasstag import Room
from brasstag.engine.minutes import Minutes
from brasstag.store.timeline import read_entries
from brasstag.words.calls import Call
from brasstag.words.events import EntryKind
from brasstag.words.messages import Message
from brasstag.words.turns import Usage
from tests.engine.crews import turn, write_script


async def follow(room: Room) -> Minutes:
    """Take a task that has made one call, as a worker does."""
    run = await room.start("Go", serve=False)
    held = room.books.graph.take(run, 1)
    assert held is not None
    minutes = Minutes(room._shop, held)
    use = {"id": "c0_0", "tool": "read_file", "arguments": {"path": "a.md"}}
    said = {"type": "turn", "turn": 0, "model": "", "text": "", "thinking": [], "calls": [use]}
    said |= {"usage": Usage().as_json(), "stop": "calls", "seconds": 0.0, "note": ""}
    room.books.graph.record_turn(held, said, Usage())
    return minutes


def end_call(room: Room, minutes: Minutes) -> None:
    held = minutes.held
    call = Call(f"{held.id}:0.0", "read_file", {}, "agent:boss", "boss", held.id, epoch=held.epoch)
    said: dict[str, Any] = {"type": "function_tool", "tool": "read_file", "input": {}, "outcome": "done"}
    room.books.record(call, EntryKind.CALLED, said | {"result": {"content": "Hello"}, "meta": {}})


def consult(room: Room, task: str) -> None:
    """Write what comes in unasked: that the same agent has answered a question elsewhere."""
    said = {"type": "ask_master", "from": "worker", "task": "task_x", "node": "task_y"}
    with room.books.database.write() as transaction:
        room.books.timeline.append(
            transaction, task, EntryKind.CONSULTED, "", said | {"question": "May I?", "answer": "You may."}
        )


def shown_to_a_new_worker(room: Room, minutes: Minutes) -> tuple[Message, ...]:
    return Minutes(room._shop, minutes.held).transcript().messages()


async def test_what_this_process_wrote_is_known_without_reading(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        minutes = await follow(room)
        assert minutes.catch_up()
        assert list(minutes.standing.open) == [f"{minutes.held.id}:0.0"]
        end_call(room, minutes)
        assert minutes.catch_up()
        assert not minutes.standing.open
        assert minutes.transcript().messages() == shown_to_a_new_worker(room, minutes)


async def test_where_nothing_new_is_known_the_timeline_is_asked(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room, Room.open(crew) as other:
        minutes = await follow(room)
        assert minutes.catch_up()
        consult(other, minutes.held.id)
        assert not minutes.catch_up()
        assert minutes.standing.seen == 2
        minutes.refresh()
        assert minutes.standing.seen == 3


async def test_what_others_wrote_in_between_is_missed_and_then_read(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room, Room.open(crew) as other:
        minutes = await follow(room)
        consult(other, minutes.held.id)
        end_call(room, minutes)
        assert not minutes.catch_up()
        minutes.refresh()
        assert minutes.standing.seen == 4
        assert "You may." in str(minutes.transcript().messages())
        assert minutes.transcript().messages() == shown_to_a_new_worker(room, minutes)


async def test_what_was_read_already_is_not_taken_in_again(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        minutes = await follow(room)
        minutes.refresh()
        end_call(room, minutes)
        assert minutes.catch_up()
        assert minutes.standing.turns == 1
        assert minutes.transcript().messages() == shown_to_a_new_worker(room, minutes)


async def test_a_model_is_never_shown_what_was_redacted_meanwhile(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room, Room.open(crew) as other:
        minutes = await follow(room)
        end_call(room, minutes)
        assert minutes.catch_up()
        assert "Hello" in str(minutes.transcript().messages())
        told = other.books.read(lambda view: list(read_entries(view, minutes.held.id)))
        consult(room, minutes.held.id)
        with other.books.database.write() as transaction:
            other.books.timeline.erase_payload(transaction, told[-1])
            said = {"type": "redaction", "redacted": told[-1].tag, "redacted_seqs": [told[-1].seq]}
            other.books.timeline.append(transaction, minutes.held.id, EntryKind.REDACTED, "", said)
        assert minutes.catch_up()
        minutes.refresh()
        assert "Hello" not in str(minutes.transcript().messages())
        assert minutes.transcript().messages() == shown_to_a_new_worker(room, minutes)
