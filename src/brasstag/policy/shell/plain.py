"""Commands made of plain words only; an allow rule covers no others word by word.

Two readers have to agree on them: the parser, and Python's shlex. Whatever either of them finds that is more than words
and the operators between commands is not plain.
"""

import shlex
from functools import lru_cache
from typing import TYPE_CHECKING

from brasstag.policy.shell.commands import Word
from brasstag.policy.shell.parse import CommandTooLarge, NotText, parse_bash
from brasstag.policy.shell.spell import spelled_words

if TYPE_CHECKING:
    from tree_sitter import Node

_BETWEEN = frozenset({"&&", "||", ";", "|"})
_AROUND = frozenset({"program", "list", "pipeline"})
_INSIDE = frozenset(
    {"command", "command_name", "word", "number", "string", "string_content", "raw_string", "concatenation"}
)
_LONGEST = 4096
_KEPT = 256


@lru_cache(maxsize=_KEPT)
def plain_commands(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each command; none where anything is more than words."""
    if len(text) > _LONGEST or "\n" in text:
        return ()
    try:
        root = parse_bash(text)
    except (CommandTooLarge, NotText):
        return ()
    pieces = _pieces(root)
    if pieces is None or _seen_by_shlex(text) != [part for piece in pieces for part in piece]:
        return ()
    return tuple(piece for piece in pieces if piece[0] not in _BETWEEN)


def _pieces(root: "Node") -> list[tuple[str, ...]] | None:
    """Return commands and the operators between them, in order; None where there is anything else."""
    pieces: list[tuple[str, ...]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _AROUND:
            stack += reversed(node.children)
        elif node.type in _BETWEEN:
            pieces.append((node.type,))
        elif node.type == "command" and _is_words(node):
            words = spelled_words(node.children, node.text or b"", node.start_byte)
            if not all(_is_bare(word) for word in words):
                return None
            pieces.append(tuple(word.text for word in words))
        else:
            return None
    return pieces


def _is_words(command: "Node") -> bool:
    waiting = [command]
    while waiting:
        node = waiting.pop()
        if node.type != '"' and node.type not in _INSIDE:
            return False
        waiting += node.children
    return True


def _is_bare(word: Word) -> bool:
    return word.literal and bool(word.text) and not word.text.startswith("~") and word.text not in _BETWEEN


def _seen_by_shlex(text: str) -> list[str] | None:
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    reader.commenters = ""
    try:
        return list(reader)
    except ValueError:
        return None
