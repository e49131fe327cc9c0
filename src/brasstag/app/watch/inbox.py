"""The inbox of a room: all that waits for a person, the oldest first, with why it asks and who is blocked behind it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from brasstag.app.watch.overview import is_question_to_people
from brasstag.store.catalog.issues import list_issues
from brasstag.store.catalog.proposals import open_proposals
from brasstag.store.database.base import View
from brasstag.store.tasks.approvals import list_approvals
from brasstag.store.tasks.rows import Task, read_tasks
from brasstag.store.timeline.timeline import entries_since, first_entry
from brasstag.words.approvals import ApprovalState
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from brasstag.words.review.proposals import ProposalState

ItemKind = Literal["approval", "question", "unknown", "proposal", "issue", "budget", "control files"]

MOST_BUDGET_STOPS = 20
"""How many of the newest failed runs are looked at for one that its budget stopped."""


@dataclass(frozen=True, slots=True)
class Behind:
    """What waits behind an item, and what that has used so far."""

    task_id: str = ""
    run: str = ""
    blocked: tuple[str, ...] = ()
    """The tasks that wait for it, the nearest first."""
    tokens: int = 0
    cost: int = 0
    """Millionths of a dollar; both are of the whole run."""


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One thing that a person has to decide or answer."""

    kind: ItemKind
    id: str
    title: str
    """What is wanted, in a few words: the tool and its target, the question, the name of the proposal."""
    why: str
    """Why a person is asked."""
    since: str
    """When it was asked."""
    tool: str = ""
    rule: str = ""
    """What made it ask; items of the same tool and rule can be looked at together."""
    role: str = ""
    behind: Behind = Behind()


def inbox_of(view: View) -> list[InboxItem]:
    """Return what waits for a person, as the store tells it, the oldest first."""
    tasks = {task.id: task for task in read_tasks(view)}
    found = [*_approvals(view, tasks), *_questions(view, tasks), *_proposals(view), *_issues(view)]
    found += _budget_stops(view, tasks)
    return sorted(found, key=lambda item: (item.since, item.id))


def _approvals(view: View, tasks: Mapping[str, Task]) -> Iterator[InboxItem]:
    for one in list_approvals(view, (ApprovalState.OPEN,)):
        paths = [change.path for change in one.preview.changes]
        target = next(iter([*paths, *one.preview.runs, *one.preview.fetches]), "")
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        yield InboxItem(
            "approval",
            one.id,
            f"{one.tool} {target}{more}".strip(),
            one.reason,
            one.requested_at,
            one.tool,
            one.rule,
            one.role,
            _behind(tasks, one.task_id),
        )


def _questions(view: View, tasks: Mapping[str, Task]) -> Iterator[InboxItem]:
    for task in tasks.values():
        if not is_question_to_people(task) or task.has_ended:
            continue
        opened = first_entry(view, task.id)
        payload = (opened.payload if opened else None) or {}
        asked = str(payload.get("input", {}).get("request", task.title))
        is_doubt = bool(payload.get("doubt"))
        asker = tasks.get(task.parent_id)
        yield InboxItem(
            "unknown" if is_doubt else "question",
            task.id,
            asked,
            "it is not known whether a call happened" if is_doubt else "an agent asks",
            task.opened_at,
            role=asker.role if asker else "",
            behind=_behind(tasks, task.parent_id),
        )


def _proposals(view: View) -> Iterator[InboxItem]:
    for one in open_proposals(view):
        if one.state is ProposalState.CHIEF_REVIEWED:
            why = (
                f"{one.content.type} of the prompt tool {one.content.tool.id}, reviewed by the Chief of Staff"
            )
            yield InboxItem("proposal", one.id, one.content.tool.name, why, one.opened_at)


def _issues(view: View) -> Iterator[InboxItem]:
    for one in list_issues(view, ("open",)):
        if one.actions and not any("proposalId" in action for action in one.actions):
            yield InboxItem(
                "issue", one.id, one.title, f"{one.priority} issue with something to decide", one.opened_at
            )


def _budget_stops(view: View, tasks: Mapping[str, Task]) -> Iterator[InboxItem]:
    failed = [task for task in tasks.values() if task.id == task.tree and task.status == "failed"]
    for task in failed[-MOST_BUDGET_STOPS:]:
        closed = [
            one for one in entries_since(view, task.id, task.next_seq - 1) if one.kind is EntryKind.CLOSED
        ]
        result = (closed[-1].payload or {}).get("result") if closed else None
        error = result.get("error", {}) if isinstance(result, Mapping) else {}
        if error.get("code") == Code.BUDGET_EXCEEDED.value:
            yield InboxItem(
                "budget",
                task.id,
                task.title,
                str(error.get("message", "")),
                task.closed_at or task.opened_at,
                role=task.role,
                behind=_behind(tasks, task.id),
            )


def _behind(tasks: Mapping[str, Task], task_id: str) -> Behind:
    """Return the run of a task, the tasks that wait for it and those above, and what the run has used."""
    task = tasks.get(task_id)
    if task is None:
        return Behind(task_id)
    blocked: list[str] = []
    above: Task | None = task
    while above is not None and above.id not in blocked:
        blocked.append(above.id)
        above = tasks.get(above.parent_id)
    of_run = [one for one in tasks.values() if one.tree == task.tree]
    return Behind(
        task.id, task.tree, tuple(blocked), sum(one.tokens for one in of_run), sum(one.cost for one in of_run)
    )
