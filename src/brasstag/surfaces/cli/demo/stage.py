"""The stage of a demo: a scratch directory, keys of its own, and commands shown as typed."""

import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from brasstag.app import add_approver
from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from brasstag.surfaces.cli.session.rooms import open_store
from brasstag.surfaces.cli.terminal.console import say
from brasstag.surfaces.cli.terminal.exits import Exit
from brasstag.words.errors import Code, ToolError

if TYPE_CHECKING:
    from brasstag.store import Store

_T = TypeVar("_T")
_USER_VARIABLE = "BRASSTAG_USER_DIR"


@dataclass(frozen=True, slots=True)
class Stage:
    """A project in which a story happens, and the token of the person in it."""

    project: Path
    token: str

    def chapter(self, text: str) -> None:
        """Say what comes now, and why it matters."""
        say(f"\n{text}", "bold")

    def run(self, *arguments: str, ends: Exit = Exit.DONE) -> None:
        """Show a command as a person would type it, run it, and stop the story if it does not end as expected."""
        from brasstag.surfaces.cli.main import main

        say(f"$ brasstag {shlex.join(arguments)}", "bold cyan")
        try:
            main([*arguments, "-o", "people"])
        except SystemExit as ended:
            sys.stdout.flush()
            if ended.code != ends:
                say(f"The story stops here: this should have ended with {ends}, not {ended.code}.", "red")
                raise
            if ends:
                say(f"  (exit {ends})", "dim")

    def enter(self) -> None:
        """Go into the project, once it has been made."""
        os.chdir(self.project)

    def let_ada_decide(self) -> None:
        """From here on, decisions are Ada's."""
        os.environ[TOKEN_VARIABLE] = self.token

    def look(self, look: "Callable[[Store], _T]") -> _T:
        """Look something up in the project's store."""
        with open_store(self.project) as room_state:
            return look(room_state.store)


Story = Callable[[Stage], None]


def play(story: Story, name: str, keep: str | None) -> None:
    """Play a story in a scratch directory, or in one that is kept."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="brasstag-demo-") as scratch:
            _play(story, Path(scratch) / name)
        return
    project = Path(keep).absolute()
    if project.exists() or _user_directory(project).exists():
        raise ToolError(Code.ALREADY_EXISTS, f"{project} is there already; the story needs a new directory")
    _play(story, project)
    say("")
    say("To look around:", "bold")
    say(f"  export {_USER_VARIABLE}={shlex.quote(str(_user_directory(project)))}")
    say(f"  cd {shlex.quote(str(project))}")


def _play(story: Story, project: Path) -> None:
    with _away_from_home():
        # The story has its own keys and its own approver, so it neither reads nor leaves anything in yours.
        os.environ[_USER_VARIABLE] = str(_user_directory(project))
        os.environ.pop(TOKEN_VARIABLE, None)
        story(Stage(project, add_approver("ada")))


@contextmanager
def _away_from_home() -> Iterator[None]:
    """Put the environment and the current directory back afterwards."""
    before, here = dict(os.environ), Path.cwd()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        os.chdir(here)


def _user_directory(project: Path) -> Path:
    return project.with_name(f"{project.name}-user")
