"""Numbers and names as labels of a chart."""

import math
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

LONGEST_NAME = 38
_MILLIONS, _BILLIONS = 1e7, 1e10
_NO_PLACES = 1000
"""From this value on, figures in a picture have no decimals: a reader does not need them."""


def axis_text(ends: Sequence[float]) -> Callable[[float], str]:
    """Return how figures along an axis are written: with separators, and all in one unit where they are huge."""
    unit, name = _unit(ends)
    return lambda value: f"{_plain(value / unit)}{name if value else ''}"


def rounded(values: Sequence[float]) -> Callable[[float], str]:
    """Return how these figures are written beside each other: all with as many places as the largest needs."""
    known = [value for value in values if math.isfinite(value)]
    unit, name = _unit(known)
    largest = max((abs(value) / unit for value in known), default=0.0)
    is_whole = unit == 1 and all(value == int(value) for value in known)
    places = 0 if is_whole or largest >= _NO_PLACES else 2
    return lambda value: f"{value / unit:,.{places}f}{name}" if math.isfinite(value) else ""


def name_text(name: Any) -> str:
    """Return what stands below a bar or a point."""
    if name is None:
        return "(none)"
    text = _plain(name) if isinstance(name, float) else str(name).removesuffix("T00:00:00")
    return shortened(text) or "(empty)"


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """Return a text on one line, cut where it is long, be it one word or many."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def columns_of(text: str) -> int:
    """Return how many ordinary signs are as wide as a text: those of East Asia are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _unit(values: Sequence[float]) -> tuple[float, str]:
    largest = max(map(abs, values), default=0.0)
    if largest >= _BILLIONS:
        return 1e9, " bn"
    return (1e6, " m") if largest >= _MILLIONS else (1.0, "")


def _plain(value: float) -> str:
    text = f"{value:,.2f}" if 1 <= abs(value) < _BILLIONS else f"{value:.4g}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
