"""Doors: the one way from a confined run to the web. Who stands in one, and lets whom through, is known to the network."""

import socket
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

PORT = 3128
"""Where a run finds its door, in a network in which there is nothing else."""

PROXY = f"http://127.0.0.1:{PORT}"
"""The same, as programs are told it."""


class Door(Protocol):
    """Lets a run through to some hosts."""

    @property
    def hosts(self) -> Sequence[str]:
        """Whom it leads to."""

    def serve(self, listener: socket.socket) -> AbstractContextManager[None]:
        """Attend to whoever connects to a socket, as long as the block; nothing of it is left afterwards."""
