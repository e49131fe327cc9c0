from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.tool import Tool
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, ToolError
from tests.toolkit.samples import PATH, TEXT, a_tool, config, refusal_of

READ = a_tool(
    {
        "path": {**PATH, "aliases": ["file", "directory"]},
        "encoding": {**TEXT, "enum": ["utf-8", "base64"], "default": "utf-8"},
        "first_line": {"type": "integer", "description": "First line.", "minimum": 1},
        "from": {**TEXT, "python_name": "source"},
    },
    tool_id="read_file",
    returns={"content": "string", "size": "integer"},
)


def test_valid_arguments_come_back_completed() -> None:
    assert READ.validate({"path": "a.md"}) == {"path": "a.md", "encoding": "utf-8"}


def test_an_alias_becomes_the_name() -> None:
    assert READ.validate({"file": "a.md"})["path"] == "a.md"


@pytest.mark.parametrize("given_names", [("path", "file"), ("file", "directory")])
def test_one_argument_under_two_names_is_refused(given_names: tuple[str, str]) -> None:
    error = refusal_of(lambda: READ.validate(dict.fromkeys(given_names, "a")))
    assert error.code is Code.INVALID_ARGUMENTS
    assert "given twice" in error.message


def test_null_for_an_optional_argument_counts_as_not_given() -> None:
    assert READ.validate({"path": "a", "first_line": None, "encoding": None}) == {
        "path": "a",
        "encoding": "utf-8",
    }


def test_a_refusal_lists_every_error_in_words_and_as_data() -> None:
    error = refusal_of(lambda: READ.validate({"pth": "a", "first_line": 0}))
    assert error.code is Code.INVALID_ARGUMENTS
    assert error.message.startswith("read_file: ")
    errors = error.details["errors"]
    assert {entry["field"] for entry in errors} == {"pth", "path", "first_line"}
    assert all(set(entry) == {"field", "problem", "expected"} for entry in errors)
    assert "did you mean path?" in error.message


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "are a list"),
        ("{}", "are a str"),
        (None, "are a NoneType"),
        ({"path": "\ud800"}, "half of a surrogate pair"),
        ({"path": "a", "first_line": 2**60}, "2^53"),
        ({"path": "a", "first_line": float("nan")}, "not a finite number"),
        ({"path": b"a"}, "no form for"),
        ({1: "a"}, "key that is not text"),
        ({"path": {"a"}}, "no form for"),
        ({"path": "a" * (17 * 1024 * 1024)}, "larger than 16 MiB"),
    ],
)
def test_what_is_not_a_json_object_of_bearable_size_is_refused(arguments: Any, says: str) -> None:
    error = refusal_of(lambda: READ.validate(arguments))
    assert error.code is Code.INVALID_ARGUMENTS
    assert says in error.message


def test_nesting_beyond_reason_is_refused() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert "64 levels" in refusal_of(lambda: READ.validate({"path": deep})).message


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None))
    | st.binary(max_size=8)
    | st.just(2**60)
    | st.just(object()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=10,
)


def validated(arguments: Any) -> dict[str, Any] | ToolError:
    try:
        return READ.validate(arguments)
    except ToolError as error:
        return error


@given(anything | st.dictionaries(st.sampled_from(["path", "file", "encoding", "first_line", "x"]), anything))
def test_any_arguments_are_either_valid_json_or_a_coded_refusal(arguments: Any) -> None:
    answer = validated(arguments)
    if isinstance(answer, ToolError):
        assert answer.code is Code.INVALID_ARGUMENTS
        assert why_not_json(dict(answer.details)) is None
        assert len(answer.message) < 5000
    else:
        assert why_not_json(answer) is None
        assert READ.validate(answer) == answer


def test_a_caller_cannot_change_arguments_after_they_were_judged() -> None:
    taker = a_tool({"rows": {"type": "array", "description": "Rows.", "items": {"type": "string"}}})
    rows = ["a"]
    judged = taker.validate({"rows": rows})
    rows.append("b")
    assert judged == {"rows": ["a"]}


def test_any_mapping_will_do() -> None:
    assert READ.validate(MappingProxyType({"path": "a"}))["path"] == "a"


def test_python_arguments_carry_python_names() -> None:
    assert READ.python_arguments({"path": "a", "from": "b"}) == {"path": "a", "source": "b"}


def test_a_reader_that_fails_is_a_refusal_before_anything_runs() -> None:
    def read(value: Any) -> Any:
        raise KeyError(value)

    picky = Tool(config(parameters={"path": PATH}), readers={"path": read})
    assert "path cannot be used" in refusal_of(lambda: picky.validate({"path": "a"})).message


def test_a_result_that_keeps_the_promise_comes_back_plain() -> None:
    assert READ.check_result(MappingProxyType({"content": "a", "size": 1})) == {"content": "a", "size": 1}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"content": "a"}, "size is missing"),
        ({"content": "a", "size": 1, "more": 2}, "more is not known"),
        ({"content": "a", "size": "1"}, 'size is "1"'),
        ("text", "expected object"),
        ({"content": "\udfff", "size": 1}, "surrogate"),
        ({"content": b"a", "size": 1}, "is not JSON"),
        ({"content": "a" * 2_000_001, "size": 1}, "larger than 2000000 bytes"),
    ],
)
def test_a_result_that_breaks_the_promise_is_refused(value: Any, says: str) -> None:
    error = refusal_of(lambda: READ.check_result(value))
    assert error.code is Code.INVALID_RESULT
    assert says in error.message


def test_a_tool_that_promises_nothing_may_return_any_json() -> None:
    assert a_tool().check_result([1, "a", None]) == [1, "a", None]
    assert refusal_of(lambda: a_tool().check_result({1})).code is Code.INVALID_RESULT


def test_the_version_changes_with_the_words_and_with_the_code() -> None:
    def version(source: str = "code", **words: Any) -> str:
        return Tool(config(**words), source=source).version

    assert version() == version()
    assert (
        len({version(), version("other code"), version(description="Other."), version(approval="auto")}) == 4
    )


def test_the_same_schema_is_exported_and_checked() -> None:
    schema: Mapping[str, Any] = READ.config.input_schema()
    for name in schema["properties"]:
        refused = refusal_of(lambda name=name: READ.validate({"path": "a", name: []}))  # type: ignore[misc]
        assert refused.details["errors"][0]["field"] == name
    assert isinstance(READ.config, ToolConfig)
