"""Bash text as a tree of nodes, within limits.

The parser's time grows with the square of what it fails to understand, so texts that are long, or thick with
operators, are refused before it sees them. Its own progress callback ends the process (tree-sitter 0.26), so limits on
the text are all there is.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST_TEXT = 50_000
"""Characters of a text that is still read."""
MOST_OPERATORS = 3_000

_OPERATOR = re.compile(r"[|&;<>()\[\]{}=$`\"'\\!#~^]")


_BACKSLASH_FIRST = re.compile(rb"(?<!\\)(?:\\\\)*\n(?=\\)")
"""The end of a line, where the next one begins with a backslash."""
_CONTENT = frozenset(
    {"raw_string", "ansi_c_string", "string", "string_content", "heredoc_body", "heredoc_content"}
)
"""Nodes in which a line ends without ending a command."""
_CONTINUED = re.compile(rb"(?<!\\)(?:\\\\)*\\\n")
_UNJOINED = frozenset({"raw_string", "ansi_c_string", "comment", "heredoc_body", "heredoc_content"})
"""Nodes in which a backslash at the end of a line is a letter like others."""
_MOST_REPAIRS = 8


class CommandTooLarge(Exception):
    """The text is over a limit."""


class NotText(Exception):
    """The text holds what no program can be given: a zero byte, or half a surrogate pair."""


def parse_bash(text: str) -> "Node":
    """Return the root of the tree; raise CommandTooLarge or NotText."""
    if len(text) > LONGEST_TEXT or (len(text) > MOST_OPERATORS and _count_operators(text) > MOST_OPERATORS):
        raise CommandTooLarge
    if "\0" in text:
        raise NotText
    try:
        written = text.encode()
    except UnicodeEncodeError:
        raise NotText from None
    root = _parser().parse(written).root_node
    if b"\\\n" in written:
        root, written = _with_lines_joined(root, written)
    return _with_lines_apart(root, written) if b"\n\\" in written else root


def _with_lines_joined(root: "Node", written: bytes) -> "tuple[Node, bytes]":
    """Return the tree and text without continued lines: bash joins them before it looks for words and operators."""
    ends = [
        found.end()
        for found in _CONTINUED.finditer(written)
        if not _is_content(root, found.end() - 1, _UNJOINED)
    ]
    for end in reversed(ends):
        written = written[: end - 2] + written[end:]
    return (_parser().parse(written).root_node if ends else root), written


def _count_operators(text: str) -> int:
    return sum(1 for _ in _OPERATOR.finditer(text))


def _with_lines_apart(root: "Node", written: bytes) -> "Node":
    """Return the tree with two lines apart that the parser takes for one command: the second begins with a backslash."""
    for _ in range(_MOST_REPAIRS):
        ends = [
            found.end()
            for found in _BACKSLASH_FIRST.finditer(written)
            if not _is_content(root, found.end() - 1, _CONTENT)
        ]
        if not ends:
            return root
        for end in reversed(ends):
            written = written[:end] + b" " + written[end:]
        root = _parser().parse(written).root_node
    raise CommandTooLarge


def _is_content(root: "Node", at: int, kinds: frozenset[str]) -> bool:
    node = root.descendant_for_byte_range(at, at + 1)
    return node is not None and node.type in kinds


@cache
def _parser() -> "Parser":
    import tree_sitter_bash  # noqa: PLC0415 - only calls that run something need it
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))
