"""Open a room for one command, or its stored state alone."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from brasstag.surfaces.cli.terminal.console import at_terminal, say
from brasstag.surfaces.cli.terminal.streams import ours_alone

if TYPE_CHECKING:
    from brasstag.app import Room, RoomState

_T = TypeVar("_T")

INTERRUPTED = 130
"""What shells expect of a command that was left by Ctrl-C."""


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a command's work; surfaces are where event loops start."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        say("Stopped. `brasstag timeline show` shows what was done.", "yellow", stderr=True)
        raise typer.Exit(INTERRUPTED) from None


@asynccontextmanager
async def open_room(project: Path, purpose: str) -> AsyncIterator["Room"]:
    """Open the project's room; where control files changed, a person at the terminal is shown the change first."""
    from brasstag.app import Room
    from brasstag.settings import find_project
    from brasstag.surfaces.cli.session.people import actor_name
    from brasstag.surfaces.cli.session.trust import offer
    from brasstag.words.errors import UntrustedError

    root = find_project(project)
    actor = actor_name()
    async with AsyncExitStack() as stack:
        stack.enter_context(ours_alone())
        try:
            room = await stack.enter_async_context(Room.open(root, actor=actor, purpose=purpose))
        except UntrustedError:
            if not at_terminal() or not offer(root):
                raise
            room = await stack.enter_async_context(Room.open(root, actor=actor, purpose=purpose))
        _tell_recovered(room)
        try:
            yield room
        except asyncio.CancelledError:
            say(
                "Stopping when the call has ended, or in ten seconds; Ctrl-C again leaves at once.",
                stderr=True,
            )
            raise


@contextmanager
def open_store(project: Path) -> Iterator["RoomState"]:
    """Open the store alone, for commands that must work when settings or tools are broken."""
    from brasstag.app import open_state
    from brasstag.settings import find_project

    room_state = open_state(find_project(project))
    try:
        yield room_state
    finally:
        room_state.close()


def _tell_recovered(room: "Room") -> None:
    for call_id, ending in room.recovered.calls:
        say(f"Recovered {call_id}: {type(ending).__name__.lower()}.", "yellow", stderr=True)
    for call_id in room.recovered.unknown:
        say(
            f"It is not known whether {call_id} happened; `brasstag timeline show` has the details.",
            "red",
            stderr=True,
        )
