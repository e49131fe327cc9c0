"""Overlaps: which lines of a text two later versions of it have both changed."""

import difflib
from collections.abc import Iterator, Sequence

MOST_COMPARED_LINES = 20_000
"""Beyond this a comparison takes minutes."""

Span = tuple[int, int]
"""From one line to before another, counted from 0; an empty one is where lines were put in."""


def lines_both_changed(base: str, theirs: str, ours: str) -> list[Span] | None:
    """Return the lines of a text that two versions have both changed, in order; None where that is too much to compare.

    Lines put in at the same place count, and show as an empty span. Where both made the same of them is no exception.
    """
    old, their, our = (text.split("\n") for text in (base, theirs, ours))
    if len(old) + max(len(their), len(our)) > MOST_COMPARED_LINES:
        return None
    spans = list(_changed(old, our))
    return [
        (max(start, begin), min(stop, end))
        for start, stop in _changed(old, their)
        for begin, end in spans
        if _meet((start, stop), (begin, end))
    ]


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[Span]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, stop, _, _ in matcher.get_opcodes():
        if tag != "equal":
            yield start, stop


def _meet(one: Span, other: Span) -> bool:
    if one[0] == one[1] or other[0] == other[1]:
        # Where lines are put in, they touch what is before and after them.
        return one[0] <= other[1] and other[0] <= one[1]
    return one[0] < other[1] and other[0] < one[1]
