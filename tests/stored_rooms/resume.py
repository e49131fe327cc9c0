"""Goes on with everything that waits in a room, until nothing is left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from brasstag import Approval, ApprovalResponse, ApprovalState, Approver, Done, Outcome, Room, Waiting

BOB = Approver("bob", "terminal")
PERSON = "person"


@asynccontextmanager
async def worked_on(room: Room) -> AsyncIterator[None]:
    """Let this process work on every run meanwhile."""
    serving = asyncio.create_task(room.serve())
    yield
    room.runs.drain()
    await serving


async def resume_everything(room: Room) -> None:
    """Approve, answer and resume whatever waits, and work until every run has ended."""
    for approval in await room.approvals(ApprovalState.OPEN, ApprovalState.APPROVED):
        if await is_of_desk(room, approval):
            assert isinstance(await use(room, approval), Done)
    stopped = [one for one in await room.tasks() if one.status == "cancelled" and not one.parent_id]
    for task in stopped:
        if task.kind != "desk":
            await room.resume_run(task.id, BOB, serve=False)
    runs = {one.tree for one in await room.tasks() if one.kind != "desk" and not one.has_ended}
    async with worked_on(room):
        for run in sorted(runs):
            await finish(room, run)


async def use(room: Room, approval: Approval) -> Outcome:
    """Approve a call of a desk and go on with it; where its tool has changed since, it is asked anew, once."""
    tool = room.tools.get(approval.tool)
    if approval.state is ApprovalState.OPEN:
        await room.decide(approval.id, ApprovalResponse(True), BOB)
    outcome = await room.resume(approval.id)
    if tool is not None and tool.version != approval.tool_version:
        assert isinstance(outcome, Waiting), outcome
        await room.decide(outcome.approval_id, ApprovalResponse(True), BOB)
        outcome = await room.resume(outcome.approval_id)
    return outcome


async def finish(room: Room, run: str) -> None:
    """Say yes to whatever a run asks, until it has ended."""
    async for event in room.watch(run):
        if event.waiting is not None:
            for approval in event.waiting.approvals:
                await room.decide(approval.id, ApprovalResponse(True), BOB)
            for question in event.waiting.questions:
                await room.answer(question.id, "Yes.", BOB)


async def is_of_desk(room: Room, approval: Approval) -> bool:
    """Say whether a person made the call, and no agent."""
    return (await room.task(approval.task_id)).kind == "desk"
