"""The beats of an outline: list items such as `1. **Title**: what happens.`, with `- POV: …` below."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.headers import HeaderLine, header_line, lines_of
from brasstag.tools.manuscript.text import SourceText, TextQuote

_ITEM = re.compile(r"(?P<indent>[ ]*)(?:(?P<number>\d{1,4})[.)]|[-*+])[ ]+(?P<text>.*)")
_TITLE = re.compile(r"(?:\*\*|__)(?P<title>[^*_]{1,200}?)(?:\*\*|__)[ ]*[:.—–-]?[ ]*(?P<rest>.*)")
_LONGEST = 4000
FIELDS = word_set(
    "pov scene scenes file chapter when date time place where location change purpose characters stakes"
    " beat ends learns knows structure"
)
"""The sub-items that say something about a beat; every other list item is a beat of its own, or text."""


@dataclass(frozen=True, eq=False)
class StoryBeat:
    """One planned step of the story."""

    number: int
    """As the outline numbers it; where it does not, by its place."""
    title: str
    text: str
    start: int
    end: int
    fields: tuple[HeaderLine, ...]
    group: str
    """The heading above it, such as an act; empty where there is none."""
    source: SourceText

    def field(self, *names: str) -> HeaderLine | None:
        """Return the first of these sub-items that the beat has."""
        return next((line for name in names for line in self.fields if line.key == name), None)

    @property
    def scene_files(self) -> list[str]:
        """The files it names as its scenes."""
        line = self.field("scene", "scenes", "file", "chapter")
        if line is None:
            return []
        return [name for name in re.split(r"[,;\s]+", line.value.strip("`")) if "." in name.strip("`.,")]

    @property
    def quote(self) -> TextQuote:
        """The line of the outline with which it begins."""
        return self.source.quote(self.start, self.end)


@dataclass
class _UnfinishedBeat:
    """A beat whose lines are still being read."""

    number: int
    title: str
    text: str
    start: int
    end: int
    indent: int
    group: str
    fields: list[HeaderLine]

    def closed(self, source: SourceText) -> StoryBeat:
        return StoryBeat(
            self.number, self.title, self.text, self.start, self.end, tuple(self.fields), self.group, source
        )


def beats_in(source: SourceText) -> Iterator[StoryBeat]:
    """Yield the beats of an outline, in order."""
    current: _UnfinishedBeat | None = None
    group, count = "", 0
    for start, end in lines_of(source):
        text = source.plain[start:end]
        if end - start > _LONGEST or not text.strip():
            continue
        if text.startswith("#"):
            group = text.strip("# ").strip()
            continue
        item = _ITEM.fullmatch(text)
        if current is not None and _belongs(current, source, start, end, item):
            continue
        if item is None:
            continue
        if current is not None:
            yield current.closed(source)
        count += 1
        current = _opened(item, start, end, group, count)
    if current is not None:
        yield current.closed(source)


def _belongs(
    current: _UnfinishedBeat, source: SourceText, start: int, end: int, item: "re.Match[str] | None"
) -> bool:
    """Add a line to the open beat where it is a field or more text of it."""
    if item is None:
        indented = source.plain[start : start + 1] == " "
        if indented:
            current.text += " " + source.plain[start:end].strip()
        return indented
    if len(item["indent"]) <= current.indent:
        return False
    line = header_line(source, start, end)
    if line is not None and line.key in FIELDS:
        current.fields.append(line)
    else:
        current.text += " " + item["text"]
    return True


def _opened(item: "re.Match[str]", start: int, end: int, group: str, count: int) -> _UnfinishedBeat:
    titled = _TITLE.match(item["text"])
    title = titled["title"].strip(" :.") if titled else ""
    text = titled["rest"] if titled else item["text"]
    number = int(item["number"]) if item["number"] else count
    return _UnfinishedBeat(number, title, text, start, end, len(item["indent"]), group, [])
