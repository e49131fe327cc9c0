"""Screen every text of a proposal."""

from collections.abc import Mapping

from brasstag.catalog.screen.screen import Screening, screen
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.proposals import ProposalContent


def screened_fields(content: ProposalContent) -> dict[str, str]:
    """Return every text of a proposal by the name of its field."""
    fields = {**content.tool.as_json(), "rationale": content.rationale, "owner": content.owner}
    fields |= {f"examples[{place}]": text for place, text in enumerate(content.examples)}
    for place, case in enumerate(content.test_cases):
        fields[f"testCases[{place}].name"] = case.name
        fields[f"testCases[{place}].input"] = case.input
        if case.sample_output is not None:
            fields[f"testCases[{place}].sampleOutput"] = case.sample_output
        fields |= {
            f"testCases[{place}].checks[{number}]": str(value)
            for number, check in enumerate(case.checks)
            for value in (check.values() if isinstance(check, Mapping) else ())
        }
    return fields


def require_unblocked(content: ProposalContent) -> Screening:
    """Screen every text of a proposal; raise ToolError where one is blocked."""
    found = screen(screened_fields(content))
    if found.blocked:
        blocking = [one for one in found.findings if one.verdict == "block"]
        said = "; ".join(
            f"{one.field}, characters {one.start} to {one.end}: {one.why}" for one in blocking[:5]
        )
        raise ToolError(Code.SCREENED_OUT, f"{content.tool.id} was screened out: {said}", found.as_json())
    return found


def screening_of(content: ProposalContent) -> Screening:
    """Return what screening finds in every text of a proposal."""
    return screen(screened_fields(content))
