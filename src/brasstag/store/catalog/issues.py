"""Rows of issues, and the events that happened to each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from brasstag.store.database.base import Transaction
from brasstag.store.database.lookup import rows_named
from brasstag.store.database.schema import issue_events, issues
from brasstag.store.events.sequence import announce
from brasstag.words.canonical import stored_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import not_one
from brasstag.words.review.issues import Issue, IssueEvent

_LISTS = ("tags", "links", "actions")
_TEXTS = ("title", "body")
"""As JSON, like every text of a model: it may hold what a database does not take as it is."""


def insert_issue(transaction: Transaction, issue: Issue, by: str) -> None:
    """Write a new issue down."""
    transaction.execute(insert(issues).values(_values(issue)))
    _add_event(transaction, issue.id, IssueEvent(issue.opened_at, by, "opened"))


def change_issue(transaction: Transaction, issue_id: str, event: IssueEvent, **changes: Any) -> None:
    """Change columns of an issue, by name, and write down what happened."""
    stored = {
        name: stored_json(value) if name in _LISTS + _TEXTS else value for name, value in changes.items()
    }
    moved = transaction.execute(
        update(issues).where(issues.c.id == issue_id).values(updated_at=event.at, **stored)
    )
    if moved.rowcount != 1:
        raise _not_found(issue_id)
    _add_event(transaction, issue_id, event)


def get_issue(connection: Connection, name: str) -> Issue:
    """Return the issue with this id, or with the only id that ends so, with its history."""
    found = rows_named(connection, issues.c.id, name)
    if len(found) != 1:
        raise _not_found(name, several=len(found) > 1)
    return replace(_issue(found[0]), history=tuple(_events(connection, found[0].id)))


def list_issues(connection: Connection, statuses: Sequence[str] = ()) -> list[Issue]:
    """Return issues, oldest first, without their histories."""
    query = select(issues).order_by(issues.c.id)
    if statuses:
        query = query.where(issues.c.status.in_(statuses))
    return [_issue(row) for row in connection.execute(query)]


def comments_by_issue(connection: Connection) -> Mapping[str, str]:
    """Return all that was said about each issue, as one text."""
    said: dict[str, list[str]] = {}
    query = select(issue_events.c.issue_id, issue_events.c.text).where(issue_events.c.kind == "commented")
    for issue_id, text in connection.execute(query.order_by(issue_events.c.issue_id, issue_events.c.seq)):
        said.setdefault(issue_id, []).append(json.loads(text))
    return {issue_id: "\n".join(texts) for issue_id, texts in said.items()}


def _events(connection: Connection, issue_id: str) -> list[IssueEvent]:
    query = select(issue_events).where(issue_events.c.issue_id == issue_id).order_by(issue_events.c.seq)
    return [IssueEvent(row.at, row.by, row.kind, json.loads(row.text)) for row in connection.execute(query)]


def _add_event(transaction: Transaction, issue_id: str, event: IssueEvent) -> None:
    mine = issue_events.c.issue_id == issue_id
    last = transaction.execute(select(func.max(issue_events.c.seq)).where(mine)).scalar_one_or_none()
    transaction.execute(
        insert(issue_events).values(
            issue_id=issue_id,
            seq=0 if last is None else last + 1,
            at=event.at,
            by=event.by,
            kind=event.kind,
            text=stored_json(event.text),
        )
    )
    announce(transaction, "issue", event.at, issue_id, {"kind": event.kind, "by": event.by})


def _values(issue: Issue) -> dict[str, Any]:
    return {
        "id": issue.id,
        "title": stored_json(issue.title),
        "body": stored_json(issue.body),
        "assignee": issue.assignee,
        "status": issue.status,
        "priority": issue.priority,
        "tags": stored_json(list(issue.tags)),
        "links": stored_json(list(issue.links)),
        "actions": stored_json([dict(action) for action in issue.actions]),
        "opened_at": issue.opened_at,
        "updated_at": issue.updated_at,
    }


def _issue(row: Row[Any]) -> Issue:
    return Issue(
        id=row.id,
        title=json.loads(row.title),
        body=json.loads(row.body),
        assignee=row.assignee,
        status=row.status,
        priority=row.priority,
        tags=tuple(json.loads(row.tags)),
        links=tuple(json.loads(row.links)),
        actions=tuple(json.loads(row.actions)),
        opened_at=row.opened_at,
        updated_at=row.updated_at,
    )


def _not_found(name: str, *, several: bool = False) -> ToolError:
    return ToolError(
        Code.ISSUE_NOT_FOUND,
        not_one("issue", name, several=several),
        hint="`brasstag issues list` names them",
    )
