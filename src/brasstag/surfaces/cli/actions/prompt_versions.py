"""What the commands about versions, tests and outcomes of prompt tools do."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brasstag.surfaces.cli.session.people import require_approver
from brasstag.surfaces.cli.session.rooms import open_room
from brasstag.surfaces.cli.session.shown import note_shown
from brasstag.surfaces.cli.show.diffs import print_lines
from brasstag.surfaces.cli.show.prompts import print_proposal
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, quote, say, table, wants_json
from brasstag.surfaces.cli.terminal.numbers import local_time
from brasstag.words.budgets import dollars


@dataclass(frozen=True, slots=True)
class PromptVersions:
    """One command about the versions of prompt tools."""

    project: Path
    output: OutputName | None

    async def history(self, tool_id: str) -> None:
        """List the approved versions."""
        async with open_room(self.project, "prompts history") as room:
            found = await room.prompts.history(tool_id)
        for number, snapshot in enumerate(found, 1):
            if wants_json(self.output):
                print_json({"version": number, "snapshot": snapshot.name, **snapshot.body})
                continue
            what = "retired" if snapshot.is_retirement else snapshot.content_digest[:12]
            when = local_time(str(snapshot.body.get("approvedAt", "")))
            say(f"{number}  {when}  {what}  approved by {snapshot.approver}", "bold")
            quote(snapshot.rationale, indent="   ")

    async def diff(self, tool_id: str, old: str, new: str) -> None:
        """Show what changed between two versions."""
        from brasstag.documents import diff_lines

        async with open_room(self.project, "prompts diff") as room:
            found = await room.prompts.history(tool_id)
            later = await room.prompts.version(tool_id, new) if new else found[-1]
            earlier = (
                await room.prompts.version(tool_id, old)
                if old
                else next((one for one in reversed(found) if one.name < later.name), later)
            )
        texts = [
            json.dumps(one.body.get("tool"), indent=2, ensure_ascii=False) + "\n" for one in (earlier, later)
        ]
        lines = list(diff_lines(texts[0].encode(), texts[1].encode()))
        if wants_json(self.output):
            print_json({"toolId": tool_id, "old": earlier.name, "new": later.name, "diff": lines})
            return
        say(f"{earlier.name} → {later.name}", "bold")
        print_lines(lines)
        if not lines:
            say("They are the same.", "dim")

    async def rollback(self, tool_id: str, version: str, because: str) -> None:
        """Propose an earlier version."""
        async with open_room(self.project, "prompts rollback") as room:
            proposal = await room.prompts.rollback(tool_id, version, because)
            note_shown(room.state.folder, proposal)
        if wants_json(self.output):
            print_json(proposal.as_json())
        else:
            print_proposal(proposal)

    async def harness(self, name: str, passed: Sequence[str], failed: Sequence[str]) -> None:
        """Run the test cases, or record what a person saw."""
        verdicts = dict.fromkeys(passed, "pass") | dict.fromkeys(failed, "fail")
        async with open_room(self.project, "prompts harness") as room:
            if verdicts:
                proposal = await room.prompts.record_results(name, verdicts, require_approver())
            else:
                proposal = await room.prompts.test(name)
        if wants_json(self.output):
            print_json(
                {"proposalId": proposal.id, "state": proposal.state.value, "harness": dict(proposal.harness)}
            )
            return
        _print_harness(proposal.content.tool.id, proposal.harness)
        if before := proposal.harness.get("before"):
            _print_harness("with the live prompt", before)
        say(f"brasstag prompts review {proposal.id}   reviews it with this result", "dim")

    async def replay(self, name: str, tasks: Sequence[str]) -> None:
        """Replay recorded tasks with the live and the proposed prompt."""
        async with open_room(self.project, "prompts harness") as room:
            found = await room.prompts.replay(name, tasks)
        if wants_json(self.output):
            for one in found:
                print_json(one.as_json())
            return
        rows = [
            (
                one.task_id[-8:],
                one.prompt,
                one.outcome,
                str(one.turns),
                f"{one.tokens:,} ({one.recorded.get('tokens', 0):,} then)",
                "not known" if one.cost is None else dollars(one.cost),
                one.why or one.answer,
            )
            for one in found
        ]
        table(("TASK", "PROMPT", "OUTCOME", "TURNS", "TOKENS", "COST", "ANSWER, OR WHY IT DIVERGED"), rows)

    async def outcomes(self, tool_id: str) -> None:
        """Show runs and results by version."""
        async with open_room(self.project, "prompts outcomes") as room:
            found = await room.prompts.outcomes(tool_id)
        if wants_json(self.output):
            for one in found:
                print_json(one.as_json())
            return
        if not found:
            say("No run has had this prompt tool yet.", "dim")
            return
        rows = [
            (
                one.hash[:12],
                str(one.tasks),
                str(one.used),
                str(one.done),
                str(one.failed),
                str(one.stopped),
                str(one.still_open),
                f"{one.tokens:,}",
                dollars(one.cost),
                local_time(one.last),
            )
            for one in found
        ]
        table(
            ("VERSION", "TASKS", "USED", "DONE", "FAILED", "STOPPED", "OPEN", "TOKENS", "COST", "LAST"), rows
        )


def _print_harness(title: str, harness: Mapping[str, Any]) -> None:
    say(f"{title}: {harness['verdict']}, on {harness['basis']}", "bold")
    for case in harness["cases"]:
        say(f"  {case['verdict']}  {case['name']} (should {case.get('expect', 'pass')}), on {case['basis']}")
        for failure in case["failures"]:
            quote(f"{failure['check']}: {failure['why']}", indent="    ")
