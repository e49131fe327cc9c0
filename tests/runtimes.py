"""Other services for the runtime of an open room, which is frozen for everything but tests."""

from typing import Any

from brasstag import Room


def put_in(room: Room, **services: Any) -> None:
    """Replace services of a room, such as ``at`` or ``web``."""
    for name, service in services.items():
        object.__setattr__(room._runtime, name, service)
