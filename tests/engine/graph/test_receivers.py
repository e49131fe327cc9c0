"""What a role may not read is not handed to it by others either."""

from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Room
from brasstag.words.approvals import ApprovalState
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script

RULE = """
[[rules]]
{decision} = "*(secret/**)"
roles = ["{role}"]
because = "it is not for everybody"
"""
SECRET = "The vault opens at nine."

SENDINGS: list[tuple[str, str, dict[str, Any]]] = [
    ("boss", "worker", call("handoff", result="Here.", documents=["secret/x.md"])),
    ("boss", "worker", call("ask_master", question="Right?", documents=["open.md"])),
    ("helper", "worker", call("route_to_helper", request="Look.", documents=["secret/x.md"])),
    (
        "helper",
        "worker",
        call("assign_task", target_agent="helper", task_description="Look.", target_file="secret/x.md"),
    ),
]


def prepared(make_project: MakeProject, decision: str, receiver: str, sending: dict[str, Any]) -> Path:
    project = make_project(CREW + RULE.format(decision=decision, role=receiver), profile="trusted")
    (project / "data" / "secret").mkdir()
    (project / "data" / "secret" / "x.md").write_text(SECRET)
    (project / "data" / "open.md").symlink_to("secret/x.md")
    write_script(
        project,
        {
            "boss": [
                {"when": "Right?", "turns": [turn(text="Right.")]},
                {"turns": [turn(call("route_to_worker", request="Work.")), turn(text="Done.")]},
            ],
            "worker": [turn(sending), turn(text="Worked.")],
            "helper": [turn(text="Helped.")],
        },
    )
    return project


async def told_of_secret(room: Room, run: str) -> set[str]:
    return {
        task.role
        for task in await room.tasks(run)
        for entry in await room.timeline(task.id)
        if SECRET in str(entry.payload)
    }


MISSING = call("route_to_helper", request="Look.", documents=["secret/x.md", "missing.md"])


@pytest.mark.parametrize(("receiver", "sender", "sending"), [*SENDINGS, ("helper", "worker", MISSING)])
async def test_what_a_rule_denies_to_whoever_receives_it_is_not_sent(
    make_project: MakeProject, receiver: str, sender: str, sending: dict[str, Any]
) -> None:
    project = prepared(make_project, "deny", receiver, sending)
    async with Room.open(project) as room:
        run = await room.start("Go")
        await room.finished(run)
        assert await told_of_secret(room, run) == set()
        (task,) = [task for task in await room.tasks(run) if task.role == sender]
        (refused,) = [one for one in await room.timeline(task.id) if one.kind is EntryKind.REFUSED]
        error = (refused.payload or {})["result"]["error"]
        assert error["code"] == "BLOCKED_BY_RULE"
        assert error["message"] == f"{receiver} would read secret/x.md: it is not for everybody"


@pytest.mark.parametrize(("receiver", "sender", "sending"), SENDINGS)
async def test_what_a_rule_asks_about_for_whoever_receives_it_is_sent_once_a_person_says_yes(
    make_project: MakeProject, receiver: str, sender: str, sending: dict[str, Any]
) -> None:
    project = prepared(make_project, "ask", receiver, sending)
    async with Room.open(project) as room:
        run = await room.start("Go")
        async for _ in room.watch(run):
            if await room.approvals(ApprovalState.OPEN):
                break
        (approval,) = await room.approvals()
        assert (approval.role, approval.tool) == (sender, sending["tool"])
        assert approval.reason.startswith(f"{receiver} would read secret/x.md")
        assert receiver not in await told_of_secret(room, run)
        await room.decide(approval.id, ApprovalResponse(True), ADA)
        await room.finished(run)
        assert receiver in await told_of_secret(room, run)


async def test_a_person_is_sent_whatever_the_sender_may_read(make_project: MakeProject) -> None:
    project = prepared(make_project, "deny", "worker", call("handoff", result="Nothing."))
    write_script(project, {"boss": [turn(call("handoff", result="Here.", documents=["secret/x.md"]))]})
    async with Room.open(project) as room:
        ended = await room.finished(await room.start("Go"))
        assert ended.documents == ("secret/x.md",)
