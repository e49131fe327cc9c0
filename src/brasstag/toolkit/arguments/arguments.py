"""A call's arguments: copied, completed without guessing, and checked against a compiled schema."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, cast

from brasstag.toolkit.plain_schema import accepts_null

MOST_BYTES = 16 * 1024 * 1024
"""The largest arguments a call may carry; a file that large does not belong in a call."""

_PUNCTUATION = 4
"""About what one value costs in JSON beside its characters."""
_DEEPEST = 64
_SCALARS = frozenset({int, bool, float, type(None)})


class ValueTooLarge(ValueError):
    """A value beyond what was allowed."""


class Validator(Protocol):
    """The part of a compiled schema we use."""

    def is_valid(self, instance: Any) -> bool:
        """Say whether the instance is valid."""

    def validate(self, instance: Any) -> None:
        """Raise the first error, which is a ValueError."""

    def iter_errors(self, instance: Any) -> Iterable[Any]:
        """Give every error."""


def compiled(schema: Mapping[str, Any]) -> Validator:
    """Return a validator; raises ValueError where the schema itself is wrong."""
    import jsonschema_rs  # noqa: PLC0415 - reading a tool's name should not cost loading it

    try:
        return cast("Validator", jsonschema_rs.Draft202012Validator(dict(schema), retriever=_refuse))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise ValueError(error.message) from None


def _refuse(uri: str, /) -> NoReturn:
    # The default would read files and fetch addresses that a schema names.
    raise ValueError(f"a tool's schema may not refer to {uri}")


def own(value: Any, most_bytes: int = MOST_BYTES) -> Any:
    """Return a copy in plain dicts and lists, so that a caller who keeps the original cannot change a judged call.

    Whatever has no JSON form stays as it is, for ``why_not_json`` to name. Raises TooLarge.
    """
    flat = _flat_copy(value) if type(value) is dict else None
    return flat if flat is not None and _weight(flat) <= most_bytes else _Copy(most_bytes).of(value, 0)


def _flat_copy(value: dict[Any, Any]) -> dict[str, Any] | None:
    """Copy a flat mapping of names to texts and numbers, as nearly every call has; None for anything else."""
    for key, item in value.items():
        if type(key) is not str or not (type(item) in _SCALARS or (type(item) is str and item.isascii())):
            return None
    return dict(value)


def _weight(flat: dict[str, Any]) -> int:
    texts = [item for item in flat.values() if type(item) is str]
    return sum(map(len, texts)) + sum(map(len, flat)) + 2 * _PUNCTUATION * len(flat)


@dataclass(slots=True)
class _Copy:
    room: int

    def of(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            # Its characters first: what is too long by them is not encoded to be counted.
            self._take(len(value))
            self._take(0 if value.isascii() else len(value.encode(errors="surrogatepass")) - len(value))
            return value
        if kind in _SCALARS or depth > _DEEPEST:
            return value
        if isinstance(value, Mapping):
            # Its size is counted before it is walked, so that a long one is refused at once.
            self._take(2 * _PUNCTUATION * len(value) + _PUNCTUATION)
            return {self._key(key): self.of(item, depth + 1) for key, item in value.items()}
        if isinstance(value, str):
            # Counted before it is copied, as a plain text is.
            self._take(str.__len__(value))
            self.room += str.__len__(value)
            return self.of(str.__str__(value), depth)
        if isinstance(value, int):
            return int.__index__(value)
        if isinstance(value, float):
            return float.__float__(value)
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
            self._take(_PUNCTUATION * len(value) + _PUNCTUATION)
            return [item if type(item) in _SCALARS else self.of(item, depth + 1) for item in value]
        return value

    def _key(self, key: Any) -> Any:
        return self.of(key, _DEEPEST) if isinstance(key, str) else key

    def _take(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise ValueTooLarge


@dataclass(frozen=True, slots=True)
class Completion:
    """What may be completed in a value without guessing; None stands for nothing at all."""

    droppable: tuple[str, ...] = ()
    """Optional properties that cannot be null: strict exports make models send null for "not given"."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    properties: Mapping[str, "Completion"] = field(default_factory=dict)
    items: "Completion | None" = None
    whole: bool = False
    """An integer: 2.0 is one in JSON, but not in Python."""

    def of(self, value: Any) -> Any:
        """Return ``value`` completed in place; it is not validated yet, so every step checks its type first."""
        if isinstance(value, dict):
            self._complete(value)
        elif isinstance(value, list) and self.items:
            value[:] = [self.items.of(item) for item in value]
        elif self.whole and isinstance(value, float) and value.is_integer():
            return int(value)
        return value

    def _complete(self, value: dict[str, Any]) -> None:
        for name in self.droppable:
            if name in value and value[name] is None:
                del value[name]
        for name, inner in self.properties.items():
            if name in value:
                value[name] = inner.of(value[name])
        for name, default in self.defaults.items():
            if name not in value:
                value[name] = own(default) if isinstance(default, dict | list) else default


def completion(schema: Any) -> Completion | None:
    """Read from a schema what may be completed in its values."""
    if not isinstance(schema, Mapping):
        return None
    if "anyOf" in schema:
        parts = [part for part in schema["anyOf"] if part != {"type": "null"}]
        return completion(parts[0]) if len(parts) == 1 else None
    allowed = schema.get("type", ())
    if allowed == "integer" or ("integer" in allowed and "number" not in allowed):
        return Completion(whole=True)
    if inner := completion(schema.get("items")):
        return Completion(items=inner)
    properties: Mapping[str, Any] = schema.get("properties", {})
    optional = {name: part for name, part in properties.items() if name not in schema.get("required", ())}
    found = Completion(
        droppable=tuple(name for name, part in optional.items() if not accepts_null(part)),
        defaults={
            name: part["default"]
            for name, part in optional.items()
            if isinstance(part, Mapping) and "default" in part
        },
        properties={name: inner for name, part in properties.items() if (inner := completion(part))},
    )
    return found if found != Completion() else None
