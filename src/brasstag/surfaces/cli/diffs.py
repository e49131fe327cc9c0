"""What a call would change, for eyes: nothing is cut off, nothing hides."""

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from brasstag.surfaces.cli.console import quote, say
from brasstag.words.deeds import change_sentence
from brasstag.words.previews import Preview, digest_in

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
                quote(line, indent="    │ ")
        else:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            quote(f"{name} = {shown}", indent="  ")


def print_preview(preview: Preview, blobs: "Blobs") -> None:
    """Print each thing the call would do, with a diff for each file it would write."""
    for sentence in deeds(preview):
        quote(sentence, indent="  ")
    for change in preview.changes:
        quote(change_sentence(change, partial(_target, blobs)), "bold", indent="  ")
        if digest_in(change.after) and (not change.source or digest_in(change.before)):
            print_diff(_text(blobs, change.before), _text(blobs, change.after))
        if not change.undoable:
            say("    too large to keep a copy of: this cannot be undone", "red")


def print_diff(before: bytes | None, after: bytes | None, *, stderr: bool = False) -> None:
    """Print a coloured unified diff; bytes that are not text are told by their size."""
    for line in diff_lines(before, after):
        quote(line, _STYLES.get(line[:1], ""), stderr=stderr)


def diff_lines(before: bytes | None, after: bytes | None) -> Iterator[str]:
    """Yield the lines of a unified diff between two contents."""
    if before is None or after is None:
        yield "@ the bytes are not kept here any more"
        return
    try:
        old, new = before.decode(), after.decode()
    except UnicodeDecodeError:
        yield f"@ not text: {len(before)} bytes become {len(after)} bytes"
        return
    if "\r\n" in old + new and not _bare_ends(old) and not _bare_ends(new):
        yield "@ lines end with CR LF, before and after"
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    yield from _compared(_lines(old), _lines(new))
    if old and new and old.endswith("\n") != new.endswith("\n"):
        yield f"@ the last line {'now ends' if new.endswith(chr(10)) else 'no longer ends'} with a line break"


def deeds(preview: Preview) -> Iterator[str]:
    """Yield what a call would do besides changing files, a sentence each."""
    yield from (f"runs {command}" for command in preview.runs)
    yield from (f"fetches {address}" for address in preview.fetches)
    yield from (f"saves what comes back as {path}, if that may land" for path in preview.saves)
    if preview.external:
        yield "acts outside the workspace, where a preview cannot see"


def _lines(text: str) -> list[str]:
    # Not splitlines: it also breaks at characters that are part of a line here, and then they would not show.
    return text.removesuffix("\n").split("\n") if text else []


def _bare_ends(text: str) -> bool:
    return text.count("\n") != text.count("\r\n")


def _compared(old: list[str], new: list[str]) -> Iterator[str]:
    if len(old) + len(new) > MOST_DIFFED_LINES:
        yield from _ends_stripped(old, new)
        return
    lines = difflib.unified_diff(old, new, lineterm="", n=3)
    for _header in range(2):
        next(lines, None)
    yield from lines


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


def _text(blobs: "Blobs", state: str) -> bytes | None:
    # Where a link leads is no text of a file; the sentence above says it.
    return _bytes(blobs, state) if state.startswith("file:") else b""


def _target(blobs: "Blobs", state: str) -> str | None:
    target = _bytes(blobs, state)
    return None if target is None else os.fsdecode(target)


def _bytes(blobs: "Blobs", state: str) -> bytes | None:
    digest = digest_in(state) or ""
    return blobs.get(digest) if blobs.has(digest) else None
