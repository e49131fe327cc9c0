"""PromptRegistry: the prompt tools of an open room, and every step by which they change."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from brasstag.app.open import OpenRoom
from brasstag.app.prompts.outcomes import VersionOutcome, outcomes_of
from brasstag.app.prompts.replay import ReplayedTask
from brasstag.app.prompts.reviewer import Reviewer
from brasstag.app.prompts.skills import skill_proposal, write_skill
from brasstag.app.prompts.use import PromptUse, UseRequest
from brasstag.catalog.catalog import PromptCatalog
from brasstag.catalog.gate import accept as acceptance
from brasstag.catalog.gate import decide as decisions
from brasstag.catalog.gate import save
from brasstag.catalog.gate.accept import HAND_EDIT
from brasstag.catalog.gate.four_eyes import COLLEAGUE, FourEyes
from brasstag.catalog.gate.gate import Gate
from brasstag.catalog.harness.cases import CaseOutput, harness_result
from brasstag.catalog.injection import Injection
from brasstag.catalog.merge import Catalog, CatalogEntry, Unaccounted
from brasstag.catalog.sealed_core import copied_id, core_tools, is_core
from brasstag.catalog.snapshots import Snapshot
from brasstag.store.catalog.proposals import list_proposals
from brasstag.words.approvals import Approver
from brasstag.words.errors import BrasstagError, Code, ToolError
from brasstag.words.review.prompt_tools import Scope, Target
from brasstag.words.review.proposals import AGENT, Proposal, ProposalAuthor, ProposalState, ProposalStep

log = logging.getLogger("brasstag")

_T = TypeVar("_T")

RESERVED = (AGENT, COLLEAGUE, HAND_EDIT.name)
"""How the names of authors begin whom only Brasstag itself names."""


class PromptRegistry:
    """What people and programs do with prompt tools; an agent can only propose, with a tool."""

    def __init__(self, open_room: OpenRoom, actor: str, desk_now: Callable[[], str], use: PromptUse) -> None:
        self._open_room = open_room
        self._use = use
        self._runtime = open_room.runtime
        self._actor = actor
        self._desk_now = desk_now
        self._reviewer = Reviewer(open_room)
        self._four_eyes = FourEyes(self._runtime.store, open_room.settings.prompts)
        self._reviewing: set[asyncio.Task[None]] = set()

    async def settle(self) -> None:
        """Check the core tools, finish what a dead process had approved, and make drafts of hand edits."""
        await self._run(self._settle)
        loop = asyncio.get_running_loop()

        def tell(proposal_id: str) -> None:
            loop.call_soon_threadsafe(self._review_later, proposal_id)

        self._open_room.on_proposed(tell)

    async def close(self) -> None:
        """Wait for the reviews that were begun here."""
        if self._reviewing:
            await asyncio.wait(self._reviewing, timeout=self._open_room.settings.prompts.review_seconds)

    async def catalog(self) -> Catalog:
        """Return all live prompt tools, and what was left out of them and why."""
        return await self._run(lambda: self._catalog.now)

    async def get(self, tool_id: str) -> CatalogEntry:
        """Return one live prompt tool."""
        return await self._run(self._catalog.get, tool_id)

    async def render(
        self, role: str = "", *, scope: Scope = "project", tokens: int | None = None
    ) -> Injection:
        """Return exactly what a model is told of the catalog in this role."""
        archetype = self._runtime.agents.role(role).archetype if role else ""
        most = tokens or self._open_room.settings.prompts.catalog_tokens
        return await self._run(self._catalog.inject, archetype, scope, most)

    async def proposals(self, *states: ProposalState) -> list[Proposal]:
        """Return proposals in these states, or all of them, oldest first."""
        return await self._run(self._runtime.store.read, lambda view: list_proposals(view, states))

    async def proposal(self, name: str) -> Proposal:
        """Return one proposal, by its id or the end of it."""
        return await self._run(self._gate.get, name)

    async def copy(self, tool_id: str, new_id: str = "") -> dict[str, Any]:
        """Return a document that proposes a tool of your own, made from another one."""
        entry = await self.get(tool_id)
        chosen = new_id or copied_id(tool_id)
        return {
            **entry.tool.as_json(),
            "id": chosen,
            "name": f"{entry.tool.name} (custom)",
            "proposalType": "new",
            "target": "project",
            "rationale": "",
            "examples": [],
            "testCases": [],
        }

    async def propose(
        self,
        document: Mapping[str, Any],
        *,
        by: str = "",
        revises: str = "",
        review: bool = True,
    ) -> Proposal:
        """Save a document as a proposal, or as the next revision of one, and have it reviewed at once.

        Raises ToolError: INVALID_PROPOSAL with all that is missing, CORE_LOCKED, SCREENED_OUT.
        """
        author = self._author(by)
        proposal = await self._run(save.propose, self._gate, self._desk_now(), document, author, revises)
        return await self.review(proposal.id) if review else proposal

    async def draft(self, document: Mapping[str, Any], *, by: str = "") -> Proposal:
        """Save a document that is not complete yet."""
        return await self._run(save.draft, self._gate, self._desk_now(), document, self._author(by))

    async def export_skill(self, tool_id: str, folder: Path) -> list[Path]:
        """Write a live prompt tool as an Agent Skill into a folder of its own in this one; return the files.

        Raises ToolError: PROMPT_TOOL_NOT_FOUND, ALREADY_EXISTS where a file has another content.
        """
        return await self._run(write_skill, self._catalog, tool_id, folder)

    async def import_skill(self, folder: Path, *, target: Target = "project", by: str = "") -> Proposal:
        """Propose what an Agent Skill holds; where it is not complete, save a draft that says what it needs.

        Raises ToolError: FILE_NOT_FOUND, NOT_TEXT, TOO_LARGE, INVALID_PATH, INVALID_PROPOSAL, SCREENED_OUT.
        """
        document, missing = await self._run(skill_proposal, self._catalog, folder, target)
        return await (self.draft(document, by=by) if missing else self.propose(document, by=by))

    async def review(self, name: str) -> Proposal:
        """Run the test cases of a proposal and have the Chief of Staff assess it."""
        proposal = await self.proposal(name)
        if proposal.state is ProposalState.CHIEF_REVIEWED:
            proposal = await self._run(
                save.record_harness, self._gate, self._desk_now(), proposal, proposal.harness
            )
        assessment, harness = await self._reviewer.review(proposal)
        return await self._run(save.review, self._gate, self._desk_now(), proposal, assessment, harness)

    async def approve(self, name: str, by: Approver | str, *, seen: str, note: str = "") -> Proposal:
        """Approve a proposal and make it live; ``seen`` is the digest of what the person was shown."""
        return await self._decide(name, ProposalStep.APPROVE, by, seen, note)

    async def needs_changes(self, name: str, by: Approver | str, *, seen: str, note: str = "") -> Proposal:
        """Send a proposal back to its author, with what has to change."""
        return await self._decide(name, ProposalStep.RETURN, by, seen, note)

    async def reject(self, name: str, by: Approver | str, *, seen: str, note: str = "") -> Proposal:
        """Reject a proposal for good."""
        return await self._decide(name, ProposalStep.REJECT, by, seen, note)

    async def from_colleagues(self) -> tuple[list[Unaccounted], str]:
        """Return what colleagues approved and this room has not accepted, and the digest of that."""
        found = await self._run(acceptance.from_colleagues, self._gate)
        return found, acceptance.accept_digest(found)

    async def accept(self, by: Approver | str, *, seen: str) -> list[Proposal]:
        """Accept everything that colleagues approved, by one decision."""
        person = Approver.named(by)
        return await self._run(acceptance.accept, self._gate, self._desk_now(), person, seen)

    async def history(self, tool_id: str, target: Target | None = None) -> list[Snapshot]:
        """Return the approved versions of a tool, oldest first."""
        targets: tuple[Target, ...] = ("project", "user") if target is None else (target,)
        for one in targets:
            found = await self._run(self._catalog.files[one].snapshots, tool_id)
            if found:
                return found
        if any(tool.id == tool_id for tool in core_tools()):
            raise ToolError(
                Code.CORE_LOCKED,
                f"{tool_id} is a core tool: it never changes within a release, so it has no history",
            )
        raise ToolError(
            Code.PROMPT_TOOL_NOT_FOUND,
            f"{tool_id} has no history",
            hint="`brasstag prompts list` names the tools",
        )

    async def rollback(self, tool_id: str, version: str, rationale: str, *, by: str = "") -> Proposal:
        """Propose to go back to an earlier version of a tool."""
        snapshot = await self.version(tool_id, version)
        if snapshot.tool is None:
            raise ToolError(
                Code.INVALID_PROPOSAL, f"{snapshot.name} retired the tool; choose a version that has one"
            )
        target: Target = snapshot.body["target"]
        live = await self._run(self._catalog.accepted, target, tool_id)
        document = snapshot.tool.as_json() | {
            "proposalType": "new" if live is None or live.is_retirement else "modify",
            "target": target,
            "rationale": rationale,
            "examples": list(snapshot.examples),
            "testCases": [case.as_json() for case in snapshot.test_cases],
        }
        return await self.propose(document, by=by)

    async def version(self, tool_id: str, name: str) -> Snapshot:
        """Return one approved version, by its number from 1, or by the name of its snapshot or the beginning of it."""
        found = await self.history(tool_id)
        if name.isdigit() and 1 <= int(name) <= len(found):
            return found[int(name) - 1]
        named = [snapshot for snapshot in found if snapshot.name.startswith(name)]
        if len(named) != 1:
            raise ToolError(
                Code.PROMPT_TOOL_NOT_FOUND,
                f"{tool_id} has {len(found)} versions, and none, or more than one, is called {name!r}",
                hint=f"`brasstag prompts history {tool_id}` lists them",
            )
        return named[0]

    async def test(self, name: str) -> Proposal:
        """Run the test cases of a proposal again; a review that was made before has to be made again."""
        proposal = await self.proposal(name)
        harness = await self._reviewer.test(proposal)
        return await self._run(save.record_harness, self._gate, self._desk_now(), proposal, harness)

    async def record_results(self, name: str, verdicts: Mapping[str, str], by: Approver | str) -> Proposal:
        """Write down what a person saw of test cases that no model and no sample answers: pass or fail, by name."""
        person = Approver.named(by)
        decisions.require_person(person)
        proposal = await self.proposal(name)
        cases = {case.name: case for case in proposal.content.test_cases}
        unknown = [case for case in verdicts if case not in cases]
        if unknown or not set(verdicts.values()) <= {"pass", "fail"}:
            raise ToolError(
                Code.INVALID_ARGUMENTS,
                f"say pass or fail of these test cases: {', '.join(cases)}"
                + (f"; there is no test case {', '.join(unknown)}" if unknown else ""),
            )
        outputs = {
            one["name"]: CaseOutput(one["basis"], one.get("output"), one["verdict"], one.get("usage"))
            for one in proposal.harness.get("cases", ())
            if one["basis"] != "nothing"
        }
        answered = [case for case in verdicts if case in outputs and outputs[case].text is not None]
        if answered:
            raise ToolError(
                Code.INVALID_ARGUMENTS,
                f"{', '.join(answered)} was checked on a {outputs[answered[0]].basis}; a person records only what neither "
                "a model nor a sample answers",
            )
        outputs |= {
            case: CaseOutput(f"recorded by {person}", verdict=said) for case, said in verdicts.items()
        }
        result = harness_result(proposal.content.test_cases, outputs, self._reviewer.room_checks())
        return await self._run(save.record_harness, self._gate, self._desk_now(), proposal, result)

    async def needs_four_eyes(self) -> bool:
        """Say whether author and approver of a proposal must be two registered approvers."""
        return await self._run(self._four_eyes.are_required)

    async def switch_off_four_eyes(self, by: Approver) -> bool:
        """Agree to switch four eyes off; return whether that was the second of two approvers."""
        return await self._run(self._four_eyes.switch_off, self._desk_now(), by)

    async def run(self, tool_id: str, asked: UseRequest) -> str:
        """Start a task with a prompt tool on a selection, a file or the project, and return its id."""
        return await self._use.start(await self.get(tool_id), asked, self._open_room.settings)

    async def replay(self, name: str, task_ids: Sequence[str]) -> list[ReplayedTask]:
        """Go through recorded tasks once with the live prompt and once with the proposed one; nothing is performed."""
        return await self._reviewer.replay(await self.proposal(name), task_ids)

    async def outcomes(self, tool_id: str) -> list[VersionOutcome]:
        """Return which runs had each version of a tool, and how they ended."""
        if not is_core(tool_id):
            await self.history(tool_id)
        return await self._run(self._runtime.store.read, lambda view: outcomes_of(view, tool_id))

    async def _decide(
        self, name: str, step: ProposalStep, by: Approver | str, seen: str, note: str
    ) -> Proposal:
        decision = decisions.PersonsDecision(step, Approver.named(by), seen, note)
        return await self._run(
            decisions.decide, self._gate, self._desk_now(), name, decision, self._reviewer.check_again
        )

    def _settle(self) -> None:
        core_tools()
        self._four_eyes.note_on(self._desk_now())
        if any(files.folder.exists() for files in self._catalog.files.values()):
            decisions.recover(self._gate, self._desk_now())
            acceptance.adopt_hand_edits(self._gate, self._desk_now())

    def _review_later(self, proposal_id: str) -> None:
        task = asyncio.create_task(self._review_for_agent(proposal_id))
        self._reviewing.add(task)
        task.add_done_callback(self._reviewing.discard)

    async def _review_for_agent(self, proposal_id: str) -> None:
        try:
            await self.review(proposal_id)
        except BrasstagError as error:
            log.warning("%s was not reviewed: %s", proposal_id, error)

    def _author(self, by: str) -> ProposalAuthor:
        name = by or self._actor
        if name.startswith(RESERVED):
            raise ToolError(
                Code.INVALID_ARGUMENTS, f"{name!r} is not the name of a person or a program; give another"
            )
        return ProposalAuthor(name, name)

    @property
    def _catalog(self) -> PromptCatalog:
        return self._open_room.gate.catalog

    @property
    def _gate(self) -> Gate:
        return self._open_room.gate

    async def _run(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await self._runtime.threads.run(function, *arguments)
