from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.toolkit.arguments.arguments import Completion, ValueTooLarge, compiled, completion, own

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    SMALL = 1


class Share(float):
    pass


@given(json_values)
def test_an_owned_value_is_equal_and_shares_no_container(value: Any) -> None:
    copy = own(value)
    assert copy == value
    if isinstance(value, dict | list):
        assert copy is not value


def test_whatever_json_can_hold_becomes_plain() -> None:
    copy = own(MappingProxyType({Colour.RED: (Size.SMALL, range(2), Colour.RED, Share(0.5))}))
    assert copy == {"red": [1, [0, 1], "red", 0.5]}
    assert type(next(iter(copy))) is str
    assert [type(part) for part in copy["red"]] == [int, list, str, float]


def test_what_json_cannot_hold_is_left_for_the_judge_of_json() -> None:
    assert own({(1, 2): b"x"}) == {(1, 2): b"x"}


@pytest.mark.parametrize(
    "value", ["ab" * 51, ["a"] * 21, [0] * 25, [""] * 25, {"k" * 60: "v" * 60}, "é" * 60]
)
def test_a_value_over_the_limit_is_refused(value: Any) -> None:
    with pytest.raises(ValueTooLarge):
        own(value, most_bytes=100)


def test_a_value_that_contains_itself_is_refused_rather_than_followed_for_ever() -> None:
    knot: list[Any] = []
    knot += [knot, knot]
    with pytest.raises(ValueTooLarge):
        own(knot, most_bytes=10_000)


def test_a_schema_may_not_reach_for_files_or_addresses(tmp_path: Any) -> None:
    (tmp_path / "schema.json").write_text('{"type": "string"}')
    with pytest.raises(ValueError, match="may not refer to"):
        compiled({"$ref": f"file://{tmp_path}/schema.json"})


def test_a_broken_schema_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="regex"):
        compiled({"pattern": "("})


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "note": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "integer"}, "default": [1]},
        "place": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"x": {"type": "integer", "default": 3}, "y": {"type": "string"}},
                },
                {"type": "null"},
            ]
        },
        "given": {"type": "string", "default": "never filled"},
    },
    "required": ["name", "given"],
}


def complete(value: Any) -> Any:
    plan = completion(SCHEMA)
    assert plan is not None
    return plan.of(value)


def test_null_for_an_optional_argument_that_cannot_be_null_is_dropped() -> None:
    assert complete({"count": None, "tags": [], "place": {"x": 1, "y": None}}) == {
        "tags": [],
        "place": {"x": 1},
    }


def test_null_is_kept_where_it_means_something() -> None:
    assert complete({"name": None, "note": None, "place": None, "tags": []}) == {
        "name": None,
        "note": None,
        "place": None,
        "tags": [],
    }


def test_defaults_are_filled_at_every_level_but_never_for_required_arguments() -> None:
    assert complete({"place": {}}) == {"place": {"x": 3}, "tags": [1]}


def test_a_filled_default_is_not_shared_between_calls() -> None:
    complete({})["tags"].append(2)
    assert complete({})["tags"] == [1]


def test_whole_floats_become_integers_where_an_integer_is_wanted() -> None:
    made = complete({"name": 2.0, "count": 2.0, "tags": [1.0, 1.5]})
    assert [repr(made["name"]), repr(made["count"]), repr(made["tags"])] == ["2.0", "2", "[1, 1.5]"]


@given(json_values)
def test_completing_a_wrong_value_never_fails(value: Any) -> None:
    complete(own(value))
    complete({"place": own(value), "tags": own(value), "count": own(value)})


def test_a_schema_with_nothing_to_complete_costs_nothing() -> None:
    assert completion({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}) is None
    assert completion(True) is None
    assert completion({"type": "integer"}) == Completion(whole=True)
