"""Approvals of agents' calls, whoever hurries."""

from brasstag import ApprovalResponse, Code, Failed, Room
from brasstag.words.approvals import ApprovalState
from tests.engine.crews import ADA, Script, call, turn
from tests.faults.conftest import MakeWorld
from tests.faults.harness import until

OVERWRITE: Script = {"boss": [turn(call("write_file", path="old.md", content="new")), turn(text="built")]}


async def test_an_approved_call_of_an_agent_is_run_by_nobody_but_its_worker(make_world: MakeWorld) -> None:
    world = make_world(OVERWRITE)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build")
        asked: list[str] = []

        async def waits() -> bool:
            asked[:] = [approval.id for approval in await room.approvals(ApprovalState.OPEN)]
            return bool(asked)

        await until(waits, "it asks")
        await room.decide(asked[0], ApprovalResponse(True), ADA)
        outcome = await room.resume(asked[0])
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.NOT_SUPPORTED
        assert (await room.finished(run)).ok
        assert await world.violations(room) == []
