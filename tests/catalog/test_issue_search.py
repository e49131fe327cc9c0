"""Issues are ranked by their words, then by urgency, then by time."""

from dataclasses import replace

import pytest

from brasstag.catalog.issue_search import IssueFilter, search_issues
from brasstag.words.review.issues import Issue

PLAIN = Issue(
    "iss_b", "Tar soap", "", "", "open", "normal", (), (), (), "2026-03-01T09:30:00Z", "2026-03-01T09:30:00Z"
)


def ranked(*issues: Issue, query: str = "") -> list[str]:
    return [issue.id for _, issue in search_issues(issues, {}, IssueFilter(query=query))]


@pytest.mark.parametrize("waits", ["iss_a", "iss_c"])
def test_of_two_issues_that_changed_together_the_one_that_waits_for_a_decision_comes_first(
    waits: str,
) -> None:
    waiting = replace(PLAIN, id=waits, actions=({"action": "approve", "proposalId": "prp_1"},))
    assert ranked(PLAIN, waiting) == [waits, "iss_b"]


def test_urgent_issues_come_before_newer_ones() -> None:
    newer = replace(PLAIN, id="iss_c", updated_at="2026-03-02T09:30:00Z")
    urgent = replace(PLAIN, id="iss_a", priority="urgent")
    assert ranked(newer, PLAIN, urgent) == ["iss_a", "iss_c", "iss_b"]


def test_a_word_of_the_title_counts_more_than_one_of_the_body_and_all_words_have_to_be_there() -> None:
    body = replace(PLAIN, id="iss_c", title="Scene 2", body="It smelled of soap.", priority="urgent")
    assert ranked(body, PLAIN, query="soap") == ["iss_b", "iss_c"]
    assert ranked(body, PLAIN, query="soap smelled") == ["iss_c"]
