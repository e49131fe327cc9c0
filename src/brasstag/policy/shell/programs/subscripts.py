"""Quoted names of variables that the shell evaluates: ``test -v 'a[$(id)]'`` runs a command that stands in a subscript."""

import re
from collections.abc import Iterator

from brasstag.policy.shell.commands import Command, Word

_NAMING = frozenset(
    {
        "test", "[", "printf", "read", "unset", "declare", "typeset", "local", "export", "readonly", "let", "wait",
        "getopts", "mapfile", "readarray",
    }
)  # fmt: skip
"""Builtins that are given names of variables."""
_SUBSCRIPT = re.compile(r"\w\[")


def evaluated_words(command: Command) -> Iterator[tuple[Word, str]]:
    """Yield words of a builtin that name a variable and run something, with the code that they run."""
    if command.name in _NAMING:
        for before, word in zip(command.words, command.words[1:], strict=False):
            code = evaluated_code(word.text) if word.literal else ""
            if code and (command.name != "printf" or before.text == "-v"):
                yield word, code


def evaluated_code(text: str) -> str:
    """Return what a text runs when it is taken for the name of a variable, or for arithmetic; empty for nothing."""
    found = _SUBSCRIPT.search(text)
    subscript = text[found.end() :] if found else ""
    if "$(" in subscript:
        return subscript.partition("$(")[2].rpartition(")")[0] or subscript
    return subscript.split("`")[1] if subscript.count("`") > 1 else ""
