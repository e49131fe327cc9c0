"""What a call would change, as diffs, with the three sides of a conflict; nothing is cut off."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from brasstag.documents import Span, diff_lines, lines_both_changed
from brasstag.surfaces.cli.terminal.console import quote, say
from brasstag.surfaces.cli.terminal.numbers import local_time
from brasstag.words.previews import ABSENT, Change, Conflict, Preview, change_sentence, digest_in, is_file

if TYPE_CHECKING:
    from brasstag.store import Blobs


def kept_bytes(blobs: "Blobs", state: str) -> bytes | None:
    """Return the bytes of a file, or where a link leads; None where they are not kept."""
    digest = digest_in(state) or ""
    return blobs.get(digest) if blobs.has(digest) else None


def kept_text(blobs: "Blobs", state: str) -> bytes | None:
    """Return the bytes of a file, empty for anything else; None where they are not kept."""
    # The target of a link is not the text of a file; the sentence about the link names it.
    return kept_bytes(blobs, state) if is_file(state) else b""


if TYPE_CHECKING:
    from brasstag.store import Blobs

_MOST_SPANS = 5


@dataclass(frozen=True, slots=True)
class Sides:
    """Base, theirs and ours; None where the bytes are not kept."""

    conflict: Conflict
    base: bytes | None
    theirs: bytes | None
    ours: bytes | None

    @classmethod
    def of(cls, conflict: Conflict, change: Change, blobs: "Blobs") -> "Sides":
        """Find the three sides of a conflict."""
        states = (conflict.base, change.before, change.after)
        return cls(conflict, *(kept_text(blobs, state) for state in states))

    @property
    def note(self) -> str:
        """What to know beside the diffs: that the base is missing, or which lines both sides changed."""
        if self.base is None:
            digest = digest_in(self.conflict.base)
            return f"what the task saw was not kept (SHA-256 {digest}), so what changed meanwhile cannot be shown"
        if not (self.base and self.theirs and self.ours):
            return ""
        try:
            spans = lines_both_changed(self.base.decode(), self.theirs.decode(), self.ours.decode())
        except UnicodeDecodeError:
            return ""
        if spans is None:
            return "too long to say whether both changed the same lines"
        if not spans:
            return "they and we changed different lines"
        named = ", ".join(map(_lines, spans[:_MOST_SPANS])) + (" …" if len(spans) > _MOST_SPANS else "")
        return f"both changed the same lines of what the task saw: {named}"


def conflicts_json(preview: Preview, blobs: "Blobs") -> list[dict[str, Any]]:
    """Return each conflict with its three states, and what lies between them as lines of diffs."""
    changes = {change.path: change for change in preview.changes}
    return [_as_json(conflict, changes[conflict.path], blobs) for conflict in preview.conflicts]


def _as_json(conflict: Conflict, change: Change, blobs: "Blobs") -> dict[str, Any]:
    sides = Sides.of(conflict, change, blobs)
    return {
        "path": conflict.path,
        "base": conflict.base,
        "theirs": change.before,
        "ours": change.after,
        "by": conflict.by,
        "seenAt": conflict.seen_at,
        "baseToTheirs": None if sides.base is None else list(diff_lines(sides.base, sides.theirs)),
        "theirsToOurs": list(diff_lines(sides.theirs, sides.ours)),
        "note": sides.note,
    }


def _lines(span: Span) -> str:
    start, stop = span
    if stop - start > 1:
        return f"{start + 1}-{stop}"
    return f"{start + 1}" if stop > start else f"before {start + 1}"


if TYPE_CHECKING:
    from brasstag.store import Blobs

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
