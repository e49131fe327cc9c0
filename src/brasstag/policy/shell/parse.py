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


class CommandTooLarge(Exception):
    """The text is over a limit."""


class NotText(Exception):
    """The text holds what no program can be given: a zero byte, or half a surrogate pair."""


def parse_bash(text: str) -> "Node":
    """Return the root of the tree; raise TooLarge or NotText."""
    if len(text) > LONGEST_TEXT or sum(1 for _ in _OPERATOR.finditer(text)) > MOST_OPERATORS:
        raise CommandTooLarge
    if "\0" in text:
        raise NotText
    try:
        written = text.encode()
    except UnicodeEncodeError:
        raise NotText from None
    return _parser().parse(written).root_node


@cache
def _parser() -> "Parser":
    import tree_sitter_bash  # noqa: PLC0415 - only calls that run something need it
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))
