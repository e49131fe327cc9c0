"""One record for each call, folded from its entries."""

from brasstag import ApprovalResponse, CallRecord, Room, Waiting
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script


def fields(record: CallRecord) -> tuple[object, ...]:
    return record.type, record.tool, record.input["path"], record.status


async def test_a_call_is_one_record_however_many_entries_it_has(room: Room) -> None:
    await room.call("write_file", {"path": "a.md", "content": "x"})
    asked = await room.call("delete_file", {"path": "a.md"})
    assert isinstance(asked, Waiting)
    (written, waiting) = await room.records(room.task_id)
    assert fields(written) == ("function_tool", "write_file", "a.md", "done")
    assert written.result["path"] == "a.md"
    assert fields(waiting) == ("function_tool", "delete_file", "a.md", "waiting")
    await room.decide(asked.approval_id, ApprovalResponse(True), ADA)
    await room.resume(asked.approval_id)
    await room.call("stop_and_think", {"thoughts": "It is gone."})
    entries = await room.timeline(room.task_id)
    records = await room.records()
    assert fields(records[1]) == ("function_tool", "delete_file", "a.md", "done")
    assert (records[2].type, records[2].input) == ("non_function_tool", {"thoughts": "It is gone."})
    assert all(one.timestamp == entry.at for one in records for entry in entries if entry.tag == one.tag)
    assert list(records[0].as_json())[:5] == ["type", "tool", "input", "result", "timestamp"]


async def test_a_delegation_and_a_question_say_whom_they_wait_for_and_then_what_came_back(
    make_project: MakeProject,
) -> None:
    project = make_project(CREW)
    (project / "data" / "a.md").write_text("x")
    script = {
        "boss": [
            turn(call("route_to_worker", request="Delete it")),
            turn(call("ask_master", question="Enough?")),
            turn(text="Done."),
        ],
        "worker": [turn(call("delete_file", path="a.md")), turn(text="Deleted.")],
    }
    write_script(project, script)
    async with Room.open(project) as room:
        run = await room.start("Delete it")
        seen: list[str] = []
        async for event in room.watch(run):
            if event.waiting:
                seen.append((await room.records(run))[-1].result)
            for approval in event.waiting.approvals if event.waiting else ():
                await room.decide(approval.id, ApprovalResponse(True), ADA)
            for question in event.waiting.questions if event.waiting else ():
                await room.answer(question.id, "Yes.", ADA)
        delegated, asked = await room.records(run)
    assert [one.partition(" (")[0] for one in seen] == ["→ delegated to worker", "→ asked a person"]
    assert (delegated.type, delegated.said, delegated.result) == (
        "agent_as_tool",
        "← result from worker",
        "Deleted.",
    )
    assert (asked.type, asked.result) == ("ask_master", "Yes.")
    assert asked.said.startswith("← answer from ada")
