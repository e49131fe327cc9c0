"""Records what programs of this process print, for watchers in other processes, while their calls go on."""

import asyncio
import logging

from brasstag.app.watch.output import Output, OutputQueue
from brasstag.sandbox.threads import Threads
from brasstag.store.events.output import PrintedPiece
from brasstag.store.store import Store
from brasstag.words.errors import StoreError

log = logging.getLogger("brasstag")

RECORD_SECONDS = 0.5
"""How long output is gathered before it is recorded; what a call printed that ends sooner is never recorded here."""


class OutputRecorder(OutputQueue):
    """Gathers what programs print, and records it now and then; nothing runs while no program prints."""

    def __init__(self, store: Store, threads: Threads) -> None:
        super().__init__()
        self._store = store
        self._threads = threads
        self._loop = asyncio.get_running_loop()
        self._is_due = False
        self._recording: asyncio.Task[None] | None = None

    def put(self, piece: Output) -> None:
        """Add a piece; called by the threads that run programs."""
        super().put(piece)
        if not self._is_due and not self._loop.is_closed():
            self._is_due = True
            self._loop.call_soon_threadsafe(self._begin)

    async def close(self) -> None:
        """Record nothing more."""
        if self._recording is not None:
            self._recording.cancel()
            await asyncio.wait([self._recording])

    def _begin(self) -> None:
        self._recording = asyncio.create_task(self._record())

    async def _record(self) -> None:
        await asyncio.sleep(RECORD_SECONDS)
        # Before the look: a piece that comes after it is recorded the next time.
        self._is_due = False
        printed = [
            PrintedPiece(one.task_id, one.call_id, one.tool, one.stream, one.text, one.left_out)
            for one in self.take()
        ]
        try:
            await self._threads.run(self._store.record_output, printed)
        except StoreError as error:
            log.info("output of programs was not recorded: %s", error)
