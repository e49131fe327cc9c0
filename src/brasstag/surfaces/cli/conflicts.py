"""The three sides of a conflict: what a task saw, what others made of it meanwhile, and what the task would make of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brasstag.documents.comparing import diff_lines
from brasstag.documents.overlaps import Span, lines_both_changed
from brasstag.surfaces.cli.contents import kept_text
from brasstag.words.previews import Change, Conflict, Preview, digest_in

if TYPE_CHECKING:
    from brasstag.store.blobs import Blobs

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
        """What to know beside the diffs: that the base is not there, or which lines both sides changed."""
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
