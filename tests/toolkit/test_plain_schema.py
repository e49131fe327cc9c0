from typing import Any

import pytest

from brasstag.toolkit.plain_schema import RecursiveSchema, accepts_null, plain_schema


def test_references_are_written_out_with_what_stands_beside_them() -> None:
    schema = {
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}, "title": "Point"}},
        "type": "array",
        "items": {"$ref": "#/$defs/Point", "description": "A corner."},
    }
    assert plain_schema(schema) == {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"x": {"type": "integer"}},
            "additionalProperties": False,
            "description": "A corner.",
        },
    }


def test_a_type_that_contains_itself_is_refused() -> None:
    schema = {
        "$defs": {"Tree": {"properties": {"kids": {"items": {"$ref": "#/$defs/Tree"}}}}},
        "$ref": "#/$defs/Tree",
    }
    with pytest.raises(RecursiveSchema, match="Tree contains itself"):
        plain_schema(schema)


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "https://example.com/schema", "#/properties/x", "#/$defs/No"]
)
def test_a_reference_to_anything_else_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="names nothing"):
        plain_schema({"type": "object", "properties": {"x": {"$ref": address}}})


def test_parts_of_an_object_are_not_closed_by_themselves() -> None:
    part = {"properties": {"a": {"type": "string"}}}
    assert plain_schema({"allOf": [part]}) == {"allOf": [part]}
    whole = {"properties": {"b": {"type": "string"}}, "allOf": [part]}
    assert "additionalProperties" not in plain_schema(whole)


def test_an_object_that_says_it_is_open_stays_open() -> None:
    assert plain_schema({"properties": {}, "additionalProperties": True})["additionalProperties"] is True


def test_a_property_named_title_is_not_taken_for_a_title() -> None:
    assert "title" in plain_schema({"title": "T", "properties": {"title": {"type": "string"}}})["properties"]


@pytest.mark.parametrize(
    ("schema", "accepts"),
    [
        ({"type": "null"}, True),
        ({"type": "string"}, False),
        ({"type": ["string", "null"]}, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        ({"anyOf": [{"type": "string"}]}, False),
        ({"enum": ["a", None]}, True),
        ({"enum": ["a"]}, False),
        ({"const": None}, True),
        ({"const": 1}, False),
        ({}, True),
        (True, True),
        (False, False),
    ],
)
def test_whether_null_is_allowed_is_read_from_the_schema(schema: Any, accepts: bool) -> None:
    assert accepts_null(schema) is accepts
