"""An overview of a run: the state of its tasks, and what in it waits for people."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from brasstag.settings.crew import PERSON
from brasstag.store.database.base import View
from brasstag.store.tasks.approvals import approvals_of_task
from brasstag.store.tasks.rows import Task, get_task, read_tasks, tasks_of_tree
from brasstag.store.timeline.timeline import first_entry
from brasstag.words.approvals import Approval, ApprovalState

_AT_WORK = frozenset(("ready", "running"))


@dataclass(frozen=True, slots=True)
class Overview:
    """Tasks of one run or of several, the oldest first, and the approvals they wait for."""

    tasks: tuple[Task, ...]
    approvals: tuple[Approval, ...] = ()
    asked: Mapping[str, str] = field(default_factory=dict)
    """The words of the questions that wait for a person, by task."""
    left: frozenset[str] = frozenset()
    """Tasks that count as running although the process that held them is gone."""

    def seen_by(self, is_alive: Callable[[str], bool]) -> "Overview":
        """Return the same overview, with the tasks whose process no longer lives."""
        held = [task for task in self.tasks if task.status == "running" and not task.is_desk]
        alive = {boot: is_alive(boot) for boot in {task.boot for task in held}}
        return replace(self, left=frozenset(task.id for task in held if not alive[task.boot]))

    @property
    def questions(self) -> tuple[Task, ...]:
        """The questions that wait for a person."""
        return tuple(task for task in self.tasks if is_question_to_people(task) and not task.has_ended)

    @property
    def requests(self) -> tuple[Approval | Task, ...]:
        """Everything that waits for a person."""
        return (*self.approvals, *self.questions)

    @property
    def waits_for_people(self) -> bool:
        """Whether nothing goes on before a person has answered something."""
        if any(task.status in _AT_WORK for task in self.tasks):
            return False
        return bool(self.requests)

    def roots(self) -> Iterator[Task]:
        """Yield the tasks that stand under no other task shown here."""
        names = {task.id for task in self.tasks}
        return (task for task in self.tasks if task.parent_id not in names)

    def below(self, task: Task) -> list[Task]:
        """Return the tasks a task opened."""
        return [one for one in self.tasks if one.parent_id == task.id]

    def approvals_of(self, task: Task) -> list[Approval]:
        """Return what a task wants approved."""
        return [approval for approval in self.approvals if approval.task_id == task.id]

    def waits_for(self, task: Task) -> list[str]:
        """Say what a task that does not go on waits for."""
        if task.status != "blocked":
            return []
        if is_question_to_people(task):
            return ["a person"]
        waits = [f"approval of {approval.tool}" for approval in self.approvals_of(task)]
        waits += [
            "an answer" if is_question_to_people(child) else child.role
            for child in self.below(task)
            if not child.has_ended
        ]
        return [what if count == 1 else f"{what} ({count})" for what, count in Counter(waits).items()]


def is_question_to_people(task: Task) -> bool:
    """Say whether a task is a question that only a person can answer."""
    return task.kind == "question" and task.role == PERSON


def look_over(view: View, name: str) -> Overview:
    """Look over the run that a task belongs to."""
    return overview_of(view, tasks_of_tree(view, get_task(view, name).tree))


def look_over_all(view: View, newest: int | None = None) -> Overview:
    """Look over every run and desk; with ``newest``, over what has not ended and so many of the runs that have."""
    found = read_tasks(view)
    if newest is None:
        return overview_of(view, found)
    roots = [task for task in found if task.id == task.tree]
    ended = [task.id for task in roots if task.has_ended and not task.is_desk][-newest:]
    shown = {*ended, *(task.id for task in roots if _is_of_interest(task))}
    return overview_of(view, [task for task in found if task.tree in shown])


def _is_of_interest(root: Task) -> bool:
    """Say whether a person may have to do something about it; a desk matters only while it waits for a person."""
    return root.status == "blocked" if root.is_desk else not root.has_ended


def overview_of(view: View, tasks: Iterable[Task]) -> Overview:
    """Look over some tasks."""
    found = tuple(tasks)
    waiting = [task for task in found if not task.has_ended]
    approvals = [one for task in waiting for one in approvals_of_task(view, task.id, ApprovalState.OPEN)]
    asked = {task.id: _question(view, task) for task in waiting if is_question_to_people(task)}
    return Overview(found, tuple(sorted(approvals, key=lambda one: one.id)), asked)


def _question(view: View, task: Task) -> str:
    first = first_entry(view, task.id)
    return task.title if first is None or first.payload is None else str(first.payload["input"]["request"])
