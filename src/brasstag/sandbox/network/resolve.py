"""Resolve the addresses of a name, once."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Protocol

from brasstag.sandbox.network.addresses import Address


class Resolver(Protocol):
    """Finds the addresses of names."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """Return every address of a name; none where it has none."""
        ...


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
