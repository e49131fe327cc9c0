"""Wildcards that fit the names of secrets: what the shell would put in their place cannot be read."""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from brasstag.policy.shell.judging import Finding, Finds

if TYPE_CHECKING:
    from brasstag.policy.shell.commands import Reading, Word

_LONGEST = 256
_FEWEST_LETTERS = 2
_BRACES = re.compile(r"\{[^{}]*\}")
_WILDCARDS = re.compile(r"[*?]|\[[^\]]*\]")


def fits_secret(names: Iterable[str]) -> Finds:
    """Return what finds words with wildcards that fit one of these paths, at any depth."""
    secrets = tuple(tuple(name.split("/")) for name in names)

    def finds(reading: "Reading") -> Iterator[Finding]:
        for command in reading.commands:
            for word in (*command.words, *command.reads, *command.writes):
                if word.pattern and any(_fits(word, secret) for secret in secrets):
                    yield Finding(command.text, "", command)
                    break

    return finds


def _fits(word: "Word", secret: tuple[str, ...]) -> bool:
    if len(word.text) > _LONGEST:
        return False
    steps = _BRACES.sub("*", word.text).split("/")
    windows = (steps[start : start + len(secret)] for start in range(len(steps) - len(secret) + 1))
    return any(
        len(_WILDCARDS.sub("", "".join(window))) >= _FEWEST_LETTERS and all(map(_fits_step, window, secret))
        for window in windows
    )


def _fits_step(glob: str, name: str) -> bool:
    """Say whether a step fits a name; a wildcard never stands for the dot a name begins with."""
    return (glob[:1] == "." or name[:1] != ".") and fnmatchcase(name, glob)
