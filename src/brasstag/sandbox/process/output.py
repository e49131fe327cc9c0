"""The part of a program's output that is kept."""

import os
from collections.abc import Callable
from typing import Literal

Stream = Literal["stdout", "stderr"]
OnOutput = Callable[[Stream, bytes], None]
"""Called with every piece of output that is kept, as it comes."""

FLOOD = 8
"""How many times as much as is kept may come before it is a flood."""
_CHUNK = 1 << 16


class KeptOutput:
    """One output: its first bytes, and how many there were."""

    def __init__(self, stream: Stream, descriptor: int, limit: int, tell: OnOutput) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.seen = 0
        self._stream: Stream = stream
        self._limit = limit
        self._tell = tell
        self._pieces: list[bytes] = []

    @property
    def data(self) -> bytes:
        """What was kept."""
        return b"".join(self._pieces)

    @property
    def is_truncated(self) -> bool:
        """Whether there was more."""
        return self.seen > self._limit

    @property
    def is_flood(self) -> bool:
        """Whether there was far more than a reader will ever read."""
        return self.seen > FLOOD * self._limit

    def read(self) -> bool:
        """Read one piece; False when there is none now, or there will never be another."""
        try:
            piece = os.read(self.descriptor, _CHUNK)
        except BlockingIOError:
            return False
        kept = piece[: max(0, self._limit - self.seen)]
        self.seen += len(piece)
        if kept:
            self._pieces.append(kept)
            self._tell(self._stream, kept)
        return bool(piece)
