"""The workspace files that a text names."""

import posixpath
import re
from collections.abc import Iterator

from brasstag.policy.shell.commands import CommandReading
from brasstag.policy.shell.programs.standard_input import INTERPRETERS

MOST_PATHS = 500
_LONGEST_PATH = 1024

_SPEAKERS = frozenset({"echo", "printf", ":", "true"})
"""Commands that open none of the files their words may name."""
_PROGRAMMED = INTERPRETERS | {"awk", "gawk", "mawk", "nawk", "sed", "gsed"}
"""Commands one of whose words may be a program with names of files in it."""
_INSIDE_PROGRAMS = re.compile(r"[^\s\"'`(){};,|<>$]+")


def named_paths(reading: CommandReading) -> tuple[str, ...]:
    """Return every word that may be a path inside the workspace, in plain form; which of them exist is not looked at."""
    found: dict[str, None] = {}
    for text in _texts(reading):
        path = _relative(text)
        if path:
            found[path] = None
        if len(found) >= MOST_PATHS:
            break
    return tuple(found)


def words_for_files(reading: CommandReading) -> Iterator[str]:
    """Yield every text that may name a file somewhere; what is only said aloud does not."""
    passes_on = any(command.piped or command.name == "xargs" for command in reading.commands)
    for command in reading.commands:
        if passes_on or command.place or command.name not in _SPEAKERS:
            yield from (word.text for word in command.words)
        if command.name in _PROGRAMMED:
            yield from (part for word in command.words for part in _INSIDE_PROGRAMS.findall(word.text))
        yield from (word.text for word in (*command.reads, *command.writes))
    yield from reading.mentions


def _texts(reading: CommandReading) -> Iterator[str]:
    for command in reading.commands:
        for index, word in enumerate((*command.words, *command.reads, *command.writes)):
            if word.literal and (index or "/" in word.text):
                yield word.text
                yield from word.text.split("=")[1:]
    yield from reading.mentions


def _relative(text: str) -> str:
    if not 0 < len(text) <= _LONGEST_PATH or text[0] in "-/~" or "://" in text or not text.isprintable():
        return ""
    path = posixpath.normpath(text)
    return "" if path in (".", "..") or path.startswith("../") else path
