"""The issues of a proposal: one for the Chief of Staff, one for people, and how each step changes them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from brasstag.store.catalog.writer import IssueChange, IssueWrites, NewIssue
from brasstag.words.budgets import dollars
from brasstag.words.canonical import sha256, stored_json
from brasstag.words.review.issues import CHIEF_OF_STAFF, MOST_BODY, MOST_TITLE, Issue, IssueEvent
from brasstag.words.review.proposals import Proposal, ProposalContent

PEOPLE = "person"
"""To whom the issue with the decision is assigned."""
ACTIONS = ("approve", "needs_changes", "reject")
_TAGS = ("prompt-tool", "proposal")


def proposal_issue(proposal: Proposal, by: str, at: str) -> tuple[Proposal, IssueWrites]:
    """Return a proposal with its issue for the Chief of Staff, and what opens that issue, or updates it."""
    title, body = (
        f"[Tool Proposal] {proposal.content.tool.name}"[:MOST_TITLE],
        proposal_text(proposal.content),
    )
    if proposal.issues[0]:
        writes: list[NewIssue | IssueChange] = [
            IssueChange(
                issue_id,
                IssueEvent(at, by, "changed", f"revision {proposal.revision}"),
                {"title": shown, "body": text, "status": "open", "assignee": who, "actions": []},
            )
            for issue_id, shown, text, who in (
                (proposal.issues[0], title, body, CHIEF_OF_STAFF),
                (
                    proposal.issues[1],
                    f"[Tool Review] {proposal.content.tool.name}"[:MOST_TITLE],
                    body,
                    PEOPLE,
                ),
            )
            if issue_id
        ]
        return proposal, writes
    issue = _issue(proposal, CHIEF_OF_STAFF, title, body, at)
    return replace(proposal, issues=(issue.id, proposal.issues[1])), [NewIssue(issue, by)]


def review_issue(proposal: Proposal, at: str) -> tuple[Proposal, IssueWrites]:
    """Return a proposal with its issue for people, which carries the assessment and the actions."""
    said = assessment_text(proposal.assessment, proposal.harness)
    comment = IssueEvent(at, CHIEF_OF_STAFF, "commented", said)
    writes: list[NewIssue | IssueChange] = []
    if proposal.issues[0]:
        writes.append(IssueChange(proposal.issues[0], comment))
    actions = [{"action": action, "proposalId": proposal.id} for action in ACTIONS]
    body = f"{said}\n\n{proposal_text(proposal.content)}"[:MOST_BODY]
    if proposal.issues[1]:
        changed = IssueEvent(at, CHIEF_OF_STAFF, "changed", "reviewed again")
        writes.append(
            IssueChange(proposal.issues[1], changed, {"body": body, "actions": actions, "status": "open"})
        )
        return proposal, writes
    title = f"[Tool Review] {proposal.content.tool.name}"[:MOST_TITLE]
    links = tuple(filter(None, (proposal.id, proposal.issues[0])))
    issue = replace(_issue(proposal, PEOPLE, title, body, at), links=links, actions=tuple(actions))
    return replace(proposal, issues=(proposal.issues[0], issue.id)), [
        *writes,
        NewIssue(issue, CHIEF_OF_STAFF),
    ]


def closed_issues(proposal: Proposal, by: str, said: str, at: str) -> IssueWrites:
    """Return what closes both issues of a proposal."""
    event = IssueEvent(at, by, "closed", said)
    return [
        IssueChange(issue_id, event, {"status": "closed", "actions": []})
        for issue_id in proposal.issues
        if issue_id
    ]


def returned_issues(proposal: Proposal, by: str, note: str, at: str) -> IssueWrites:
    """Return what assigns the issue to its author, with the explanation."""
    writes: list[IssueChange] = []
    if proposal.issues[0]:
        said = IssueEvent(at, by, "commented", note)
        writes.append(IssueChange(proposal.issues[0], said, {"assignee": proposal.author.name}))
    if proposal.issues[1]:
        said = IssueEvent(at, by, "changed", f"needs changes: {note}")
        writes.append(IssueChange(proposal.issues[1], said, {"actions": []}))
    return writes


def _issue_id(proposal: Proposal, whose: str) -> str:
    """Return the id of a proposal's issue; it follows from the proposal, so that it is known before it is written."""
    return f"iss_{sha256(f'{proposal.id} {whose}'.encode())[:32]}"


def _issue(proposal: Proposal, assignee: str, title: str, body: str, at: str) -> Issue:
    return Issue(
        id=_issue_id(proposal, assignee),
        title=title,
        body=body[:MOST_BODY],
        assignee=assignee,
        status="open",
        priority="normal",
        tags=_TAGS,
        links=(proposal.id,),
        actions=(),
        opened_at=at,
        updated_at=at,
    )


def proposal_text(content: ProposalContent) -> str:
    """Return a proposal as people read it in an issue."""
    return "\n".join(_proposal_lines(content))


def _proposal_lines(content: ProposalContent) -> Iterator[str]:
    tool = content.tool
    yield f"{content.type} {tool.id} ({content.target}), scope {tool.scope}, archetype {tool.archetype or 'any'}"
    yield f"\nRationale\n{content.rationale}"
    for title, text in (
        ("Usage notes", tool.usage_notes),
        ("Goals", tool.goals),
        ("Guardrails", tool.guardrails),
        ("Prompt", tool.prompt),
    ):
        yield f"\n{title}\n{text}"
    yield from case_lines(content)


def case_lines(content: ProposalContent) -> Iterator[str]:
    """Yield the examples and the test cases of a proposal as people read them."""
    if content.examples:
        yield "\nExamples"
        yield from (f"- {example}" for example in content.examples)
    if content.test_cases:
        yield "\nTest cases"
        for case in content.test_cases:
            checks = ", ".join(
                check if isinstance(check, str) else stored_json(check) for check in case.checks
            )
            yield f"- {case.name} (should {case.expect}; checks: {checks}): {case.input}"
            if case.sample_output is not None:
                yield f"  Sample output: {case.sample_output}"


def assessment_text(assessment: Mapping[str, Any], harness: Mapping[str, Any]) -> str:
    """Return an assessment as people read it."""
    return "\n".join(_assessment_lines(assessment, harness))


def _assessment_lines(assessment: Mapping[str, Any], harness: Mapping[str, Any]) -> Iterator[str]:
    yield f"Recommendation: {assessment.get('recommendation', 'none')}, by {assessment.get('by', 'no reviewer')}"
    for item in assessment.get("items", ()):
        yield f"- {item.get('question')} {item.get('answer')}: {item.get('reason')}"
    for change in assessment.get("requiredChanges", ()):
        yield f"- Required: {change}"
    for untold in assessment.get("notJudged", ()):
        yield f"- Not judged: {untold}"
    if harness:
        yield from _harness_lines("Harness", harness)
    if before := harness.get("before"):
        yield from _harness_lines("The same test cases with the live prompt", before)


def _harness_lines(title: str, harness: Mapping[str, Any]) -> Iterator[str]:
    yield f"{title}: {harness.get('verdict')}, on {harness.get('basis')}"
    for case in harness.get("cases", ()):
        yield f"- {case.get('name')}: {case.get('verdict')}{_used(case.get('usage'))}" + "".join(
            f"; {failed.get('check')}: {failed.get('why')}" for failed in case.get("failures", ())
        )


def _used(usage: Mapping[str, Any] | None) -> str:
    if usage is None:
        return ""
    cost = usage.get("cost")
    return f" ({usage.get('tokens', 0):,} tokens, {'price not known' if cost is None else dollars(cost)})"
