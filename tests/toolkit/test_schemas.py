import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.toolkit.arguments.arguments import compiled
from brasstag.toolkit.schemas import NotStrict, anthropic_tool, mcp_tool, openai_function, strict_schema
from tests.toolkit.samples import a_tool

WRITE = a_tool(
    {
        "path": {
            "type": "string",
            "description": "Path relative to data/",
            "required": True,
            "aliases": ["file"],
        },
        "content": {"type": "string", "description": "The full text content.", "required": True},
    },
    tool_id="write_file",
    description="Writes full content to a file. Overwrites existing content.",
    effects="files",
    approval="when_overwriting",
    returns={"path": "string"},
)

S0_EXAMPLE = """{
  "name": "write_file",
  "description": "Writes full content to a file. Overwrites existing content.",
  "parameters": {
    "type": "object",
    "properties": {
      "path": { "type": "string", "description": "Path relative to data/" },
      "content": { "type": "string", "description": "The full text content." }
    },
    "required": ["path", "content"]
  }
}"""


def test_the_flat_form_is_the_spec_s_example_closed() -> None:
    wanted = json.loads(S0_EXAMPLE)
    wanted["parameters"]["additionalProperties"] = False
    assert openai_function(WRITE) == wanted


def test_the_wrapped_form_has_type_function_around_it() -> None:
    wrapped = openai_function(WRITE, wrapped=True)
    assert wrapped == {"type": "function", "function": openai_function(WRITE)}
    assert wrapped["function"]["parameters"]["type"] == "object"


def test_anthropic_s_form() -> None:
    assert anthropic_tool(WRITE) == {
        "name": "write_file",
        "description": "Writes full content to a file. Overwrites existing content.",
        "input_schema": WRITE.config.input_schema(),
    }


def test_mcp_s_form_has_both_schemas() -> None:
    assert mcp_tool(WRITE) == {
        "name": "write_file",
        "title": "Write file",
        "description": "Writes full content to a file. Overwrites existing content.",
        "inputSchema": WRITE.config.input_schema(),
        "outputSchema": WRITE.config.output_schema(),
        "annotations": {
            "title": "Write file",
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": False,
            "openWorldHint": False,
        },
    }
    assert "outputSchema" not in mcp_tool(a_tool())


@pytest.mark.parametrize(
    ("words", "hints"),
    [
        ({"effects": "none"}, (True, False, True, False)),
        ({"effects": "files"}, (False, True, False, False)),
        ({"effects": "files", "approval": "auto"}, (False, False, False, False)),
        ({"effects": "external"}, (False, True, False, True)),
        ({"effects": "external", "approval": "auto", "replay": "safe"}, (False, False, True, True)),
    ],
)
def test_mcp_hints_follow_from_effects_and_approval(words: dict[str, Any], hints: tuple[bool, ...]) -> None:
    found = mcp_tool(a_tool(**words))["annotations"]
    names = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
    assert tuple(found[name] for name in names) == hints


def test_aliases_are_never_exported() -> None:
    for exported in (openai_function(WRITE), anthropic_tool(WRITE), mcp_tool(WRITE)):
        assert "file" not in json.dumps(exported).replace("write_file", "").replace("to a file", "").split(
            '"'
        )


RICH: dict[str, Any] = {
    "name": {"type": "string", "description": "Name.", "required": True, "min_length": 1},
    "count": {"type": "integer", "description": "Count.", "minimum": 1, "maximum": 5, "default": 2},
    "mode": {"type": "string", "description": "Mode.", "enum": ["r", "w"]},
    "note": {"type": ["string", "null"], "description": "Note."},
    "tags": {"type": "array", "description": "Tags.", "items": {"type": "string"}, "max_items": 3},
    "place": {
        "type": "object",
        "description": "Place.",
        "properties": {
            "x": {"type": "number", "description": "X.", "required": True},
            "y": {"type": "number", "description": "Y."},
        },
    },
    "either": {
        "description": "Either.",
        "json_schema": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
    },
}


def test_strict_mode_requires_every_property_and_makes_optional_ones_nullable() -> None:
    function = openai_function(a_tool(RICH), strict=True)
    assert function["strict"] is True
    schema = function["parameters"]
    assert schema["required"] == list(RICH)
    assert schema["properties"]["name"] == {"type": "string", "description": "Name."}
    assert schema["properties"]["count"] == {
        "type": ["integer", "null"],
        "description": "Count.",
        "minimum": 1,
        "maximum": 5,
    }
    assert schema["properties"]["mode"]["enum"] == ["r", "w", None]
    assert schema["properties"]["note"]["type"] == ["string", "null"]
    assert schema["properties"]["either"]["anyOf"][-1] == {"type": "null"}
    assert schema["properties"]["place"]["required"] == ["x", "y"]
    assert schema["properties"]["place"]["properties"]["y"]["type"] == ["number", "null"]


@pytest.mark.parametrize(
    "parameter",
    [
        {"type": "object"},
        {"type": "object", "values": {"type": "string"}},
        {"json_schema": {}},
        {"json_schema": {"oneOf": [{"type": "string"}, {"type": "integer"}]}},
        {"json_schema": {"type": "array", "prefixItems": [{"type": "string"}]}},
        {"type": "array", "items": {"type": "object"}},
    ],
)
def test_what_strict_mode_cannot_say_goes_non_strict(parameter: dict[str, Any]) -> None:
    made = a_tool({"a": {"description": "A.", **parameter}})
    function = openai_function(made, strict=True)
    assert function["strict"] is False
    assert function["parameters"] == made.config.input_schema()


def test_an_untyped_enum_becomes_nullable_too() -> None:
    schema = strict_schema(
        {"type": "object", "properties": {"a": {"enum": [1, "x"]}}, "additionalProperties": False}
    )
    assert compiled(schema).is_valid({"a": None})
    assert compiled(schema).is_valid({"a": "x"})


def test_a_boolean_schema_is_not_strict() -> None:
    with pytest.raises(NotStrict):
        strict_schema({"type": "object", "properties": {"a": True}, "additionalProperties": False})


rich_arguments = st.fixed_dictionaries(
    {"name": st.text(min_size=1, max_size=5)},
    optional={
        "count": st.integers(1, 5),
        "mode": st.sampled_from(["r", "w"]),
        "note": st.none() | st.text(max_size=5),
        "tags": st.lists(st.text(max_size=3), max_size=3),
        "place": st.fixed_dictionaries({"x": st.integers(-5, 5)}, optional={"y": st.integers(-5, 5)}),
        "either": st.booleans() | st.text(max_size=3),
    },
)


@given(rich_arguments)
def test_what_a_strict_model_must_send_means_what_a_free_one_would(arguments: dict[str, Any]) -> None:
    made = a_tool(RICH)
    strictly = {name: arguments.get(name) for name in RICH}
    if "place" in arguments:
        strictly["place"] = {"y": None, **arguments["place"]}
    assert compiled(openai_function(made, strict=True)["parameters"]).is_valid(strictly)
    freely = made.validate(arguments)
    if "note" not in arguments:
        freely["note"] = None  # the one argument for which null says something
    assert made.validate(strictly) == freely


def test_an_export_can_be_changed_without_changing_the_tool() -> None:
    openai_function(WRITE)["parameters"]["properties"].clear()
    assert openai_function(WRITE)["parameters"]["properties"]
