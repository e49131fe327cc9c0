"""Numbers in words and digits."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from brasstag.tools.manuscript.language.text_words import TextWord
from brasstag.tools.manuscript.language.word_lists import word_list

_UNITS = {
    word: value
    for value, word in enumerate(
        word_list(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
            " sixteen seventeen eighteen nineteen"
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(word_list("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
}
_SMALL_ORDINALS = {
    word: value
    for value, word in enumerate(
        word_list(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
            " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
        ),
        start=1,
    )
}
_ORDINALS = _SMALL_ORDINALS | {"twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50}
_LARGE = {"hundred": 100, "thousand": 1000}
_MOST_DIGITS = 9


class Number(NamedTuple):
    """A number in a sentence: its value, and the words it takes, the last one not included."""

    value: int
    first: int
    after: int
    ordinal: bool


def numbers_in(words: Sequence[TextWord]) -> Iterator[Number]:
    """Yield the numbers among words, in order."""
    at = 0
    while at < len(words):
        found = _number_at(words, at)
        if found is None:
            at += 1
        else:
            yield found
            at = found.after


def _number_at(words: Sequence[TextWord], at: int) -> Number | None:
    lower = words[at].lower
    if lower[0].isdigit():
        return _digits(words, at)
    if lower in ("dozen", "score"):
        return Number(12 if lower == "dozen" else 20, at, at + 1, False)
    if lower == "half" and [word.lower for word in words[at + 1 : at + 3]] == ["a", "dozen"]:
        return Number(6, at, at + 3, False)
    if lower == "a" and _is(words, at + 1, _LARGE):
        return _spelled(words, at + 1, first=at)
    if _part(lower) is None and lower not in _LARGE:
        return None
    return _spelled(words, at, first=at)


def _digits(words: Sequence[TextWord], at: int) -> Number | None:
    lower = words[at].lower
    ordinal = lower[-2:] in ("st", "nd", "rd", "th")
    digits = (lower[:-2] if ordinal else lower).replace(",", "")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _MOST_DIGITS:
        return None
    return Number(int(digits), at, at + 1, ordinal)


def _spelled(words: Sequence[TextWord], at: int, first: int) -> Number:
    """Read a number in words: hundreds multiply, the rest adds."""
    total, part, ordinal = 0, 0, False
    started = at
    while at < len(words) and not ordinal:
        lower = words[at].lower
        if lower in _LARGE:
            part = max(part, 1) * _LARGE[lower]
            if lower == "thousand":
                total, part = total + part, 0
        elif lower == "and" and at > started and words[at - 1].lower in _LARGE and _is_part(words, at + 1):
            pass
        else:
            value = _part(lower)
            if value is None or not _adds(part, value[0]):
                break
            part, ordinal = part + value[0], value[1]
        at += 1
    return Number(total + part, first, at, ordinal)


def _adds(part: int, value: int) -> bool:
    """Say whether a value can follow what was read: "hundred twelve" and "forty two", never "two three"."""
    if part == 0:
        return True
    return part % 100 == 0 or (part % 10 == 0 and part % 100 >= 20 and 0 < value < 10)


def _part(lower: str) -> tuple[int, bool] | None:
    """Return the value of one word below a hundred, and whether it is an ordinal."""
    if lower in _UNITS:
        return _UNITS[lower], False
    if lower in _TENS:
        return _TENS[lower], False
    if lower in _ORDINALS:
        return _ORDINALS[lower], True
    tens, hyphen, unit = lower.partition("-")
    if hyphen and tens in _TENS:
        if unit in _UNITS and 0 < _UNITS[unit] < 10:
            return _TENS[tens] + _UNITS[unit], False
        if unit in _SMALL_ORDINALS:
            return _TENS[tens] + _SMALL_ORDINALS[unit], True
    return None


def _is(words: Sequence[TextWord], at: int, table: dict[str, int]) -> bool:
    return at < len(words) and words[at].lower in table


def _is_part(words: Sequence[TextWord], at: int) -> bool:
    return at < len(words) and _part(words[at].lower) is not None
