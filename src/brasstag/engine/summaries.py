"""Summaries of results, taken from the results themselves: the same result always gives the same words."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

LONGEST = 300
"""Characters of a summary."""
LONGEST_PART = 100
"""Characters that one member of an object gets."""


def summary_of(value: Any) -> str:
    """Return how a value begins, and its shape and size, in a few lines at most."""
    if isinstance(value, Mapping):
        said = "{" + ", ".join(f"{name}: {_part(item)}" for name, item in sorted(value.items())) + "}"
    elif isinstance(value, str):
        said = _beginning(value, LONGEST)
    elif isinstance(value, Sequence):
        said = f"a list of {len(value)}" + (f", the first: {_part(value[0])}" if value else "")
    else:
        said = _written(value)
    return clipped(said, LONGEST)


def clipped(text: str, longest: int) -> str:
    """Return a text, or its beginning and a sign that there is more."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _part(value: Any) -> str:
    """Say what one member of a value is."""
    if isinstance(value, str):
        return json.dumps(_beginning(value, LONGEST_PART), ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"an object with {clipped(', '.join(sorted(value)), LONGEST_PART) or 'nothing in it'}"
    if isinstance(value, Sequence):
        return f"a list of {len(value)}"
    return _written(value)


def _beginning(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    lines = text.count("\n") + 1
    size = f"… ({len(text)} characters" + (f", {lines} lines)" if lines > 1 else ")")
    return text[: longest - len(size)] + size


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
