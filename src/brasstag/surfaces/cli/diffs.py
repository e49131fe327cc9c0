"""What a call would change, for eyes: nothing is cut off, nothing hides."""

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from brasstag.surfaces.cli.console import console, say, visible
from brasstag.words.previews import ABSENT, DIRECTORY, Change, Preview, digest_in

if TYPE_CHECKING:
    from brasstag.store.blobs import Blobs

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
MOST_DIFFED_LINES = 20_000
"""Beyond this a diff takes minutes; then only what the two sides share at their ends is left out."""


def print_arguments(arguments: Mapping[str, Any]) -> None:
    """Print a call's arguments in full; text of many lines is set out as lines."""
    for name, value in arguments.items():
        if isinstance(value, str) and "\n" in value:
            say(f"  {name}:")
            for line in value.split("\n"):
                say(f"    {line}")
        else:
            say(f"  {name} = {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")


def print_preview(preview: Preview, blobs: "Blobs") -> None:
    """Print each thing the call would do, with a diff for each file it would write."""
    for command in preview.runs:
        say(f"  runs {command}")
    for address in preview.fetches:
        say(f"  fetches {address}")
    if preview.external:
        say("  acts outside the workspace, where a preview cannot see")
    for change in preview.changes:
        say(f"  {_sentence(change)}", "bold")
        if digest_in(change.after) and not change.source:
            print_diff(_bytes(blobs, change.before), _bytes(blobs, change.after))
        if not change.undoable:
            say("    too large to keep a copy of: this cannot be undone", "red")


def print_diff(before: bytes | None, after: bytes | None, *, stderr: bool = False) -> None:
    """Print a coloured unified diff; bytes that are not text are told by their size."""
    from rich.text import Text

    screen = console(stderr=stderr)
    for line in diff_lines(before, after):
        screen.print(Text(f"    {visible(line)}", style=_STYLES.get(line[:1], "")))


def diff_lines(before: bytes | None, after: bytes | None) -> Iterator[str]:
    """Yield the lines of a unified diff between two contents."""
    if before is None or after is None:
        yield "@ the bytes are not kept here any more"
        return
    try:
        old, new = before.decode().splitlines(), after.decode().splitlines()
    except UnicodeDecodeError:
        yield f"@ not text: {len(before)} bytes become {len(after)} bytes"
        return
    if len(old) + len(new) > MOST_DIFFED_LINES:
        yield from _ends_stripped(old, new)
        return
    lines = difflib.unified_diff(old, new, lineterm="", n=3)
    yield from (line for line in lines if not line.startswith(("---", "+++")))
    if before.endswith(b"\n") != after.endswith(b"\n") and old and new:
        ends = "now ends" if after.endswith(b"\n") else "no longer ends"
        yield f"@ the last line {ends} with a line break"


def _ends_stripped(old: list[str], new: list[str]) -> Iterator[str]:
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield f"@@ from line {start + 1} @@"
    yield from (f"-{line}" for line in old[start : len(old) - end])
    yield from (f"+{line}" for line in new[start : len(new) - end])


def _sentence(change: Change) -> str:
    if change.source:
        return f"moves {change.source} to {change.path}{' (replacing it)' if change.before != ABSENT else ''}"
    if change.after == ABSENT:
        what = "directory " if change.before == DIRECTORY else ""
        return f"deletes {what}{change.path} ({change.before_size} bytes)"
    if change.after == DIRECTORY:
        return f"makes directory {change.path}"
    if change.before == ABSENT:
        return f"creates {change.path} ({change.size} bytes)"
    return f"overwrites {change.path} ({change.before_size} → {change.size} bytes)"


def _bytes(blobs: "Blobs", state: str) -> bytes | None:
    digest = digest_in(state)
    if digest is None:
        return b""
    return blobs.get(digest) if blobs.has(digest) else None
