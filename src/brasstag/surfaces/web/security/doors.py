"""Doors: where the control room listens, and the names under which it answers.

Other machines reach it only over TLS, and under a name that a person gave: a page of another site could point a name of its
own at this machine.
"""

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Literal

from brasstag.words.errors import Code, ToolError

_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")


@dataclass(frozen=True, slots=True)
class Doors:
    """The names under which the control room is reached."""

    pages: str
    """``name.localhost:port``, for browsers: cookies count here."""
    programs: str
    """``127.0.0.1:port``, for programs: only tokens count here."""
    scheme: Literal["http", "https"] = "http"
    more_programs: frozenset[str] = field(default_factory=frozenset)

    @property
    def origin(self) -> str:
        """The one origin from which pages may write."""
        return f"{self.scheme}://{self.pages}"

    @property
    def api(self) -> str:
        """Where programs find the API."""
        return f"{self.scheme}://{self.programs}/api"


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where to listen."""

    port: int = 0
    host: str = "127.0.0.1"
    name: str = ""
    """The name by which other machines know this one; needed for any address but this machine's own."""
    tls_cert: str | None = None
    tls_key: str | None = None

    def require_safe(self) -> None:
        """Raise ToolError for an address that others could reach without TLS, or under any name."""
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ToolError(Code.INVALID_ARGUMENTS, "--tls-cert and --tls-key belong together")
        if self.name and not _NAME.fullmatch(self.name):
            raise ToolError(Code.INVALID_ARGUMENTS, f"{self.name} is not a host name in small letters")
        if _is_loopback(self.host):
            return
        if self.tls_cert is None or not self.name:
            raise ToolError(
                Code.NOT_ALLOWED,
                f"other machines may reach {self.host}, so the control room needs TLS and a name there",
                hint="give --tls-cert, --tls-key and --name, or leave --host out",
            )

    def doors(self, port: int, label: str) -> Doors:
        """Return the names for a port; ``label`` is this account's own name below ``localhost``."""
        name = self.name or f"{label}.localhost"
        if self.tls_cert is None:
            return Doors(f"{name}:{port}", f"{_in_address(self.host)}:{port}")
        # A browser leaves the port of https out.
        return Doors(
            name if port == 443 else f"{name}:{port}",
            f"{_in_address(self.host if _is_loopback(self.host) else '127.0.0.1')}:{port}",
            "https",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
