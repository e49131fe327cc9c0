"""Decompress bodies, up to a limit."""

import zlib

_GZIP = 31
_RAW = -15

MOST_MEMBERS = 1_000
"""Streams that may follow one another in one gzip body; each costs time, even if it holds nothing."""


class Inflater:
    """Opens one compressed stream piece by piece; raises zlib.error where it is broken."""

    def __init__(self, coding: str) -> None:
        self._gzip = coding == "gzip"
        self._stream = self._new()
        self._begun = False
        self._members = 1

    @property
    def is_whole(self) -> bool:
        """Whether the stream has come to its own end; one that has not begun counts as such."""
        return self._stream.eof or not self._begun

    def feed(self, data: bytes, most: int) -> bytes:
        """Return what some bytes open to, at most so many; what does not fit is lost."""
        opened = b""
        while data and len(opened) < most:
            if self._stream.eof:
                if not self._gzip:
                    break
                self._next_member()  # a gzip file may have several
            opened += self._opened(data, most - len(opened))
            data = self._stream.unused_data
        return opened

    def _opened(self, data: bytes, most: int) -> bytes:
        try:
            opened = self._stream.decompress(data, most)
        except zlib.error:
            if self._gzip or self._begun:
                raise
            # What is called deflate comes with or without a wrapper, depending on the server.
            self._stream = zlib.decompressobj(_RAW)
            opened = self._stream.decompress(data, most)
        self._begun = True
        return opened

    def _next_member(self) -> None:
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise zlib.error("too many members")
        self._stream = self._new()

    def _new(self) -> "zlib._Decompress":
        return zlib.decompressobj(_GZIP) if self._gzip else zlib.decompressobj()


class ResponseBody:
    """What is kept of an answer: its decoded bytes, up to a limit."""

    def __init__(self, most: int, coding: str) -> None:
        self._most = most
        self._kept = bytearray()
        self._inflater = Inflater(coding) if coding else None

    def take(self, data: bytes) -> bool:
        """Keep some more bytes; return False once there is no room for more."""
        room = self._most + 1 - len(self._kept)
        self._kept += self._inflater.feed(data, room) if self._inflater else data[:room]
        return not self.overflows

    @property
    def is_whole(self) -> bool:
        """Whether a compressed body has come to its own end."""
        return self._inflater is None or self._inflater.is_whole

    @property
    def overflows(self) -> bool:
        """Whether there was more than is kept."""
        return len(self._kept) > self._most

    @property
    def kept(self) -> bytes:
        """The bytes within the limit."""
        return bytes(self._kept[: self._most])
