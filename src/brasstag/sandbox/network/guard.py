"""The guard: the only way to the web. Names are resolved once, judged, and connected to as judged; so is each redirect."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Protocol

from brasstag.sandbox.network.addresses import Address, is_public
from brasstag.sandbox.network.headers import Headers, checked_headers
from brasstag.sandbox.network.locations import DEFAULT_PORTS, Location, read_location, read_reference
from brasstag.words.errors import Code, ToolError

if TYPE_CHECKING:
    from brasstag.sandbox.network.wire import Progress, Request

MOST_BYTES = 5 * 1024 * 1024
MOST_SECONDS = 30.0
MOST_REDIRECTS = 5

_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Follows = Callable[[Location, Location], bool]
"""Whether a redirect from the first to the second may be followed."""


class NoAnswer(Exception):
    """A request that may act was sent, and no answer came: whether it took effect is not known."""


@dataclass(frozen=True, slots=True)
class WebResponse:
    """What came back from the web; every byte of it was written by a stranger."""

    url: str
    """Where it came from in the end."""
    status: int
    headers: Mapping[str, str]
    """By their names in lower case; several of one name are joined."""
    body: bytes
    """Decoded, up to the limit."""
    truncated: str | None = None
    """``size`` or ``connection`` where there was more."""
    coding: str = ""
    """The content coding of the body where it could not be undone."""
    redirects: tuple[str, ...] = ()
    """Where it passed through."""
    location: str | None = None
    """Where it points on to, where that was not followed."""


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """What is fetched, and how much of it."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] | None = None
    body: str = ""
    seconds: float = MOST_SECONDS
    most_bytes: int = MOST_BYTES


def same_origin(here: Location, there: Location) -> bool:
    """Follow only what stays with the server."""
    return here.origin == there.origin


class Resolver(Protocol):
    """Finds the addresses of names."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """Return every address of a name; none where it has none."""


class SystemResolver:
    """Resolves names as the system does."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """Return every address of a name; none where it has none."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return ()
        # A scope such as %eth0 can only belong to an address that is refused anyway.
        texts = (str(place[0]).partition("%")[0] for *_, place in found)
        return tuple(dict.fromkeys(map(ip_address, texts)))


class WebGuard:
    """Fetches from the open internet, and from nowhere else."""

    def __init__(
        self,
        resolver: Resolver | None = None,
        ports: Collection[int] = (),
        origin: str = "",
        public: Callable[[Address], bool] = is_public,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Take ports besides 80 and 443, and the one origin that may be internal, which an operator chooses."""
        self._resolver = resolver or SystemResolver()
        self._ports = frozenset({*DEFAULT_PORTS.values(), *ports})
        self._origin = read_location(origin).origin if origin else ""
        self._public = public
        self._tls = tls

    async def fetch(self, wanted: FetchRequest, follows: Follows = same_origin) -> WebResponse:
        """Fetch what a fetch request asks for.

        Raises ToolError where nothing can have happened, and Unheard where something may have.
        """
        try:
            from brasstag.sandbox.network.wire import Progress, Request, Unanswered  # noqa: PLC0415 - heavy
        except ImportError:
            said = "the web needs a client that is not installed"
            hint = "run `pip install 'brasstag[web]'`"
            raise ToolError(Code.NOT_SUPPORTED, said, hint=hint) from None

        headers = checked_headers(wanted.headers or {})
        request = Request(wanted.method, read_location(wanted.url), headers, wanted.body.encode())
        progress = Progress()
        try:
            async with asyncio.timeout(wanted.seconds):
                return await self._follow(request, wanted.most_bytes, progress, follows)
        except TimeoutError:
            code, said = Code.TIMEOUT, f"there was no whole answer within {wanted.seconds:g} s"
        except Unanswered as error:
            code, said = Code.FETCH_FAILED, str(error)
        if progress.begun and wanted.method != "GET":
            raise NoAnswer(f"the request was sent to {request.location.origin}, but {said}")
        raise ToolError(code, f"{request.location.origin}: {said}")

    async def _follow(
        self, request: "Request", most_bytes: int, progress: "Progress", follows: Follows
    ) -> WebResponse:
        from brasstag.sandbox.network.wire import exchange  # noqa: PLC0415

        passed: list[str] = []
        while True:
            here = request.location
            addresses = await self.admitted(here)
            reply = await exchange(request, addresses, most_bytes, progress, await self._trust())
            answer = WebResponse(
                here.url,
                reply.status,
                _joined(reply.headers),
                reply.body,
                reply.truncated,
                reply.coding,
                tuple(passed),
            )
            pointed = answer.headers.get("location", "")
            if reply.status not in _REDIRECTS or not pointed:
                return answer
            there = _followed(here, pointed, follows) if request.method == "GET" else None
            if there is None:
                return replace(answer, location=_absolute(here, pointed))
            passed.append(here.url)
            if len(passed) > MOST_REDIRECTS:
                said = f"it redirects more than {MOST_REDIRECTS} times"
                raise ToolError(Code.FETCH_FAILED, said, {"redirects": passed})
            # Headers that a caller sends to one server must not go to another server.
            kept = request.headers if there.origin == here.origin else []
            request = replace(request, location=there, headers=kept)

    def check_port(self, place: Location) -> None:
        """Raise ToolError where a place has a port that no request may use."""
        if place.origin != self._origin and place.port not in self._ports:
            raise ToolError(
                Code.ADDRESS_REFUSED,
                f"port {place.port} is not one that may be fetched from; an operator adds it to ports under [web]",
            )

    async def admitted(self, place: Location) -> Sequence[Address]:
        """Return the addresses to connect to; whatever is refused here was neither connected to nor probed."""
        self.check_port(place)
        chosen = place.origin == self._origin
        found = [place.address] if place.address else await self._resolver.resolve(place.host, place.port)
        if not found or not (chosen or all(self._public(address) for address in found)):
            # Both cases get the same message, so that a caller does not learn what a network has inside.
            raise ToolError(
                Code.ADDRESS_REFUSED,
                f"{place.host} has no address, or one that is not public; only the open internet is fetched from",
            )
        return found

    async def _trust(self) -> ssl.SSLContext:
        if self._tls is None:
            from httpcore2 import default_ssl_context  # noqa: PLC0415

            self._tls = await asyncio.to_thread(default_ssl_context)
        return self._tls


def _followed(here: Location, pointed: str, follows: Follows) -> Location | None:
    try:
        there = read_reference(pointed, here)
    except ToolError:
        return None
    weaker = here.scheme == "https" and there.scheme == "http"
    return there if not weaker and follows(here, there) else None


def _absolute(here: Location, pointed: str) -> str:
    try:
        return read_reference(pointed, here).url
    except ToolError:
        return pointed


def _joined(headers: Headers) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        joined[key] = f"{joined[key]}, {text}" if key in joined else text
    return joined
