"""What is wrong with a value, in words a model can act on: the field, the problem, what is expected."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from brasstag.toolkit.arguments.arguments import Validator

MOST_ERRORS = 20
"""How many errors one message lists; a model mends the first few anyway."""

_MOST_SEARCHED = 2000
_LONGEST_SHOWN = 60
_MOST_OPTIONS = 30


@dataclass(frozen=True, slots=True)
class ArgumentError:
    """One thing wrong with a value: where, what, and what would be right."""

    field: str
    problem: str
    expected: str = ""

    def __str__(self) -> str:
        return f"{self.field} {self.problem}" + (f"; expected {self.expected}" if self.expected else "")

    def as_json(self) -> dict[str, str]:
        """Return the form a Failed carries in its details."""
        return {"field": self.field, "problem": self.problem, "expected": self.expected}


def errors_in(validator: Validator, schema: Mapping[str, Any], value: Any) -> list[ArgumentError]:
    """Return everything wrong with ``value``, at most MOST_ERRORS of it, in words for a model."""
    found: list[ArgumentError] = []
    for error in _raw_errors(validator, value):
        describe = _SENTENCES.get(error.kind.name, _constraint)
        holder = _walk(schema, error.schema_path[:-1])
        found += describe(error, holder, place(error.instance_path))
        if len(found) >= MOST_ERRORS:
            break
    return found[:MOST_ERRORS]


def _raw_errors(validator: Validator, value: Any) -> Iterable[Any]:
    if _is_small(value):
        return validator.iter_errors(value)
    # The validator builds every error before it gives the first: a long array of wrong items would take minutes.
    try:
        validator.validate(value)
    except ValueError as first:
        return [first]
    return []


def _is_small(value: Any) -> bool:
    waiting, seen = [value], 0
    while waiting and seen < _MOST_SEARCHED:
        part = waiting.pop()
        seen += 1
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return not waiting


def place(path: Sequence[str | int]) -> str:
    """Return ``rows[2].name`` for the steps to a value."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{_short(step)}" if text else _short(step)
    return text


def expected(schema: Any) -> str:
    """Say in a few words what a schema wants."""
    if not isinstance(schema, Mapping):
        return "any value"
    words = _wanted(schema)
    bounds = [_bound(key, schema[key]) for key in _BOUNDS if key in schema]
    if bounds:
        words += f" ({', '.join(bounds)})"
    return f"{words}: {schema['description']}" if schema.get("description") else words


def did_you_mean(name: str, known: Sequence[str]) -> str | None:
    """Return the known name closest to a wrong one, if any is close."""
    # difflib compares letter by letter: a very long name would take long and match nothing.
    wanted = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name[:_LONGEST_SHOWN].lower(), list(wanted), n=1, cutoff=0.6)
    return wanted[close[0]] if close else None


_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
}
_AT_LEAST_ONE = {"minLength": "not empty", "minItems": "at least one item"}


def _bound(keyword: str, limit: Any) -> str:
    return (
        _AT_LEAST_ONE[keyword] if limit == 1 and keyword in _AT_LEAST_ONE else _BOUNDS[keyword].format(limit)
    )


def _wanted(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return _shown(schema["const"])
    if "enum" in schema:
        options = schema["enum"]
        more = ", …" if len(options) > _MOST_OPTIONS else ""
        return "one of " + ", ".join(_shown(option) for option in options[:_MOST_OPTIONS]) + more
    allowed = schema.get("type")
    if isinstance(allowed, list):
        return " or ".join(allowed)
    if allowed == "array" and isinstance(schema.get("items"), Mapping) and schema["items"]:
        return f"array of {_wanted(schema['items'])}"
    if allowed == "object" and schema.get("properties"):
        return f"object with {', '.join(schema['properties'])}"
    if allowed:
        return str(allowed)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_wanted(part) for part in schema[key]))
    return "any value"


def _walk(schema: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        schema = schema[step]
    return schema


def _missing(error: Any, holder: Any, field: str) -> list[ArgumentError]:
    name = error.kind.property
    return [
        ArgumentError(_below(field, name), "is missing", expected(holder.get("properties", {}).get(name)))
    ]


def _unknown(error: Any, holder: Any, field: str) -> list[ArgumentError]:
    known = list(holder.get("properties", {}))
    found = []
    for name in error.kind.unexpected[:MOST_ERRORS]:
        close = did_you_mean(name, known)
        hint = f" (did you mean {close}?)" if close else ""
        wanted = f"only {', '.join(known)}" if known else "no arguments"
        found.append(ArgumentError(_below(field, name), f"is not known{hint}", wanted))
    return found


def _wrong(error: Any, holder: Any, field: str) -> list[ArgumentError]:
    return [ArgumentError(field or "the value", f"is {_shown(error.instance)}", expected(holder))]


def _constraint(error: Any, holder: Any, field: str) -> list[ArgumentError]:
    return [
        ArgumentError(
            field or "the value",
            f"is {_shown(error.instance)}, which breaks {error.kind.name}",
            expected(holder),
        )
    ]


_Sentence = Callable[[Any, Any, str], list[ArgumentError]]

_SENTENCES: Mapping[str, _Sentence] = {
    "required": _missing,
    "additionalProperties": _unknown,
    **dict.fromkeys(("type", "enum", "const", "anyOf", "oneOf", *_BOUNDS), _wrong),
}


def _below(field: str, name: str) -> str:
    return f"{field}.{_short(name)}" if field else _short(name)


def _shown(value: Any) -> str:
    """Return a value as JSON, cut where it is long: the caller knows what it sent."""
    if isinstance(value, str):
        # Cut before quoting, so that a megabyte costs nothing.
        return json.dumps(_short(value), ensure_ascii=False)
    if isinstance(value, dict | list):
        return f"an {'object' if isinstance(value, dict) else 'array'}" if value else _EMPTY[type(value)]
    return _short(json.dumps(value))


_EMPTY: Mapping[type, str] = {dict: "an empty object", list: "an empty array"}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
