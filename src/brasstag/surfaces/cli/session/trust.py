"""Control files that changed: a person sees how, then accepts them or not."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from brasstag.app import (
    ChangedFile,
    Trust,
    check_configuration,
    check_unloaded,
    open_state,
    require_same_room,
    require_silent,
    was_replaced,
)
from brasstag.documents import diff_lines
from brasstag.settings import STATE_DIRECTORY
from brasstag.surfaces.cli.session.effects import settle_effects
from brasstag.surfaces.cli.show.diffs import print_diff
from brasstag.surfaces.cli.terminal.console import say
from brasstag.surfaces.cli.terminal.prompts import confirm
from brasstag.surfaces.cli.terminal.streams import ours_alone
from brasstag.words.errors import ConfigError, Problem


@dataclass(frozen=True, slots=True)
class Unaccepted:
    """What differs from what a person last accepted; only what was seen can be accepted."""

    project: Path
    files: tuple[ChangedFile, ...]
    replaced: bool
    """Whether another room's state lies here than the one this user knows."""
    problems: tuple[Problem, ...] = ()
    """Why these files could not be loaded, as far as it shows without running any of them."""

    @classmethod
    def look(cls, project: Path) -> Self:
        """Compare the control files with their accepted copies."""
        room_state = open_state(project)
        try:
            changes = Trust(project, room_state.folder).changes()
            problems = check_unloaded(project) if changes else ()
            return cls(project, tuple(changes), was_replaced(project, room_state), tuple(problems))
        finally:
            room_state.close()

    def __bool__(self) -> bool:
        return bool(self.files) or self.replaced

    def show(self, *, stderr: bool) -> None:
        """Show every change, as a diff."""
        for file in self.files:
            say(f"{file.path} is {file.what}:", "bold", stderr=stderr)
            print_diff(file.accepted or b"", file.found or b"", stderr=stderr)
        if self.replaced:
            say(f"{STATE_DIRECTORY}/ was replaced:", "bold", stderr=stderr)
            say(
                "    the timeline in it belongs to another room, not to the one you accepted.",
                "red",
                stderr=stderr,
            )

    def as_json(self) -> list[dict[str, Any]]:
        """Return one object for each change."""
        found: list[dict[str, Any]] = [
            {
                "path": file.path,
                "what": file.what,
                "diff": list(diff_lines(file.accepted or b"", file.found or b"")),
            }
            for file in self.files
        ]
        return [*found, {"path": f"{STATE_DIRECTORY}/", "what": "replaced"}] if self.replaced else found

    def accept(self, answered: Iterable[str] = ()) -> None:
        """Load what a person has said yes to, and remember it as accepted; raise ConfigError where it does not load.

        Only a yes lets it run, and what does not load would stop every later command. ``answered`` are tools of which
        the person says where they act; raises ToolError where one of them is none that leaves it open.
        """
        room_state = open_state(self.project)
        try:
            trust = Trust(self.project, room_state.folder)
            if tuple(trust.changes()) != self.files:
                mend = "Run `brasstag trust` again, and look at what is there now."
                raise ConfigError([Problem(str(self.project), "", "was changed while you looked", mend)])
            if self.files:
                with ours_alone():
                    problems = check_configuration(self.project)
                if problems:
                    raise ConfigError(problems)
                require_silent(self.project, answered)
            trust.accept(list(self.files))
            require_same_room(self.project, room_state, accept=True)
        finally:
            room_state.close()


def offer(project: Path) -> bool:
    """Show what changed and ask whether to accept it, before a command goes on; say whether it was accepted.

    Raises ConfigError, without asking, for what could not be loaded.
    """
    found = Unaccepted.look(project)
    found.show(stderr=True)
    if found.problems:
        raise ConfigError(found.problems)
    if not confirm("Load these control files from now on?"):
        return False
    found.accept()
    settle_effects(project, {}, asks=True)
    return True
