"""JSON schemas from annotations and classes, made plain: no references, no titles, closed objects."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas")
_CONDITIONAL = frozenset({"allOf", "not", "if", "then", "else", "dependentSchemas"})
"""Below these, a schema describes only a part of an object; closing it would refuse the other parts."""
_DROPPED = frozenset({"$defs", "definitions", "title", "$schema", "$id"})


class RecursiveSchema(ValueError):
    """A type that contains itself, which cannot be written out for a model."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} contains itself, which cannot be written out for a model")


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a self-contained copy: references replaced by their content, titles dropped, objects closed.

    Some model servers refuse ``$ref``, and titles only repeat names. Raises RecursiveSchema.
    """
    definitions = {
        f"#/{place}/{name}": target
        for place in ("$defs", "definitions")
        for name, target in schema.get(place, {}).items()
    }
    return dict(_Writing(definitions).plain(schema))


@dataclass(frozen=True, slots=True)
class _Writing:
    """One reading of a schema: what references mean, which are being written out, whether to close objects."""

    definitions: Mapping[str, Any]
    inside: tuple[str, ...] = ()
    closing: bool = True

    def plain(self, schema: Any) -> Any:
        if not isinstance(schema, Mapping):
            return schema  # true and false are schemas too
        if isinstance(reference := schema.get("$ref"), str):
            return self._written_out(reference, schema)
        plain = {key: self._part(key, value) for key, value in schema.items() if key not in _DROPPED}
        if self.closing and "properties" in plain and not _CONDITIONAL & plain.keys():
            plain.setdefault("additionalProperties", False)
        return plain

    def _written_out(self, reference: str, schema: Mapping[str, Any]) -> Any:
        if reference in self.inside:
            raise RecursiveSchema(reference.rpartition("/")[2])
        if reference not in self.definitions:
            raise ValueError(f"{reference} names nothing in this schema")
        others = {key: value for key, value in schema.items() if key != "$ref"}
        below = replace(self, inside=(*self.inside, reference))
        return below.plain({**self.definitions[reference], **others})

    def _part(self, key: str, value: Any) -> Any:
        below = replace(self, closing=False) if key in _CONDITIONAL else self
        if key in _ONE:
            return below.plain(value)
        if key in _MANY:
            return [below.plain(part) for part in value]
        if key in _NAMED:
            return {name: below.plain(part) for name, part in value.items()}
        return value


def accepts_null(schema: Any) -> bool:
    """Say whether null is a value this schema allows."""
    if not isinstance(schema, Mapping):
        return bool(schema)
    if "type" in schema:
        allowed = schema["type"]
        return allowed == "null" or (isinstance(allowed, list) and "null" in allowed)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return any(accepts_null(part) for part in schema[key])
    if "enum" in schema:
        return None in schema["enum"]
    return "const" not in schema or schema["const"] is None
