"""One JSON form to hash on every machine (RFC 8785), and one to store on a timeline (ASCII, sorted)."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

LARGEST_INTEGER = 2**53 - 1
"""Beyond this, JSON readers disagree about a number's value (RFC 7493)."""

DEEPEST = 64
"""How far arguments and results may nest."""

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def stored_json(value: Any) -> str:
    """Return ``value`` as the timeline stores and hashes it: sorted, compact, ASCII only."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of the RFC 8785 form of ``value``, in hex."""
    import rfc8785  # noqa: PLC0415 - only approvals and versions of tools need it

    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def stored_digest(value: Any) -> str:
    """Return the SHA-256 of ``value`` as the timeline stores it, in hex."""
    return sha256(stored_json(value).encode())


def why_not_json(value: Any) -> str | None:
    """Say why ``value`` is not JSON that every reader understands alike, or return None if it is."""
    return None if _is_plain(value, 0) else _why_not(value, "", 0)


def _is_plain(value: Any, depth: int) -> bool:
    """Say whether a value is JSON at first sight; nearly every one is, and only the rest is worth an explanation."""
    kind = type(value)
    if kind in _PLAIN:
        return _PLAIN[kind](value)
    if depth >= DEEPEST:
        return False
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str or not _is_text(key) or not _is_plain(item, depth + 1):
                return False
        return True
    return kind is list and all(_is_plain(item, depth + 1) for item in value)


def _is_text(value: str) -> bool:
    return value.isascii() or not _LONE_SURROGATE.search(value)


_PLAIN: dict[type, Callable[[Any], bool]] = {
    str: _is_text,
    bool: lambda _: True,
    type(None): lambda _: True,
    int: lambda value: -LARGEST_INTEGER <= value <= LARGEST_INTEGER,
    float: math.isfinite,
}


def _why_not(value: Any, at: str, depth: int) -> str | None:
    where = at or "the value"
    if depth > DEEPEST:
        return f"{where} is nested more than {DEEPEST} levels deep"
    if isinstance(value, Mapping):
        return next(filter(None, _doubts_about_members(value, at, depth)), None)
    if isinstance(value, list | tuple):
        doubts = (_why_not(item, f"{at}[{index}]", depth + 1) for index, item in enumerate(value))
        return next(filter(None, doubts), None)
    return _why_not_scalar(value, where)


def _doubts_about_members(value: Mapping[Any, Any], at: str, depth: int) -> Iterator[str | None]:
    for key, item in value.items():
        if not isinstance(key, str):
            yield f"{at or 'the value'} has a key that is not text: {key!r}"
        else:
            yield _why_not_scalar(key, f"a key of {at or 'the value'}")
            yield _why_not(item, f"{at}.{key}" if at else key, depth + 1)


def _why_not_scalar(value: Any, where: str) -> str | None:
    match value:
        case None | bool():
            return None
        case str():
            # Most text is ASCII, which needs no scan for surrogates.
            if not value.isascii() and (half := _LONE_SURROGATE.search(value)):
                what = f"\\u{ord(half[0]):04x} at character {half.start()}"
                return f"{where} holds {what}: half of a surrogate pair, which is not text"
        case int() if abs(value) > LARGEST_INTEGER:
            return f"{where} is beyond ±(2^53-1), where JSON numbers stop being exact"
        case float() if not math.isfinite(value):
            return f"{where} is not a finite number"
        case int() | float():
            return None
        case _:
            return f"{where} is a {type_name(value)}, which JSON has no form for"
    return None


def type_name(value: object) -> str:
    """Return the name of a value's type, also of one whose own type raises when it is asked."""
    try:
        return str(type(value).__name__)
    except BaseException:  # noqa: BLE001 - a caller's own type may raise anything
        return "object"
