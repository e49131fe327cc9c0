"""What the commands about prompt tools and proposals do."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from brasstag.surfaces.cli.session.people import require_approver
from brasstag.surfaces.cli.session.rooms import open_room
from brasstag.surfaces.cli.session.shown import note_shown, shown_digest
from brasstag.surfaces.cli.show.diffs import print_diff
from brasstag.surfaces.cli.show.prompts import print_prompt_tool, print_proposal, tell_left_out
from brasstag.surfaces.cli.terminal.console import OutputName, can_ask, print_json, report, say, wants_json
from brasstag.surfaces.cli.terminal.exits import Exit
from brasstag.surfaces.cli.terminal.prompts import confirm
from brasstag.surfaces.cli.terminal.tables import Column, print_rows
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.proposals import Proposal, ProposalState

if TYPE_CHECKING:
    from brasstag.app import Room

_OPEN = tuple(
    state for state in ProposalState if state not in (ProposalState.APPROVED, ProposalState.REJECTED)
)
_SAID = {"approve": "Approved", "needs_changes": "Sent back", "reject": "Rejected"}
MOST_BYTES = 1_000_000
"""Of the file of a proposal."""
Decision = Literal["approve", "needs_changes", "reject"]


@dataclass(frozen=True, slots=True)
class PromptCommands:
    """One command about the prompt tools of a project."""

    project: Path
    output: OutputName | None

    async def list(self) -> None:
        """List the live tools."""
        async with open_room(self.project, "prompts") as room:
            catalog = await room.prompts.catalog()
        if wants_json(self.output):
            for entry in catalog.entries:
                locked = {"source": entry.source, "locked": entry.is_locked, "hash": entry.tool.digest}
                print_json(entry.tool.as_json() | locked)
            return
        rows = [
            (
                entry.tool.id,
                "Locked (core)" if entry.is_locked else entry.source,
                entry.tool.scope,
                entry.tool.archetype or "any",
                entry.tool.name,
            )
            for entry in catalog.entries
        ]
        print_rows(
            [Column("ID", "bold"), Column("FROM"), Column("SCOPE"), Column("FOR"), Column("NAME")], rows
        )
        tell_left_out(catalog)

    async def list_proposals(self, *, everything: bool) -> None:
        """List proposals."""
        async with open_room(self.project, "prompts list") as room:
            found = await room.prompts.proposals(*(() if everything else _OPEN))
        for proposal in found:
            if wants_json(self.output):
                print_json(proposal.as_json())
                continue
            content = proposal.content
            say(f"{proposal.id}  {proposal.state.value}  {content.type} {content.tool.id}", "bold")
            said = proposal.assessment.get("recommendation")
            advice = f"; the Chief of Staff recommends: {said}" if said else ""
            say(f"  {content.target}, by {proposal.author.name}, revision {proposal.revision}{advice}", "dim")
        if not found and not wants_json(self.output):
            say("There have been no proposals." if everything else "No proposal is open.", "dim")

    async def show(self, name: str) -> None:
        """Show a tool or a proposal."""
        async with open_room(self.project, "prompts show") as room:
            entry = (await room.prompts.catalog()).find(name)
            if entry is None:
                self._show(room, await _proposal(room.prompts.proposal, name))
                return
        if wants_json(self.output):
            found = {"source": entry.source, "locked": entry.is_locked, "hash": entry.tool.digest}
            print_json(entry.tool.as_json() | found)
        else:
            print_prompt_tool(entry)

    async def show_injected(self, role: str) -> None:
        """Print exactly what a model is told."""
        async with open_room(self.project, "prompts show") as room:
            injected = await room.prompts.render(role)
        if wants_json(self.output):
            print_json(
                {"role": role, "text": injected.text, "tokens": injected.tokens, "tools": injected.as_json()}
            )
            return
        say(injected.text)
        whole = sum(1 for tool in injected.tools if tool.form == "whole")
        say(
            f"About {injected.tokens:,} tokens; {whole} of {len(injected.tools)} tools whole.",
            "dim",
            stderr=True,
        )

    async def copy(self, tool_id: str, new_id: str, to: Path | None) -> None:
        """Write a copy to a file."""
        async with open_room(self.project, "prompts copy") as room:
            document = await room.prompts.copy(tool_id, new_id)
        file = to or Path(f"{document['id']}.json")
        try:
            with file.open("x", encoding="utf-8") as stream:
                stream.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        except FileExistsError:
            raise ToolError(
                Code.ALREADY_EXISTS, f"{file} is there already; choose another name with --to"
            ) from None
        report(
            self.output,
            {"file": str(file), **document},
            f"Wrote {file}. Edit it, add a rationale, examples and testCases, then: brasstag prompts propose {file}",
        )

    async def propose(self, file: Path, revises: str) -> None:
        """Propose what a file says."""
        document = read_document(file)
        async with open_room(self.project, "prompts propose") as room:
            proposal = await room.prompts.propose(document, revises=revises)
            self._show(room, proposal)

    async def review(self, name: str) -> None:
        """Review a proposal again."""
        async with open_room(self.project, "prompts review") as room:
            proposal = await room.prompts.review(name)
            self._show(room, proposal)

    async def decide(self, decision: Decision, name: str, note: str, seen: str) -> None:
        """Write down a person's decision on what they are shown, or were shown before."""
        person = require_approver()
        async with open_room(self.project, f"prompts {decision}") as room:
            proposal = await room.prompts.proposal(name)
            digest = seen or shown_digest(room.state.folder, proposal.id)
            if not digest:
                raise ToolError(
                    Code.PROPOSAL_STALE,
                    f"you have not looked at {proposal.id} yet; `brasstag prompts show {proposal.id}` shows it",
                )
            acts = {
                "approve": room.prompts.approve,
                "needs_changes": room.prompts.needs_changes,
                "reject": room.prompts.reject,
            }
            decided = await acts[decision](proposal.id, person, seen=digest, note=note)
        tool, then = decided.content.tool.id, ""
        if decision == "approve":
            then = (
                " It is no longer live."
                if decided.content.type == "retire"
                else " Tasks that open from now on have it."
            )
        report(self.output, decided.as_json(), f"{_SAID[decision]} {tool} ({decided.id}).{then}")

    async def accept(self, *, yes: bool) -> int:
        """Show what colleagues approved, and accept it."""
        async with open_room(self.project, "prompts accept") as room:
            found, digest = await room.prompts.from_colleagues()
            if not found:
                report(
                    self.output, {"accepted": []}, "Colleagues approved nothing that is not accepted here."
                )
                return Exit.DONE
            person = require_approver()
            if not wants_json(self.output):
                for one in found:
                    said = "retired" if one.tool is None else "changed" if one.accepted else "new"
                    by = one.snapshot.approver if one.snapshot else "a colleague"
                    say(
                        f"{one.tool_id} ({one.target}) is {said}; its snapshot says it was approved by {by}:",
                        "bold",
                    )
                    print_diff(_as_text(one.accepted.tool if one.accepted else None), _as_text(one.tool))
            if not yes and not (can_ask(self.output) and confirm("Accept all of this?")):
                say("Nothing was accepted; --yes accepts it without a question.", stderr=True)
                return Exit.WAITING
            accepted = await room.prompts.accept(person, seen=digest)
        names = [proposal.content.tool.id for proposal in accepted]
        report(self.output, {"accepted": names}, f"Accepted {', '.join(names)}.")
        return Exit.DONE

    async def export(self, tool_id: str, folder: Path) -> None:
        """Write a tool as an Agent Skill."""
        async with open_room(self.project, "prompts export") as room:
            written = await room.prompts.export_skill(tool_id, folder)
        names = [str(file) for file in written]
        report(self.output, {"files": names}, f"Wrote {', '.join(names)}.")

    async def import_(self, folder: Path) -> None:
        """Make a proposal of an Agent Skill."""
        async with open_room(self.project, "prompts import") as room:
            proposal = await room.prompts.import_skill(folder)
            self._show(room, proposal)

    async def four_eyes(self, *, off: bool) -> None:
        """Say whether four eyes are required, or agree to switch that off."""
        async with open_room(self.project, "prompts four-eyes") as room:
            if off:
                done = await room.prompts.switch_off_four_eyes(require_approver())
                said = (
                    "Four eyes are switched off."
                    if done
                    else "Noted. A second registered approver has to agree: brasstag prompts four-eyes --off"
                )
                report(self.output, {"fourEyes": not done}, said)
                return
            on = await room.prompts.needs_four_eyes()
        said = (
            "Author and approver must be two registered approvers." if on else "Four eyes are not required."
        )
        report(self.output, {"fourEyes": on}, said)

    def _show(self, room: "Room", proposal: Proposal) -> None:
        note_shown(room.state.folder, proposal)
        if wants_json(self.output):
            print_json(proposal.as_json())
        else:
            print_proposal(proposal)


def read_document(file: Path) -> Mapping[str, Any]:
    """Read a proposal from a JSON file."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ToolError(
                Code.TOO_LARGE, f"{file} has more than {MOST_BYTES:,} bytes; a proposal is far smaller"
            )
        value = json.loads(data)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ToolError(Code.INVALID_PROPOSAL, f"{file} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ToolError(
            Code.INVALID_PROPOSAL, f"{file} does not hold an object; write one proposal to a file"
        )
    return value


async def _proposal(get: Any, name: str) -> Proposal:
    try:
        found: Proposal = await get(name)
    except ToolError as error:
        if error.code is not Code.PROPOSAL_NOT_FOUND or name.startswith("prp_"):
            raise
        raise ToolError(
            Code.PROMPT_TOOL_NOT_FOUND,
            f"there is no prompt tool and no proposal {name!r}; `brasstag prompts list` names them",
        ) from None
    return found


def _as_text(tool: Any) -> bytes:
    return b"" if tool is None else (json.dumps(tool.as_json(), indent=2, ensure_ascii=False) + "\n").encode()
