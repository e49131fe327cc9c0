"""Calls at the counter of a room, made in a runner's process by its user, and what came of them as JSON."""

import asyncio
import os
from pathlib import Path
from typing import Any

from brasstag import ApprovalResponse, Approver, Done, Failed, Outcome, Room, Waiting
from brasstag.app.project.create import create_project


def call(asked: dict[str, Any]) -> dict[str, Any]:
    """Open the project's room, make one call, say yes where it waits and ``approve`` is set, and close the room."""
    project = Path(asked["project"])
    os.environ["BRASSTAG_USER_DIR"] = str(project.with_name(f"{project.name}-user"))
    if not (project / "brasstag.toml").exists():
        create_project(project, "data", asked.get("profile", "trusted"))
    answer = asyncio.run(_call(project, asked))
    status = Path("/proc/self/status").read_text()
    return answer | {"largest": int(status.partition("VmHWM:")[2].split()[0]) * 1024}


async def _call(project: Path, asked: dict[str, Any]) -> dict[str, Any]:
    async with Room.open(project) as room:
        outcome = await room.call(asked["tool"], asked["arguments"])
        waited = 0
        while isinstance(outcome, Waiting) and asked.get("approve"):
            waited += 1
            await room.decide(outcome.approval_id, ApprovalResponse(True), Approver("ada", "terminal"))
            outcome = await room.resume(outcome.approval_id)
        report = await room.verify()
        return _told(outcome) | {"waited": waited, "findings": [finding.what for finding in report.findings]}


def _told(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Done():
            return {"outcome": "done", **outcome.value}
        case Failed():
            return {
                "outcome": "failed",
                "code": outcome.code.value,
                "message": outcome.message,
                "details": dict(outcome.details),
            }
        case Waiting():
            return {"outcome": "waiting", "approval": outcome.approval_id}
        case _:
            return {"outcome": "unknown", "message": outcome.message}
