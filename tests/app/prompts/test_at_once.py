"""Several openings of a room at once, on either database: one approval wins, the other is told why."""

import asyncio
from pathlib import Path

import pytest

from brasstag import Code, Room, ToolError
from tests.app.prompts.documents import live_ids, proposal
from tests.conftest import MakeProject


@pytest.fixture(params=["sqlite", "postgres"])
def shared(
    request: pytest.FixtureRequest, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> Path:
    if request.param == "postgres":
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", request.getfixturevalue("postgres").url)
    return make_project()


def codes(ended: list[object]) -> list[Code | None]:
    return [found.code if isinstance(found, ToolError) else None for found in ended]


async def test_the_same_proposal_is_approved_once(shared: Path) -> None:
    async with Room.open(shared) as one, Room.open(shared) as other:
        found = await one.prompts.propose(proposal())
        work = [room.prompts.approve(found.id, "ada", seen=found.digest) for room in (one, other)]
        ended = codes(await asyncio.gather(*work, return_exceptions=True))
        assert set(ended) == {None, Code.PROPOSAL_STATE}
        assert len(await one.prompts.history("tag_hunter")) == 1
        assert (await other.verify()).ok


async def test_of_two_proposals_for_one_tool_one_wins(shared: Path) -> None:
    async with Room.open(shared, actor="cli:ada") as one, Room.open(shared, actor="cli:bo") as other:
        ours = await one.prompts.propose(proposal())
        theirs = await other.prompts.propose(proposal(prompt="List growled."))
        ended = codes(
            await asyncio.gather(
                one.prompts.approve(ours.id, "cy", seen=ours.digest),
                other.prompts.approve(theirs.id, "cy", seen=theirs.digest),
                return_exceptions=True,
            )
        )
        assert set(ended) == {None, Code.PROPOSAL_STALE}
        assert live_ids(shared) == ["tag_hunter"]
        assert len(await one.prompts.history("tag_hunter")) == 1
        live = [await room.prompts.get("tag_hunter") for room in (one, other)]
        assert live[0] == live[1]
        assert (await one.verify()).ok


async def test_many_proposals_at_once_all_go_live(shared: Path) -> None:
    async with Room.open(shared) as one, Room.open(shared) as other:
        found = await asyncio.gather(
            *(
                room.prompts.propose(proposal(id=f"tool_{number}"))
                for number, room in enumerate([one, other] * 3)
            )
        )
        await asyncio.gather(
            *(
                room.prompts.approve(each.id, "ada", seen=each.digest)
                for each, room in zip(found, [other, one] * 3, strict=True)
            )
        )
        assert live_ids(shared) == [f"tool_{number}" for number in range(6)]
        assert {entry.tool.id for entry in (await one.prompts.catalog()).entries} >= {"tool_0", "tool_5"}
        assert (await one.verify()).ok
