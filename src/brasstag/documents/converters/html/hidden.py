"""Which elements of a page are open, and which of them a reader does not see."""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from brasstag.documents.converters.html.css import COMMENT, Sheets, StyleVisibility

VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
"""Elements that hold nothing, and are never closed."""

_WORDLESS = frozenset({"script", "style", "svg", "math", "iframe", "object", "select"})
_HELD_BACK = frozenset({"template", "noscript"})
# Scripts hide a whole page until it is loaded: that is seen.
_ALWAYS_SEEN = frozenset({"html", "body"})
_HIDING = re.compile(
    r"(?:^|;)\s*(?:content-visibility\s*:\s*hidden"
    r"|(?:opacity|font-size)\s*:\s*(?:0+(?:\.0*)?|\.0+)(?:%|[a-z]+)?\s*(?:!|;|$))",
    re.IGNORECASE,
)

_PARAGRAPH = frozenset({"p"})
_LISTS = frozenset({"ul", "ol", "menu", "dl"})
_TABLE = frozenset({"table"})
_CELLS = frozenset({"td", "th"})
_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_IN_TABLES = _CELLS | {"table", "caption"}
_TABLE_PARTS = _CELLS | _GROUPS | {"tr", "table", "caption"}
_ENDED_BY: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), _LISTS),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), _LISTS)),
    **dict.fromkeys(_CELLS, (_CELLS, _TABLE)),
    "tr": (_CELLS | {"tr"}, _TABLE),
    **dict.fromkeys(_GROUPS, (_CELLS | _GROUPS | {"tr"}, _TABLE)),
}
"""What is open in the same list or table is ended by the next of its kind; pages leave out the tag that would say so."""


@dataclass(slots=True)
class _VisibilityChange:
    """An open element from which on something else is seen than in what it lies in."""

    place: int
    visibility: StyleVisibility
    tells: bool
    """Whether words in it are still to be noted."""


class Elements:
    """The open elements of a page, by name and place, so that none has to be looked for."""

    def __init__(self, boundaries: frozenset[str], sheets: Sheets) -> None:
        self._sheets = sheets
        self._boundaries = boundaries | _CELLS
        self._open: list[str] = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._bounds: list[int] = [-1]
        self._turns: list[_VisibilityChange] = []
        self.untold = 0
        """How many hidden elements had something to say."""

    @property
    def is_hidden(self) -> bool:
        """Whether a reader sees no words that come next."""
        return self._visibility is not StyleVisibility.SHOWN

    @property
    def is_drawing(self) -> bool:
        """Whether what comes next is no HTML: there, a slash at its end closes an element."""
        return bool(self._places["svg"] or self._places["math"])

    def open(self, tag: str, given: Mapping[str, str | None]) -> bool:
        """Begin an element, and end those that it ends by that; False where nothing of it or in it is seen."""
        is_boundary = tag in self._boundaries
        if is_boundary and self._last(_PARAGRAPH) == self._bounds[-1]:
            self._drop(self._bounds[-1])
        if tag in _ENDED_BY:
            self._end_before(*_ENDED_BY[tag])
        visibility = self._seen(tag, given)
        if tag in VOID:
            return visibility is StyleVisibility.SHOWN
        place = len(self._open)
        self._open.append(tag)
        self._places[tag].append(place)
        if is_boundary:
            self._bounds.append(place)
        if visibility is not self._visibility:
            self._turns.append(
                _VisibilityChange(
                    place, visibility, visibility is not StyleVisibility.SHOWN and tag not in _WORDLESS
                )
            )
        return visibility is not StyleVisibility.GONE

    def close(self, tag: str) -> bool:
        """End an element; False where nothing in it was seen, or where it is inside such an element."""
        gone = self._turns[-1].place if self._visibility is StyleVisibility.GONE else -1
        if self._places[tag]:
            place = self._places[tag][-1]
            # What it would have to lie outside of keeps it from ending anything.
            if tag not in self._boundaries:
                stop = self._bounds[-1]
            else:
                stop = self._last(_TABLE if tag in _TABLE_PARTS else _IN_TABLES)
            if place >= stop:
                self._drop(place)
        return gone < 0 or len(self._open) < gone

    def say(self) -> None:
        """Take note of words that no reader sees."""
        if self._turns:
            self.untold += self._turns[-1].tells
            self._turns[-1].tells = False

    @property
    def _visibility(self) -> StyleVisibility:
        return self._turns[-1].visibility if self._turns else StyleVisibility.SHOWN

    def _seen(self, tag: str, given: Mapping[str, str | None]) -> StyleVisibility:
        """Say how an element is seen where it lies: gone, veiled or shown."""
        around = self._visibility
        if around is StyleVisibility.GONE or _hides(tag, given):
            return StyleVisibility.GONE
        said = StyleVisibility.UNSAID if tag in _ALWAYS_SEEN else self._sheets.visibility(tag, given)
        return around if said is StyleVisibility.UNSAID else said

    def _end_before(self, tags: frozenset[str], within: frozenset[str]) -> None:
        """End the outermost of those elements in the list or table that is open."""
        stop = self._last(within)
        inner = [
            places[at] for tag in tags if (at := bisect(places := self._places[tag], stop)) < len(places)
        ]
        if inner:
            self._drop(min(inner))

    def _last(self, tags: frozenset[str]) -> int:
        """Return the place of the innermost of those elements; below any where none is open."""
        return max((self._places[tag][-1] for tag in tags if self._places[tag]), default=-1)

    def _drop(self, first: int) -> None:
        if first < 0:
            return
        for tag in self._open[first:]:
            self._places[tag].pop()
        del self._open[first:]
        while self._bounds[-1] >= first:
            self._bounds.pop()
        while self._turns and self._turns[-1].place >= first:
            self._turns.pop()


def _hides(tag: str, given: Mapping[str, str | None]) -> bool:
    """Say whether an element is not shown by what it is, or by what its tag says."""
    if tag in _WORDLESS or tag in _HELD_BACK:
        return True
    if (not given and tag != "dialog") or tag in _ALWAYS_SEEN:
        return False
    is_closed = tag == "dialog" and "open" not in given
    style = COMMENT.sub("", given.get("style") or "")
    is_styled = bool(style) and _HIDING.search(style) is not None
    return "hidden" in given or is_closed or is_styled
