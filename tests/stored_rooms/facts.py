"""Tells what people read from a room: documents, versions, memories, approvals, tasks. No ids and no times."""

import hashlib
import json
from typing import Any

from brasstag import Document, Room

OWN = ("created_role", "created_at", "updated_role", "updated_at", "task", "call", "at", "tag")
"""What differs from room to room."""

DERIVED = ("auto_summary", "summary_by", "token_count", "tokenizer")
"""What a better release may find out anew about the same bytes."""

SEARCHES = ("harbour", "lighthouses", "quay", "intended", "deleted", "tide", "sea")


async def facts_of(room: Room) -> dict[str, Any]:
    """Return everything that has to stay as it is, in a room in which nothing was done since it was recovered."""
    documents = (await room.documents.list()).documents
    report = await room.verify()
    return {
        "documents": [plain(one.as_json() | made_by(one)) for one in documents],
        "history": {
            path: [plain(one) for one in (await room.documents.history(path)).as_json()]
            for path in [*(one.path for one in documents), "gone.md", "story.md", "undone.md"]
        },
        "search": {words: sorted(hit.document.path for hit in await hits(room, words)) for words in SEARCHES},
        "memories": sorted(
            [one.role, "run" if one.tree else "good", one.content] for one in await room.memories()
        ),
        "approvals": sorted(
            [one.tool, str(one.arguments.get("path", "")), str(one.state)] for one in await room.approvals()
        ),
        "tasks": sorted(
            [one.title, one.role, one.status] for one in await room.tasks() if one.kind != "desk"
        ),
        "recovered": sorted(type(ending).__name__ for _, ending in room.recovered.calls),
        "tools": {name: tool_of(room, name) for name in ("run_code", "send", "write_file")},
        "verified": {"findings": len(report.findings), "redacted": report.redacted},
    }


def tool_of(room: Room, name: str) -> dict[str, str]:
    """Return what an approval of a tool's call is bound to, and a digest of the config that is a part of it."""
    tool = room.tools.get(name)
    assert tool is not None
    config = json.dumps(tool.config.model_dump(mode="json"), sort_keys=True)
    return {"version": tool.version, "config": hashlib.sha256(config.encode()).hexdigest()}


def made_by(document: Document) -> dict[str, str]:
    """Return who made a document by role: tasks have another id in every room."""
    return {
        "created_by": document.created_role or document.created_by,
        "updated_by": document.updated_role or document.updated_by,
    }


async def hits(room: Room, words: str) -> Any:
    return (await room.documents.search(words)).hits


def plain(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name not in OWN + DERIVED}
