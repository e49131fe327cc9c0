"""RoomIssues: the issues of an open room."""

from collections.abc import Mapping, Sequence
from typing import Any

from brasstag.catalog.issue_search import IssueFilter, search_issues
from brasstag.sandbox.threads import Threads
from brasstag.store.catalog.issues import comments_by_issue, get_issue, list_issues
from brasstag.store.catalog.proposals import open_proposals
from brasstag.store.catalog.writer import IssueChange, NewIssue
from brasstag.store.database.base import View
from brasstag.store.store import Store
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import new_id
from brasstag.words.review.issues import MOST_BODY, PRIORITIES, Issue, IssueEvent, Priority
from brasstag.words.review.texts import require_line, require_text


class RoomIssues:
    """What people do with issues; each act is one commit, and part of the issue's history."""

    def __init__(self, store: Store, threads: Threads, actor: str) -> None:
        self._store = store
        self._threads = threads
        self._actor = actor

    async def search(self, wanted: IssueFilter | None = None) -> list[Issue]:
        """Return the issues that fit, the best match first; without a filter all, the most urgent and newest first."""

        def look(view: View) -> tuple[list[Issue], Mapping[str, str]]:
            return list_issues(view), comments_by_issue(view)

        issues, comments = await self._threads.run(self._store.read, look)
        return [issue for _, issue in search_issues(issues, comments, wanted or IssueFilter())]

    async def get(self, name: str) -> Issue:
        """Return one issue with its history, by its id or the end of it."""
        return await self._threads.run(self._store.read, lambda view: get_issue(view, name))

    async def open(
        self,
        title: str,
        body: str = "",
        *,
        assignee: str = "",
        priority: Priority = "normal",
        tags: Sequence[str] = (),
        links: Sequence[str] = (),
        by: str = "",
    ) -> Issue:
        """Open an issue."""
        require_line("the title", title)
        require_text("the body", body, MOST_BODY, needed=False)
        require_line("the assignee", assignee, needed=False)
        for what, given in (("a tag", tags), ("a link", links)):
            for text in given:
                require_line(what, text)
        if priority not in PRIORITIES:
            raise ToolError(
                Code.INVALID_ARGUMENTS, f"priority is {priority!r}; it is one of {', '.join(PRIORITIES)}"
            )
        at = self._store.now()
        issue = Issue(
            new_id("iss"),
            title,
            body,
            assignee,
            "open",
            priority,
            tuple(tags),
            tuple(links),
            (),
            at,
            at,
        )
        await self._threads.run(self._store.catalog.write_issues, [NewIssue(issue, by or self._actor)])
        return await self.get(issue.id)

    async def comment(self, name: str, text: str, *, by: str = "") -> Issue:
        """Say something about an issue."""
        require_text("the comment", text, MOST_BODY)
        return await self._change(name, "commented", text, by)

    async def assign(self, name: str, assignee: str, *, by: str = "") -> Issue:
        """Give an issue to a person or a role; an empty name takes it from them."""
        require_line("the assignee", assignee, needed=False)
        return await self._change(name, "assigned", assignee, by, assignee=assignee)

    async def close(self, name: str, reason: str = "", *, by: str = "") -> Issue:
        """Close an issue; one that a proposal waits on is closed by the decision."""
        require_text("the reason", reason, MOST_BODY, needed=False)
        issue = await self.get(name)
        waits = await self._threads.run(self._store.read, lambda view: _open_proposal(view, issue))
        if waits:
            raise ToolError(
                Code.PROPOSAL_STATE,
                f"{issue.id} is about {waits}, which is not decided; that decision closes it",
            )
        if issue.status == "closed":
            return issue
        return await self._change(issue.id, "closed", reason, by, status="closed")

    async def reopen(self, name: str, *, by: str = "") -> Issue:
        """Open a closed issue again."""
        return await self._change(name, "reopened", "", by, status="open")

    async def _change(self, name: str, kind: Any, text: str, by: str, **changes: Any) -> Issue:
        issue = await self.get(name)
        event = IssueEvent(self._store.now(), by or self._actor, kind, text)
        await self._threads.run(self._store.catalog.write_issues, [IssueChange(issue.id, event, changes)])
        return await self.get(issue.id)


def _open_proposal(view: View, issue: Issue) -> str:
    """Return the proposal that an issue is about, where a person has still to decide on it."""
    about = (proposal for proposal in open_proposals(view) if issue.id in proposal.issues)
    return next((proposal.id for proposal in about), "")
