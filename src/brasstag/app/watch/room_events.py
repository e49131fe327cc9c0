"""Events of a whole room, in order, for any number of watchers: one of them reads, and all are given what it found.

    watcher ── catches up from its own place in the store ──▶ then takes what the reader gives to all
    reader  ── looks every few dozen milliseconds, while there is a watcher

A watcher that is slower than the room loses nothing: what the reader has for it is dropped, and it catches up again.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, TypeVar

from brasstag.sandbox.threads import Threads
from brasstag.store.database.base import View
from brasstag.store.events.sequence import Event, EventId, events_since, is_kept, newest_event
from brasstag.store.store import Store
from brasstag.words.errors import Code, StoreError, ToolError

log = logging.getLogger("brasstag")

_T = TypeVar("_T")

LOOK_SECONDS = 0.05
"""How often the reader looks."""

MOST_HELD = 64
"""How many looks with something new are held for one watcher."""


class _EventReader(NamedTuple):
    task: asyncio.Task[None]
    place: asyncio.Future[EventId]
    """Done once it is known after which event it reads."""

    @property
    def is_ending(self) -> bool:
        return self.task.done() or bool(self.task.cancelling())


class RoomEvents:
    """All watchers of one open room."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store = store
        self._threads = threads
        self._watchers: set[asyncio.Queue[Sequence[Event]]] = set()
        self._reader: _EventReader | None = None

    async def newest(self) -> EventId:
        """Return the id of the newest event."""
        return await self._look(newest_event)

    async def watch(self, after: EventId | None = None) -> AsyncIterator[Event]:
        """Yield what happens, without end, after an event or from now on.

        Raises ToolError NOT_KEPT where some of it is no longer kept: the watcher has to look at everything anew.
        """
        seen = await self.newest() if after is None else after
        with self._joined() as queue:
            while True:
                # The reader's place is fixed before this watcher catches up, so nothing falls between the two.
                await self._reading()
                async for event in self._caught_up(seen):
                    seen = event.id
                    yield event
                async for event in _taken(queue, seen):
                    seen = event.id
                    yield event

    async def close(self) -> None:
        """Stop reading."""
        if self._reader is not None:
            self._reader.task.cancel()
            await asyncio.wait([self._reader.task])

    @contextmanager
    def _joined(self) -> Iterator[asyncio.Queue[Sequence[Event]]]:
        queue: asyncio.Queue[Sequence[Event]] = asyncio.Queue(MOST_HELD)
        self._watchers.add(queue)
        try:
            yield queue
        finally:
            self._watchers.discard(queue)
            if not self._watchers and self._reader is not None:
                self._reader.task.cancel()

    async def _reading(self) -> None:
        """Let the reader begin where it has not, and wait until its place is fixed."""
        if self._reader is None or self._reader.is_ending:
            place: asyncio.Future[EventId] = asyncio.get_running_loop().create_future()
            self._reader = _EventReader(asyncio.create_task(self._read(place)), place)
        await asyncio.wait(self._reader, return_when=asyncio.FIRST_COMPLETED)

    async def _caught_up(self, seen: EventId) -> AsyncIterator[Event]:
        """Yield what is in the store already."""
        while found := await self._look(partial(_since, after=seen)):
            for event in found:
                yield event
            seen = found[-1].id

    async def _read(self, place: asyncio.Future[EventId]) -> None:
        try:
            seen = await self._look(newest_event)
            place.set_result(seen)
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                found = await self._look(partial(events_since, after=seen))
                if found:
                    seen = found[-1].id
                    self._give(found)
        except StoreError as error:
            # The database is away, or busy. Each watcher catches up by itself, and is told where that fails, too.
            log.info("reading events was cut short: %s", error)
            self._give(())

    def _give(self, found: Sequence[Event]) -> None:
        for queue in self._watchers:
            _give(queue, found)

    async def _look(self, look: Callable[[View], _T]) -> _T:
        return await self._threads.run(self._store.read, look)


def _since(view: View, after: EventId) -> Sequence[Event]:
    if not is_kept(view, after):
        raise ToolError(
            Code.NOT_KEPT, f"what came after event {after} is not kept any more; look at everything anew"
        )
    return events_since(view, after)


def _give(queue: asyncio.Queue[Sequence[Event]], found: Sequence[Event]) -> None:
    """Hand on what was found; a watcher that has no room for it is told by an empty look that it has to catch up."""
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        found = ()
    queue.put_nowait(found)


async def _taken(queue: asyncio.Queue[Sequence[Event]], seen: EventId) -> AsyncIterator[Event]:
    """Yield what the reader finds, until some of it was dropped."""
    while found := await queue.get():
        for event in found:
            if event.id > seen:
                yield event
