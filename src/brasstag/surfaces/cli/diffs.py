"""What a call would change, for eyes: nothing is cut off, nothing hides."""

import json
import os
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from brasstag.documents.comparing import diff_lines
from brasstag.surfaces.cli.console import quote, say
from brasstag.words.deeds import change_sentence
from brasstag.words.previews import Preview, digest_in

if TYPE_CHECKING:
    from brasstag.store.blobs import Blobs

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


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


def deeds(preview: Preview) -> Iterator[str]:
    """Yield what a call would do besides changing files, a sentence each."""
    yield from (f"runs {command}" for command in preview.runs)
    yield from (f"fetches {address}" for address in preview.fetches)
    yield from (f"saves what comes back as {path}, if that may land" for path in preview.saves)
    if preview.external:
        yield "acts outside the workspace, where a preview cannot see"


def _text(blobs: "Blobs", state: str) -> bytes | None:
    # Where a link leads is no text of a file; the sentence above says it.
    return _bytes(blobs, state) if state.startswith("file:") else b""


def _target(blobs: "Blobs", state: str) -> str | None:
    target = _bytes(blobs, state)
    return None if target is None else os.fsdecode(target)


def _bytes(blobs: "Blobs", state: str) -> bytes | None:
    digest = digest_in(state) or ""
    return blobs.get(digest) if blobs.has(digest) else None
