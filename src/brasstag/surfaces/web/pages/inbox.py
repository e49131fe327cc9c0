"""The inbox: everything in all rooms that waits for a person, the oldest first."""

from itertools import groupby

from brasstag.app import InboxItem
from brasstag.surfaces.web.routes import Visit, WebModel, WebPage
from brasstag.words.budgets import dollars

_PAGES = {"approval": "approvals", "question": "questions", "unknown": "questions"}
"""Where a kind of item is decided; the others are only named here, and decided at the command line."""


class InboxRow(WebModel):
    """One thing that waits."""

    room: str
    kind: str
    id: str
    title: str
    why: str
    since: str
    tool: str
    rule: str
    role: str
    task: str
    run: str
    blocked: list[str]
    tokens: int
    cost: str
    address: str
    """Where it is decided; empty where no page does that."""


class InboxGroup(WebModel):
    """Items of the same room, tool and rule; they can be looked at together."""

    tool: str
    rule: str
    rows: list[InboxRow]


class InboxView(WebModel):
    """Everything that waits for a person."""

    groups: list[InboxGroup]
    count: int


async def inbox(visit: Visit) -> InboxView:
    """Return the inbox of all rooms."""
    rows = [
        _row(name, item) for name, served in visit.rooms.rooms.items() for item in await served.room.inbox()
    ]
    rows.sort(key=lambda row: (row.since, row.id))
    first = {_group(row): row.since for row in reversed(rows)}
    rows.sort(key=lambda row: (first[_group(row)], _group(row), row.since))
    groups = [
        InboxGroup(tool=rows_of[0].tool, rule=rows_of[0].rule, rows=rows_of)
        for rows_of in (list(found) for _, found in groupby(rows, key=_group))
    ]
    return InboxView(groups=groups, count=len(rows))


def _group(row: InboxRow) -> tuple[str, ...]:
    return (row.room, row.tool, row.rule) if row.kind == "approval" else (row.room, row.id)


def _row(room: str, item: InboxItem) -> InboxRow:
    behind = item.behind
    return InboxRow(
        room=room,
        kind=item.kind,
        id=item.id,
        title=item.title,
        why=item.why,
        since=item.since,
        tool=item.tool,
        rule=item.rule,
        role=item.role,
        task=behind.task_id,
        run=behind.run,
        blocked=list(behind.blocked),
        tokens=behind.tokens,
        cost=dollars(behind.cost),
        address=f"/rooms/{room}/{_PAGES[item.kind]}/{item.id}" if item.kind in _PAGES else "",
    )


PAGE = WebPage(
    "/inbox",
    "inbox.html",
    InboxView,
    inbox,
    "Everything that waits for a person.",
    of_room=False,
    nav="inbox",
)
