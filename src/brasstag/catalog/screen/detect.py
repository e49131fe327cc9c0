"""Detect: every pattern in every layer and view of one text."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from brasstag.catalog.screen.characters import suspect_characters
from brasstag.catalog.screen.layers import EncodingReport, TextLayer, layers
from brasstag.catalog.screen.patterns import BadPattern, PatternGroup, PatternTable
from brasstag.catalog.screen.views import TextView, views

MOST_OF_ONE_PATTERN = 5
"""How often one pattern is reported for one text; a text that is full of it gains nothing from more."""

_MOST_OF_ONE_VIEW = 12
_MOST_EXCEPTIONS = 50
"""How many innocent forms of bad phrases are believed in one text; no honest text has so many."""

_LONGEST_NOTE = 80


@dataclass(frozen=True, slots=True)
class DetectedPattern:
    """A pattern at a place of a text; ``says`` is what was decoded there."""

    pattern: BadPattern
    start: int
    end: int
    says: str = ""
    inner: BadPattern | None = None
    """What the decoded text is blamed for."""


def detect(text: str, table: PatternTable) -> list[DetectedPattern]:
    """Return what is found in a text, in the order of its places."""
    detection = _Detection(text, table)
    detection.run()
    return sorted(detection.found, key=lambda one: (one.start, one.end, one.pattern.id))


@dataclass
class _Detection:
    text: str
    table: PatternTable
    found: list[DetectedPattern] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    places: defaultdict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    exceptions: int = 0

    def run(self) -> None:
        for pattern, start, end in suspect_characters(self.text, MOST_OF_ONE_PATTERN):
            self._add(DetectedPattern(self.table.by_id[pattern], start, end))
        for layer in layers(self.text, self._add_report):
            for number, view in enumerate(views(layer.text)):
                for group in self._groups(layer, view, is_plain=number == 0):
                    self._search(layer, view, group)
                # What is blocked already is not read in other ways: that costs most, and changes nothing.
                if self._is_blocked():
                    return

    def _groups(self, layer: TextLayer, view: TextView, *, is_plain: bool) -> Iterator[PatternGroup]:
        yield from self.table.groups("prose", view.gaps, "block")
        if is_plain:
            yield from self.table.groups("exact", view.gaps, "block")
        if layer.encoding_at is None and view.encoding is None and view.gaps != "none":
            yield from self.table.groups("prose", view.gaps, "warn")
            if is_plain:
                yield from self.table.groups("exact", view.gaps, "warn")

    def _search(self, layer: TextLayer, view: TextView, group: PatternGroup) -> None:
        kept = 0
        for start, end, pattern in group.matches(view.data):
            piece = view.data[start:end]
            if self.exceptions < _MOST_EXCEPTIONS and pattern.excepts(piece):
                self.exceptions += 1
                continue
            said = piece.decode(errors="replace")[:_LONGEST_NOTE]
            span = view.span(start, end)
            place = layer.locate(*span)
            encoding = layer.encoding_at(span[0]) if layer.encoding_at else view.encoding
            if encoding is None:
                self._add(DetectedPattern(pattern, *place))
            else:
                self._add(DetectedPattern(self.table.by_id[encoding], *place, said, pattern))
            kept += 1
            if kept == _MOST_OF_ONE_VIEW:
                return

    def _is_blocked(self) -> bool:
        return any(one.pattern.verdict == "block" for one in self.found)

    def _add_report(self, report: EncodingReport) -> None:
        pattern = self.table.by_id[report.pattern]
        self._add(DetectedPattern(pattern, report.start, report.end, report.says[:_LONGEST_NOTE]))

    def _add(self, one: DetectedPattern) -> None:
        if self.counts[one.pattern.id] >= MOST_OF_ONE_PATTERN:
            return
        # Another view or layer may have found the same thing at the same place.
        known = self.places[(one.inner or one.pattern).id]
        if any(start < one.end and one.start < end for start, end in known):
            return
        known.append((one.start, one.end))
        self.counts[one.pattern.id] += 1
        self.found.append(one)
