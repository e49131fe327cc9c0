"""What people read on a terminal, and what programs read from a pipe."""

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from rich.console import Console

OutputName = Literal["people", "json"]

Output = Annotated[
    OutputName | None,
    typer.Option("--output", "-o", help="people or json; json when the output is not a terminal."),
]

_BIDI = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c")


def wants_json(output: OutputName | None) -> bool:
    """Say whether this command shall speak JSON."""
    return output == "json" or (output is None and not sys.stdout.isatty())


def at_terminal() -> bool:
    """Say whether a person can see a question and answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def print_json(value: Any) -> None:
    """Print one JSON document, on one line, so that lines can be read one by one."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def console(*, stderr: bool = False) -> "Console":
    """Return the console people read."""
    from rich.console import Console

    forced = os.environ.get("FORCE_COLOR") is not None
    return Console(stderr=stderr, highlight=False, soft_wrap=True, force_terminal=forced or None)


def say(text: str, style: str = "", *, stderr: bool = False) -> None:
    """Print a line for people; what it quotes cannot colour it or move the cursor."""
    from rich.text import Text

    console(stderr=stderr).print(Text(visible(text), style=style))


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, styles: dict[int, str] | None = None
) -> None:
    """Print a plain table for people."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        shown.add_column(heading, overflow="fold")
    for row in rows:
        shown.add_row(
            *(Text(visible(str(cell)), style=(styles or {}).get(index, "")) for index, cell in enumerate(row))
        )
    console().print(shown)


def visible(text: str) -> str:
    """Return text in which nothing hides: control and direction characters are written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _harmless(char) else f"⟨U+{ord(char):04X}⟩" for char in text)


def _harmless(char: str) -> bool:
    if char in "\n\t":
        return True
    return char not in _BIDI and unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
