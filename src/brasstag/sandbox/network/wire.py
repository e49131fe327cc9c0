"""One request to exactly the judged addresses, and its answer."""

import asyncio
import ssl
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import httpcore2

from brasstag.sandbox.network.addresses import Address
from brasstag.sandbox.network.dial import SECONDS_PER_ADDRESS, first_to_answer
from brasstag.sandbox.network.headers import Headers
from brasstag.sandbox.network.inflate import ResponseBody
from brasstag.sandbox.network.locations import Location
from brasstag.sandbox.network.meter import Meter, MeteredStream, TooMuch

Truncated = Literal["size", "connection"]

HEAD_BYTES = 200_000
"""All that may come before a body: the status and headers, and any interim answers before them."""
RAW_SHARE = 2
"""How many bytes of chunks and compression may come for each byte that is kept of a body."""
MOST_PIECES = 50_000
"""Pieces in which a body may come."""
_PIECES_AT_A_TIME = 500

_CODINGS = {"": "", "identity": "", "gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}
_SENDING = "http11.send_request_headers.started"


class Unanswered(Exception):
    """The server could not be reached, or did not answer in HTTP."""


@dataclass(slots=True)
class Progress:
    """How far a request came."""

    begun: bool = False
    """Whether any of it was sent."""

    async def note(self, event: str, _info: Any) -> None:
        """Take in what the client says it is doing."""
        self.begun = self.begun or event == _SENDING


@dataclass(frozen=True, slots=True)
class Reply:
    """What one server answered."""

    status: int
    headers: Headers
    body: bytes
    truncated: Truncated | None = None
    coding: str = ""
    """The content coding of the body where it could not be undone."""


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to given addresses, whatever the name; nothing is looked up again."""

    def __init__(self, addresses: Sequence[Address], meter: Meter) -> None:
        self._addresses = addresses
        self._meter = meter
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the name was judged already; only its addresses count
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109, ARG002 - the interface of the client
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that answers."""
        stream = await first_to_answer(
            self._addresses,
            lambda address: self._inner.connect_tcp(address, port, timeout=SECONDS_PER_ADDRESS),
            (httpcore2.ConnectError, httpcore2.ConnectTimeout),
        )
        return MeteredStream(stream, self._meter)


@dataclass(frozen=True, slots=True)
class Request:
    """One request, ready to be sent."""

    method: str
    location: Location
    headers: Headers
    body: bytes = b""


async def exchange(
    request: Request,
    addresses: Sequence[Address],
    most_bytes: int,
    progress: Progress,
    tls: ssl.SSLContext,
) -> Reply:
    """Send a request over a connection of its own and read the answer; raise Unanswered."""
    place = request.location
    origin = httpcore2.Origin(place.scheme.encode(), place.host.encode(), place.port)
    meter = Meter(HEAD_BYTES)
    connection = httpcore2.AsyncHTTPConnection(
        origin, ssl_context=tls, network_backend=PinnedBackend(addresses, meter)
    )
    try:
        response = await connection.handle_async_request(_sendable(request, progress))
        meter.left += RAW_SHARE * most_bytes
        return await _read(response, most_bytes)
    except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
        raise Unanswered(str(error)[:200] or "the connection failed") from None
    except TooMuch:
        raise Unanswered(f"it sent more than {HEAD_BYTES} bytes before its answer began") from None
    except httpcore2.ProtocolError:
        # Its words may quote what the server sent.
        raise Unanswered("what it answered is not HTTP, or its headers are too long") from None
    finally:
        await connection.aclose()


def _sendable(request: Request, progress: Progress) -> httpcore2.Request:
    place = request.location
    headers: Headers = [
        (b"Host", place.authority.encode()),
        (b"Accept-Encoding", b"gzip, deflate"),
        (b"Connection", b"close"),
        *request.headers,
    ]
    given = {name.lower() for name, _ in headers}
    usual = ((b"User-Agent", b"Brasstag"), (b"Accept", b"*/*"))
    headers += [one for one in usual if one[0].lower() not in given]
    if request.method != "GET":
        headers.append((b"Content-Length", str(len(request.body)).encode()))
    return httpcore2.Request(
        request.method,
        httpcore2.URL(scheme=place.scheme, host=place.host, port=place.port, target=place.target),
        headers=headers,
        content=request.body,
        extensions={"trace": progress.note},
    )


async def _read(response: httpcore2.Response, most_bytes: int) -> Reply:
    named = b",".join(value for name, value in response.headers if name.lower() == b"content-encoding")
    coding = named.decode("latin-1").strip().lower()
    body = ResponseBody(most_bytes, _CODINGS.get(coding, ""))
    truncated = await _fill(body, response)
    unknown = "" if coding in _CODINGS else coding
    return Reply(response.status, list(response.headers), body.kept, truncated, unknown)


async def _fill(body: ResponseBody, response: httpcore2.Response) -> Truncated | None:
    """Take in a body, and say what cut it short, if anything did."""
    pieces = 0
    try:
        async for data in response.aiter_stream():
            pieces += 1
            if not body.take(data) or pieces > MOST_PIECES:
                return "size"
            if pieces % _PIECES_AT_A_TIME == 0:
                await asyncio.sleep(0)  # small ones come without any wait in which others have their turn
    except TooMuch:
        return "size"
    except (httpcore2.NetworkError, httpcore2.ProtocolError, zlib.error):
        return "connection"
    # A server that gives no length ends a body by closing. Only compression shows whether it is complete.
    return None if body.is_whole else "connection"
