"""What one argument may be: short fields in a tool's JSON, or a whole JSON schema."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    model_validator,
)

from brasstag.toolkit.arguments.arguments import compiled
from brasstag.toolkit.config.complaints import Complaint, refusal, refuse
from brasstag.toolkit.plain_schema import plain_schema

JsonType = Literal["string", "integer", "number", "boolean", "array", "object", "null"]
JSON_TYPES: tuple[str, ...] = get_args(JsonType)

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
ArgumentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
"""What every provider accepts as the name of a property."""
PythonName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]*$")]


def _types(given: Any) -> Any:
    """Check a value that may be a name or a list of names, with one error instead of one for each branch."""
    names = given if isinstance(given, list | tuple) else [given]
    wrong = [name for name in names if name not in JSON_TYPES]
    if given is not None and (wrong or not names or len(set(names)) < len(names)):
        mend = f"Use {', '.join(JSON_TYPES)}, or a list of these."
        raise refusal(Complaint("", f"{given!r} is not a JSON type", mend))
    return tuple(names) if given is not None and len(names) > 1 else names[0]


_KEYWORDS = {
    "enum": "enum",
    "minimum": "minimum",
    "maximum": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "min_items": "minItems",
    "max_items": "maxItems",
}
_BELONGS_TO: dict[str, frozenset[str]] = {
    "minimum": frozenset({"integer", "number"}),
    "maximum": frozenset({"integer", "number"}),
    "min_length": frozenset({"string"}),
    "max_length": frozenset({"string"}),
    "pattern": frozenset({"string"}),
    "items": frozenset({"array"}),
    "min_items": frozenset({"array"}),
    "max_items": frozenset({"array"}),
    "properties": frozenset({"object"}),
    "values": frozenset({"object"}),
}
Count = Annotated[StrictInt, Field(ge=0)]


class Shape(BaseModel):
    """What one value may be."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Annotated[str | tuple[str, ...] | None, BeforeValidator(_types)] = None
    description: str = ""
    enum: Annotated[tuple[Any, ...], Field(min_length=1)] | None = None
    minimum: StrictInt | StrictFloat | None = None
    maximum: StrictInt | StrictFloat | None = None
    min_length: Count | None = None
    max_length: Count | None = None
    pattern: str | None = None
    items: "Shape | None" = None
    min_items: Count | None = None
    max_items: Count | None = None
    properties: "dict[ArgumentName, Property] | None" = None
    """The properties of an object that has no others."""
    values: "Shape | None" = None
    """What the values of a free-form object are, where it has no fixed properties."""
    json_schema: Annotated[dict[str, Any], AfterValidator(plain_schema)] | None = None
    """A whole schema, instead of all the fields above."""

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types a value may have; empty where only ``json_schema`` knows."""
        if self.type is None:
            return ()
        return self.type if isinstance(self.type, tuple) else (self.type,)

    def as_schema(self) -> dict[str, Any]:
        """Return the JSON schema of this value."""
        if self.json_schema is not None:
            schema = deepcopy(self.json_schema)
        else:
            schema = {"type": list(self.type) if isinstance(self.type, tuple) else self.type}
        if self.description:
            schema["description"] = self.description
        for field, keyword in _KEYWORDS.items():
            if (value := getattr(self, field)) is not None:
                schema[keyword] = list(value) if field == "enum" else value
        if self.items:
            schema["items"] = self.items.as_schema()
        if self.properties is not None:
            schema = {**object_schema(self.properties), **schema}
        if self.values:
            schema["additionalProperties"] = self.values.as_schema()
        return schema

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        refuse([*self._misplaced(), *self._incomplete()])
        refuse(self._impossible())
        return self

    def _misplaced(self) -> list[Complaint]:
        given = self.model_fields_set - {"description", "required", "default", "aliases", "python_name"}
        if self.json_schema is not None:
            others = sorted(given - {"json_schema"})
            return [Complaint(name, "is given beside json_schema", "Keep one of the two.") for name in others]
        return [
            Complaint(
                name,
                f"does not belong to type {self.type}",
                f"Remove it, or use type {' or '.join(sorted(of))}.",
            )
            for name, of in _BELONGS_TO.items()
            if getattr(self, name) is not None and self.type is not None and not of & set(self.types)
        ]

    def _incomplete(self) -> list[Complaint]:
        found = []
        if self.type is None and self.json_schema is None:
            found.append(Complaint("type", "is missing", f"Add one of {', '.join(JSON_TYPES)}."))
        if "array" in self.types and self.items is None:
            found.append(
                Complaint("items", "is missing", 'Say what the array holds: "items": {"type": "string"}.')
            )
        if self.properties is not None and self.values is not None:
            found.append(Complaint("values", "is given beside properties", "Keep one of the two."))
        return found

    def _impossible(self) -> list[Complaint]:
        if self.enum is None and self.pattern is None and self.json_schema is None:
            return []
        schema = self.as_schema()
        options = schema.pop("enum", [])
        try:
            validator = compiled(schema)
        except ValueError as error:
            field = "pattern" if self.pattern is not None else "json_schema"
            return [Complaint(field, f"cannot be used: {error}", "Correct it.")]
        return [
            Complaint("enum", f"{option!r} is not of type {self.type}", "Remove it, or change the type.")
            for option in options
            if self.json_schema is None and not validator.is_valid(option)
        ]


class Property(Shape):
    """A value with a name, inside an object."""

    description: Sentence
    required: StrictBool = False
    default: Any = None

    @property
    def has_default(self) -> bool:
        """Whether a default is given; null may be one."""
        return "default" in self.model_fields_set

    def as_schema(self) -> dict[str, Any]:
        """Return the JSON schema of this value."""
        schema = super().as_schema()
        return {**schema, "default": deepcopy(self.default)} if self.has_default else schema

    @model_validator(mode="after")
    def _default_fits(self) -> Self:
        if not self.has_default:
            return self
        found = []
        if self.required:
            found.append(
                Complaint("default", "stands on a required argument", "Remove it, or make it optional.")
            )
        if not compiled(self.as_schema()).is_valid(self.default):
            found.append(Complaint("default", f"{self.default!r} is not a valid value", "Correct it."))
        refuse(found)
        return self


class Parameter(Property):
    """One argument of a tool."""

    aliases: tuple[ArgumentName, ...] = ()
    """Other spellings a call may use; never exported, so models learn one name."""
    python_name: PythonName | None = None
    """The name in the Python signature, for words like ``from``."""


def object_schema(properties: Mapping[str, Property]) -> dict[str, Any]:
    """Return the schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": {name: part.as_schema() for name, part in properties.items()},
        "required": [name for name, part in properties.items() if part.required],
        "additionalProperties": False,
    }


def parameter_fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a Shape that say what ``schema`` says: short ones where they can, else all of it."""
    plain = plain_schema(schema)
    others: dict[str, Any] = {key: plain.pop(key) for key in ("description", "default") if key in plain}
    return {**(_short_fields(plain) or {"json_schema": plain}), **others}


def _short_fields(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    fields = {field: schema[keyword] for field, keyword in _KEYWORDS.items() if keyword in schema}
    known = {*_KEYWORDS.values(), "type"}
    if "const" in schema and "enum" not in schema:
        fields["enum"] = [schema["const"]]
        known.add("const")
    if schema.get("type") == "array" and isinstance(schema.get("items"), Mapping):
        fields["items"] = _value_fields(schema["items"])
        known.add("items")
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        fields["values"] = _value_fields(schema["additionalProperties"])
        known.add("additionalProperties")
    if "type" not in schema or not schema.keys() <= known:
        return None
    return {"type": schema["type"], **fields}


def _value_fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = parameter_fields(schema)
    fields.pop("default", None)  # nothing is ever left out of an array
    return fields
