"""Prompt tools, proposals and what was left out of the catalog, as people read them."""

from typing import TYPE_CHECKING

from brasstag.catalog import assessment_text, case_lines
from brasstag.surfaces.cli.terminal.console import quote, quote_all, say
from brasstag.surfaces.cli.terminal.numbers import local_time
from brasstag.words.review.prompt_tools import PromptTool
from brasstag.words.review.proposals import Proposal, ProposalState

if TYPE_CHECKING:
    from brasstag.catalog import Catalog, CatalogEntry

_NEXT = {
    ProposalState.DRAFT: "Complete it in a file, then: brasstag prompts propose FILE --revises {id}",
    ProposalState.PROPOSED: "brasstag prompts review {id}",
    ProposalState.CHIEF_REVIEWED: "brasstag prompts approve {id}, or needs-changes, or reject",
    ProposalState.NEEDS_CHANGES: "Change it in a file, then: brasstag prompts propose FILE --revises {id}",
}


def print_prompt_tool(entry: "CatalogEntry") -> None:
    """Print a live prompt tool."""
    say(f"{entry.tool.id} · {'Locked (core)' if entry.is_locked else entry.source}", "bold")
    _print_fields(entry.tool)
    say(f"  {entry.tool.digest}", "dim")
    if entry.is_locked:
        say(f"brasstag prompts copy {entry.tool.id}   makes a copy of your own", "dim")


def print_proposal(proposal: Proposal) -> None:
    """Print a proposal with everything that was found out about it."""
    content = proposal.content
    say(
        f"{proposal.id} · {proposal.state.value} · {content.type} {content.tool.id} ({content.target})",
        "bold",
    )
    said = f"by {proposal.author.name}, owner {content.owner}, revision {proposal.revision}"
    say(f"  {said}, {local_time(proposal.updated_at)}", "dim")
    quote_all(f"Rationale: {content.rationale}".split("\n"), indent="  ")
    _print_fields(content.tool)
    quote_all("\n".join(case_lines(content)).strip("\n").split("\n"), indent="  ")
    for finding in proposal.screening.get("findings", ()):
        quote(f"screening, {finding['verdict']}: {finding['field']}: {finding['why']}", "yellow", indent="  ")
    if proposal.assessment:
        quote_all(assessment_text(proposal.assessment, proposal.harness).split("\n"), indent="  ")
    if proposal.decision is not None:
        quote(f"{proposal.state.value} by {proposal.decision.by}: {proposal.decision.note}", indent="  ")
    say(f"  digest {proposal.digest}", "dim")
    for issue in filter(None, proposal.issues):
        say(f"  issue {issue}", "dim")
    if proposal.state in _NEXT:
        say(_NEXT[proposal.state].format(id=proposal.id), "dim")


def tell_left_out(catalog: "Catalog") -> None:
    """Say what the files hold that is not in the catalog, and what to do about it."""
    for entry in catalog.quarantined:
        say(f"Left out: {entry.why}.", "yellow")
    edited = [one for one in catalog.unaccounted if one.origin == "hand edit"]
    theirs = [one for one in catalog.unaccounted if one.origin == "colleague"]
    for one in edited:
        if one.tool is None:
            say(
                f"{one.tool_id} is gone from the live file. It stays in use; its retirement waits as a draft.",
                "yellow",
            )
        else:
            say(
                f"Not used: {one.tool_id} was edited by hand in the live file; it waits as a draft.", "yellow"
            )
    if theirs:
        names = ", ".join(one.tool_id for one in theirs)
        say(f"Colleagues approved {names}; `brasstag prompts accept` shows and accepts that.", "yellow")


def _print_fields(tool: PromptTool) -> None:
    say(f"  {tool.name}; for {tool.archetype or 'any'}; scope {tool.scope}")
    for title, text in (
        ("When to use", tool.usage_notes),
        ("Goals", tool.goals),
        ("Guardrails", tool.guardrails),
        ("Prompt", tool.prompt),
    ):
        say(f"  {title}")
        quote_all(text.split("\n"), indent="    │ ")
