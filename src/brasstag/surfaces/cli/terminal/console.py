"""Print text for people, whole in a pipe and fitted to a terminal; print JSON where a program asks for it."""

import json
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TextIO

from brasstag.settings import OutputName as OutputName  # noqa: PLC0414 - commands take it from here
from brasstag.surfaces.cli.terminal import streams
from brasstag.surfaces.cli.terminal.fold_lines import CONTINUED, folded
from brasstag.surfaces.visible import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console

_ENDLESS = 1_000_000_000
"""The width of a file or a pipe: nothing is cut or folded there, as a reader may look for a whole id."""


def wants_json(output: OutputName | None) -> bool:
    """Say whether this command shall speak JSON."""
    return output == "json"


def at_terminal() -> bool:
    """Say whether a person can see a question and answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def can_ask(output: OutputName | None) -> bool:
    """Say whether a person here also sees what a question is about, which goes to standard output."""
    return at_terminal() and streams.output().isatty() and not wants_json(output)


def print_json(value: Any) -> None:
    """Print one JSON document, on one line, so that lines can be read one by one."""
    # JSON leaves some characters as they are that a terminal would obey.
    stream = streams.output()
    ascii_only = stream.isatty() or not streams.is_utf8(stream)
    stream.write(json.dumps(value, ensure_ascii=ascii_only) + "\n")


def report(output: OutputName | None, found: Mapping[str, Any], sentence: str, style: str = "") -> None:
    """Tell how a command ended: an object for programs, a sentence for people."""
    if wants_json(output):
        print_json(found)
    else:
        say(sentence, style)


def say(text: str, style: str = "", *, stderr: bool = False, at_words: bool = False) -> None:
    """Print text for people; what it quotes cannot colour it or move the cursor.

    At a terminal, what goes wrong is broken at words, and so is other prose where ``at_words`` says so.
    """
    from rich.text import Text

    console = screen(stderr=stderr)
    shown = visible(text)
    if stderr or at_words:
        shown = _at_words(shown, console.width)
    console.print(Text(shown, style=style))


def _at_words(text: str, width: int) -> str:
    """Return text of ours broken at words; each line goes on beneath its own beginning."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip(" "))]
        pieces = textwrap.wrap(
            line,
            width,
            subsequent_indent=f"{indent}  " if indent else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += pieces if len(line) > width else [line]
    return "\n".join(lines)


def quote(line: str, style: str = "", *, indent: str = "    ", stderr: bool = False) -> None:
    """Print all of a line from another source, in its own column: no part of it can pose as a line of ours."""
    quote_all([line], style, indent=indent, stderr=stderr)


def quote_all(lines: Iterable[str], style: str = "", *, indent: str = "    ", stderr: bool = False) -> None:
    """Print lines from another source, all together, which is much quicker for many lines."""
    from rich.text import Text

    console = screen(stderr=stderr)
    room = console.width - len(indent)
    pieces = []
    for line in lines:
        first, *rest = folded(one_line(line), room)
        pieces += [first, *(f"{CONTINUED}{piece}" for piece in rest)]
    if pieces:
        console.print(Text("\n".join(f"{indent}{piece}" for piece in pieces), style=style))


def brief(*parts: tuple[str, str]) -> None:
    """Print one line made of texts and their styles; at a terminal, what does not fit is left out."""
    from rich.text import Text

    console = screen()
    shown = Text.assemble(*((one_line(text), style) for text, style in parts))
    shown.truncate(console.width, overflow="ellipsis")
    console.print(shown)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, styles: Mapping[int, str] | None = None
) -> None:
    """Print a plain table for people; the last column takes the space that is left."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headings))
    for heading in headings[:-1]:
        shown.add_column(heading, overflow="fold", no_wrap=False)
    shown.add_column(headings[-1], overflow="fold", ratio=1)
    for row in rows:
        shown.add_row(
            *(Text(one_line(cell), style=(styles or {}).get(index, "")) for index, cell in enumerate(row))
        )
    screen().print(shown)


def screen(*, stderr: bool = False) -> "Console":
    """Return what prints for people."""
    return _console(sys.stderr if stderr else streams.output())


def screen_width() -> int | None:
    """Return how many cells a line has; None in a file or a pipe, where lines are as long as what they say."""
    width = screen().width
    return None if width == _ENDLESS else width


@lru_cache(maxsize=4)
def _console(stream: TextIO) -> "Console":
    from rich.console import Console

    # Colours may be forced upon a pipe; it has no width and no place for a picture even then.
    is_screen = stream.isatty()
    return Console(
        file=stream,
        highlight=False,
        soft_wrap=True,
        width=None if is_screen else _ENDLESS,
        force_interactive=None if is_screen else False,
    )
