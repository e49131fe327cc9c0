"""Text that the shell evaluates as arithmetic or as a name: ``test -v 'a[$(id)]'`` runs the command in its subscript."""

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
_DECLARING = frozenset({"declare", "typeset", "local", "export", "readonly"})
_SUBSCRIPT = re.compile(r"\w\[")
_QUOTED_SUBSTITUTION = re.compile(r"\[[^\]]*(?:\$\(|`)")
_NUMBERS_ONLY = re.compile(r"(?:[^%]|%%|%[-+ 0#]*\d*(?:\.\d+)?[diouxXeEfFgG])*")


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


def evaluates(command: Command) -> bool:
    """Say whether a builtin evaluates what a variable holds: as arithmetic, or as a name that is only known then."""
    name = command.name
    if name not in _NAMING:
        return False
    if name == "let" or (name in _DECLARING and _has_letter(command, "i")):
        return True
    is_named = name not in ("test", "[", "printf")
    pairs = zip(command.words, command.words[1:], strict=False)
    return any(word.computed and (is_named or before.text in ("-v", "-R")) for before, word in pairs)


def fills_in(command: Command) -> bool:
    """Say whether ``printf -v`` puts something else than a number into a variable, which is not known or may run."""
    if command.name != "printf" or len(command.words) < 4 or command.words[1].text != "-v":
        return False
    form, *values = command.words[3:]
    return not (form.literal and _NUMBERS_ONLY.fullmatch(form.text)) and any(
        word.computed or "$(" in word.text or "`" in word.text for word in (form, *values)
    )


def holds_substitution(text: str) -> bool:
    """Say whether a quoted text holds a subscript that runs a command where it is evaluated."""
    return _QUOTED_SUBSTITUTION.search(text) is not None


def _has_letter(command: Command, letter: str) -> bool:
    return any(word.text[:1] == "-" and letter in word.text for word in command.words[1:])
