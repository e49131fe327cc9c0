"""Compare the files of prompt tools with what the room's record says was approved."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from brasstag.catalog.prompt_files import HISTORY, PromptFiles
from brasstag.catalog.snapshots import Receipts, Snapshot
from brasstag.words.errors import ToolError
from brasstag.words.review.prompt_tools import PromptTool
from brasstag.words.review.proposals import Proposal


def file_differences(
    approved: Iterable[Proposal], files: PromptFiles, receipts: Receipts
) -> Iterator[tuple[str, str]]:
    """Yield where and how the history and the live file of one source differ from the approved proposals."""
    newest: dict[str, Proposal] = {}
    for proposal in sorted(approved, key=_snapshot):
        if proposal.content.target == files.target and proposal.applied:
            newest[proposal.content.tool.id] = proposal
            yield from _wrong_snapshot(proposal, files, receipts)
    if files.target == "user":
        # Other rooms of the same account change a user's tools, too.
        return
    live = files.live()
    if live.problem:
        yield files.shown, live.problem
        return
    held = {str(entry.get("id")): entry for entry in live.entries if isinstance(entry, Mapping)}
    for tool_id, proposal in newest.items():
        wanted = "" if proposal.content.type == "retire" else proposal.content.tool.digest
        if _digest(held.pop(tool_id, None)) != wanted:
            yield files.shown, f"{tool_id} is not what {proposal.id} approved"


def unapproved_tools(approved: Iterable[Proposal], files: PromptFiles) -> list[str]:
    """Return the ids in the live file of a project that this room has never approved, as after a pull; they are not used."""
    known = {proposal.content.tool.id for proposal in approved if proposal.content.target == files.target}
    return [
        str(entry.get("id"))
        for entry in files.live().entries
        if isinstance(entry, Mapping) and entry.get("id") not in known
    ]


def _snapshot(proposal: Proposal) -> str:
    """Return the name of its snapshot: the later an approval, the later its name, whatever the clock said."""
    return proposal.decision.snapshot if proposal.decision else ""


def _wrong_snapshot(proposal: Proposal, files: PromptFiles, receipts: Receipts) -> Iterator[tuple[str, str]]:
    content, name = proposal.content, _snapshot(proposal)
    where = f"{HISTORY}/{content.tool.id}/{name}"
    found: Snapshot | None = next((one for one in files.snapshots(content.tool.id) if one.name == name), None)
    if found is None:
        yield where, f"the snapshot of {proposal.id} is gone"
    elif not receipts.is_ours(found, content.target):
        yield where, f"the snapshot of {proposal.id} was changed, or its receipt is not ours"
    elif found.body.get("proposalId") != proposal.id:
        yield where, f"it is not the snapshot of {proposal.id}"


def _digest(entry: Any) -> str:
    if entry is None:
        return ""
    try:
        return PromptTool.from_json(entry).digest
    except ToolError:
        return "unreadable"
