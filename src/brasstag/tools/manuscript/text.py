"""One text of a manuscript, quotes from it, and findings that cite them."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

LONGEST_QUOTE = 300
"""Characters of a quote; a longer line is quoted around what was found."""

Confidence = Literal["certain", "likely"]


@dataclass(frozen=True, slots=True)
class TextQuote:
    """Some words of one line, exactly as they stand there."""

    path: str
    line: int
    """Counted from 1; lines end at a line feed."""
    text: str

    def as_json(self) -> dict[str, Any]:
        """Return the quote as evidence."""
        return {"type": "QUOTE", "path": self.path, "line": self.line, "quote": self.text}


@dataclass(frozen=True)
class SourceText:
    """A text file as it was read."""

    path: str
    text: str
    digest: str
    """SHA-256 of the file's bytes."""

    @cached_property
    def plain(self) -> str:
        """The text with a byte order mark and carriage returns as spaces; every place in it is the same."""
        return self.text.replace("\ufeff", " ").replace("\r", " ").replace("\t", " ")

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        at = self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    def line_of(self, offset: int) -> int:
        """Return the line of a place, counted from 1."""
        return bisect_right(self._line_starts, offset)

    def quote(self, start: int, end: int, around: tuple[int, int] | None = None) -> TextQuote:
        """TextQuote the line of a place, limited to ``around`` and to ``LONGEST_QUOTE`` characters."""
        line = self.line_of(start)
        first = self._line_starts[line - 1]
        after = self._line_starts[line] - 1 if line < len(self._line_starts) else len(self.text)
        if around is not None:
            first, after = max(first, around[0]), min(after, around[1])
        if after - first > LONGEST_QUOTE:
            middle = (start + min(end, after)) // 2
            first = max(first, min(start, middle - LONGEST_QUOTE // 2))
            after = min(after, first + LONGEST_QUOTE)
        return TextQuote(self.path, line, self.text[first:after].strip().strip("\ufeff").strip())


@dataclass(frozen=True, slots=True)
class TextFinding:
    """One contradiction, or one thing that is missing, with the places that show it."""

    check: str
    message: str
    confidence: Confidence
    evidence: tuple[TextQuote, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the finding as a tool's result has it."""
        return {
            "check": self.check,
            "message": self.message,
            "confidence": self.confidence,
            "evidence": [quote.as_json() for quote in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class NotJudged:
    """A file, or a part of it, about which an analyser says nothing, and why."""

    path: str
    reason: str

    def as_json(self) -> dict[str, str]:
        """Return it as a tool's result has it."""
        return {"path": self.path, "reason": self.reason}


def unique(findings: Sequence[TextFinding]) -> list[TextFinding]:
    """Return findings without repetition: one for each check and pair of places, in the order of the files."""
    kept: dict[tuple[object, ...], TextFinding] = {}
    for finding in findings:
        places = tuple(sorted((quote.path, quote.line) for quote in finding.evidence))
        kept.setdefault((finding.check, places, finding.message), finding)
    return sorted(kept.values(), key=_place)


def _place(finding: TextFinding) -> tuple[Any, ...]:
    quotes = finding.evidence
    return (*((quotes[0].path, quotes[0].line) if quotes else ("", 0)), finding.check, finding.message)


def digests(texts: Mapping[str, SourceText]) -> list[dict[str, str]]:
    """Return which files were looked at, each with the digest of what it held."""
    return [{"path": path, "sha256": text.digest} for path, text in sorted(texts.items())]
