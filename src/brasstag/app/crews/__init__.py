"""Crews that are shipped: each folder here is one, written into a project by ``brasstag init --crew NAME``.

brasstag.toml      its settings, complete and commented
data/              what its workspace begins with
first_request.txt  what a user could ask it first
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from brasstag.settings import SETTINGS_FILE, ProfileName, toml_string
from brasstag.words.errors import Code, ToolError

_SEEDS = "data"
_FIRST_REQUEST = "first_request.txt"
_NOT_SHIPPED = "__pycache__"


@dataclass(frozen=True, slots=True)
class Crew:
    """A crew as it is shipped."""

    name: str
    settings: str
    """The text of its ``brasstag.toml``."""
    seeds: dict[str, bytes]
    """What its workspace begins with, by path in the workspace."""
    first_request: str

    def settings_with(self, workspace: str | None, profile: ProfileName | None) -> str:
        """Return its settings, with another workspace or profile where one is given."""
        text = self.settings if workspace is None else _saying(self.settings, "workspace", workspace)
        return text if profile is None else _saying(text, "profile", profile)


def crew_names() -> list[str]:
    """Return the names of the shipped crews, in order."""
    return sorted(found.name for found in files(__name__).iterdir() if (found / SETTINGS_FILE).is_file())


def shipped_crew(name: str) -> Crew:
    """Return a shipped crew; raise ToolError with the names there are where it is none of them."""
    names = crew_names()
    if name not in names:
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"there is no crew {name!r}; choose one of {', '.join(names)}"
        )
    folder = files(__name__) / name
    return Crew(
        name,
        (folder / SETTINGS_FILE).read_text(encoding="utf-8"),
        dict(_below(folder / _SEEDS, "")),
        (folder / _FIRST_REQUEST).read_text(encoding="utf-8").strip(),
    )


def _below(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    if not folder.is_dir():
        return
    for found in sorted(folder.iterdir(), key=lambda one: one.name):
        if found.is_file():
            yield f"{prefix}{found.name}", found.read_bytes()
        elif found.name != _NOT_SHIPPED:
            yield from _below(found, f"{prefix}{found.name}/")


def _saying(settings: str, name: str, value: str) -> str:
    said = toml_string(value)
    return re.sub(rf'(?m)^{name} = "[^"\n]*"', lambda _: f"{name} = {said}", settings, count=1)
