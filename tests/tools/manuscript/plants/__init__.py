"""Contradictions that are planted in a clean copy of the sample novel, one JSON file for each set.

`first` is planted in what is shipped with crew novel, so that a user has something to find. The author of the analysers has
seen it. `second` was written without knowledge of the analysers.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from brasstag.app.crews import shipped_crew

SHIPPED = "first"
"""The set that is planted in what is shipped."""


@dataclass(frozen=True, slots=True)
class Plant:
    """One contradiction: replacing `clean` by `planted` in the file at `path` plants it."""

    path: str
    clean: str
    planted: str
    about: str
    """What contradicts it, and where that is stated."""
    kind: str
    tools: tuple[str, ...]
    """The core tools that an author would expect to report it."""


def read_plants(name: str) -> list[Plant]:
    """Return the set of this name."""
    text = Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8")
    return [Plant(**one | {"tools": tuple(one["tools"])}) for one in json.loads(text)]


def clean_copy(folder: Path) -> None:
    """Write the sample novel without its contradictions into this folder."""
    for path, content in shipped_crew("novel").seeds.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    for one in reversed(read_plants(SHIPPED)):
        replace_once(folder / one.path, one.planted, one.clean)


def plant(folder: Path, name: str) -> list[Plant]:
    """Plant every contradiction of this set in the clean copy in this folder, and return them."""
    plants = read_plants(name)
    for one in plants:
        replace_once(folder / one.path, one.clean, one.planted)
    return plants


def replace_once(file: Path, old: str, new: str) -> None:
    """Replace a text that has to occur exactly once in this file."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file.name} has this {text.count(old)} times: {old!r}"
    file.write_text(text.replace(old, new), encoding="utf-8")
