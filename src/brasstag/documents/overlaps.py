"""Overlaps: which lines of a text two later versions of it have both changed."""

from collections.abc import Iterator

from brasstag.documents.comparing import Matched

MOST_COMPARED_LINES = 20_000
"""Beyond this, texts made to take long do."""

Span = tuple[int, int]
"""From one line to before another, counted from 0; an empty one is where lines were put in."""


def lines_both_changed(base: str, theirs: str, ours: str) -> list[Span] | None:
    """Return the lines of a text that two versions have both changed, in order; None where that is too much to compare.

    Changed is what a diff of these texts shows as changed. Lines put in at the same place count, and show as an empty
    span. Where both made the same of them is no exception.
    """
    old, their, our = (text.split("\n") for text in (base, theirs, ours))
    if len(old) + max(len(their), len(our)) > MOST_COMPARED_LINES:
        return None
    return list(_common(_changed(old, their), _changed(old, our)))


def _changed(old: list[str], new: list[str]) -> list[Span]:
    return [(start, stop) for tag, start, stop, _, _ in Matched(old, new).get_opcodes() if tag != "equal"]


def _common(some: list[Span], others: list[Span]) -> Iterator[Span]:
    """Yield where two rows of spans meet, each in order and with lines between any two of its own."""
    at = other_at = 0
    while at < len(some) and other_at < len(others):
        one, other = some[at], others[other_at]
        if _meet(one, other):
            yield max(one[0], other[0]), min(one[1], other[1])
        # What follows in the other row begins behind them both, so the one that ends first can meet nothing more.
        if one[1] <= other[1]:
            at += 1
        else:
            other_at += 1


def _meet(one: Span, other: Span) -> bool:
    if one[0] == one[1] or other[0] == other[1]:
        # Where lines are put in, they touch what is before and after them.
        return one[0] <= other[1] and other[0] <= one[1]
    return one[0] < other[1] and other[0] < one[1]
