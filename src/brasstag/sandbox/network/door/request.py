"""What a confined program asks of its door, parsed strictly once, and written again for the server.

A program asks for a tunnel (CONNECT), or for one thing by plain HTTP. Of the latter nothing goes on as it was written but
headers and body: where it goes, whom it names and how long it is are what was judged.
"""

import re
from dataclasses import dataclass

from brasstag.sandbox.network.locations import Location, read_host, read_location
from brasstag.words.errors import ToolError

LONGEST_HEAD = 32_000

_FIRST_LINE = re.compile(r"([A-Z]{1,20}) ([\x21-\x7e]+) (HTTP/1\.[01])")
_FIELD = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*")
_WITH_PORT = re.compile(r".*:[0-9]+")
_LENGTH = re.compile(r"[0-9]{1,15}")
# What belongs to the way and not to the message; the connection is closed after one request.
_OF_THE_WAY = frozenset({"host", "connection", "keep-alive", "te", "trailer", "upgrade"})
_TUNNEL = "CONNECT"


class TurnedAway(Exception):
    """Why a program is not let through: a status, a sentence, and the host it asked for, where that could be read."""

    def __init__(self, status: int, why: str, asked: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.asked = asked


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """One thing a program asks for."""

    place: Location
    head: bytes = b""
    """The bytes that the server gets first."""
    body_bytes: int | None = None
    """How much of what follows is for the server; None for all, as in a tunnel."""

    @property
    def server(self) -> tuple[str, int]:
        """The host and port it leads to."""
        return self.place.host, self.place.port

    @property
    def is_tunnel(self) -> bool:
        """Whether all that follows goes through as it is."""
        return self.body_bytes is None


def read_asked(data: bytes) -> ProxyRequest:
    """Read the head of a request, up to its empty line; raise TurnedAway."""
    first, *lines = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    found = _FIRST_LINE.fullmatch(first)
    if not found:
        raise TurnedAway(400, "this is an HTTP proxy, and what came is not a request to one")
    method, target, version = found.groups()
    if method == _TUNNEL:
        return ProxyRequest(_tunnel(target))
    place = _place(target)
    fields = _fields(lines)
    hosts = _all("host", fields)
    if len(hosts) > 1 or not all(_names(host, place) for host in hosts):
        raise TurnedAway(
            403, "the Host header does not name the host that is asked for; name it once", place.authority
        )
    length = _body_bytes(fields)
    kept = [
        (name, value)
        for name, value in fields
        if name.lower() not in _OF_THE_WAY and not name.lower().startswith("proxy-")
    ]
    written = [("Host", place.authority), *kept, ("Connection", "close")]
    head = [f"{method} {place.target} {version}", *(f"{name}: {value}" for name, value in written), "", ""]
    return ProxyRequest(place, "\r\n".join(head).encode("latin-1"), length)


def _tunnel(target: str) -> Location:
    try:
        place = read_host(target)
    except ToolError:
        raise TurnedAway(400, "CONNECT takes a host and a port, such as example.org:443") from None
    if not _WITH_PORT.fullmatch(target):
        raise TurnedAway(400, "CONNECT takes a port with the host, such as example.org:443", place.host)
    return place


def _place(target: str) -> Location:
    try:
        place = read_location(target)
    except ToolError:
        raise TurnedAway(
            400, "this is a proxy: ask for a whole http address, or for a tunnel with CONNECT"
        ) from None
    if place.scheme != "http":
        raise TurnedAway(400, "https goes through a tunnel; ask for it with CONNECT", place.authority)
    return place


def _fields(lines: list[str]) -> list[tuple[str, str]]:
    found = [_FIELD.fullmatch(line) for line in lines]
    fields = [(one[1], one[2]) for one in found if one]
    if len(fields) < len(lines):
        raise TurnedAway(400, "a header cannot be read; each is one line, a name, a colon and a value")
    return fields


def _all(name: str, fields: list[tuple[str, str]]) -> list[str]:
    return [value for one, value in fields if one.lower() == name]


def _names(host: str, place: Location) -> bool:
    try:
        named = read_location(f"http://{host}")
    except ToolError:
        return False
    return (named.host, named.port, named.target) == (place.host, place.port, "/")


def _body_bytes(fields: list[tuple[str, str]]) -> int:
    if _all("transfer-encoding", fields):
        raise TurnedAway(411, "say how long the body is with Content-Length; it is not taken in chunks")
    lengths = _all("content-length", fields)
    if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
        raise TurnedAway(400, "Content-Length is given once, as a number")
    return int(lengths[0]) if lengths else 0
