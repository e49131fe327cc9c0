"""The checks of a test case: each says why an output does not pass it, or nothing."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import re2

Check = Callable[[str], str]
"""Returns why an output fails; empty where it passes."""


def _json_only(output: str) -> str:
    try:
        json.loads(output)
    except (ValueError, RecursionError):
        return "the output is not one JSON value and nothing else"
    return ""


def _no_fences(output: str) -> str:
    return "the output holds a Markdown fence" if "```" in output or "~~~" in output else ""


NAMED: dict[str, Check] = {"json_only": _json_only, "no_fences": _no_fences}
"""Checks that need nothing but the output; those that need the room are added by the harness."""
ROOM_CHECKS = ("evidence", "no_false_tool_use")
"""Checks that look into files and timelines."""


def _contains(wanted: Any) -> Check:
    return lambda output: "" if wanted in output else f"the output does not hold {wanted!r}"


def _not_contains(unwanted: Any) -> Check:
    return lambda output: f"the output holds {unwanted!r}" if unwanted in output else ""


def _matches(expression: Any) -> Check:
    compiled = re2.compile(expression)
    return lambda output: "" if compiled.search(output) else f"nothing in the output matches {expression!r}"


def _has_field(name: Any) -> Check:
    def check(output: str) -> str:
        try:
            value = json.loads(output)
        except (ValueError, RecursionError):
            return "the output is not JSON"
        return "" if isinstance(value, dict) and name in value else f"the output has no field {name!r}"

    return check


def _max_words(most: Any) -> Check:
    return lambda output: "" if len(output.split()) <= most else f"the output has more than {most} words"


MADE: Mapping[str, tuple[type, Callable[[Any], Check]]] = {
    "contains": (str, _contains),
    "not_contains": (str, _not_contains),
    "matches": (str, _matches),
    "has_field": (str, _has_field),
    "max_words": (int, _max_words),
}
"""Checks with a value, written as an object of one key: the type of the value, and what makes the check."""


def why_no_check(given: Any) -> str:
    """Say why a value is no check, or return an empty text."""
    if isinstance(given, str):
        known = (*NAMED, *ROOM_CHECKS)
        return "" if given in known else f"{given!r} is no check; there are {', '.join((*known, *MADE))}"
    if not isinstance(given, Mapping) or len(given) != 1:
        return "a check is a name, or an object with one key"
    ((name, value),) = given.items()
    if name not in MADE:
        return f"{name!r} is no check with a value; there are {', '.join(MADE)}"
    kind, make = MADE[name]
    if not isinstance(value, kind) or isinstance(value, bool) or value == "":
        return f"{name} needs a {'text' if kind is str else 'number'}"
    try:
        make(value)
    except re2.error as error:
        return f"{name}: {value!r} is no expression of RE2: {error}"
    return ""


def failures(checks: tuple[Any, ...], output: str, room_checks: Mapping[str, Check]) -> list[dict[str, str]]:
    """Return each check that an output does not pass, with the reason."""
    found = []
    for given in checks:
        if isinstance(given, str):
            name, check = given, {**NAMED, **room_checks}.get(given)
        else:
            ((name, value),) = given.items()
            check = MADE[name][1](value)
        why = "this check is not available here" if check is None else check(output)
        if why:
            found.append({"check": name, "why": why})
    return found
