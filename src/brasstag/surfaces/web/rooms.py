"""The rooms that are served: each is opened once, works on its runs, and is reached by a short name."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from brasstag.app import Room
from brasstag.settings import find_project
from brasstag.words.errors import Code, ToolError

log = logging.getLogger("brasstag")


@dataclass(frozen=True, slots=True)
class ServedRoom:
    """One room, under the name that addresses use."""

    name: str
    project: Path
    room: Room


@dataclass(frozen=True, slots=True)
class ServedRooms:
    """All rooms of one server, by name."""

    rooms: dict[str, ServedRoom] = field(default_factory=dict)
    working: set["asyncio.Task[object]"] = field(default_factory=set)
    """What goes on after its request was answered."""

    def get(self, name: str) -> ServedRoom:
        """Return the room of a name; raise ToolError where there is none."""
        found = self.rooms.get(name)
        if found is None:
            raise ToolError(Code.INVALID_ARGUMENTS, f"no room is called {name} here")
        return found


@asynccontextmanager
async def open_rooms(
    projects: Sequence[Path], actor: str, *, works: bool = True
) -> AsyncIterator[ServedRooms]:
    """Open the rooms of some projects, and work on their runs until this is left."""
    found = ServedRooms()
    async with AsyncExitStack() as stack:
        workers: list[asyncio.Task[None]] = []
        for project in projects:
            root = find_project(project)
            room = await stack.enter_async_context(Room.open(root, actor=actor, purpose="serve"))
            name = _free_name(root.name, found.rooms)
            found.rooms[name] = ServedRoom(name, root, room)
            if works:
                workers.append(asyncio.create_task(room.serve()))
            room.documents.watch()
        try:
            yield found
        finally:
            ending = {*workers, *found.working}
            for task in ending:
                task.cancel()
            if ending:
                await asyncio.wait(ending)


def _free_name(wanted: str, taken: dict[str, ServedRoom]) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-") or "room"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name
