from typing import Any

import pytest

from brasstag.toolkit.arguments.arguments import compiled
from brasstag.toolkit.arguments.sentences import MOST_ERRORS, did_you_mean, errors_in, expected, place

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Path of the file.", "minLength": 1},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "mode": {"enum": ["read", "write"]},
        "rows": {
            "type": "array",
            "maxItems": 2,
            "items": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "names": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "even": {"type": "integer", "multipleOf": 2},
        "unlike": {"type": "string", "not": {"const": "x"}},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def said(value: Any, schema: dict[str, Any] = SCHEMA) -> list[str]:
    return [str(error) for error in errors_in(compiled(schema), schema, value)]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, "path is missing; expected string (not empty): Path of the file."),
        ({"path": 5}, "path is 5; expected string (not empty): Path of the file."),
        ({"path": ""}, 'path is ""; expected string (not empty): Path of the file.'),
        ({"path": None}, "path is null; expected string (not empty): Path of the file."),
        ({"path": "a", "count": 0}, "count is 0; expected integer (at least 1, at most 9)"),
        ({"path": "a", "mode": "exec"}, 'mode is "exec"; expected one of "read", "write"'),
        ({"path": "a", "rows": [{"id": "x"}]}, 'rows[0].id is "x"; expected integer'),
        ({"path": "a", "rows": [{}]}, "rows[0].id is missing; expected integer"),
        (
            {"path": "a", "rows": [{"id": 1}] * 3},
            "rows is an array; expected array of object with id (at most 2 items)",
        ),
        ({"path": "a", "either": []}, "either is an empty array; expected string or integer"),
        (
            {"path": "a", "names": []},
            "names is an empty array; expected array of string (at least one item)",
        ),
        ({"path": "a", "even": 3}, "even is 3; expected integer (a multiple of 2)"),
        ({"path": "a", "unlike": "x"}, 'unlike is "x", which breaks not; expected string'),
        (
            {"path": "a", "cuont": 1},
            "cuont is not known (did you mean count?); expected only path, count, mode, rows, either, names, even, unlike",
        ),
    ],
)
def test_each_error_names_the_field_the_problem_and_what_is_expected(value: Any, sentence: str) -> None:
    assert said(value) == [sentence]


def test_all_errors_come_at_once() -> None:
    assert len(said({"count": 0, "mode": "x", "cuont": 1})) == 4


def test_a_tool_without_arguments_says_so() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    assert said({"x": 1}, schema) == ["x is not known; expected no arguments"]


def test_long_values_are_cut_and_long_lists_of_errors_too() -> None:
    (sentence,) = said({"path": "a", "mode": "x" * 10_000})
    assert len(sentence) < 200
    assert len(said({"path": "a", **{f"unknown{number}": 1 for number in range(500)}})) == MOST_ERRORS


def test_a_very_long_wrong_array_is_answered_with_its_first_error() -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    assert said([1] * 1_000_000, schema) == ["[0] is 1; expected string"]


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_valid_value_has_no_errors_however_long_it_is(size: int) -> None:
    assert said(["a"] * size, {"type": "array", "items": {"type": "string"}}) == []


def test_a_place_is_written_as_people_write_it() -> None:
    assert place(["rows", 2, "name"]) == "rows[2].name"


def test_suggestions_ignore_case_and_endless_names() -> None:
    assert did_you_mean("createdirs", ["create_dirs", "path"]) == "create_dirs"
    assert did_you_mean("PATH", ["path"]) == "path"
    assert did_you_mean("nothing_like_it", ["path"]) is None
    assert did_you_mean("path" * 1_000_000, ["path"]) is None


def test_expectations_without_a_type_are_still_words() -> None:
    assert expected({}) == "any value"
    assert expected(None) == "any value"
    assert expected({"const": 3}) == "3"
    assert expected({"type": ["string", "null"]}) == "string or null"
    assert expected({"enum": list(range(100))}).endswith("29, …")
