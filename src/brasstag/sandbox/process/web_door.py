"""The way from a confined job to the web; the network package decides who passes."""

import socket
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

PORT = 3128
"""Where a run finds its door, in a network in which there is nothing else."""

PROXY = f"http://127.0.0.1:{PORT}"
"""The same, in the form in which programs get it."""


class Door(Protocol):
    """Lets a run through to some hosts."""

    @property
    def hosts(self) -> Sequence[str]:
        """The hosts to which it leads."""

    def serve(self, listener: socket.socket) -> AbstractContextManager[None]:
        """Serve every client that connects to a socket, as long as the block runs; nothing of it is left afterwards."""
