"""Relay bytes between a job and a server, both ways, counted, until one side ends."""

import asyncio
import socket
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from brasstag.sandbox.network.door.passages import DoorTraffic, Passage
from brasstag.sandbox.network.door.request import ProxyRequest, TurnedAway

IDLE_SECONDS = 120.0
"""How long both may be silent."""

_PIECE = 65_536
# A socket that waits no second for what it has not sent yet is closed with a reset.
_WITH_AN_ERROR = struct.pack("ii", 1, 0)

Counts = Callable[[int], None]
"""Counts bytes that are about to go on; raises TurnedAway where they may not."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of a connection that are ours."""

    reader: StreamReader
    writer: StreamWriter


async def relay(
    asked: ProxyRequest, inside: Ends, outside: Ends, passages: DoorTraffic, passage: Passage
) -> None:
    """Relay until the server has ended; raise TimeoutError when both are silent for long, and OSError."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(IDLE_SECONDS) as idle:

        def sent(size: int) -> None:
            passages.send(passage, size)
            idle.reschedule(loop.time() + IDLE_SECONDS)

        def received(size: int) -> None:
            passages.receive(passage, size)
            idle.reschedule(loop.time() + IDLE_SECONDS)

        sending = asyncio.create_task(_send(asked, inside, outside, sent))
        try:
            await _pump(outside, inside, received)
        except TurnedAway as turned:
            passages.turn_away(turned)
            break_off(inside)
        finally:
            sending.cancel()
            (ended,) = await asyncio.gather(sending, return_exceptions=True)
        if isinstance(ended, TurnedAway):
            passages.turn_away(ended)


async def _send(asked: ProxyRequest, inside: Ends, outside: Ends, count: Counts) -> None:
    is_whole = False
    try:
        is_whole = not await _pump(inside, outside, count, asked.body_bytes)
    finally:
        if not is_whole:
            break_off(outside)
    if asked.is_tunnel:
        outside.writer.write_eof()


async def _pump(source: Ends, sink: Ends, count: Counts, most: int | None = None) -> int | None:
    """Pass on what comes, and return how much of ``most`` never came."""
    while data := await source.reader.read(_PIECE if most is None else min(_PIECE, most)):
        count(len(data))
        sink.writer.write(data)
        await sink.writer.drain()
        most = None if most is None else most - len(data)
    return most


def break_off(ends: Ends) -> None:
    """End a connection with an error, so that the other end does not take a part for the whole."""
    with suppress(OSError):
        ends.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _WITH_AN_ERROR)
    _abort(ends)


async def let_go(ends: Ends, seconds: float) -> None:
    """Close a connection; an end that does not take the remaining bytes in time does not get them."""
    try:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(seconds):
                ends.writer.close()
                await ends.writer.wait_closed()
    finally:
        _abort(ends)


def _abort(ends: Ends) -> None:
    # A transport that was closed once its last bytes had gone has no event loop any more, and cannot be aborted.
    with suppress(AttributeError):
        ends.writer.transport.abort()
