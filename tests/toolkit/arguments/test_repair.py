import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.toolkit.arguments.repair import MOST_MENDED, read_arguments
from brasstag.words.errors import Code, ToolError
from tests.toolkit.samples import refusal_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)
objects = st.dictionaries(texts, values, max_size=4)


def fenced(text: str) -> str:
    return f"```json\n{text}\n```"


def with_mark_and_space(text: str) -> str:
    return f"\ufeff\n  {text} \n"


def twice_encoded(text: str) -> str:
    return json.dumps(text)


def written(value: Any, *, quote: str, raw: bool, python: bool, comma: str) -> str:
    """Write a value the way careless models do."""

    def put(part: Any) -> str:
        if isinstance(part, str):
            return string(part)
        if isinstance(part, list):
            return "[" + ", ".join(map(put, part)) + (comma if part else "") + "]"
        if isinstance(part, dict):
            pairs = ", ".join(f"{string(key)}: {put(item)}" for key, item in part.items())
            return "{" + pairs + (comma if part else "") + "}"
        return repr(part) if python and (part is None or isinstance(part, bool)) else json.dumps(part)

    def string(part: str) -> str:
        text = json.dumps(part, ensure_ascii=False)[1:-1]
        if raw:
            text = (
                text.replace("\\\\", "\0\0").replace("\\n", "\n").replace("\\t", "\t").replace("\0\0", "\\\\")
            )
        if quote == "'":
            text = text.replace('\\"', '"').replace("'", "\\'")
        return f"{quote}{text}{quote}"

    return put(value)


@given(
    objects,
    st.sampled_from(['"', "'"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", ",", ",\n "]),
    st.sampled_from([str, fenced, with_mark_and_space]),
)
def test_every_known_mangling_gives_back_the_same_object(
    value: dict[str, Any], quote: str, raw: bool, python: bool, comma: str, around: Any
) -> None:
    text = around(written(value, quote=quote, raw=raw, python=python, comma=comma))
    assert read_arguments(text)[0] == value


@given(objects)
def test_json_inside_a_json_string_gives_back_the_same_object(value: dict[str, Any]) -> None:
    got, note = read_arguments(twice_encoded(json.dumps(value)))
    assert got == value
    assert "inside a JSON string" in note


@given(objects)
def test_good_json_is_read_as_it_is_and_nothing_is_noted(value: dict[str, Any]) -> None:
    assert read_arguments(json.dumps(value)) == (value, "")


@given(objects, st.sampled_from([str, fenced, with_mark_and_space, twice_encoded]), st.data())
def test_a_call_that_was_cut_off_is_never_completed(
    value: dict[str, Any], around: Any, data: st.DataObject
) -> None:
    inner = json.dumps(value)
    whole = around(inner)
    # Behind the object's own end only white space is missing.
    end = whole.rindex("}") + 1 if around is with_mark_and_space else len(whole)
    cut = data.draw(st.integers(0, end - 1))
    assert refusal_of(lambda: read_arguments(whole[:cut])).code is Code.INVALID_ARGUMENTS


@given(st.text(st.sampled_from("{}[]:,'\"\\ \nab1tTN`"), max_size=40))
def test_any_text_is_an_object_or_a_coded_refusal(text: str) -> None:
    try:
        value, _ = read_arguments(text)
    except ToolError as error:
        value = {"code": error.code}
    assert isinstance(value, dict)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('\ufeff{"a": 1}', "dropped a byte order mark"),
        ('```\n{"a": 1}\n```', "removed a Markdown fence"),
        ('{"a": 1,}', "dropped a trailing comma"),
        ("{'a': 1}", "read single-quoted strings"),
        ('{"a": True}', "read Python's True, False and None"),
        ('{"a": "x\ty"}', "escaped line breaks and tabs inside strings"),
        ('{"a": "it\\\'s"}', "read escaped apostrophes"),
        (
            "{'a': None,}",
            "read single-quoted strings; read Python's True, False and None; dropped a trailing comma",
        ),
        ('{"a": "True, \'and\' so on,}"}', ""),
    ],
)
def test_the_note_says_what_was_mended(text: str, note: str) -> None:
    assert read_arguments(text)[1] == note


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "they are empty"),
        ("  \n", "they are empty"),
        ("[1]", "not an object"),
        ('"text"', "cannot be read"),
        ("null", "not an object"),
        ('{"a": 1, "a": 2}', "'a' stands there twice"),
        ('{"a": {"b": 1, \'b\': 2}}', "'b' stands there twice"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": -Infinity}', "-Infinity is not a JSON number"),
        ('{"a": 1} {"b": 2}', "Extra data at character 9"),
        ('{"a": 1,,}', "at character 8"),
        ('{"a": [,]}', "at character 7"),
        ('{"a": True, "b": 1 2}', "at character 19"),
        ("{'long': 'x', \"a\": 1 2}", "at character 21"),
        ("{'a': 'don't'}", "never ends"),
        ('{"a": "x', "begins at character 6 never ends"),
        ('{"a": /* why */ 1}', "at character 6"),
        ("{a: 1}", "at character 1"),
        ('{"a": "\\d"}', "Invalid \\escape"),
        ("{'a': '\\x41'}", "Invalid \\escape"),
        ('{"a": ' + "1" * 5000 + "}", "too many digits"),
        ('"\\"{}\\""', "not an object"),
    ],
)
def test_what_cannot_be_read_without_guessing_is_refused_with_its_place(text: str, says: str) -> None:
    error = refusal_of(lambda: read_arguments(text))
    assert error.code is Code.INVALID_ARGUMENTS
    assert says in error.message


MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        '{"a":"' + '\\"' * (MEGABYTE // 2),
        "[" * MEGABYTE,
        '{"a":' * (MEGABYTE // 5),
        "'" * MEGABYTE,
        '"' * MEGABYTE,
        "\\" * MEGABYTE,
        "{'a':'" + "\\" * MEGABYTE,
        '{"a":[' + "1," * (MEGABYTE // 2),
        "\n```" * (MEGABYTE // 4),
        '{"a":' + "1" * MEGABYTE,
        "{'a':" + " " * MEGABYTE,
        "x" * (17 * 1024 * 1024),
    ],
)
def test_a_hostile_megabyte_is_refused_in_one_reading(text: str) -> None:
    assert refusal_of(lambda: read_arguments(text)).code is Code.INVALID_ARGUMENTS


def test_a_long_text_has_to_be_right() -> None:
    long = "x" * MOST_MENDED
    assert read_arguments(json.dumps({"a": long}))[0] == {"a": long}
    assert "not repaired" in refusal_of(lambda: read_arguments(f"{{'a': '{long}'}}")).message
