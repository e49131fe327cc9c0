"""Comparing two contents: the lines of a unified diff, and the lines that two later versions both changed.

First the lines that stand once on either side are matched, as they say most about what stayed; what lies between two of
them is compared line by line where it is short, and shown as replaced where it is not. So no text makes this take long.
"""

import difflib
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from brasstag.documents.formats.kinds import CONVERTED, LINK, is_own_text, is_text_kind
from brasstag.words.documents import Content
from brasstag.words.errors import Code, ToolError

Form = Literal["text", "markdown", "bytes"]
"""What was compared: texts as they are, what both are as Markdown, or only the bytes."""

LARGEST_BETWEEN = 40_000
"""Lines of one side times lines of the other, between two lines that were matched, up to which each is compared."""
DEEPEST = 50
"""How often lines are looked for anew that stand once between two that did."""
CONTEXT = 3

Match = tuple[int, int, int]
"""Where a run of equal lines begins on either side, and how long it is."""

_UNREADABLE = frozenset({Code.CANNOT_CONVERT, Code.TOO_LARGE})
"""Reasons why a content has no text that hold for every caller and at every time."""
_SHORT = 12
"""Characters of a digest that tell two apart."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two contents."""

    same: bool
    """Whether they are the same bytes."""
    form: Form
    lines: tuple[str, ...]
    """Those of a unified diff; where only the bytes differ, one that says so."""


def compare(
    old: Content, new: Content | None, read: Callable[[Content], str], context: int = CONTEXT
) -> Comparison:
    """Compare two contents, the new one None where it is gone, as texts where ``read`` has any, else by their bytes."""
    if new is not None and old.digest == new.digest:
        return Comparison(True, _form(old, new), ())
    sides = [old] if new is None else [old, new]
    texts = [_text(side, read) for side in sides]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return Comparison(False, "bytes", (f"@ not text: {_told(old, new)}",))
    before, after = [*known, ""][:2]
    if new is not None and before == after:
        return Comparison(False, "bytes", (f"@ as texts they are the same, as bytes not: {_told(old, new)}",))
    return Comparison(False, _form(*sides), tuple(diff_texts(before, after, context)))


def _text(content: Content, read: Callable[[Content], str]) -> str | None:
    """Return a content as a text, or None where it has none: what a model is told of it instead says little."""
    if content.media_type == LINK:
        return os.fsdecode(content.data)
    if not _has_words(content.media_type):
        return None
    try:
        return read(content)
    except ToolError as error:
        if error.code not in _UNREADABLE:
            raise
        return None


def _has_words(media_type: str) -> bool:
    return is_text_kind(media_type) or media_type in CONVERTED or media_type == LINK


def _form(*sides: Content) -> Form:
    kinds = {side.media_type for side in sides}
    if all(is_own_text(kind) or kind == LINK for kind in kinds):
        return "text"
    return "markdown" if all(map(_has_words, kinds)) else "bytes"


def _told(old: Content, new: Content | None) -> str:
    after = "nothing" if new is None else _measured(new)
    return f"{_measured(old)} {'becomes' if len(old.data) == 1 else 'become'} {after}"


def _measured(content: Content) -> str:
    return f"{_counted(len(content.data))} (SHA-256 {content.digest[:_SHORT]}…)"


def _counted(size: int) -> str:
    return f"{size} byte{'' if size == 1 else 's'}"


def diff_lines(before: bytes | None, after: bytes | None) -> Iterator[str]:
    """Yield the lines of a unified diff between two contents; bytes that are not text are told by their size."""
    if before is None or after is None:
        yield "@ the bytes are not kept here any more"
        return
    try:
        old, new = before.decode(), after.decode()
    except UnicodeDecodeError:
        yield f"@ not text: {_counted(len(before))} become {_counted(len(after))}"
        return
    yield from diff_texts(old, new)


def diff_texts(old: str, new: str, context: int = CONTEXT) -> Iterator[str]:
    """Yield the lines of a unified diff between two texts, and what of line ends does not show in them."""
    if "\r\n" in old + new and not _bare_ends(old) and not _bare_ends(new):
        yield "@ lines end with CR LF, before and after"
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    yield from _compared(_lines(old), _lines(new), context)
    if old and new and old.endswith("\n") != new.endswith("\n"):
        yield f"@ the last line {'now ends' if new.endswith(chr(10)) else 'no longer ends'} with a line break"


def _lines(text: str) -> list[str]:
    # Not splitlines: it also breaks at characters that are part of a line here, and then they would not show.
    return text.removesuffix("\n").split("\n") if text else []


def _bare_ends(text: str) -> bool:
    return text.count("\n") != text.count("\r\n")


class Matched(difflib.SequenceMatcher[str]):
    """A comparison whose matches are found here; what is made of them is the library's."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, (), ())
        self.a, self.b = old, new
        ours = _joined(_matches(old, new, (0, 0), (len(old), len(new)), 0))
        self.matching_blocks = [difflib.Match(*match) for match in (*ours, (len(old), len(new), 0))]


def _compared(old: list[str], new: list[str], context: int) -> Iterator[str]:
    for group in Matched(old, new).get_grouped_opcodes(context):
        yield f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@"
        for what, old_from, old_to, new_from, new_to in group:
            if what == "equal":
                yield from (f" {line}" for line in old[old_from:old_to])
                continue
            yield from (f"-{line}" for line in old[old_from:old_to])
            yield from (f"+{line}" for line in new[new_from:new_to])


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    # Of nothing, the line before it is told.
    return f"{start + 1 if length else start},{length}"


def _matches(
    old: Sequence[str], new: Sequence[str], start: tuple[int, int], end: tuple[int, int], depth: int
) -> Iterator[Match]:
    """Yield equal lines between two places on either side, in order."""
    (old_from, new_from), (old_to, new_to) = start, end
    first = last = 0
    shorter = min(old_to - old_from, new_to - new_from)
    while first < shorter and old[old_from + first] == new[new_from + first]:
        first += 1
    while last < shorter - first and old[old_to - last - 1] == new[new_to - last - 1]:
        last += 1
    yield old_from, new_from, first
    inside = (old_from + first, new_from + first), (old_to - last, new_to - last)
    yield from _between(old, new, *inside, depth)
    yield old_to - last, new_to - last, last


def _between(
    old: Sequence[str], new: Sequence[str], start: tuple[int, int], end: tuple[int, int], depth: int
) -> Iterator[Match]:
    (old_from, new_from), (old_to, new_to) = start, end
    ours, theirs = old[old_from:old_to], new[new_from:new_to]
    anchors = _anchors(ours, theirs) if depth < DEEPEST else []
    if not anchors:
        if len(ours) * len(theirs) <= LARGEST_BETWEEN:
            found = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
            yield from ((old_from + a, new_from + b, size) for a, b, size in found.get_matching_blocks())
        return
    at = start
    for one, other in anchors:
        place = old_from + one, new_from + other
        yield from _matches(old, new, at, place, depth + 1)
        yield *place, 1
        at = place[0] + 1, place[1] + 1
    yield from _matches(old, new, at, end, depth + 1)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return where lines stand that each side has once: as many as come in the same order on both."""
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    if not once:
        return []
    places = {line: place for place, line in enumerate(new) if line in once}
    pairs = [(place, places[line]) for place, line in enumerate(old) if line in once]
    return _longest_rising(pairs)


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of pairs, which rise in their first, that rises in their second as well."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, other) in enumerate(pairs):
        length = bisect_left(ends, other)
        ends[length : length + 1] = [other]
        last[length : length + 1] = [index]
        before.append(last[length - 1] if length else -1)
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _joined(matches: Iterator[Match]) -> Iterator[Match]:
    """Yield matches, those that touch as one, and empty ones not at all."""
    held: Match | None = None
    for old, new, size in matches:
        if not size:
            continue
        if held is not None and (held[0] + held[2], held[1] + held[2]) == (old, new):
            held = (held[0], held[1], held[2] + size)
            continue
        if held is not None:
            yield held
        held = (old, new, size)
    if held is not None:
        yield held


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
