"""Opening a room for one command, and showing changed control files before they are loaded."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from brasstag.surfaces.cli.console import at_terminal, say

if TYPE_CHECKING:
    from brasstag.app.room import Room
    from brasstag.app.trust import ChangedFile
    from brasstag.app.vault import Vault

_T = TypeVar("_T")

Project = Annotated[
    Path,
    typer.Option(
        "--project", "-C", help="Directory of the project, or any directory in it.", show_default=False
    ),
]
HERE = Path()


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a command's work; surfaces are where event loops start."""
    return asyncio.run(work)


@asynccontextmanager
async def open_room(project: Path, purpose: str) -> AsyncIterator["Room"]:
    """Open the project's room; where control files changed, a person at the terminal is shown the change first."""
    from brasstag.app.room import Room
    from brasstag.settings import find_project
    from brasstag.surfaces.cli.people import user_name
    from brasstag.words.errors import UntrustedError

    root = find_project(project)
    opening = Room.open(root, actor=f"cli:{user_name()}", purpose=purpose)
    try:
        room = await opening.__aenter__()
    except UntrustedError:
        if not at_terminal() or not offer_trust(root):
            raise
        opening = Room.open(root, actor=f"cli:{user_name()}", purpose=purpose)
        room = await opening.__aenter__()
    try:
        _tell_recovered(room)
        yield room
    finally:
        await opening.__aexit__(None, None, None)


@asynccontextmanager
async def open_books(project: Path) -> AsyncIterator["Vault"]:
    """Open the books alone, for commands that must work when settings or tools are broken."""
    from brasstag.app.vault import open_vault
    from brasstag.settings import find_project

    vault = open_vault(find_project(project))
    try:
        yield vault
    finally:
        vault.close()


def offer_trust(project: Path, confirm: Callable[[str], bool] | None = None) -> bool:
    """Show what changed in the control files and ask whether to accept it; say whether it was accepted."""
    from brasstag.app.trust import Trust
    from brasstag.app.vault import open_vault, require_same_room

    vault = open_vault(project)
    try:
        trust = Trust(project, vault.folder)
        changes = trust.changes()
        for change in changes:
            show_changed_file(change)
        ask = confirm or (lambda question: typer.confirm(question, err=True))
        if not ask("Load these control files from now on?"):
            return False
        trust.accept(changes)
        require_same_room(project, vault, accept=True)
        return True
    finally:
        vault.close()


def show_changed_file(change: "ChangedFile") -> None:
    """Show one control file that is not what was accepted, as a diff."""
    from brasstag.surfaces.cli.diffs import print_diff

    say(f"{change.path} is {change.what}:", "bold", stderr=True)
    print_diff(change.accepted or b"", change.found or b"", stderr=True)


def _tell_recovered(room: "Room") -> None:
    for call_id, ending in room.recovered.calls:
        say(f"Recovered {call_id}: {type(ending).__name__.lower()}.", "yellow", stderr=True)
    for call_id in room.recovered.unknown:
        say(
            f"Whether {call_id} happened is not known; `brasstag timeline show` has the details.",
            "red",
            stderr=True,
        )
