"""The worker that holds a task follows it: its own words without reading them back, those of others by reading."""

from pathlib import Path
from typing import Any

from brasstag import Room
from brasstag.engine.worker.journal import Journal
from brasstag.store.timeline.timeline import read_entries
from brasstag.words.calls import Call
from brasstag.words.events import EntryKind
from brasstag.words.messages import Message
from brasstag.words.turns import Usage
from tests.engine.crews import turn, write_script


async def follow(room: Room) -> Journal:
    """Take a task that has made one call, as a worker does."""
    run = await room.start("Go", serve=False)
    held = room.store.graph.take(run, 1)
    assert held is not None
    journal = Journal(room._runtime, held)
    use = {"id": "c0_0", "tool": "read_file", "arguments": {"path": "a.md"}}
    said = {"type": "turn", "turn": 0, "model": "", "text": "", "thinking": [], "calls": [use]}
    said |= {"usage": Usage().as_json(), "stop": "calls", "seconds": 0.0, "note": ""}
    room.store.graph.record_turn(held, said, Usage())
    return journal


def end_call(room: Room, journal: Journal) -> None:
    held = journal.held
    call = Call(f"{held.id}:0.0", "read_file", {}, "agent:boss", "boss", held.id, epoch=held.epoch)
    said: dict[str, Any] = {"type": "function_tool", "tool": "read_file", "input": {}, "outcome": "done"}
    room.store.record(call, EntryKind.CALLED, said | {"result": {"content": "Hello"}, "meta": {}})


def consult(room: Room, task: str) -> None:
    """Write what comes in unasked: that the same agent has answered a question elsewhere."""
    said = {"type": "ask_master", "from": "worker", "task": "task_x", "node": "task_y"}
    with room.store.database.write() as transaction:
        room.store.timeline.append(
            transaction, task, EntryKind.CONSULTED, "", said | {"question": "May I?", "answer": "You may."}
        )


def shown_to_a_new_worker(room: Room, journal: Journal) -> tuple[Message, ...]:
    return Journal(room._runtime, journal.held).transcript().messages()


async def test_what_this_process_wrote_is_known_without_reading(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        journal = await follow(room)
        assert journal.catch_up()
        assert list(journal.state.open) == [f"{journal.held.id}:0.0"]
        end_call(room, journal)
        assert journal.catch_up()
        assert not journal.state.open
        assert journal.transcript().messages() == shown_to_a_new_worker(room, journal)


async def test_where_nothing_new_is_known_the_timeline_is_asked(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room, Room.open(crew) as other:
        journal = await follow(room)
        assert journal.catch_up()
        consult(other, journal.held.id)
        assert not journal.catch_up()
        assert journal.state.seen == 2
        journal.refresh()
        assert journal.state.seen == 3


async def test_what_others_wrote_in_between_is_missed_and_then_read(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room, Room.open(crew) as other:
        journal = await follow(room)
        consult(other, journal.held.id)
        end_call(room, journal)
        assert not journal.catch_up()
        journal.refresh()
        assert journal.state.seen == 4
        assert "You may." in str(journal.transcript().messages())
        assert journal.transcript().messages() == shown_to_a_new_worker(room, journal)


async def test_what_was_read_already_is_not_taken_in_again(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        journal = await follow(room)
        journal.refresh()
        end_call(room, journal)
        assert journal.catch_up()
        assert journal.state.turns == 1
        assert journal.transcript().messages() == shown_to_a_new_worker(room, journal)


async def test_a_model_is_never_shown_what_was_redacted_meanwhile(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room, Room.open(crew) as other:
        journal = await follow(room)
        end_call(room, journal)
        assert journal.catch_up()
        assert "Hello" in str(journal.transcript().messages())
        told = other.store.read(lambda view: list(read_entries(view, journal.held.id)))
        consult(room, journal.held.id)
        with other.store.database.write() as transaction:
            other.store.timeline.erase_payload(transaction, told[-1])
            said = {"type": "redaction", "redacted": told[-1].tag, "redacted_seqs": [told[-1].seq]}
            other.store.timeline.append(transaction, journal.held.id, EntryKind.REDACTED, "", said)
        assert journal.catch_up()
        journal.refresh()
        assert "Hello" not in str(journal.transcript().messages())
        assert journal.transcript().messages() == shown_to_a_new_worker(room, journal)
