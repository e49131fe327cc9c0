"""Values of a database as JSON that means exactly the same.

whole numbers, decimals, floats   a number, or a text where a JSON number would not be exact, and for NaN and Infinity
dates and times                   ISO 8601, as far as calendars here go; further away as DuckDB writes it
intervals, UUIDs, bits, enums     a text
bytes                             a text in base64
lists, structs, maps, JSON        arrays and objects; what is inside them is written as DuckDB's to_json does
"""

import base64
import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

EXACT = 2**53
"""Beyond this, many readers of JSON take a whole number for its neighbour."""
_DIGITS = 15
"""So many digits a float holds exactly."""

_PLAIN = re.compile(
    r'(BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|VARCHAR|UUID|BLOB|BIT|BIGNUM|"NULL"|'
    r"DECIMAL\([0-9]+,[0-9]+\)|ENUM\(.*\))",
    re.DOTALL,
)
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(:\d\d)?)?")


def is_plain(kind: str) -> bool:
    """Say whether Python's own form of a type says all there is to say."""
    return _PLAIN.fullmatch(kind) is not None


def plain_value(value: Any) -> Any:
    """Return the JSON for a value of a plain type."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) < EXACT else str(value)
        case float():
            return value if math.isfinite(value) else _unbounded(value)
        case Decimal():
            return _decimal(value)
        case bytes():
            return base64.b64encode(value).decode()
    return str(value)


def written_value(text: str | None, kind: str) -> Any:
    """Return the JSON for a value of any other type, of which DuckDB's to_json has written ``text``."""
    if text is None:
        return None
    value = json.loads(text, parse_float=Decimal, parse_constant=str)
    if isinstance(value, str) and (found := _MOMENT.fullmatch(value)) and kind.startswith("TIMESTAMP"):
        day, hour, zone, minutes = found.groups()
        return f"{day}T{hour}" + (f"{zone}{minutes or ':00'}" if zone else "")
    return _inside(value)


def _inside(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _inside(one) for name, one in value.items()}
    return [_inside(one) for one in value] if isinstance(value, list) else plain_value(value)


def _decimal(value: Decimal) -> int | float | str:
    if not value.is_finite():
        return str(value)
    if len(value.normalize().as_tuple().digits) > _DIGITS:
        return format(value, "f")
    return int(value) if value == value.to_integral_value() else float(value)


def _unbounded(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
