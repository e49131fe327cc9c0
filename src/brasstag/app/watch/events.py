"""Events of a run, in order: new entries, what its models say and what its programs print."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from brasstag.app.watch.output import Output, OutputListeners
from brasstag.app.watch.overview import overview_of
from brasstag.sandbox.threads import Threads
from brasstag.settings.crew import PERSON
from brasstag.store.database.base import View
from brasstag.store.store import Store
from brasstag.store.tasks.rows import Task, get_task, tasks_of_tree
from brasstag.store.timeline.timeline import entries_since
from brasstag.words.approvals import Approval
from brasstag.words.events import Entry, EntryKind
from brasstag.words.times import stamp, utc_now
from brasstag.words.turns import Retrying

GLANCE_SECONDS = 0.1
"""How often a watcher looks for what other processes wrote."""

MOST_RETRIES = 256
"""How many failed tries at models' answers are held for watchers that have not read them yet."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that only a person can answer, with ``Room.answer``."""

    id: str
    text: str
    role: str
    """Who asks."""
    task_id: str
    """The task that waits for the answer."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Everything a run waits for, where only people can go on."""

    approvals: tuple[Approval, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One thing that happened in a run: an entry, something said or printed, or that only people can go on."""

    task: Task
    entry: Entry | None = None
    text: str = ""
    waiting: Waits | None = None
    retrying: Retrying | None = None
    """A try at a model's answer that failed; only in the process that works on the task."""
    output: Output | None = None
    """A piece of what a program prints; only in the process that runs it."""

    @property
    def approval_id(self) -> str | None:
        """The approval that was just asked for, if that is what happened."""
        return str(self._told["approval"]) if self._is(EntryKind.ASKED) else None

    @property
    def question(self) -> Question | None:
        """The question to people that was just asked, if that is what happened."""
        told = self._told
        if not self._is(EntryKind.QUESTIONED) or told["to"] != PERSON:
            return None
        return Question(told["child"], str(told["input"].get("question", "")), self.task.role, self.task.id)

    def _is(self, kind: EntryKind) -> bool:
        return self.entry is not None and self.entry.kind is kind and self.entry.payload is not None

    @property
    def _told(self) -> dict[str, Any]:
        return (self.entry.payload if self.entry else None) or {}


@dataclass(frozen=True, slots=True)
class _Retried:
    """A note that a model is asked again, with its time, which gives its place among the entries."""

    at: str
    task_id: str
    retrying: Retrying


@dataclass(slots=True, eq=False)
class _Subscriber:
    """What was told to one watcher, and the watcher has not passed on yet."""

    said: "asyncio.Queue[tuple[str, str]]" = field(default_factory=asyncio.Queue)
    retried: deque[_Retried] = field(default_factory=lambda: deque(maxlen=MOST_RETRIES))
    """Also of tasks the watcher has not seen yet, and of other runs."""

    def take_retried(self, tasks: Mapping[str, Task]) -> list[_Retried]:
        """Take what was told of tasks that are known."""
        found = [one for one in self.retried if one.task_id in tasks]
        for one in found:
            self.retried.remove(one)
        return found


class Watchers:
    """All listeners in this process to models and to programs."""

    def __init__(self) -> None:
        self.listeners = OutputListeners()
        self._subscribers: set[_Subscriber] = set()
        self._retried: deque[_Retried] = deque(maxlen=MOST_RETRIES)
        """The newest, for those who come to watch a task that is at work already."""

    def say(self, task_id: str, text: str) -> None:
        """Pass on a piece of text; called on the event loop, as models answer there."""
        for subscriber in self._subscribers:
            subscriber.said.put_nowait((task_id, text))

    def retry(self, task_id: str, retrying: Retrying) -> None:
        """Pass on that a model is asked again."""
        retried = _Retried(stamp(utc_now()), task_id, retrying)
        for retries in (self._retried, *(subscriber.retried for subscriber in self._subscribers)):
            retries.append(retried)

    async def watch(
        self, store: Store, threads: Threads, task_id: str, seen: dict[str, int] | None = None
    ) -> AsyncIterator[RunEvent]:
        """Yield what happens in a task and all below it, from its beginning, until it has ended.

        ``seen`` says how many entries of which task are known already.
        """
        following, subscriber = _Following(task_id, seen or {}), _Subscriber()
        subscriber.retried.extend(one for one in self._retried if one.task_id not in (seen or {}))
        self._subscribers.add(subscriber)
        try:
            with self.listeners.queue() as queue:
                while True:
                    # This is taken before the look, so that the look finds the entries that led to it.
                    printed = queue.take()
                    found = await threads.run(store.read, following.look)
                    printed += queue.take({one.entry.call_id for one in found if one.entry})
                    found = _with_retried(found, subscriber.take_retried(following.tasks), following.tasks)
                    for event in _in_order(found, printed, following.tasks):
                        yield event
                    if following.has_ended:
                        return
                    async for event in _texts_of(subscriber.said, following.tasks.get):
                        yield event
        finally:
            self._subscribers.discard(subscriber)


def _with_retried(
    found: list[RunEvent], retried: list[_Retried], tasks: Mapping[str, Task]
) -> list[RunEvent]:
    """Return the new entries, and the notes of models that are asked again, in the order of time."""
    mixed = list(found)
    for one in retried:
        later = (
            at
            for at, other in enumerate(mixed)
            if other.waiting is not None or (other.entry is not None and other.entry.at > one.at)
        )
        mixed.insert(next(later, len(mixed)), RunEvent(tasks[one.task_id], retrying=one.retrying))
    return mixed


def _in_order(found: list[RunEvent], printed: list[Output], tasks: Mapping[str, Task]) -> Iterator[RunEvent]:
    """Yield the new entries; what a call's programs printed comes before the call's outcome."""
    of_call: dict[str, list[RunEvent]] = defaultdict(list)
    for output in printed:
        if output.task_id in tasks:
            of_call[output.call_id].append(RunEvent(tasks[output.task_id], output=output))
    # Code may wait for approval before it runs; a claim is no end of a call, before the code runs or after.
    agreed = {one.entry.call_id for one in found if one.entry and one.entry.kind is EntryKind.DECIDED}
    for event in found:
        entry = event.entry
        if event.waiting is not None:
            yield from chain.from_iterable(of_call.values())
            of_call.clear()
        elif entry is None:
            pass
        elif entry.kind is EntryKind.DECIDED:
            agreed.discard(entry.call_id)
        elif entry.kind is not EntryKind.CLAIMED and entry.call_id not in agreed:
            yield from of_call.pop(entry.call_id, ())
        yield event
    yield from chain.from_iterable(of_call.values())


async def _texts_of(
    queue: "asyncio.Queue[tuple[str, str]]", find: Callable[[str], Task | None]
) -> AsyncIterator[RunEvent]:
    """Yield what models say during the next GLANCE_SECONDS."""
    loop = asyncio.get_running_loop()
    until = loop.time() + GLANCE_SECONDS
    while (left := until - loop.time()) > 0:
        try:
            name, text = await asyncio.wait_for(queue.get(), left)
        except TimeoutError:
            return
        task = find(name)
        if task is not None:
            yield RunEvent(task, text=text)


class _Following:
    """How far one watcher has read."""

    def __init__(self, task_id: str, seen: dict[str, int]) -> None:
        self._top = task_id
        self._seen = dict(seen)
        self._stood: list[tuple[str, int]] = []
        self._waited: list[str] = []
        self.tasks: dict[str, Task] = {}
        self.has_ended = False

    def look(self, view: View) -> list[RunEvent]:
        """Return what was written since the last look, in the order of time."""
        top = get_task(view, self._top)
        self._top = top.id
        found: list[RunEvent] = []
        tasks = _below(top, tasks_of_tree(view, top.tree))
        for task in tasks:
            self.tasks[task.id] = task
            known = self._seen.get(task.id, 0)
            if task.next_seq > known:
                entries = entries_since(view, task.id, known)
                self._seen[task.id] = known + len(entries)
                found += [RunEvent(task, entry) for entry in entries]
        self.has_ended = top.has_ended
        found.sort(
            key=lambda one: (one.entry.at, one.entry.task_id, one.entry.seq) if one.entry else ("", "", 0)
        )
        waits = self._waits(view, tasks)
        return found if waits is None else [*found, RunEvent(top, waiting=waits)]

    def _waits(self, view: View, tasks: list[Task]) -> Waits | None:
        """Return what waits for people, once nothing else is left to do."""
        stand = [(str(task.status), task.next_seq) for task in tasks]
        if stand == self._stood:
            return None
        self._stood = stand
        overview = overview_of(view, tasks)
        before, self._waited = self._waited, []
        if not overview.waits_for_people:
            return None
        self._waited = [one.id for one in overview.requests]
        if self._waited == before:
            return None
        return Waits(
            overview.approvals,
            tuple(
                Question(one.id, overview.asked[one.id], self.tasks[one.parent_id].role, one.parent_id)
                for one in overview.questions
                if one.parent_id in self.tasks
            ),
        )


def _below(top: Task, tree: list[Task]) -> list[Task]:
    """Return a task and all below it; parents come before their children."""
    names = {top.id}
    found = [top]
    for task in tree:
        if task.parent_id in names and task.id not in names:
            names.add(task.id)
            found.append(task)
    return found
