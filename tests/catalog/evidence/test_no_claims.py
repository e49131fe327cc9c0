"""NO_CLAIMS is for short replies that report nothing; it cannot take the place of evidence."""

import pytest

from brasstag.catalog.evidence.check_reply import check_reply
from brasstag.catalog.evidence.items import EvidenceFault
from tests.catalog.evidence.facts import Facts


@pytest.mark.parametrize(
    "said",
    [
        "FINDING 1: her eyes are blue.",
        "- VERDICT: 7 contradictions",
        "Mara | eyes | blue",
        "Her eyes are blue in one scene and grey in the other. " * 10,
    ],
)
def test_a_reply_that_reports_needs_evidence(said: str) -> None:
    problems = check_reply(f"{said}\n\nNO_CLAIMS: nothing to prove", Facts())
    assert EvidenceFault.CLAIMS_AFTER_ALL in {problem.id for problem in problems}


def test_a_short_reply_without_findings_may_say_so() -> None:
    assert check_reply("I wait for the draft.\nNO_CLAIMS: nothing was asked yet.", Facts()) == []
