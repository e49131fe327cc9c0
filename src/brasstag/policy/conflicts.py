"""Calls that would replace something newer than their task has seen: a person is always asked."""

from dataclasses import replace

from brasstag.words.previews import ABSENT, Preview
from brasstag.words.verdicts import Verdict

CHANGED_MEANWHILE = "changed meanwhile"
"""The name in these verdicts, where other verdicts name a rule."""

_CHANGED = ("changed", "replace what it has not seen")
_DELETED = ("deleted", "put something there again")


def with_conflicts_heard(verdict: Verdict, preview: Preview) -> Verdict:
    """Return a verdict that is at least an ask where the preview has conflicts; a denial stays as it is."""
    if not preview.conflicts or verdict.decision == "deny":
        return verdict
    said = _said(preview)
    if verdict.decision == "allow":
        return Verdict("ask", said, CHANGED_MEANWHILE)
    return replace(verdict, because=f"{said}; besides, {verdict.because}", rule=CHANGED_MEANWHILE)


def _said(preview: Preview) -> str:
    first, *more = preview.conflicts
    is_gone = any(change.path == first.path and change.before == ABSENT for change in preview.changes)
    what, then = _DELETED if is_gone else _CHANGED
    said = f"{first.path} was {what} by {first.by} after this task last saw it ({first.seen_at})"
    files = f"so were {len(more)} more" if len(more) > 1 else "so was 1 more"
    return f"{said}, {f'and {files}; ' if more else 'and '}this would {then}"
