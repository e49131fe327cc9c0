"""Times of day and lengths of time in sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from brasstag.tools.manuscript.language.numbers import Number, numbers_in
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.language.text_words import TextWord

PARTS_OF_DAY = {
    "dawn": (4, 9), "daybreak": (4, 9), "sunrise": (4, 9), "morning": (4, 12), "forenoon": (8, 12), "noon": (11, 14),
    "midday": (11, 14), "afternoon": (12, 18), "dusk": (15, 22), "sunset": (15, 22), "evening": (16, 24),
    "midnight": (23, 25), "night": (18, 30),
}  # fmt: skip
"""Words for a part of the day, with the hours it may have; beyond 24 it is the next morning."""

_UNITS = {"minute": 1, "hour": 60, "day": 1440, "week": 10080}
_DIGITAL = re2.compile(r"\b([01]?[0-9]|2[0-3])[:.]([0-5][0-9])\b")
_HALVES = {"half": 30, "quarter": 15}


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day in minutes; ``half_day`` where it is not said which half of the day is meant."""

    minutes: int
    half_day: bool
    start: int
    """Where in the sentence it begins."""
    end: int

    def minutes_until(self, later: "ClockTime") -> int:
        """Return how long it is from here until a later time, in minutes."""
        cycle = 720 if self.half_day or later.half_day else 1440
        return (later.minutes - self.minutes) % cycle


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time in minutes."""

    minutes: int
    start: int
    end: int


def clock_times_in(sentence: Sentence) -> list[ClockTime]:
    """Return the times of day in a sentence, in order."""
    text = sentence.text
    found = [
        ClockTime(int(one[1]) * 60 + int(one[2]), False, one.start(), one.end())
        for one in _DIGITAL.finditer(text)
        if any(mark in text[one.start() : one.end()] for mark in ":.")
        and _is_time(text, one.start(), one.end())
    ]
    taken = [(one.start, one.end) for one in found]
    found += [
        spoken
        for spoken in _spoken_times(sentence)
        if not any(first < spoken.end and spoken.start < after for first, after in taken)
    ]
    return sorted(found, key=lambda time: time.start)


def _is_time(text: str, start: int, end: int) -> bool:
    """Say whether digits with a dot are a time; "6.30" alone may be a price."""
    if ":" in text[start:end]:
        return True
    return text[max(0, start - 6) : start].lower().split()[-1:] in (
        ["at"],
        ["until"],
        ["past"],
        ["by"],
        ["about"],
    )


def _spoken_times(sentence: Sentence) -> Iterator[ClockTime]:
    """Yield times in words: "six o'clock", "half past five", "ten to seven", "at six in the evening"."""
    words = sentence.words
    for number in sentence.numbers:
        if number.ordinal or not 0 < number.value <= 12:  # hours of a clock
            continue
        before = [word.lower for word in words[max(0, number.first - 3) : number.first]]
        behind = [word.lower for word in words[number.after : number.after + 3]]
        offset, taken = _offset(before)
        is_hour = (
            offset
            or behind[:1] == ["o'clock"]
            or _part_follows(behind)
            or (before[-1:] == ["at"] and _ends_a_time(behind))
        )
        if not is_hour:
            continue
        minutes = number.value % 12 * 60 + offset
        half_day, minutes = _half_day(behind, minutes)
        start = words[number.first - taken].start
        yield ClockTime(minutes % 1440, half_day, start, words[number.after - 1].end)


def _offset(before: Sequence[str]) -> tuple[int, int]:
    """Return the minutes before or after the hour that the words in front of it say, and how many words those are."""
    if len(before) < 2 or before[-1] not in ("past", "to", "after"):
        return 0, 0
    sign = -1 if before[-1] == "to" else 1
    minutes = _HALVES.get(before[-2])
    if minutes is None:
        found = next(numbers_in(_words(before[-2])), None)
        minutes = found.value if found and 0 < found.value < 60 and not found.ordinal else None
    if minutes is None or (sign < 0 and minutes == 30):
        return 0, 0
    return sign * minutes, 2


def _words(lower: str) -> list[TextWord]:
    return [TextWord(lower, lower, 0, len(lower))]


def _part_follows(behind: Sequence[str]) -> bool:
    return behind[:2] == ["in", "the"] and behind[2] in PARTS_OF_DAY if len(behind) > 2 else False


def _ends_a_time(behind: Sequence[str]) -> bool:
    """Say whether nothing that is counted follows: "at six" is a time, "at six metres" is not."""
    if len(behind) > 1 and behind[0] in ("to", "past", "after") and next(numbers_in(_words(behind[1])), None):
        return False
    return not behind or behind[0] in (
        "in", "and", "the", "she", "he", "they", "it", "o'clock", "exactly", "sharp", "on", "that", "when", "with",
        "but", "by", "to", "as", "this", "for", "from", "was", "had", "tomorrow", "tonight", "i", "we", "after",
    )  # fmt: skip


def _half_day(behind: Sequence[str], minutes: int) -> tuple[bool, int]:
    part = next((word for word in behind if word in PARTS_OF_DAY), None)
    if part is None:
        return True, minutes
    if part == "morning" or (part == "night" and minutes < 300):  # until five it is still night
        return False, minutes
    return False, minutes + 720


def durations_in(sentence: Sentence) -> list[Duration]:
    """Return the lengths of time in a sentence: "forty minutes", "an hour and a half", "half an hour"."""
    words = sentence.words
    lowers = [word.lower for word in words]
    counted = {number.after: number for number in sentence.numbers if not number.ordinal}
    found = []
    for at, lower in enumerate(lowers):
        unit = _UNITS.get(lower.rstrip("'").removesuffix("'s").rstrip("s"))
        if unit is None:
            continue
        minutes, first = _amount(lowers, at, counted, unit)
        if minutes:
            extra = 4 if lowers[at + 1 : at + 4] == ["and", "a", "half"] else 1
            minutes += unit // 2 if extra > 1 else 0
            found.append(Duration(minutes, words[first].start, words[min(at + extra, len(words)) - 1].end))
    return found


def _amount(lowers: Sequence[str], at: int, counted: dict[int, Number], unit: int) -> tuple[int, int]:
    """Return the minutes that the words before a unit stand for, and the first of these words."""
    number = counted.get(at)
    if number is not None:
        return number.value * unit, number.first
    before = list(lowers[max(0, at - 4) : at])
    for phrase, share in _PHRASES:
        if before[-len(phrase) :] == phrase:
            return int(unit * share), at - len(phrase)
    return 0, at


_PHRASES: tuple[tuple[list[str], float], ...] = (
    (["three", "quarters", "of", "an"], 0.75),
    (["a", "quarter", "of", "an"], 0.25),
    (["quarter", "of", "an"], 0.25),
    (["half", "an"], 0.5),
    (["half", "a"], 0.5),
    (["one", "and", "a", "half"], 1.5),
    (["two", "and", "a", "half"], 2.5),
    (["a", "half"], 0.5),
    (["an"], 1.0),
    (["a"], 1.0),
)
