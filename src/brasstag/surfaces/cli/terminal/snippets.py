"""Snippets on one line each, with the matches highlighted."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.terminal.console import screen
from brasstag.surfaces.cli.terminal.fold_lines import CONTINUED, folded
from brasstag.surfaces.visible import one_line

if TYPE_CHECKING:
    from brasstag.documents import Snippet

_INDENT = "  │ "
_MATCH = "bold yellow"
_SPACES = re.compile(r"\s+")


def print_snippet(snippet: "Snippet") -> None:
    """Print a piece of a document; none of it can pose as a line of ours."""
    from rich.text import Text

    console = screen()
    shown = Text()
    for piece, style in _pieces(snippet):
        words = one_line(_SPACES.sub(" ", piece))
        is_apart = not shown.plain or shown.plain.endswith(" ")
        shown.append(words.removeprefix(" ") if is_apart else words, style)
    shown.rstrip()
    room = console.width - len(_INDENT)
    start = 0
    for piece in folded(shown.plain, room):
        before = f"{_INDENT}{CONTINUED if start else ''}"
        console.print(Text(before) + shown[start : start + len(piece)])
        start += len(piece)


def _pieces(snippet: "Snippet") -> Iterator[tuple[str, str]]:
    """Yield the text in pieces, each with its style."""
    end = 0
    for first, last in snippet.matches:
        yield snippet.text[end:first], ""
        yield snippet.text[first:last], _MATCH
        end = last
    yield snippet.text[end:], ""
