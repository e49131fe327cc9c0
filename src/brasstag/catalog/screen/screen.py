"""Screen: the fields of a proposal, each with what blocks it, what a reviewer has to see, where, and why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from brasstag.catalog.screen.detect import DetectedPattern, detect
from brasstag.catalog.screen.patterns import (
    PatternTable,
    Severity,
    pattern_problem,
    read_patterns,
    shipped_patterns,
)
from brasstag.words.errors import ConfigError

LONGEST_PROMPT = 20_000
LONGEST_FIELD = 2_000
LONGEST_EXCERPT = 160
"""How many characters of what was found an excerpt shows."""

_PROMPT = "prompt"
_TOO_LONG = "too_long"


@dataclass(frozen=True, slots=True)
class ScreenFinding:
    """One thing found in one field; ``start`` and ``end`` count characters of the text as it was given."""

    pattern: str
    family: str
    verdict: Severity
    field: str
    start: int
    end: int
    excerpt: str
    """The text between start and end; of a long one the beginning."""
    why: str

    def as_json(self) -> dict[str, Any]:
        """Return the form of files and APIs."""
        return {
            "pattern": self.pattern,
            "family": self.family,
            "verdict": self.verdict,
            "field": self.field,
            "start": self.start,
            "end": self.end,
            "excerpt": self.excerpt,
            "why": self.why,
        }


Finding = ScreenFinding


@dataclass(frozen=True, slots=True)
class Screening:
    """What was found in all fields."""

    findings: tuple[ScreenFinding, ...] = ()

    @property
    def blocked(self) -> bool:
        """Whether one of the findings keeps the proposal from going on."""
        return any(finding.verdict == "block" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the form of files and APIs."""
        return {"blocked": self.blocked, "findings": [finding.as_json() for finding in self.findings]}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Self:
        """Read what ``as_json`` wrote."""
        return cls(tuple(ScreenFinding(**finding) for finding in written["findings"]))


def screen(fields: Mapping[str, str]) -> Screening:
    """Screen texts by the names of their fields, such as ``prompt``, ``examples[0]`` or ``testCases[1].input``."""
    return Screening(tuple(finding for name, text in fields.items() for finding in _screened(name, text)))


def load_table(data: bytes) -> PatternTable:
    """Read patterns and try their examples; raises ConfigError where one does not do what it says."""
    table = read_patterns(data)
    problems = [
        pattern_problem(pattern.id, what)
        for pattern in table.by_id.values()
        for what in _broken_examples(pattern.id, table)
    ]
    if problems:
        raise ConfigError(problems)
    return table


@cache
def _shipped_table() -> PatternTable:
    return load_table(shipped_patterns())


def _broken_examples(pattern: str, table: PatternTable) -> Iterator[str]:
    entry = table.by_id[pattern]
    if not entry.match and entry.detector != "length":
        yield "it has no example of what it matches"
    for text in entry.match:
        if pattern not in {one.pattern.id for one in detect(text, table)}:
            yield f"it does not match {text!r}"
    for text in entry.not_match:
        if pattern in {one.pattern.id for one in detect(text, table)}:
            yield f"it matches {text!r}"


def _screened(name: str, text: str) -> Iterator[ScreenFinding]:
    table = _shipped_table()
    limit = LONGEST_PROMPT if name == _PROMPT else LONGEST_FIELD
    if len(text) > limit:
        long = DetectedPattern(table.by_id[_TOO_LONG], limit, len(text))
        yield _finding(name, text, long, f"It has {len(text)} characters; {limit} are allowed.")
    # What is longer than any field is blocked already, and is not looked at to its end.
    for one in detect(text[:LONGEST_PROMPT], table):
        yield _finding(name, text, one, _explained(one))


def _explained(one: DetectedPattern) -> str:
    if not one.says:
        return one.pattern.why
    because = f" {one.inner.why}" if one.inner else ""
    return f"{one.pattern.why} It says: {one.says!r}.{because}"


def _finding(name: str, text: str, one: DetectedPattern, why: str) -> ScreenFinding:
    return ScreenFinding(
        pattern=one.pattern.id,
        family=one.pattern.family,
        verdict=one.pattern.verdict,
        field=name,
        start=one.start,
        end=one.end,
        excerpt=text[one.start : one.end][:LONGEST_EXCERPT],
        why=why,
    )
