from typing import Any

import pytest

from brasstag.toolkit.declare.classes import ToolClass, create_json_schema
from brasstag.toolkit.declare.declare import as_tool
from brasstag.words.calls import ToolResult
from brasstag.words.errors import Code, ToolError
from tests.toolkit.samples import problems_of


class MyTool(ToolClass):
    @property
    def name(self) -> str:
        return "my_tool"

    @property
    def description(self) -> str:
        return "What my tool does"

    @property
    def parameters(self) -> dict[str, Any]:
        return create_json_schema(
            properties={
                "arg1": {"type": "string", "description": "First argument"},
                "times": {"type": "integer", "description": "How often", "default": 1},
            },
            required=["arg1"],
        )

    async def execute(self, arguments: dict[str, Any]) -> ToolResult:
        if arguments["arg1"] == "fail":
            return ToolResult(tool_call_id="", output="half done", error="What went wrong", success=False)
        return ToolResult(tool_call_id="", output=arguments["arg1"] * arguments["times"], success=True)


async def run(arguments: dict[str, Any]) -> Any:
    made = as_tool(MyTool())
    assert made.function is not None
    return await made.function(**made.python_arguments(made.validate(arguments)))


async def test_the_spec_s_class_runs_and_its_output_is_the_value() -> None:
    assert await run({"arg1": "value", "times": 2}) == "valuevalue"
    assert await run({"arg1": "value"}) == "value"


async def test_a_result_without_success_is_an_execution_error() -> None:
    with pytest.raises(ToolError) as caught:
        await run({"arg1": "fail"})
    assert (caught.value.code, caught.value.message) == (Code.EXECUTION_ERROR, "What went wrong")
    assert caught.value.details == {"output": "half done"}


def test_a_class_will_do_where_an_instance_would() -> None:
    made = as_tool(MyTool)
    assert made.name == "my_tool"
    assert made.is_async


def test_a_class_acts_outside_and_leaves_approval_open_unless_it_says_otherwise() -> None:
    made = as_tool(MyTool())
    assert made.requires_approval is None
    assert (made.config.effects, made.config.replay) == ("external", "ask")

    class Reader(MyTool):
        effects = "none"
        aliases = ("mine",)
        limits = {"timeout_seconds": 5}  # noqa: RUF012

        def requires_approval(self, arguments: Any) -> bool:
            return bool(arguments["arg1"])

    made = as_tool(Reader())
    assert (made.config.effects, made.config.aliases) == ("none", ("mine",))
    assert made.config.limits.timeout_seconds == 5
    assert callable(made.requires_approval)
    assert made.requires_approval({"arg1": "x"})


def test_execute_may_be_sync_and_return_a_plain_value() -> None:
    class Plain(MyTool):
        def execute(self, arguments: dict[str, Any]) -> Any:
            return {"got": arguments}

    made = as_tool(Plain())
    assert not made.is_async
    assert made.function is not None
    assert made.function(arg1="x") == {"got": {"arg1": "x"}}


def test_unknown_arguments_are_refused_though_the_schema_does_not_say_so() -> None:
    with pytest.raises(ToolError, match="arg2 is not known"):
        as_tool(MyTool()).validate({"arg1": "x", "arg2": 1})


def test_create_json_schema_makes_what_model_servers_expect() -> None:
    schema = create_json_schema({"a": {"type": "string", "description": "A."}}, required=["a"])
    assert schema == {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "A."}},
        "required": ["a"],
    }


GOOD = {"type": "string", "description": "Good."}


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ({"type": "array", "items": GOOD}, "parameters.type"),
        ({"properties": {"a": GOOD}}, "parameters.type"),
        ([], "parameters.type"),
        ({"type": "object", "properties": {"a": {"description": "No type."}}}, "parameters.properties.a"),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, "parameters.properties.a"),
        ({"type": "object", "properties": {"a": "string"}}, "parameters.properties.a"),
        ({"type": "object", "properties": {}, "required": ["a"]}, "parameters.required"),
        ({"type": "object", "additionalProperties": True}, "parameters.additionalProperties"),
        ({"type": "object", "oneOf": []}, "parameters.oneOf"),
        (
            {"type": "object", "properties": {"a": {"type": "array", "description": "A."}}},
            "parameters.a.items",
        ),
    ],
)
def test_a_schema_that_breaks_the_rules_is_refused_when_the_tool_is_registered(
    schema: Any, field: str
) -> None:
    class Broken(MyTool):
        parameters = schema

    (problem,) = problems_of(lambda: as_tool(Broken()))
    assert problem.field == field
    assert "Broken" in problem.file


def test_create_json_schema_lists_every_broken_rule() -> None:
    found = problems_of(
        lambda: create_json_schema({"a": {"type": "string"}, "b": {"description": "B."}}, ["c"])
    )
    assert len(found) == 3


def test_a_default_beside_required_does_not_make_an_argument_optional() -> None:
    class Defaulted(MyTool):
        parameters = {  # noqa: RUF012
            "type": "object",
            "properties": {"arg1": {**GOOD, "default": "x"}},
            "required": ["arg1"],
        }

    with pytest.raises(ToolError, match="arg1 is missing"):
        as_tool(Defaulted()).validate({})


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ({"type": "str"}, "a.type"),
        ({"type": ["string", "nil"]}, "a.type"),
        ({"type": 7}, "a.type"),
        ({"type": "array", "items": {"type": "int"}}, "a.items.type"),
        ({"type": "object", "properties": {"b": {"type": "float"}}}, "a.properties.b.type"),
        ({"anyOf": [{"type": "string"}, {"type": "none"}]}, "a.anyOf[1].type"),
    ],
)
def test_a_wrong_type_word_is_refused_where_it_is_written(part: dict[str, Any], place: str) -> None:
    (problem,) = problems_of(lambda: create_json_schema({"a": {**part, "description": "A."}}))
    assert problem.field == f"parameters.properties.{place}"
    assert "string, integer, number" in problem.mend
