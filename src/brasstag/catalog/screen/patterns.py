"""Patterns: what is known to be bad, read from patterns.json and compiled once."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Literal

from brasstag.catalog.screen.automaton import compiled
from brasstag.catalog.screen.expressions import ExpressionSet, either, spelled_out, with_gaps
from brasstag.catalog.screen.views import Gaps
from brasstag.words.errors import ConfigError, Problem

Severity = Literal["block", "warn"]
PhraseReading = Literal["prose", "exact"]
"""Prose is looked for in every view of a text, with gaps between its words; the rest only as it stands."""

_FILE = "patterns.json"


@dataclass(frozen=True)
class BadPattern:
    """One thing that may not stand in a prompt tool, or that a reviewer has to see."""

    id: str
    family: str
    verdict: Severity
    why: str
    match: tuple[str, ...]
    not_match: tuple[str, ...]
    expressions: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    """A match that one of these matches as a whole is innocent."""
    reading: PhraseReading = "prose"
    detector: str = ""
    """The code that finds it, where expressions cannot."""

    def source(self, gaps: Gaps) -> str:
        """Return all expressions as one."""
        whole = either(self.expressions)
        return with_gaps(whole, gaps) if self.reading == "prose" else whole

    def excepts(self, piece: bytes) -> bool:
        """Say whether a match is innocent after all."""
        return self._except is not None and self._except.fullmatch(piece) is not None

    @cached_property
    def _except(self) -> Any:
        return compiled(with_gaps(either(self.exceptions), "optional")) if self.exceptions else None


@dataclass(frozen=True)
class PatternGroup:
    """Patterns that are searched for together: one family, the same reading, the same gaps, the same verdict.

    An automaton of all families would grow with every combination of their words, so hostile text would be slow.
    """

    patterns: Sequence[BadPattern]
    gaps: Gaps

    @cached_property
    def expressions(self) -> ExpressionSet:
        """All of them as one automaton."""
        return ExpressionSet([pattern.source(self.gaps) for pattern in self.patterns])

    def matches(self, data: bytes) -> Iterator[tuple[int, int, BadPattern]]:
        """Yield where they match, and which of them does."""
        for start, end in self.expressions.spans(data):
            for number in self.expressions.which(data[start:end]):
                yield start, end, self.patterns[number]


class PatternTable:
    """All patterns by id, and grouped as they are searched for."""

    def __init__(self, patterns: Sequence[BadPattern]) -> None:
        self.by_id: Mapping[str, BadPattern] = {pattern.id: pattern for pattern in patterns}
        self._groups: dict[tuple[PhraseReading, Gaps, Severity], list[PatternGroup]] = {}

    def groups(self, reading: PhraseReading, gaps: Gaps, verdict: Severity) -> list[PatternGroup]:
        """Return the patterns of one reading and verdict, for text with these gaps, one group for each family."""
        key = (reading, gaps, verdict)
        if key not in self._groups:
            families: dict[str, list[BadPattern]] = {}
            for pattern in self.by_id.values():
                if pattern.expressions and pattern.reading == reading and pattern.verdict == verdict:
                    families.setdefault(pattern.family, []).append(pattern)
            self._groups[key] = [PatternGroup(patterns, gaps) for patterns in families.values()]
        return self._groups[key]


def shipped_patterns() -> bytes:
    """Return the patterns that come with this package, as they are on disk."""
    return files(__package__).joinpath(_FILE).read_bytes()


def read_patterns(data: bytes) -> PatternTable:
    """Read patterns; raises ConfigError that names all that is wrong with them, but does not try their examples."""
    written = json.loads(data)
    words: Mapping[str, str] = written["words"]
    problems: list[Problem] = []
    patterns: dict[str, BadPattern] = {}
    for entry in written["patterns"]:
        try:
            pattern = _pattern(entry, words)
        except (KeyError, ValueError) as error:
            problems.append(pattern_problem(str(entry.get("id")), f"it cannot be read: {error}"))
            continue
        if pattern.id in patterns:
            problems.append(pattern_problem(pattern.id, "the id is there twice"))
        patterns[pattern.id] = pattern
    if problems:
        raise ConfigError(problems)
    return PatternTable(list(patterns.values()))


def pattern_problem(pattern: str, what: str) -> Problem:
    """Return what is wrong with one pattern."""
    return Problem(_FILE, pattern, what, "Change the pattern or its examples")


def _pattern(entry: Mapping[str, Any], words: Mapping[str, str]) -> BadPattern:
    import re2  # noqa: PLC0415 - many commands never screen a text

    pattern = BadPattern(
        id=entry["id"],
        family=entry["family"],
        verdict=entry["verdict"],
        why=entry["why"],
        match=tuple(entry["match"]),
        not_match=tuple(entry["not_match"]),
        expressions=tuple(spelled_out(one, words) for one in entry.get("expressions", ())),
        exceptions=tuple(spelled_out(one, words) for one in entry.get("except", ())),
        reading=entry.get("reading", "prose"),
        detector=entry.get("detector", ""),
    )
    if bool(pattern.expressions) == bool(pattern.detector):
        raise ValueError("it needs expressions or a detector, and not both")
    try:
        for expression in pattern.expressions:
            compiled(with_gaps(expression, "needed") if pattern.reading == "prose" else expression)
        for expression in pattern.exceptions:
            compiled(with_gaps(expression, "optional"))
    except re2.error as error:
        raise ValueError(f"RE2 refuses an expression: {error}") from None
    return pattern
