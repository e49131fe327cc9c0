"""What a call would change, for eyes: nothing is cut off, nothing hides."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from brasstag.documents.comparing import diff_lines
from brasstag.surfaces.cli.conflicts import Sides
from brasstag.surfaces.cli.console import quote, say
from brasstag.surfaces.cli.contents import kept_bytes, kept_text
from brasstag.surfaces.cli.times import local_time
from brasstag.words.deeds import change_sentence
from brasstag.words.previews import ABSENT, Preview, digest_in

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
    conflicts = {conflict.path: conflict for conflict in preview.conflicts}
    for change in preview.changes:
        quote(change_sentence(change, partial(_target, blobs)), "bold", indent="  ")
        conflict = conflicts.get(change.path)
        if conflict is not None:
            _print_meanwhile(Sides.of(conflict, change, blobs), is_gone=change.before == ABSENT)
        if digest_in(change.after) and (not change.source or digest_in(change.before)):
            if conflict is not None:
                say("    theirs → ours: what this call would make of that", "bold yellow")
            print_diff(kept_text(blobs, change.before), kept_text(blobs, change.after))
        if not change.undoable:
            say("    too large to keep a copy of: this cannot be undone", "red")


def print_diff(before: bytes | None, after: bytes | None, *, stderr: bool = False) -> None:
    """Print a coloured unified diff; bytes that are not text are told by their size."""
    print_lines(diff_lines(before, after), stderr=stderr)


def print_lines(lines: Iterable[str], *, stderr: bool = False) -> None:
    """Print the lines of a diff, coloured."""
    for line in lines:
        quote(line, _STYLES.get(line[:1], ""), stderr=stderr)


def deeds(preview: Preview) -> Iterator[str]:
    """Yield what a call would do besides changing files, a sentence each."""
    yield from (f"runs {command}" for command in preview.runs)
    yield from (f"fetches {address}" for address in preview.fetches)
    yield from (f"tags or describes {path}" for path in preview.annotates)
    yield from (f"saves what comes back as {path}, if that may land" for path in preview.saves)
    if preview.external:
        yield "acts outside the workspace, where a preview cannot see"


def _target(blobs: "Blobs", state: str) -> str | None:
    target = kept_bytes(blobs, state)
    return None if target is None else os.fsdecode(target)


def _print_meanwhile(sides: Sides, *, is_gone: bool) -> None:
    conflict = sides.conflict
    what = "deleted" if is_gone else "changed"
    said = f"{what} by {conflict.by} after the task last saw it, {local_time(conflict.seen_at)}"
    quote(f"base → theirs: {said}", "bold yellow")
    if sides.base is not None:
        print_diff(sides.base, sides.theirs)
    if sides.note:
        quote(sides.note, "yellow")
