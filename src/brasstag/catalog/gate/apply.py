"""Apply an approved proposal: the snapshot first, then the live file; done twice, it is done once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brasstag.catalog.prompt_files import PromptFiles
from brasstag.catalog.snapshots import Receipts, snapshot_body
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.review.proposals import Proposal

At = Callable[[str], None]
"""Called between steps; crash tests end the process here."""


def require_readable(files: PromptFiles) -> None:
    """Raise ToolError where the live file cannot be read: to write it would lose what is in it."""
    problem = files.live().problem
    if problem:
        raise ToolError(Code.INVALID_PROPOSAL, f"{problem}; mend the file, or move it away, and try again")


def apply_proposal(proposal: Proposal, files: PromptFiles, receipts: Receipts, tag: str, at: At) -> None:
    """Write the snapshot of an approved proposal and bring its content into the live file.

    Raises StoreError where a file cannot be written; the approval stands, and is applied at the next opening.
    """
    content, decided = proposal.content, proposal.decision
    if decided is None:
        raise ValueError(f"{proposal.id} is not decided")
    require_readable(files)
    body = receipts.signed(snapshot_body(proposal, proposal.base), decided.snapshot, tag)
    new = None if content.type == "retire" else content.tool.as_json()
    try:
        files.write_snapshot(content.tool.id, decided.snapshot, body)
        at("snapshot written")
        files.write_live(_with(files.live().entries, content.tool.id, new))
        at("live file written")
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{proposal.id} was approved and cannot be written to {files.folder}: {error}.",
            hint="mend that; any `brasstag prompts` command then finishes it",
        ) from error


def _with(entries: Sequence[Any], tool_id: str, new: Mapping[str, Any] | None) -> list[Any]:
    """Return the entries with one of them replaced, added or removed; all others stay as they are."""
    kept = [entry for entry in entries if not (isinstance(entry, Mapping) and entry.get("id") == tool_id)]
    if new is None:
        return kept
    place = sum(1 for entry in kept if isinstance(entry, Mapping) and str(entry.get("id")) < tool_id)
    return [*kept[:place], new, *kept[place:]]
