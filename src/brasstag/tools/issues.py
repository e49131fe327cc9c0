"""search_issues, issue_status_summarizer and comment_issue: find issues, count them, say something about one."""

from collections.abc import Mapping
from typing import Any, Protocol

from brasstag.catalog.issue_search import IssueFilter, summarize_issues
from brasstag.catalog.issue_search import search_issues as ranked
from brasstag.toolkit.declare.declare import tool
from brasstag.words.issues import Issue

_EXCERPT = 400


class IssueLookup(Protocol):
    """What a tool may know of issues; the engine hands it in."""

    def issues(self) -> tuple[list[Issue], Mapping[str, str]]:
        """Return every issue, and what was said about each."""

    def issue(self, name: str) -> Issue:
        """Return one issue."""


@tool(execution_type="function")
def search_issues(
    prompts: IssueLookup,
    query: str = "",
    status: str = "",
    assignee: str = "",
    tag: str = "",
    priority: str = "",
    limit: int = 20,
) -> dict[str, Any]:
    """search_issues"""
    issues, comments = prompts.issues()
    found = ranked(issues, comments, IssueFilter(query, status, assignee, tag, priority))
    return {
        "issues": [
            {
                "issue": issue.id,
                "title": issue.title,
                "status": issue.status,
                "priority": issue.priority,
                "assignee": issue.assignee,
                "tags": list(issue.tags),
                "links": list(issue.links),
                "updated_at": issue.updated_at,
                "score": score,
                "excerpt": issue.body[:_EXCERPT],
            }
            for score, issue in found[:limit]
        ],
        "more": len(found) > limit,
        "searched": len(issues),
    }


@tool(execution_type="function")
def issue_status_summarizer(prompts: IssueLookup, tag: str = "", assignee: str = "") -> dict[str, Any]:
    """issue_status_summarizer"""
    issues, _ = prompts.issues()
    wanted = IssueFilter(tag=tag, assignee=assignee)
    return summarize_issues([issue for issue in issues if wanted.fits(issue)])


@tool(execution_type="function")
def comment_issue(prompts: IssueLookup, issue: str, text: str) -> dict[str, Any]:  # noqa: ARG001 - written with the entry
    """comment_issue"""
    found = prompts.issue(issue)
    return {"issue": found.id, "title": found.title, "status": found.status}
