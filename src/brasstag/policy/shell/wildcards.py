"""Wildcards that match the names of secret files; what the shell would expand them to cannot be read."""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from brasstag.policy.shell.rules import CommandFinding, Finds

if TYPE_CHECKING:
    from brasstag.policy.shell.commands import CommandReading

_LONGEST = 256
_FEWEST_LETTERS = 2
_STEPS_KEPT = 4096
_BRACES = re.compile(r"\{[^{}]*\}")
_WILDCARDS = re.compile(r"[*?]|\[[^\]]*\]")


def fits_secret(names: Iterable[str]) -> Finds:
    """Return what finds words with wildcards that fit one of these paths, at any depth."""
    secrets = tuple(tuple(name.split("/")) for name in names)

    def finds(reading: "CommandReading") -> Iterator[CommandFinding]:
        # A word stands in its command, and once more in each around it.
        known: dict[str, bool] = {}
        for command in reading.commands:
            for word in (*command.words, *command.reads, *command.writes):
                if word.pattern and word.text not in known:
                    known[word.text] = _fits(word.text, secrets)
                if word.pattern and known[word.text]:
                    yield CommandFinding(command.text, "", command)
                    break

    return finds


def _fits(text: str, secrets: tuple[tuple[str, ...], ...]) -> bool:
    if len(text) > _LONGEST:
        return False
    steps = _BRACES.sub("*", text).split("/")
    letters = [len(_WILDCARDS.sub("", step)) for step in steps]
    return any(
        sum(letters[start : start + len(secret)]) >= _FEWEST_LETTERS
        and all(map(_fits_step, steps[start : start + len(secret)], secret))
        for secret in secrets
        for start in range(len(steps) - len(secret) + 1)
    )


@lru_cache(maxsize=_STEPS_KEPT)
def _fits_step(glob: str, name: str) -> bool:
    """Say whether a step fits a name; a wildcard never stands for the dot a name begins with."""
    return (glob[:1] == "." or name[:1] != ".") and fnmatchcase(name, glob)
