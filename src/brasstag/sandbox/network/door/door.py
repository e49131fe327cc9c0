"""The door: lets a confined job reach the hosts it was granted, by the guard's rules, and no others.

It is an HTTP proxy outside of the run, on a socket that listens inside: names are resolved and judged here, once a
connection, and what was judged is what is connected to.
"""

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from http import HTTPStatus
from typing import Any

from brasstag.sandbox.network.dial import SECONDS_PER_ADDRESS, first_to_answer
from brasstag.sandbox.network.door.passages import DoorTraffic, TrafficLimit
from brasstag.sandbox.network.door.relay import IDLE_SECONDS, Ends, break_off, let_go, relay
from brasstag.sandbox.network.door.request import LONGEST_HEAD, ProxyRequest, TurnedAway, read_asked
from brasstag.sandbox.network.guard import WebGuard
from brasstag.sandbox.network.locations import DEFAULT_PORTS, Location, read_host
from brasstag.words.errors import ToolError

MOST_VISITS = 10_000
"""How many connections a run may make. Then its door is shut, so that the run cannot flood a host with connections."""
HEAD_SECONDS = 10.0
DIAL_SECONDS = 20.0
LINGER_SECONDS = 1.0

_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_A_MOMENT = 0.05


class GuardedDoor:
    """Leads one run to the hosts that were granted to it."""

    def __init__(self, guard: WebGuard, hosts: Sequence[str], allowance: TrafficLimit | None = None) -> None:
        """Take hosts as ``name`` for the usual ports or ``name:port``; raise ToolError for a host no run may reach."""
        places = [read_host(host) for host in hosts]
        for place in places:
            guard.check_port(place)
        self._guard = guard
        self._allowance = allowance or TrafficLimit()
        self._granted = frozenset((place.host, port) for place in places for port in _ports(place))
        self.hosts = tuple(dict.fromkeys(place.authority for place in places))
        self.passages = DoorTraffic(self._allowance)

    @contextmanager
    def serve(self, listener: socket.socket) -> Iterator[None]:
        """Serve every client that connects to a socket, as long as the block runs; nothing of it is left afterwards."""
        with closing(asyncio.new_event_loop()) as loop:
            attending = loop.create_task(self._attend_all(listener))
            thread = threading.Thread(target=_until_done, args=(loop, attending), name="door")
            thread.start()
            try:
                yield
            finally:
                loop.call_soon_threadsafe(attending.cancel)
                thread.join()

    async def _attend_all(self, listener: socket.socket) -> None:
        room = asyncio.Semaphore(self._allowance.connections)
        listener.setblocking(False)
        async with asyncio.TaskGroup() as visits:
            for _ in range(MOST_VISITS):
                await room.acquire()
                end = await _next_visitor(listener)
                visit = visits.create_task(self._attend(end))
                # Even a visit that is called off before it began has its socket closed.
                visit.add_done_callback(partial(_leave, end, room))
            listener.close()

    async def _attend(self, end: socket.socket) -> None:
        inside = Ends(*await asyncio.open_connection(sock=end, limit=LONGEST_HEAD))
        try:
            await self._let_through(inside)
        except TurnedAway as turned:
            self.passages.turn_away(turned)
            await _say_no(inside, turned)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            # One of the two has gone, or no bytes came for a long time.
            break_off(inside)
        finally:
            await let_go(inside, IDLE_SECONDS)

    async def _let_through(self, inside: Ends) -> None:
        asked = await _read_request(inside)
        outside = await self._reach(asked)
        try:
            passage = self.passages.reach(*asked.server)
            if asked.is_tunnel:
                inside.writer.write(_ESTABLISHED)
            else:
                self.passages.send(passage, len(asked.head))
                outside.writer.write(asked.head)
            await relay(asked, inside, outside, self.passages, passage)
        finally:
            await let_go(outside, LINGER_SECONDS)

    async def _reach(self, asked: ProxyRequest) -> Ends:
        place, name = asked.place, "{}:{}".format(*asked.server)
        if asked.server not in self._granted:
            raise TurnedAway(403, f"{name} was not granted to this run; name it in `network`", name)
        try:
            async with asyncio.timeout(DIAL_SECONDS):
                addresses = await self._guard.admitted(place)
                return await first_to_answer(
                    addresses, partial(_connect, place.port), (OSError, TimeoutError)
                )
        except ToolError as refused:
            raise TurnedAway(403, refused.message, name) from None
        except TimeoutError:
            raise TurnedAway(504, f"{name} did not answer in time", name) from None
        except OSError:
            raise TurnedAway(502, f"{name} could not be connected to", name) from None


def _ports(place: Location) -> Sequence[int]:
    """Return the ports a host stands for: both of the web where none, or that of https, was named."""
    return tuple(DEFAULT_PORTS.values()) if place.port == DEFAULT_PORTS["https"] else (place.port,)


def _until_done(loop: asyncio.AbstractEventLoop, attending: "asyncio.Task[None]") -> None:
    with suppress(asyncio.CancelledError):
        loop.run_until_complete(attending)


async def _next_visitor(listener: socket.socket) -> socket.socket:
    """Wait for a connection; taken in one step, so that none is lost when the door is shut meanwhile."""
    loop = asyncio.get_running_loop()
    while True:
        ready = asyncio.Event()
        loop.add_reader(listener, ready.set)
        try:
            await ready.wait()
            return listener.accept()[0]
        except OSError:
            # It has gone again, or this process has no descriptor left for it.
            await asyncio.sleep(_A_MOMENT)
        finally:
            loop.remove_reader(listener)


def _leave(end: socket.socket, room: asyncio.Semaphore, _visit: Any) -> None:
    end.close()
    room.release()


async def _read_request(inside: Ends) -> ProxyRequest:
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            return read_asked(await inside.reader.readuntil(b"\r\n\r\n"))
    except TimeoutError:
        raise TurnedAway(408, f"the request was not there within {HEAD_SECONDS:g} s") from None
    except asyncio.LimitOverrunError:
        raise TurnedAway(431, f"the head of the request has more than {LONGEST_HEAD} bytes") from None


async def _connect(port: int, address: str) -> Ends:
    async with asyncio.timeout(SECONDS_PER_ADDRESS):
        return Ends(*await asyncio.open_connection(address, port))


async def _say_no(inside: Ends, turned: TurnedAway) -> None:
    """Say why, also in the first line, as many programs show only that; then read on, or the answer may be lost."""
    body = f"{turned.why}\n".encode(errors="replace")
    head = (
        f"HTTP/1.1 {turned.status} {HTTPStatus(turned.status).phrase}: {turned.why}\r\n"
        f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            inside.writer.write(head.encode("ascii", "replace") + body)
            inside.writer.write_eof()
            while not inside.reader.at_eof():
                await inside.reader.read(LONGEST_HEAD)
