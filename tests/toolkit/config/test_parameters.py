from typing import Any

import pytest
from pydantic import ValidationError

from brasstag.toolkit.arguments.arguments import compiled
from brasstag.toolkit.config.parameters import Parameter, Shape, parameter_fields


def parameter(**words: Any) -> Parameter:
    return Parameter.model_validate({"description": "A value.", **words})


def test_the_short_fields_become_their_schema_keywords() -> None:
    made = parameter(type="string", min_length=1, max_length=9, pattern="^a", enum=["a", "ab"])
    assert made.as_schema() == {
        "type": "string",
        "description": "A value.",
        "enum": ["a", "ab"],
        "minLength": 1,
        "maxLength": 9,
        "pattern": "^a",
    }


def test_an_object_with_properties_is_closed_at_every_level() -> None:
    inner = {
        "type": "object",
        "description": "Inner.",
        "properties": {"x": {"type": "integer", "description": "X."}},
    }
    made = parameter(type="object", properties={"inner": inner | {"required": True}}).as_schema()
    assert made["additionalProperties"] is False
    assert made["required"] == ["inner"]
    assert made["properties"]["inner"]["additionalProperties"] is False


def test_an_object_without_properties_is_free_and_its_values_can_be_described() -> None:
    assert "additionalProperties" not in parameter(type="object").as_schema()
    assert parameter(type="object", values={"type": "string"}).as_schema()["additionalProperties"] == {
        "type": "string"
    }


def test_a_list_of_types_is_kept_with_properties() -> None:
    made = parameter(type=["object", "null"], properties={}).as_schema()
    assert made["type"] == ["object", "null"]


def test_null_can_be_a_default() -> None:
    made = parameter(type=["string", "null"], default=None)
    assert made.has_default
    assert made.as_schema()["default"] is None
    assert not parameter(type="string").has_default


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({}, "type: is missing"),
        ({"type": "text"}, "'text' is not a JSON type"),
        ({"type": ["string", "string"]}, "is not a JSON type"),
        ({"type": []}, "is not a JSON type"),
        ({"type": "array"}, "items: is missing"),
        ({"type": "string", "minimum": 3}, "minimum: does not belong to type string"),
        ({"type": "integer", "pattern": "x"}, "pattern: does not belong to type integer"),
        ({"type": "string", "properties": {}}, "properties: does not belong to type string"),
        (
            {"type": "object", "properties": {}, "values": {"type": "string"}},
            "values: is given beside properties",
        ),
        ({"type": "string", "pattern": "("}, "pattern: cannot be used"),
        ({"type": "integer", "enum": [1, "2"]}, "enum: '2' is not of type integer"),
        ({"type": "integer", "default": "2"}, "default: '2' is not a valid value"),
        ({"type": "integer", "default": 1, "required": True}, "default: stands on a required argument"),
        ({"type": "string", "json_schema": {"type": "string"}}, "type: is given beside json_schema"),
        ({"json_schema": {"type": "sting"}}, "json_schema: cannot be used"),
        ({"json_schema": {"$ref": "file:///etc/passwd"}}, "names nothing in this schema"),
        ({"type": "string", "required": "yes"}, "valid boolean"),
        ({"type": "string", "min_length": -1}, "greater than or equal to 0"),
        ({"type": "string", "enum": []}, "at least 1 item"),
        ({"type": "string", "typo": 1}, "Extra inputs"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(words: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        parameter(**words)
    assert says in str(caught.value)


def test_several_complaints_about_one_parameter_come_together() -> None:
    with pytest.raises(ValidationError) as caught:
        parameter(type="string", minimum=1, items={"type": "string"})
    assert "minimum" in str(caught.value)
    assert "items" in str(caught.value)


@pytest.mark.parametrize("description", ["", "   "])
def test_a_parameter_without_description_is_refused(description: str) -> None:
    with pytest.raises(ValidationError):
        Parameter.model_validate({"type": "string", "description": description})


@pytest.mark.parametrize(
    ("schema", "kept_short"),
    [
        ({"type": "string", "minLength": 2, "title": "T"}, True),
        ({"type": "array", "items": {"type": "integer", "maximum": 3}}, True),
        ({"type": "object", "additionalProperties": {"type": "string"}}, True),
        ({"const": "a", "type": "string"}, True),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, False),
        ({"type": "string", "format": "date"}, False),
        ({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}, False),
        ({}, False),
    ],
)
def test_a_schema_from_elsewhere_says_the_same_as_a_parameter(
    schema: dict[str, Any], kept_short: bool
) -> None:
    fields = parameter_fields(schema)
    assert ("json_schema" not in fields) is kept_short
    there, here = compiled(schema), compiled(Shape.model_validate(fields).as_schema())
    for value in ["a", "", 1, 4, [1], ["a"], [9], {"x": 1}, {"x": "a"}, {}, None, True]:
        assert there.is_valid(value) == here.is_valid(value), value


def test_a_schema_handed_out_can_be_changed_without_changing_the_parameter() -> None:
    made = parameter(
        json_schema={"type": "object", "properties": {"x": {"type": "integer"}}}, default={"x": 1}
    )
    schema = made.as_schema()
    schema["properties"]["x"]["type"] = "string"
    schema["default"]["x"] = 2
    assert made.as_schema()["properties"]["x"]["type"] == "integer"
    assert made.as_schema()["default"] == {"x": 1}
