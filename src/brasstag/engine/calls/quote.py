"""Quote the arguments of a call that cannot be written down whole: nothing large is copied, nothing deep is followed."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from brasstag.words.canonical import DEEPEST, type_name

MOST_VALUES = 100_000
"""How many values are counted: a list may hold itself."""


def count_characters(value: Any) -> int:
    """Return about how many characters a value would take, written out."""
    total, pending = 0, [value]
    for _ in range(MOST_VALUES):
        if not pending:
            break
        one = pending.pop()
        match one:
            case str() | bytes() | bytearray():
                total += len(one) + 2
            case Mapping():
                total += 2 + 2 * len(one)
                pending += islice((part for item in one.items() for part in item), MOST_VALUES)
            case list() | tuple():
                total += 2 + len(one)
                pending += islice(one, MOST_VALUES)
            case _:
                total += 8
    return total


def quote(value: Any, most: int) -> str:
    """Return the first characters of a value, written as Python writes it."""
    found, length = [], 0
    for piece in _pieces(value, most, 0):
        found.append(piece)
        length += len(piece)
        if length >= most:
            break
    return "".join(found)[:most]


def _pieces(value: Any, most: int, depth: int) -> Iterator[str]:
    match value:
        case str():
            yield repr(value[:most])
        case bytes() | bytearray():
            yield repr(bytes(value[:most]))
        case Mapping() | list() | tuple() if depth > DEEPEST:
            yield "…"
        case Mapping():
            yield "{"
            for number, (key, item) in enumerate(value.items()):
                yield ", " if number else ""
                yield from _pieces(key, most, depth + 1)
                yield ": "
                yield from _pieces(item, most, depth + 1)
            yield "}"
        case list() | tuple():
            yield "[" if isinstance(value, list) else "("
            for number, item in enumerate(value):
                yield ", " if number else ""
                yield from _pieces(item, most, depth + 1)
            yield "]" if isinstance(value, list) else ")"
        case _:
            yield _repr(value)[:most]


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except BaseException:  # noqa: BLE001 - a caller's own type may raise anything
        return f"<{type_name(value)}>"
