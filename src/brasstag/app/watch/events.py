"""Events of a run, in order: new entries, what its models say and what its programs print."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from brasstag.app.watch.output import Output, OutputListeners
from brasstag.app.watch.overview import overview_of
from brasstag.sandbox.threads import Threads
from brasstag.settings.crew import PERSON
from brasstag.store.database.base import View
from brasstag.store.store import Store
from brasstag.store.tasks.rows import Task, get_task, tasks_below
from brasstag.store.timeline.timeline import entries_since
from brasstag.words.approvals import Approval
from brasstag.words.events import ABOUT_PERMISSIONS, Entry, EntryKind
from brasstag.words.times import stamp, utc_now
from brasstag.words.turns import Retrying

GLANCE_SECONDS = 0.1
"""How often a watcher looks for what other processes wrote."""

_NO_ENDS = ABOUT_PERMISSIONS | {EntryKind.CLAIMED}
"""Entries of a call that do not end it, and come before what its programs print."""
MOST_NOTES = 1024
"""How many notes are held for watchers that begin later."""


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
class _Note:
    """A piece of text that a model says, or that it is asked again; the time gives its place among the entries."""

    at: str
    task_id: str
    text: str = ""
    retrying: Retrying | None = None

    def event(self, tasks: Mapping[str, Task]) -> RunEvent:
        """Return what a watcher yields for it."""
        return RunEvent(tasks[self.task_id], text=self.text, retrying=self.retrying)


@dataclass(slots=True, eq=False)
class _Subscriber:
    """What was told to one watcher, and the watcher has not passed on yet."""

    notes: list[_Note] = field(default_factory=list)
    """Also of tasks the watcher has not seen yet, and of other runs."""
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, note: _Note) -> None:
        """Keep a note, and wake the watcher."""
        self.notes.append(note)
        self.came.set()

    def take(self, tasks: Mapping[str, Task], before: int) -> list[_Note]:
        """Take the notes of known tasks; the first ``before`` of the others are of other runs, and are dropped.

        A task speaks only once it is written down, so a look finds each task of the run that spoke before the look.
        """
        found = [note for note in self.notes if note.task_id in tasks]
        self.notes = [note for note in self.notes[before:] if note.task_id not in tasks]
        return found

    def take_said(self, tasks: Mapping[str, Task]) -> list[_Note]:
        """Take what models said in known tasks."""
        found = [note for note in self.notes if note.text and note.task_id in tasks]
        self.notes = [note for note in self.notes if not note.text or note.task_id not in tasks]
        return found


class Watchers:
    """All listeners in this process to models and to programs."""

    def __init__(self) -> None:
        self.listeners = OutputListeners()
        self._subscribers: set[_Subscriber] = set()
        self._notes: deque[_Note] = deque(maxlen=MOST_NOTES)
        """The newest, for those who come to watch a task that is at work already."""

    def say(self, task_id: str, text: str) -> None:
        """Pass on a piece of text; called on the event loop, as models answer there."""
        self._tell(_Note(stamp(utc_now()), task_id, text=text))

    def retry(self, task_id: str, retrying: Retrying) -> None:
        """Pass on that a model is asked again."""
        self._tell(_Note(stamp(utc_now()), task_id, retrying=retrying))

    def _tell(self, note: _Note) -> None:
        self._notes.append(note)
        for subscriber in self._subscribers:
            subscriber.tell(note)

    async def watch(
        self, store: Store, threads: Threads, task_id: str, seen: dict[str, int] | None = None
    ) -> AsyncIterator[RunEvent]:
        """Yield what happens in a task and all below it, from its beginning, until it has ended.

        ``seen`` says how many entries of which task are known already.
        """
        following, subscriber = _WatchedRun(task_id, seen or {}), _Subscriber()
        subscriber.notes += [note for note in self._notes if note.task_id not in (seen or {})]
        self._subscribers.add(subscriber)
        try:
            with self.listeners.queue() as queue:
                while True:
                    # This is taken before the look, so that the look finds the entries that led to it.
                    printed = queue.take()
                    early = len(subscriber.notes)
                    found = await threads.run(store.read, following.look)
                    printed += queue.take({one.entry.call_id for one in found if one.entry})
                    found = _with_notes(found, subscriber.take(following.tasks, early), following.tasks)
                    for event in _in_order(found, printed, following.tasks):
                        yield event
                    if following.has_ended:
                        return
                    async for event in _texts_of(subscriber, following.tasks):
                        yield event
        finally:
            self._subscribers.discard(subscriber)


def _with_notes(found: list[RunEvent], notes: list[_Note], tasks: Mapping[str, Task]) -> list[RunEvent]:
    """Return the new entries and the notes in the order of time; that only people can go on comes last."""
    left = deque(notes)
    mixed: list[RunEvent] = []
    for one in found:
        while left and (one.entry is None or left[0].at < one.entry.at):
            mixed.append(left.popleft().event(tasks))
        mixed.append(one)
    return mixed + [note.event(tasks) for note in left]


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
        elif entry.kind not in _NO_ENDS and entry.call_id not in agreed:
            yield from of_call.pop(entry.call_id, ())
        yield event
    yield from chain.from_iterable(of_call.values())


async def _texts_of(subscriber: _Subscriber, tasks: Mapping[str, Task]) -> AsyncIterator[RunEvent]:
    """Yield what models say during the next GLANCE_SECONDS."""
    loop = asyncio.get_running_loop()
    until = loop.time() + GLANCE_SECONDS
    while (left := until - loop.time()) > 0:
        subscriber.came.clear()
        for note in subscriber.take_said(tasks):
            yield note.event(tasks)
        with suppress(TimeoutError):
            await asyncio.wait_for(subscriber.came.wait(), left)


class _WatchedRun:
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
        tasks = tasks_below(view, top)
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
