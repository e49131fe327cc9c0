"""Which control rooms run: each leaves a file in the user directory that counts while its process lives."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from brasstag.settings.places import user_directory
from brasstag.store.tasks.processes import ProcessLock
from brasstag.words.times import stamp, utc_now

_FOLDER = "control-rooms"


@dataclass(frozen=True, slots=True)
class ControlRoom:
    """A control room that runs now."""

    origin: str
    """The beginning of every address of its pages."""
    rooms: Mapping[str, str]
    """The name of each room in addresses, by the path of its project."""
    since: str

    def address(self, project: Path, place: str) -> str | None:
        """Return the address of a page about a project's room; None where that room is not served."""
        name = self.rooms.get(str(project.resolve()))
        return None if name is None else f"{self.origin}/rooms/{quote(name)}/{place}"


@contextmanager
def announced(origin: str, rooms: Mapping[Path, str]) -> Iterator[None]:
    """Let other processes of this account find a control room, until this is left or the process dies."""
    folder = user_directory() / _FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = ProcessLock(folder)
    lock.sweep()
    file = folder / f"{lock.id}.json"
    told = {
        "origin": origin,
        "rooms": {str(path.resolve()): name for path, name in rooms.items()},
        "since": stamp(utc_now()),
    }
    try:
        temporary = folder / f"{lock.id}.tmp"
        temporary.write_text(json.dumps(told), encoding="utf-8")
        temporary.replace(file)
        yield
    finally:
        file.unlink(missing_ok=True)
        lock.end()


def running_control_rooms() -> list[ControlRoom]:
    """Return the control rooms of this account that run, the newest first; what dead ones left is ignored."""
    folder = user_directory() / _FOLDER
    if not folder.is_dir():
        return []
    # Its own lock stays unseen: it only asks which others are held.
    lock = ProcessLock(folder)
    try:
        alive = [file for file in folder.glob("boot_*.json") if lock.is_alive(file.stem)]
    finally:
        lock.end()
    found = [room for room in map(_read, alive) if room is not None]
    return sorted(found, key=lambda room: room.since, reverse=True)


def page_address(project: Path, place: str) -> str | None:
    """Return where people look at something of a project's room; None while no control room serves it."""
    found = (room.address(project, place) for room in running_control_rooms())
    return next((address for address in found if address is not None), None)


def _read(file: Path) -> ControlRoom | None:
    try:
        found: Any = json.loads(file.read_bytes())
        rooms = {str(path): str(name) for path, name in found["rooms"].items()}
        return ControlRoom(str(found["origin"]), rooms, str(found["since"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        # It ended while this looked, or is not whole; a control room is a convenience, never needed.
        return None
