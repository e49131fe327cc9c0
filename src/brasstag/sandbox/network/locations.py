"""Locations: web addresses, parsed strictly once into the parts that are judged and sent.

Whatever two readers could take for different hosts is refused: names and passwords before the host, backslashes,
control characters, numbers in forms that only some take for an address.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import quote, urljoin

from brasstag.sandbox.network.addresses import Address, is_public
from brasstag.words.errors import Code, ToolError

DEFAULT_PORTS = {"http": 80, "https": 443}

LONGEST_URL = 8_000
_LONGEST_NAME = 253
_LARGEST_PORT = 65_535

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?",
    re.DOTALL,
)
_AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^\[\]:]*)(?::(?P<port>[0-9]{1,5}))?")
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNREADABLE = re.compile(
    r"[\\\x00-\x20\x7f-\xa0\u2000-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff\ud800-\udfff]"
)
_HOLDS_UNREADABLE = "it holds spaces, backslashes or invisible characters"
_MORE_THAN_HOSTS = (
    (re.compile(r"[/?#]"), "it has a scheme or a path; leave that out"),
    (re.compile(r"\*"), "it has a wildcard; name each host by itself"),
    (_UNREADABLE, _HOLDS_UNREADABLE),
)
_MOST_SHOWN = 100
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_AMBIGUOUS = re.compile(r"%(?:25)*(?:2e|2f|5c|00)|//|/\.{1,2}[;%]", re.IGNORECASE)


@dataclass(frozen=True)
class Location:
    """A web address in its one canonical form."""

    scheme: str
    host: str
    """A name in ASCII and lower case, or an address without brackets."""
    port: int
    path: str
    """Begins with a slash; without ``.`` and ``..``, escaped."""
    query: str = ""
    """With its question mark, or empty."""

    @cached_property
    def address(self) -> Address | None:
        """The address the host is written as, or None for a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    @property
    def authority(self) -> str:
        """Host and port as they stand in a URL and in the Host header; a usual port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self.authority}"

    @property
    def target(self) -> str:
        """What is asked of the server."""
        return f"{self.path}{self.query}"

    @property
    def url(self) -> str:
        """The whole address; what stood behind ``#`` is not part of it."""
        return f"{self.origin}{self.target}"

    @property
    def is_ambiguous(self) -> bool:
        """Whether servers may read the path as another one: it hides slashes or dots, doubles slashes, or has ``..;``."""
        return _AMBIGUOUS.search(self.path) is not None


class _NotAnAddress(Exception):
    """Why a text is not plainly an address."""


def read_location(url: str) -> Location:
    """Read a URL; raise INVALID_ARGUMENTS for whatever is not plainly a web address."""
    try:
        return _location(url)
    except _NotAnAddress as why:
        raise ToolError(Code.INVALID_ARGUMENTS, f"this URL cannot be fetched: {why}") from None


def read_host(text: str) -> Location:
    """Read a host, with a port where it is not the usual one, as its https address; raise INVALID_ARGUMENTS."""
    try:
        return _hosted(text)
    except _NotAnAddress as why:
        said = f"{text[:_MOST_SHOWN]!r} is not a host such as example.org or example.org:8443: {why}"
        raise ToolError(Code.INVALID_ARGUMENTS, said) from None


def refuse_inside(place: Location) -> None:
    """Raise ADDRESS_REFUSED for an address that is not public; of a name nothing is known yet."""
    if place.address and not is_public(place.address):
        said = f"{place.host} is not a public address; only the open internet can be reached, so name a public host"
        raise ToolError(Code.ADDRESS_REFUSED, said)


def read_reference(reference: str, base: Location) -> Location:
    """Read what a redirect points to, seen from where it came."""
    if not _UNREADABLE.search(reference):
        try:
            reference = urljoin(base.url, reference)
        except ValueError:
            raise ToolError(Code.INVALID_ARGUMENTS, "a redirect leads to what is no address") from None
    return read_location(reference)


def _location(url: str) -> Location:
    if len(url) > LONGEST_URL:
        raise _NotAnAddress(f"it has more than {LONGEST_URL} characters")
    if _UNREADABLE.search(url):
        raise _NotAnAddress(f"{_HOLDS_UNREADABLE}; write those as %20 and the like")
    found = _URL.fullmatch(url)
    if not found:
        raise _NotAnAddress("it is not a whole address such as https://example.org/page")
    scheme = found["scheme"].lower()
    if scheme not in DEFAULT_PORTS:
        raise _NotAnAddress(f"{scheme} is neither http nor https")
    host, port = _authority(found["authority"])
    path = _path(found["path"] or "/")
    return Location(scheme, host, port or DEFAULT_PORTS[scheme], path, _escaped(found["query"] or ""))


def _hosted(text: str) -> Location:
    why = next((why for found, why in _MORE_THAN_HOSTS if found.search(text)), None)
    if why is not None:
        raise _NotAnAddress(why)
    return _location(f"https://{text}")


def _authority(text: str) -> tuple[str, int | None]:
    if "@" in text:
        raise _NotAnAddress("it has a name or password before the host; put credentials into headers")
    found = _AUTHORITY.fullmatch(text)
    if not found or not found["host"]:
        raise _NotAnAddress("the host cannot be read")
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 0 < port <= _LARGEST_PORT:
        raise _NotAnAddress(f"{port} is no port")
    return _host(found["host"]), port


def _host(text: str) -> str:
    if text.startswith("["):
        return _ipv6(text[1:-1])
    name = _ascii(text).lower().removesuffix(".")
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise _NotAnAddress("the host is not a name")
    if not _NUMBER.fullmatch(name.rpartition(".")[2]):
        return name
    try:
        return str(IPv4Address(name))
    except ValueError:
        raise _NotAnAddress("the host is a number; write an address as four decimal numbers") from None


def _ipv6(text: str) -> str:
    if "%" in text:
        raise _NotAnAddress("the host names an interface of this machine")
    try:
        return str(IPv6Address(text))
    except ValueError:
        raise _NotAnAddress("the host is not an IPv6 address") from None


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    import idna  # noqa: PLC0415 - its tables are large, and most names need none of them

    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        raise _NotAnAddress("the host is not a name that can be looked up") from None


def _path(text: str) -> str:
    steps = _escaped(text).split("/")[1:]
    kept: list[str] = []
    for step in steps:
        if step == "..":
            del kept[-1:]
        elif step != ".":
            kept.append(step)
    if steps[-1] in (".", ".."):
        kept.append("")
    return f"/{'/'.join(kept)}"


def _escaped(text: str) -> str:
    """Escape what must be, and nothing that need not be, so that one address has one spelling."""
    return _ESCAPE.sub(_unescaped, quote(text, safe="/?%:@!$&'()*+,;=-._~"))


def _unescaped(found: re.Match[str]) -> str:
    letter = chr(int(found[1], 16))
    return letter if letter in _UNRESERVED else found[0].upper()
