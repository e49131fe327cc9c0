"""Servers on this machine that play the open internet: each counts who connects and keeps what was said to it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address

from brasstag.sandbox.network.addresses import Address
from brasstag.sandbox.network.guard import WebGuard

Writes = Callable[[asyncio.StreamWriter, str], Awaitable[None]]
"""Answers a request; gets its target."""

OUTSIDE = "127.0.0.2"
"""Plays a public address."""


@dataclass
class Server:
    """A server and what happened to it."""

    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "site.test", scheme: str = "http") -> str:
        """Return an address that leads here."""
        return f"{scheme}://{host}:{self.port}{path}"


class Names:
    """Leads every name to one place, but for those it is told about."""

    def __init__(self, **others: str) -> None:
        self.others = others
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> list[Address]:
        """Return the address of a name."""
        self.asked.append(host)
        return [ip_address(self.others.get(host.partition(".")[0], OUTSIDE))]


def guard_for(*servers: Server, tls: ssl.SSLContext | None = None, names: Names | None = None) -> WebGuard:
    """Return a guard to whom exactly one address is public."""
    ports = [server.port for server in servers]
    return WebGuard(names or Names(), ports=ports, public=lambda address: str(address) == OUTSIDE, tls=tls)


@asynccontextmanager
async def serving(
    write: Writes, host: str = OUTSIDE, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """Run a server that reads one request from each connection."""
    server = Server()
    busy: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        busy.add(task)
        server.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            server.requests.append(head + await reader.readexactly(int(length or 0)))
            await write(writer, head.split(b" ", 2)[1].decode())
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            busy.discard(task)
            writer.close()

    listening = await asyncio.start_server(answer, host, 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


def replying(body: bytes = b"ok", status: str = "200 OK", **headers: str) -> Writes:
    """Return what answers every request the same."""

    async def write(writer: asyncio.StreamWriter, _target: str) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        await writer.drain()

    return write


def redirecting(to: Callable[[str], str | None], status: str = "302 Found") -> Writes:
    """Return what sends each target on to where ``to`` says, and answers where it says None."""

    async def write(writer: asyncio.StreamWriter, target: str) -> None:
        where = to(target)
        answer = replying() if where is None else replying(b"moved", status, Location=where)
        await answer(writer, target)

    return write
