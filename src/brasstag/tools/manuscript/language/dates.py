"""Dates in sentences: days, months, years and weekdays, as far as they are said."""

import calendar
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from brasstag.tools.manuscript.language.numbers import Number, numbers_in
from brasstag.tools.manuscript.language.text_words import TextWord
from brasstag.tools.manuscript.language.word_lists import word_list

MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_SHORT_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name} | {
    "sept": 9
}
WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
SEASONS = {"spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11), "fall": (9, 10, 11)}
DATE_WORDS = frozenset((*MONTHS, *_SHORT_MONTHS, *WEEKDAYS))
"""Without one of these words, or a digit, a sentence has no date."""

_FIRST_YEAR, _LAST_YEAR = 1000, 2200
_MOST_DAYS = 31


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as it was said; 0 stands for what was not said."""

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int | None = None
    first: int = 0
    """The first of the words it takes."""
    after: int = 0

    @property
    def exact(self) -> date | None:
        """The calendar's date, where day, month and year were said and there is such a day."""
        try:
            return date(self.year, self.month, self.day) if self.year and self.month and self.day else None
        except ValueError:
            return None

    @property
    def is_impossible(self) -> bool:
        """Say whether there is no such day in any calendar."""
        if not (self.month and self.day):
            return False
        return self.day > calendar.monthrange(self.year or 2000, self.month)[1]

    def in_year(self, year: int) -> "PartialDate":
        """Return the date with a year, where none was said."""
        return self if self.year or not self.month else replace(self, year=year)

    def contradicts(self, other: "PartialDate") -> bool:
        """Say whether both cannot be the same day: something said in both differs."""
        return any(
            mine and theirs and mine != theirs
            for mine, theirs in (
                (self.year, other.year), (self.month, other.month), (self.day, other.day),
            )
        )  # fmt: skip

    def __str__(self) -> str:
        month = calendar.month_name[self.month] if self.month else ""
        return " ".join(str(part) for part in (self.day, month, self.year) if part)


def find_dates(words: Sequence[TextWord]) -> Iterator[PartialDate]:
    """Yield the dates among words: with a month, or a weekday or a year alone."""
    numbers = {number.first: number for number in numbers_in(words)}
    ends = {number.after: number for number in numbers.values()}
    at = 0
    while at < len(words):
        found = _with_month(words, at, numbers, ends) or _alone(words, at, numbers)
        if found is None:
            at += 1
        else:
            yield found
            at = max(found.after, at + 1)


def _with_month(
    words: Sequence[TextWord], at: int, numbers: dict[int, Number], ends: dict[int, Number]
) -> PartialDate | None:
    month = _month(words[at])
    if not month:
        return _iso(words, at)
    first, after = at, at + 1
    before = ends.get(at) or (ends.get(at - 1) if at and words[at - 1].lower == "of" else None)
    day = 0
    if before is not None and 0 < before.value <= _MOST_DAYS and _is_day(words, before):
        day, first = before.value, before.first
    else:
        behind = numbers.get(after) or (numbers.get(after + 1) if _says(words, after, "the") else None)
        if behind is not None and 0 < behind.value <= _MOST_DAYS and _is_day(words, behind):
            day, after = behind.value, behind.after
    year = numbers.get(after)
    if year is None and _says(words, after, "of"):
        year = numbers.get(after + 1)
    said = year.value if year is not None and _is_year(words, year) else 0
    after = year.after if said and year is not None else after
    if (
        not day
        and not said
        and words[at].lower in ("may", "march", "mar", "sun", "jan")
        and not _in_month(words, at)
    ):
        return None
    weekday, first = _weekday_before(words, first)
    return PartialDate(said, month, day, weekday, first, after)


def _alone(words: Sequence[TextWord], at: int, numbers: dict[int, Number]) -> PartialDate | None:
    lower = words[at].lower
    if lower in WEEKDAYS and words[at].text[0].isupper() and not _date_follows(words, at, numbers):
        return PartialDate(weekday=WEEKDAYS[lower], first=at, after=at + 1)
    number = numbers.get(at)
    if number is not None and _is_year(words, number) and words[at].text.isdigit():
        return PartialDate(number.value, first=at, after=number.after)
    return None


def _date_follows(words: Sequence[TextWord], at: int, numbers: dict[int, Number]) -> bool:
    """Say whether a weekday belongs to the date behind it: "Friday, 4 October", "Friday, October 4"."""
    at += 1
    if _says(words, at, "the"):
        at += 1
    if at < len(words) and _month(words[at]):
        return True
    number = numbers.get(at)
    if number is None:
        return False
    at = number.after + _says(words, number.after, "of")
    return at < len(words) and bool(_month(words[at]))


def _iso(words: Sequence[TextWord], at: int) -> PartialDate | None:
    parts = words[at].text.split("-")
    if [len(part) for part in parts] != [4, 2, 2] or not all(part.isdecimal() for part in parts):
        return None
    year, month, day = map(int, parts)
    if not (1 <= month <= len(MONTHS) and 1 <= day <= _MOST_DAYS):
        return None
    return PartialDate(year, month, day, None, at, at + 1)


def _month(word: TextWord) -> int:
    if not word.text[0].isupper():
        return 0
    return MONTHS.get(word.lower, 0) or (_SHORT_MONTHS.get(word.lower, 0) if word.lower != "may" else 0)


def _in_month(words: Sequence[TextWord], at: int) -> bool:
    """Say whether a word that has another meaning too stands where a month stands."""
    return at > 0 and words[at - 1].lower in word_list(
        "in of since until by last this next early late mid from"
    )


def _is_day(words: Sequence[TextWord], number: Number) -> bool:
    return number.ordinal or words[number.first].text.isdigit() or number.after - number.first == 1


def _is_year(words: Sequence[TextWord], number: Number) -> bool:
    digits = words[number.first].text
    return not number.ordinal and digits.isdigit() and _FIRST_YEAR <= number.value < _LAST_YEAR


def _weekday_before(words: Sequence[TextWord], first: int) -> tuple[int | None, int]:
    at = first - 1
    if at >= 0 and words[at].lower in ("the", "on"):
        at -= 1
    if at >= 0 and words[at].lower in WEEKDAYS:
        return WEEKDAYS[words[at].lower], at
    return None, first


def _says(words: Sequence[TextWord], at: int, lower: str) -> bool:
    return at < len(words) and words[at].lower == lower
