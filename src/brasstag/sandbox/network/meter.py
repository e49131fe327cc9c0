"""A connection from which no more bytes are read than agreed."""

import ssl
from dataclasses import dataclass
from typing import Any

import httpcore2


class TooMuch(Exception):
    """The other side sent more than was agreed."""


@dataclass(slots=True)
class Meter:
    """How many bytes may still come."""

    left: int

    def count(self, data: bytes) -> bytes:
        """Return the bytes, or raise TooMuch."""
        self.left -= len(data)
        if self.left < 0:
            raise TooMuch
        return data


class MeteredStream(httpcore2.AsyncNetworkStream):
    """A stream whose bytes are counted as they are read: those inside TLS, where there is TLS."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream, meter: Meter) -> None:
        self._stream = stream
        self._meter = meter

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the interface of the client
        """Read some bytes; raise TooMuch."""
        return self._meter.count(await self._stream.read(max_bytes, timeout))

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Write all of it."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore2.AsyncNetworkStream:
        """Go on inside TLS."""
        inside = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        return MeteredStream(inside, self._meter)

    def get_extra_info(self, info: str) -> Any:
        """Return what the stream knows of itself."""
        return self._stream.get_extra_info(info)
