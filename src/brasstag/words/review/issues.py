"""Issues: what people and the Chief of Staff talk about, with comments, links, actions and history."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from brasstag.words.review.texts import MOST_IN_LINE

IssueStatus = Literal["open", "closed"]
Priority = Literal["low", "normal", "high", "urgent"]
PRIORITIES: tuple[Priority, ...] = get_args(Priority)

CHIEF_OF_STAFF = "chief_of_staff"
"""The role that reviews proposals first."""

MOST_TITLE = MOST_IN_LINE
MOST_BODY = 100_000
"""Characters."""


@dataclass(frozen=True, slots=True)
class IssueEvent:
    """One thing that happened to an issue."""

    at: str
    by: str
    kind: Literal["opened", "commented", "assigned", "closed", "reopened", "changed"]
    text: str = ""
    """What was said; for a change, what changed."""

    def as_json(self) -> dict[str, str]:
        """Return ``{at, by, kind, text}``."""
        return {"at": self.at, "by": self.by, "kind": self.kind, "text": self.text}


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue of a room."""

    id: str
    title: str
    body: str
    assignee: str
    status: IssueStatus
    priority: Priority
    tags: tuple[str, ...]
    links: tuple[str, ...]
    """Ids of issues, proposals, tasks and tags, and paths of documents."""
    actions: tuple[Mapping[str, str], ...]
    """What a person can decide here: ``{action, proposalId}``."""
    opened_at: str
    updated_at: str
    history: tuple[IssueEvent, ...] = field(default=())
    """Everything that happened, oldest first; empty in a list of issues."""

    @property
    def comments(self) -> tuple[IssueEvent, ...]:
        """What was said about it, oldest first."""
        return tuple(event for event in self.history if event.kind == "commented")

    def as_json(self) -> dict[str, Any]:
        """Return everything, for programs."""
        return {
            "issueId": self.id,
            "title": self.title,
            "body": self.body,
            "assignee": self.assignee or None,
            "status": self.status,
            "priority": self.priority,
            "tags": list(self.tags),
            "links": list(self.links),
            "actions": [dict(action) for action in self.actions],
            "openedAt": self.opened_at,
            "updatedAt": self.updated_at,
            "comments": [event.as_json() for event in self.comments],
            "history": [event.as_json() for event in self.history],
        }
