"""The scenes of a manuscript: text files, with a heading and perhaps lines `POV:`, `When:` and `Place:`."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from brasstag.tools.manuscript.language.sentences import Sentence, sentences_in
from brasstag.tools.manuscript.parts.headers import HeaderLine, header_line, lines_of
from brasstag.tools.manuscript.text import SourceText, TextQuote

_HEADING = re.compile(r"[ ]*#{1,3}[ ]+(?P<text>.*)")
_NUMBERED = re.compile(
    r"(?:scene|chapter|part|ch\.?)[ ]*(?P<number>\d{1,4})\b[ .:—–-]*(?P<title>.*)", re.IGNORECASE
)
_IN_NAME = re.compile(r"(\d{1,4})(?!.*\d)")
_FIELDS = frozenset(["pov", "when", "date", "time", "place", "where", "location"])


@dataclass(frozen=True, eq=False)
class StoryScene:
    """One scene or chapter, as it is written."""

    number: int
    """By its heading, or by its file name; 0 where neither has one."""
    file_number: int
    title: str
    heading: tuple[int, int]
    fields: tuple[HeaderLine, ...]
    body: int
    """Where in the file's text its prose begins."""
    source: SourceText

    @property
    def path(self) -> str:
        """The file it is in."""
        return self.source.path

    @property
    def name(self) -> str:
        """The file's name without its folders."""
        return PurePosixPath(self.path).name

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences of its prose."""
        return list(sentences_in(self.source, self.body))

    def field(self, *names: str) -> HeaderLine | None:
        """Return the first of these lines of its head that is there."""
        return next((line for name in names for line in self.fields if line.key == name), None)

    @property
    def quote(self) -> TextQuote:
        """Its heading, or its first line."""
        return self.source.quote(*self.heading)

    @property
    def order(self) -> tuple[int, str]:
        """Where it comes in the story: by its file's number, then its path."""
        return (self.file_number or self.number, self.path)


def scene_in(source: SourceText) -> StoryScene:
    """Read a file as one scene."""
    stem = PurePosixPath(source.path).stem
    in_name = _IN_NAME.search(stem)
    file_number = int(in_name[1]) if in_name else 0
    number, title, heading, body = file_number, "", (0, 0), 0
    fields: list[HeaderLine] = []
    for start, end in lines_of(source):
        text = source.plain[start:end]
        if not text.strip():
            continue
        found = _HEADING.fullmatch(text) if end - start < 300 and not title else None
        line = header_line(source, start, end)
        if found is not None:
            numbered = _NUMBERED.match(found["text"].strip())
            number = int(numbered["number"]) if numbered else number
            title = (numbered["title"] if numbered else found["text"]).strip() or found["text"].strip()
            heading = (start, end)
        elif line is not None and line.key in _FIELDS:
            fields.append(line)
        else:
            body = start
            heading = heading if heading != (0, 0) else (start, end)
            break
        body = end
    return StoryScene(number, file_number, title, heading, tuple(fields), body, source)
