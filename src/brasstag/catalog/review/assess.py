"""The deterministic half of a review: overlap, screening and harness; it says what it cannot judge."""

from collections.abc import Mapping
from typing import Any

from brasstag.catalog.merge import Catalog
from brasstag.catalog.review.overlap import LIKE, closest
from brasstag.words.prompts import Proposal

SENSE = "Does it make sense?"
OVERLAP = "Does it overlap core tools or others?"
POLICY = "Does it violate guardrails or tool policy?"
CHANGES = "What has to change?"
QUESTIONS = (SENSE, OVERLAP, POLICY, CHANGES)
"""S4's checklist."""
RECOMMENDATIONS = ("approve", "modify", "reject")
BY_RULES = "deterministic checks"


def assess(proposal: Proposal, catalog: Catalog, harness: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assessment made without a model."""
    content = proposal.content
    required = _required(proposal, harness)
    alike = [] if content.type == "retire" else closest(content.tool, catalog.entries)[:3]
    overlapping = [(score, entry) for score, entry in alike if score >= LIKE]
    required += [
        f"say how it differs from {entry.tool.id} (likeness {score})" for score, entry in overlapping
    ]
    warned = [finding for finding in proposal.screening.get("findings", ()) if isinstance(finding, Mapping)]
    nearest = ", ".join(f"{entry.tool.id} {score}" for score, entry in alike) or "none compared"
    items = [
        _item(SENSE, "not judged", "only a reader can say that"),
        _item(OVERLAP, "yes" if overlapping else "no", f"likeness by words: {nearest}"),
        _item(
            POLICY,
            "perhaps" if warned else "no",
            "; ".join(f"{one.get('field')}: {one.get('why')}" for one in warned) or "screening found nothing",
        ),
        _item(CHANGES, "see below" if required else "nothing", "found by screening, harness and likeness"),
    ]
    return {
        "by": BY_RULES,
        "recommendation": "modify" if required else "approve",
        "items": items,
        "requiredChanges": required,
        "notJudged": ["whether the tool makes sense", "whether its guardrails are enough for its goals"],
    }


def _required(proposal: Proposal, harness: Mapping[str, Any]) -> list[str]:
    found = [
        f"{one.get('field')}: {one.get('why')}"
        for one in proposal.screening.get("findings", ())
        if isinstance(one, Mapping)
    ]
    for case in harness.get("cases", ()):
        if case.get("verdict") == "fail":
            why = (
                "; ".join(str(failed.get("why")) for failed in case.get("failures", ()))
                or "it passes and should not"
            )
            found.append(f"test case {case.get('name')} fails: {why}")
        elif case.get("verdict") == "not run":
            found.append(
                f"test case {case.get('name')} was not run: give it a sampleOutput, or record its result"
            )
    return found


def _item(question: str, answer: str, reason: str) -> dict[str, str]:
    return {"question": question, "answer": answer, "reason": reason}
