"""Filter and rank issues by the words in them, and count where they stand."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brasstag.words.review.issues import PRIORITIES, Issue

_WORD = re.compile(r"\w+")
_WEIGHTS = {"title": 4, "tags": 3, "body": 1, "comments": 1}
_OLDEST = 5


@dataclass(frozen=True, slots=True)
class IssueFilter:
    """Which issues are wanted; what is empty does not matter."""

    query: str = ""
    status: str = ""
    assignee: str = ""
    tag: str = ""
    priority: str = ""

    def fits(self, issue: Issue) -> bool:
        """Say whether an issue has what is asked for, words aside."""
        return (
            self.status in ("", issue.status)
            and self.assignee in ("", issue.assignee)
            and self.priority in ("", issue.priority)
            and (not self.tag or self.tag in issue.tags)
        )


def search_issues(
    issues: Iterable[Issue], comments: Mapping[str, str], wanted: IssueFilter
) -> list[tuple[int, Issue]]:
    """Return the issues that fit, each with its score: the best match first, then the most urgent and newest."""
    words = [word.casefold() for word in _WORD.findall(wanted.query)]
    scored = [
        (_score(issue, comments.get(issue.id, ""), words), issue) for issue in issues if wanted.fits(issue)
    ]
    found = [(score, issue) for score, issue in scored if score or not words]
    # Both issues of a proposal change in one moment; the one that waits for a person comes first.
    newest = sorted(found, key=lambda one: (one[1].updated_at, bool(one[1].actions), one[1].id), reverse=True)
    return sorted(newest, key=lambda one: (-one[0], -PRIORITIES.index(one[1].priority)))


def _score(issue: Issue, comments: str, words: Sequence[str]) -> int:
    """Return how well an issue matches; 0 where one of the words is nowhere in it."""
    texts = {"title": issue.title, "tags": " ".join(issue.tags), "body": issue.body, "comments": comments}
    counts = {name: Counter(word.casefold() for word in _WORD.findall(text)) for name, text in texts.items()}
    scores = [sum(_WEIGHTS[name] * min(counts[name][word], 3) for name in texts) for word in words]
    return sum(scores) if all(scores) else 0


def summarize_issues(issues: Sequence[Issue]) -> dict[str, Any]:
    """Return how many issues stand where, and which open ones have waited longest."""
    still_open = sorted((one for one in issues if one.status == "open"), key=lambda one: one.updated_at)
    return {
        "total": len(issues),
        "by_status": dict(Counter(one.status for one in issues)),
        "open_by_priority": {
            name: count
            for name in reversed(PRIORITIES)
            if (count := sum(1 for one in still_open if one.priority == name))
        },
        "open_by_assignee": dict(Counter(one.assignee or "no one" for one in still_open).most_common()),
        "open_by_tag": dict(Counter(tag for one in still_open for tag in one.tags).most_common()),
        "waiting_for_a_decision": [_line(one) for one in still_open if one.actions],
        "waiting_longest": [_line(one) for one in still_open[:_OLDEST]],
    }


def _line(issue: Issue) -> dict[str, Any]:
    return {
        "issue": issue.id,
        "title": issue.title,
        "assignee": issue.assignee,
        "updated_at": issue.updated_at,
    }
