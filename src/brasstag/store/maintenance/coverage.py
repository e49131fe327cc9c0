"""What verify covers: every column of every table is compared, or its gap is named in the report.

A test compares this table with the schema, changes each compared column in a real room, and compares the gaps with
``docs/timeline.md``.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that verify does not compare."""

    what: str
    columns: tuple[str, ...] = ()
    """The columns it is about, as ``table.column``; a table by itself stands for all of its columns."""


COMPARED: Mapping[str, tuple[str, ...]] = {
    "tasks": (
        "id", "kind", "actor", "role", "status", "next_seq", "head", "signature", "opened_at", "closed_at", "parent_id",
        "parent_call", "tree", "depth", "title", "steps", "tokens", "cost", "milliseconds", "children", "budget",
    ),
    "entries": ("task_id", "seq", "kind", "tag", "call_id", "at", "payload", "salt", "digest", "hash"),
    "checkpoints": ("seq", "task_id", "task_seq", "head", "at", "hash", "key_id", "signature"),
    "calls": ("id", "task_id", "tool", "state", "changes"),
    "leases": ("path", "call_id"),
    "approvals": (
        "id", "call_id", "task_id", "tool", "tool_version", "arguments", "original_arguments", "actor", "role", "reason",
        "rule", "preview", "digest", "state", "requested_at", "expires_at", "decided_at", "decided_by", "note",
    ),
    "permissions": (
        "id", "tool", "role", "pattern", "rule", "approver", "reason", "policy", "granted_at", "expires_at", "task_id",
        "call_id", "approval_id", "revoked_at", "revoked_by",
    ),
    "versions": (
        "path", "version", "state", "mode", "size", "by", "call_id", "why", "at", "task_id", "source", "source_version",
    ),
    "documents": (
        "path", "version", "state", "size", "created_by", "created_task", "created_at", "updated_by",
        "updated_task", "updated_at", "description", "tags",
    ),
    "memories": ("id", "role", "tree", "content", "task_id", "call_id", "at", "signature"),
    "contents": ("digest", "data"),
    "conversions": (
        "digest", "media_type", "converter", "blocks", "code", "reason", "tokens", "tokenizer", "summary", "summary_by",
        "signature",
    ),
    "proposals": (
        "id", "tool_id", "state", "revision", "steps", "content", "author", "base", "screening", "harness", "assessment",
        "issue_id", "review_id", "opened_at", "updated_at", "decided_at", "decided_by", "note", "snapshot", "applied",
    ),
}  # fmt: skip
"""The columns that verify compares, by table."""

WITH_CONTENTS = Gap(
    "contents kept as files and types of documents, unless asked for",
    ("documents.media_type",),
)

GAPS = (
    Gap("the full-text index", ("fulltext", "documents.id", "documents.note")),
    Gap("issues", ("issues", "issue_events")),
    Gap("events for listeners", ("events",)),
    Gap(
        "what only serves to run the room",
        (
            "facts", "tasks.boot", "tasks.queue", "tasks.wake", "tasks.woken_at", "tasks.epoch", "tasks.attempts",
            "calls.attempt", "calls.boot", "permissions.used_at", "touched", "contents.at", "documents.mode",
            "documents.fingerprint", "documents.pending",
        ),
    ),
)  # fmt: skip
"""What verify never compares."""


def gaps(*, contents: bool) -> tuple[Gap, ...]:
    """Return what a verification does not compare, with contents or without."""
    return GAPS if contents else (WITH_CONTENTS, *GAPS)
