"""The cards of a story bible: a heading, and lines `Attribute: value` below it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.headers import HeaderLine, header_line, lines_of
from brasstag.tools.manuscript.text import SourceText, TextQuote

_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ ]+(.*)")
_ALSO = ("also called", "also known as", "aliases", "alias", "nickname", "nicknames", "other names", "called")
_OF_PEOPLE = word_set(
    "born age eyes hair hand handedness wants want fears gender pronouns died occupation limps scar"
    " height father mother knows stakes build pov"
)
_OF_PLACES = frozenset(["travel", "distance", "steps", "location", "built", "position"])


@dataclass(frozen=True, eq=False)
class BibleCard:
    """What the bible says about one person, place, object or event."""

    name: str
    heading: tuple[int, int]
    """Where in the file's text the heading begins and ends."""
    lines: tuple[HeaderLine, ...]
    source: SourceText

    @cached_property
    def kind(self) -> str:
        """Its type: character, place, object, event, or empty where neither it nor its attributes say."""
        said = self.value("type").lower().split(",")[0].strip()
        if said:
            return {"person": "character", "location": "place", "item": "object"}.get(said, said)
        keys = {key.split()[0] for key in self.by_key if key}
        if keys & _OF_PEOPLE:
            return "character"
        return "place" if keys & _OF_PLACES else ""

    @cached_property
    def by_key(self) -> dict[str, HeaderLine]:
        """Its lines by the name of the attribute, in lower case."""
        return {line.key: line for line in reversed(self.lines)}

    def value(self, *names: str) -> str:
        """Return what the first of these attributes says; empty where the card has none of them."""
        return next((self.by_key[name].value for name in names if name in self.by_key), "")

    def line(self, *names: str) -> HeaderLine | None:
        """Return the first of these attributes that the card has."""
        return next((self.by_key[name] for name in names if name in self.by_key), None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its heading and what else it is called."""
        also = [part.strip(" .\"'“”") for name in _ALSO for part in re.split(r"[,;/]", self.value(name))]
        return tuple(dict.fromkeys([self.name, *(name for name in also if name)]))

    @property
    def quote(self) -> TextQuote:
        """The heading as it stands in the file."""
        return self.source.quote(*self.heading)


def cards_in(source: SourceText) -> Iterator[BibleCard]:
    """Yield the cards of a file: each heading that has attributes before the next heading."""
    name, heading, lines = "", (0, 0), list[HeaderLine]()
    for start, end in lines_of(source):
        found = _HEADING.fullmatch(source.plain, start, end) if end - start < 300 else None
        if found is not None:
            yield from _card(source, name, heading, lines)
            name, heading, lines = found[2].strip("# *_").strip(), (start, end), []
            continue
        line = header_line(source, start, end)
        if line is not None:
            lines.append(line)
        elif lines and _continues(source, lines[-1], start, end):
            lines[-1] = replace(
                lines[-1], value=f"{lines[-1].value} {source.plain[start:end].strip()}", end=end
            )
    yield from _card(source, name, heading, lines)


def _card(
    source: SourceText, name: str, heading: tuple[int, int], lines: list[HeaderLine]
) -> Iterator[BibleCard]:
    if name and lines:
        yield BibleCard(name, heading, tuple(lines), source)


def _continues(source: SourceText, line: HeaderLine, start: int, end: int) -> bool:
    """Say whether a line goes on with the value of the line directly before it."""
    text = source.plain[start:end]
    return (
        bool(text.strip())
        and start == line.end + 1
        and text.lstrip()[0] not in "-*+|>#"
        and end - line.start < 2000
    )
