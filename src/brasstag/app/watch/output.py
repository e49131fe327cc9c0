"""What programs print, passed from the threads that run them to listeners in this process."""

import asyncio
import codecs
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import get_args

from brasstag.sandbox.process.output import OnOutput, Stream
from brasstag.words.calls import Call

MOST_HELD = 1 << 20
"""How many characters are held for one listener: the whole output of a call, as long as it is the only one."""
_PIECE_WEIGHS = 100
"""How much a piece counts beside its characters, so that very many tiny pieces reach the limit, too."""

TELL_SECONDS = 0.05
"""How often a callback is told what has come."""


@dataclass(frozen=True, slots=True)
class Output:
    """A piece of what a program printed, told while it runs."""

    call_id: str
    task_id: str
    tool: str
    stream: Stream
    text: str
    left_out: int = 0
    """How many characters are missing before this piece: they came faster than the listener took them."""


Listener = Callable[[Output], None]


class OutputQueue:
    """What one listener has not taken yet; filled by threads that never wait for the listener."""

    def __init__(self, only_call: str = "") -> None:
        self._only_call = only_call
        self._lock = threading.Lock()
        self._pieces: deque[Output] = deque()
        self._weight = 0
        self._missing: dict[tuple[str, Stream], Output] = {}

    def put(self, piece: Output) -> None:
        """Add a piece; where there is no space, the oldest pieces are left out and only counted."""
        if self._only_call not in ("", piece.call_id):
            return
        with self._lock:
            self._pieces.append(piece)
            self._weight += _weight(piece)
            while self._weight > MOST_HELD:
                self._leave_out(self._pieces.popleft())

    def take(self, calls: Container[str] | None = None) -> list[Output]:
        """Take what has come, of some calls or of all; what one stream printed in a row comes as one piece."""
        with self._lock:
            missing = [key for key in self._missing if calls is None or key[0] in calls]
            found = [self._missing.pop(key) for key in missing]
            found += [piece for piece in self._pieces if calls is None or piece.call_id in calls]
            left = [piece for piece in self._pieces if calls is not None and piece.call_id not in calls]
            self._pieces = deque(left)
            self._weight = sum(map(_weight, left))
        return list(_joined(found))

    def _leave_out(self, piece: Output) -> None:
        self._weight -= _weight(piece)
        key = (piece.call_id, piece.stream)
        before = self._missing.get(key, replace(piece, text=""))
        self._missing[key] = replace(before, left_out=before.left_out + len(piece.text))


class OutputListeners:
    """All listeners in this process to the output of programs."""

    def __init__(self) -> None:
        # Replaced as a whole, on the event loop only: a thread that goes through it never sees it change.
        self._queues: tuple[OutputQueue, ...] = ()

    def of(self, call: Call) -> OnOutput:
        """Return the function that takes the output of a call's programs; the thread that runs them calls it."""
        # A character may come in two pieces.
        decoders = {stream: codecs.getincrementaldecoder("utf-8")("replace") for stream in get_args(Stream)}

        def tell(stream: Stream, data: bytes) -> None:
            text = decoders[stream].decode(data)
            if text:
                piece = Output(call.id, call.task_id, call.tool, stream, text)
                for queue in self._queues:
                    queue.put(piece)

        return tell

    def join(self, queue: OutputQueue) -> None:
        """Fill a queue from now on."""
        self._queues = (*self._queues, queue)

    @contextmanager
    def queue(self, only_call: str = "") -> Iterator[OutputQueue]:
        """Collect what is printed meanwhile, by one call or by all."""
        queue = OutputQueue(only_call)
        self.join(queue)
        try:
            yield queue
        finally:
            self._queues = tuple(other for other in self._queues if other is not queue)

    def telling(self, listener: Listener | None, only_call: str = "") -> AbstractAsyncContextManager[None]:
        """Tell a listener, on the event loop, what is printed meanwhile; all of it, before this is left."""
        return nullcontext() if listener is None else self._telling(listener, only_call)

    @asynccontextmanager
    async def _telling(self, listener: Listener, only_call: str) -> AsyncIterator[None]:
        with self.queue(only_call) as queue:
            telling = asyncio.create_task(_tell_on(listener, queue))
            try:
                yield
            finally:
                telling.cancel()
                with suppress(asyncio.CancelledError):
                    await telling
                _tell(listener, queue)


async def _tell_on(listener: Listener, queue: OutputQueue) -> None:
    while True:
        await asyncio.sleep(TELL_SECONDS)
        _tell(listener, queue)


def _tell(listener: Listener, queue: OutputQueue) -> None:
    for output in queue.take():
        try:
            listener(output)
        except Exception as error:  # noqa: BLE001 - a listener's mistake is no part of the call
            about = {"message": f"a listener to {output.call_id} raised an exception", "exception": error}
            asyncio.get_running_loop().call_exception_handler(about)


def _weight(piece: Output) -> int:
    return len(piece.text) + _PIECE_WEIGHS


def _joined(pieces: Iterable[Output]) -> Iterator[Output]:
    for _, group in groupby(pieces, key=lambda piece: (piece.call_id, piece.stream)):
        first, *rest = group
        yield replace(first, text="".join([first.text, *(piece.text for piece in rest)]))
