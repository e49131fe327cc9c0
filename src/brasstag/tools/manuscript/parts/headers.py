"""Lines of the form `Name: value`, as cards, beats and scenes have them."""

from dataclasses import dataclass
from functools import cached_property

import re2

from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.text import SourceText, TextQuote

_LINE = re2.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?"
    r"(?P<name>[^\s:*_`|#>\"“][^:*`|#>\"“]{0,47}?)(?:\*\*|__)?[ \t]*:(?:\*\*|__)?(?:[ \t]+|$)(?P<value>.*)$"
)
_LONGEST = 2000
_MOST_WORDS = 6


@dataclass(frozen=True)
class HeaderLine:
    """One named value, and where it stands."""

    name: str
    value: str
    start: int
    """Where in the file's text the line begins."""
    end: int
    source: SourceText

    @property
    def key(self) -> str:
        """The name in lower case, without what surrounds it."""
        return " ".join(self.name.lower().split())

    @property
    def quote(self) -> TextQuote:
        """The line as it stands in the file."""
        return self.source.quote(self.start, self.end)

    def sentence(self) -> Sentence:
        """Return the whole line, name and value, as one sentence."""
        return Sentence(
            self.source, self.start, self.source.plain[self.start : self.end].replace("\n", " "), 0, ()
        )

    @cached_property
    def value_sentence(self) -> Sentence:
        """Return the value as a sentence."""
        start = self.source.plain.find(self.value[:40], self.start, self.end) if self.value else self.start
        start = max(start, self.start)
        return Sentence(self.source, start, self.source.plain[start : self.end].replace("\n", " "), 0, ())


def header_line(source: SourceText, start: int, end: int) -> HeaderLine | None:
    """Read one line as `Name: value`; None where it is something else."""
    if end - start > _LONGEST:
        return None
    found = _LINE.match(source.plain[start:end].rstrip())
    if found is None or len(found["name"].split()) > _MOST_WORDS:
        return None
    return HeaderLine(found["name"].strip(), found["value"].strip(), start, end, source)


def lines_of(source: SourceText) -> list[tuple[int, int]]:
    """Return where each line of a text begins and ends, without its line feed."""
    found, start = [], 0
    for line in source.plain.split("\n"):
        found.append((start, start + len(line)))
        start += len(line) + 1
    return found
