"""Snippets: the piece of a text that shows why it was found, with its matches marked.

A text is folded and looked through a stretch at a time from its beginning on, and no further than the first stretch with a
match, so that a very long one costs little more than a short one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from brasstag.store.fulltext.lexemes import INSIDE_A_WORD, NO_LETTER, fold, stands_alone
from brasstag.store.fulltext.query import Phrase

WIDTH = 240
"""Characters of a snippet, about."""

_BEFORE = 60
_LONGEST_WORD_KEPT_WHOLE = 24
_MARGIN = 16
_FIRST_STRETCH = 16_384
_LONGEST_STRETCH = 262_144
_OVERLAP = 4_096
_MOST_MATCHES = 64
"""Matches of one phrase that are weighed against each other."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a text."""

    text: str
    start: int = 0
    """Where in the whole text it begins."""
    matches: tuple[tuple[int, int], ...] = ()
    """Where in this piece each match begins and ends."""
    offset: int | None = None
    """Where in the whole text the match is that the piece was cut around; None where it has none."""


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    phrase: int


class Finder:
    """Finds some phrases in texts."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self._phrases = [(phrase.lexemes[0], _pattern(phrase)) for phrase in phrases]

    def snippet(self, body: str) -> Snippet:
        """Return the piece of a text with the most of the phrases in it, of where the first ones are."""
        for start, stretch in _stretches(body):
            matches = self._matches(stretch)
            if matches:
                return self._around(body, start + _best(matches))
        return Snippet(body[: _end(body, 0)])

    def counts(self, text: str) -> list[int]:
        """Return how often each phrase stands in a text, counted so far as a long one is looked through at once."""
        found = Counter(match.phrase for match in self._matches(text[:_LONGEST_STRETCH]))
        return [found[number] for number in range(len(self._phrases))]

    def _around(self, body: str, first: int) -> Snippet:
        start = _start(body, first)
        end = _end(body, start)
        # A little more than is shown, to see whether a word goes on.
        before = max(start - _MARGIN, 0)
        shown: list[tuple[int, int]] = []
        edge = start
        for match in self._matches(body[before : end + _MARGIN]):
            if edge <= match.start + before and match.end + before <= end:
                edge = match.end + before
                shown.append((match.start + before - start, edge - start))
        return Snippet(body[start:end], start, tuple(shown), first)

    def _matches(self, stretch: str) -> list[_Match]:
        folded = fold(stretch)
        if NO_LETTER not in folded:
            return self._matches_in(folded)
        kept = [place for place, letter in enumerate(folded) if letter != NO_LETTER]
        # A match ends where the next letter begins: marks on its last one belong to it.
        ends = [*kept, len(folded)]
        return [
            _Match(kept[match.start], ends[match.end], match.phrase)
            for match in self._matches_in(folded.replace(NO_LETTER, ""))
        ]

    def _matches_in(self, folded: str) -> list[_Match]:
        found: list[_Match] = []
        for number, (first, pattern) in enumerate(self._phrases):
            count = 0
            place = folded.find(first)
            while place >= 0 and count < _MOST_MATCHES:
                match = pattern.match(folded, place)
                if match:
                    found.append(_Match(match.start(), match.end(), number))
                    count += 1
                place = folded.find(first, match.end() if match else place + 1)
        return sorted(found, key=lambda match: (match.start, -match.end))


def _best(matches: Sequence[_Match]) -> int:
    """Return where the first of those matches is that stand nearest to most others."""
    return max(
        enumerate(matches),
        key=lambda numbered: (len(_phrases_from(matches, numbered[0])), -numbered[0]),
    )[1].start


def _phrases_from(matches: Sequence[_Match], number: int) -> set[int]:
    reach = matches[number].start + WIDTH - _BEFORE
    near = takewhile(lambda match: match.start < reach, islice(matches, number, None))
    return {match.phrase for match in near}


def _pattern(phrase: Phrase) -> re.Pattern[str]:
    words = [_word(lexeme) for lexeme in phrase.lexemes]
    if phrase.is_prefix and not stands_alone(phrase.lexemes[-1]):
        words[-1] = f"(?<!{INSIDE_A_WORD}){re.escape(phrase.lexemes[-1])}{INSIDE_A_WORD}*"
    # Where no space has to be, the words themselves say that they end there.
    return re.compile(" *".join(words))


def _word(lexeme: str) -> str:
    spelled = re.escape(lexeme)
    return spelled if stands_alone(lexeme) else f"(?<!{INSIDE_A_WORD}){spelled}(?!{INSIDE_A_WORD})"


def _stretches(body: str) -> Iterator[tuple[int, str]]:
    start, length = 0, _FIRST_STRETCH
    while start < len(body):
        yield start, body[start : start + length + _OVERLAP]
        start += length
        length = min(length * 2, _LONGEST_STRETCH)


def _start(body: str, first: int) -> int:
    """Return where to begin before a match: after a space, where one is near."""
    if first <= _BEFORE:
        return 0
    start = first - _BEFORE
    space = body.find(" ", start, min(start + _LONGEST_WORD_KEPT_WHOLE, first))
    return space + 1 if space >= 0 else start


def _end(body: str, start: int) -> int:
    end = min(start + WIDTH, len(body))
    space = body.rfind(" ", max(end - _LONGEST_WORD_KEPT_WHOLE, start), end) if end < len(body) else -1
    return space if space >= 0 else end
