"""Watching a run: what is written on its timelines, in order, and what its models say meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from brasstag.engine.threads import Threads
from brasstag.store.books import Books
from brasstag.store.database import View
from brasstag.store.tasks import Task, get_task, tasks_of_tree
from brasstag.store.timeline import entries_since
from brasstag.words.events import Entry

GLANCE_SECONDS = 0.1
"""How often a watcher looks for what other processes wrote."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened in a run: an entry of a timeline, or a piece of what a model is saying."""

    task: Task
    entry: Entry | None = None
    text: str = ""


class Watchers:
    """Everybody in this process who listens to models."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[tuple[str, str]]] = set()

    def say(self, task_id: str, text: str) -> None:
        """Pass on a piece of text; called on the event loop, as models answer there."""
        for queue in self._queues:
            queue.put_nowait((task_id, text))

    async def watch(
        self, books: Books, threads: Threads, task_id: str, seen: dict[str, int] | None = None
    ) -> AsyncIterator[Happening]:
        """Yield what happens in a task and all below it, from its beginning, until it has ended.

        ``seen`` says how many entries of which task are known already.
        """
        following = _Following(task_id, seen or {})
        queue: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self._queues.add(queue)
        try:
            while True:
                for happening in await threads.run(books.read, following.look):
                    yield happening
                if following.has_ended:
                    return
                async for happening in _heard(queue, following.tasks.get):
                    yield happening
        finally:
            self._queues.discard(queue)


async def _heard(
    queue: "asyncio.Queue[tuple[str, str]]", find: Callable[[str], Task | None]
) -> AsyncIterator[Happening]:
    """Yield what models said until nothing more comes for a glance's time."""
    loop = asyncio.get_running_loop()
    until = loop.time() + GLANCE_SECONDS
    while (left := until - loop.time()) > 0:
        try:
            name, text = await asyncio.wait_for(queue.get(), left)
        except TimeoutError:
            return
        task = find(name)
        if task is not None:
            yield Happening(task, text=text)


class _Following:
    """How far one watcher has read."""

    def __init__(self, task_id: str, seen: dict[str, int]) -> None:
        self._top = task_id
        self._seen = dict(seen)
        self.tasks: dict[str, Task] = {}
        self.has_ended = False

    def look(self, view: View) -> list[Happening]:
        """Return what was written since the last look, in the order of time."""
        top = get_task(view, self._top)
        self._top = top.id
        found: list[Happening] = []
        for task in _below(top, tasks_of_tree(view, top.tree)):
            self.tasks[task.id] = task
            known = self._seen.get(task.id, 0)
            if task.next_seq > known:
                entries = entries_since(view, task.id, known)
                self._seen[task.id] = known + len(entries)
                found += [Happening(task, entry) for entry in entries]
        self.has_ended = top.has_ended
        found.sort(
            key=lambda one: (one.entry.at, one.entry.task_id, one.entry.seq) if one.entry else ("", "", 0)
        )
        return found


def _below(top: Task, tree: list[Task]) -> list[Task]:
    """Return a task and all below it; parents come before their children."""
    names = {top.id}
    found = [top]
    for task in tree:
        if task.parent_id in names and task.id not in names:
            names.add(task.id)
            found.append(task)
    return found
