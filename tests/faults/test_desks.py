"""Calls of a desk whose database is lost for a moment: what its caller was told stays true."""

import asyncio

import pytest

from brasstag import Done, Failed, Room, Unknown
from brasstag.words.events import EntryKind
from tests.faults.conftest import MakeWorld
from tests.faults.losing import Losses, only


async def test_a_desk_whose_first_commit_was_lost_goes_on(make_world: MakeWorld) -> None:
    world = make_world()
    async with Room.open(world.mill.project) as room:
        Losses(room, only(0, "after"))
        first = await room.call("stop_and_think", {"thoughts": "one"})
        assert isinstance(first, Failed)
        second = await room.call("stop_and_think", {"thoughts": "two"})
        assert isinstance(second, Done)
        assert (await room.verify()).ok


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_change_whose_claim_was_lost_is_not_made_later(make_world: MakeWorld, when: str) -> None:
    world = make_world()
    async with Room.open(world.mill.project) as room:
        await room.call("stop_and_think", {"thoughts": "open the desk"})
        Losses(room, only(0, when))
        lost = await room.call("write_file", {"path": "a.md", "content": "lost"}, call_id="lost")
        assert not isinstance(lost, Done)
        # Its paths are free again, and what it was about to do is off the table.
        again = await room.call("write_file", {"path": "a.md", "content": "again"})
        assert isinstance(again, Done)
    async with Room.open(world.mill.project) as room:
        assert room.recovered.calls == []
        assert world.mill.files()["a.md"] == "again"
        assert (await room.verify()).ok


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_act_whose_end_could_not_be_written_is_written_later(
    make_world: MakeWorld, when: str
) -> None:
    world = make_world()
    async with Room.open(world.mill.project) as room:
        await room.call("stop_and_think", {"thoughts": "open the desk"})
        Losses(room, only(1, when))
        assert isinstance(await room.call("send", {}, call_id="sent"), Unknown)
        assert isinstance(await room.call("stop_and_think", {"thoughts": "next"}), Done)
        ends = [entry.payload or {} for entry in await room.timeline() if entry.kind is EntryKind.SETTLED]
        assert [payload["outcome"] for payload in ends] == ["done"]
        assert (await room.verify()).ok
    assert world.mill.done() == {("send", "sent"): 1}


async def test_the_first_calls_of_a_desk_at_once_open_it_once(make_world: MakeWorld) -> None:
    world = make_world()
    async with Room.open(world.mill.project) as room:
        calls = [room.call("stop_and_think", {"thoughts": str(number)}) for number in range(8)]
        outcomes = await asyncio.gather(*calls)
        assert [type(outcome) for outcome in outcomes] == [Done] * 8
        assert (await room.verify()).ok
