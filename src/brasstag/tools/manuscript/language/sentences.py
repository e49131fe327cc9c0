"""Split a text into sentences of bounded length that know their place, their words, and what in them is speech."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from brasstag.tools.manuscript.language.dates import DATE_WORDS, PartialDate, find_dates
from brasstag.tools.manuscript.language.lexicon import STOP_WORDS, stem
from brasstag.tools.manuscript.language.numbers import Number, numbers_in
from brasstag.tools.manuscript.language.text_words import TextWord
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.text import SourceText, TextQuote

LONGEST_SENTENCE = 1200
"""Characters; what is longer is judged in pieces, so that no expression meets an endless line."""

# Both are simple loops over character classes: they need no more steps than there are characters.
_WORD = re.compile(r"\d{1,3}(?:,\d{3})+|[^\W_]+(?:['’-][^\W_]+)*")
_END = re.compile(r"[.!?…]+[\"”’')\]]*(?=\s)")
_BREAK = re.compile(r"\n[ \t\r]*\n")
_SHORT_FORMS = word_set("mr mrs ms dr st no capt lt col prof sr jr fr rev vs ca approx")
_SPEECH_ENDS = {'"': '"', "“": "”", "«": "»", "„": "“"}


@dataclass(frozen=True, eq=False)
class Sentence:
    """One sentence; line ends in it are spaces."""

    source: SourceText
    start: int
    """Where in the file's text it begins."""
    text: str
    paragraph: int
    speech: tuple[tuple[int, int], ...]
    """Which parts of it are spoken, as places in it."""

    @cached_property
    def words(self) -> list[TextWord]:
        """Its words: letters and digits, with apostrophes and hyphens inside."""
        return [
            TextWord(found[0], found[0].lower().replace("’", "'"), *found.span())
            for found in _WORD.finditer(self.text)
        ]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Its words in lower case, parts of compounds too."""
        every = {word.lower for word in self.words}
        return frozenset(every | {part for word in every if "-" in word for part in word.split("-")})

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers in it, in order."""
        return list(numbers_in(self.words))

    @cached_property
    def dates(self) -> list[PartialDate]:
        """The dates in it, in order."""
        if self.vocabulary.isdisjoint(DATE_WORDS) and not any(map(str.isdigit, self.text)):
            return []
        return list(find_dates(self.words))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words that carry meaning."""
        return frozenset(
            stem(word) for word in self.vocabulary if word not in STOP_WORDS and word[0].isalpha()
        )

    @cached_property
    def narration(self) -> str:
        """The sentence with what is spoken left blank; places stay the same."""
        if not self.speech:
            return self.text
        pieces, at = [], 0
        for first, after in self.speech:
            pieces += [self.text[at:first], " " * (after - first)]
            at = after
        return "".join([*pieces, self.text[at:]])

    def is_spoken(self, place: int) -> bool:
        """Say whether a place in it is inside speech."""
        return any(first <= place < after for first, after in self.speech)

    def quote(self, start: int = 0, end: int | None = None) -> TextQuote:
        """TextQuote the words of the sentence that stand on the line of a place in it."""
        last = len(self.text) if end is None else end
        span = (self.start, self.start + len(self.text))
        return self.source.quote(self.start + start, self.start + last, span)


def sentences_in(source: SourceText, first: int = 0, after: int | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a text, or of a part of it, in order."""
    text = source.plain
    limit = len(text) if after is None else after
    at, number = first, 0
    for blank in _BREAK.finditer(text, first, limit):
        yield from _in_paragraph(source, at, blank.start(), number)
        at, number = blank.end(), number + 1
    yield from _in_paragraph(source, at, limit, number)


def _in_paragraph(source: SourceText, first: int, after: int, number: int) -> Iterator[Sentence]:
    spoken = list(_speech_in(source.plain, first, after))
    starts = [span[0] for span in spoken]
    for start, end in _bounds(source.plain, first, after):
        here = bisect_left(starts, start)
        while here > 0 and spoken[here - 1][1] > start:
            here -= 1
        parts = []
        while here < len(spoken) and spoken[here][0] < end:
            parts.append((max(spoken[here][0], start) - start, min(spoken[here][1], end) - start))
            here += 1
        text = source.plain[start:end].replace("\n", " ")
        yield Sentence(source, start, text, number, tuple(parts))


def _bounds(text: str, first: int, after: int) -> Iterator[tuple[int, int]]:
    at = first
    for found in _END.finditer(text, first, after):
        if found.end() <= at or _goes_on(text, at, found.start(), found.end(), after):
            continue
        yield from _pieces(text, at, found.end())
        at = found.end()
    yield from _pieces(text, at, after)


def _goes_on(text: str, at: int, dot: int, end: int, after: int) -> bool:
    """Say whether a mark is no end: a short form, or followed by a small letter."""
    before = text[max(at, dot - 8) : dot].rpartition(" ")[2].lower()
    if text[dot] == "." and (
        before in _SHORT_FORMS or (len(before) == 1 and before.isalpha() and before != "i")
    ):
        return True
    following = text[end : min(end + 4, after)].lstrip()
    return following[:1].islower()


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end - start > LONGEST_SENTENCE:
        cut = text.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE)
        cut = start + LONGEST_SENTENCE if cut < 0 else cut
        yield start, cut
        start = cut
    if start < end and not text[start:end].isspace():
        yield start, end


def _speech_in(text: str, first: int, after: int) -> Iterator[tuple[int, int]]:
    """Yield what is between quotation marks in a paragraph; speech without an end lasts until the paragraph's end."""
    at = first
    while at < after:
        opening = text[at]
        if opening in _SPEECH_ENDS:
            end = text.find(_SPEECH_ENDS[opening], at + 1, after)
        elif opening in "'‘" and _opens(text, at, first, after):
            end = _single_end(text, at + 1, after, "’" if opening == "‘" else "'")
        else:
            at += 1
            continue
        end = after if end < 0 else end + 1
        yield at, end
        at = end


def _opens(text: str, at: int, first: int, after: int) -> bool:
    before = text[at - 1] if at > first else " "
    following = text[at + 1] if at + 1 < after else " "
    return before in " \n(—–" and following.isupper()


def _single_end(text: str, at: int, after: int, mark: str) -> int:
    """Find a closing single quotation mark, which no letter follows and a mark precedes."""
    end = text.find(mark, at, after)
    while end >= 0:
        following = text[end + 1] if end + 1 < after else " "
        if not following.isalnum() and text[end - 1] in ".,!?…—–":
            return end
        end = text.find(mark, end + 1, after)
    return -1
