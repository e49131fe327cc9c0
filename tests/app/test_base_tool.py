"""A tool as a class, tried by itself."""

from typing import Any

import pytest

from brasstag import (
    BaseTool,
    ConfigError,
    Room,
    ToolCall,
    ToolRegistry,
    ToolResult,
    Waiting,
    create_json_schema,
)


class Greeter(BaseTool):
    @property
    def name(self) -> str:
        return "my_tool"

    @property
    def description(self) -> str:
        return "Greets somebody"

    @property
    def parameters(self) -> dict[str, Any]:
        return create_json_schema(
            properties={"arg1": {"type": "string", "description": "Who to greet"}}, required=["arg1"]
        )

    async def execute(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(tool_call_id="", output=f"expected {arguments['arg1']}", success=True)


class Failing(Greeter):
    async def execute(self, arguments: dict[str, Any]) -> ToolResult:
        if arguments["arg1"] == "raise":
            raise ValueError("it broke")
        return ToolResult(tool_call_id="", output="", error="What went wrong", success=False)


class Asking(Greeter):
    @property
    def requires_approval(self) -> bool:
        return True


async def test_a_class_is_called_through_the_whole_path() -> None:
    result = await Greeter().call(ToolCall(id="test-1", name="my_tool", arguments={"arg1": "value"}))
    assert result == ToolResult("test-1", output="expected value", error=None, success=True)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"arg1": "x"}, "EXECUTION_ERROR: What went wrong"),
        ({"arg1": "raise"}, "UNKNOWN: my_tool raised ValueError: it broke. It may have acted before that"),
        ({}, "INVALID_ARGUMENTS"),
        ('{"arg1": "x"', "INVALID_ARGUMENTS"),
    ],
)
async def test_whatever_goes_wrong_is_a_result(arguments: Any, error: str) -> None:
    result = await Failing().call(ToolCall("test-1", "my_tool", arguments))
    assert not result.success
    assert result.error is not None
    assert result.error.startswith(error)


async def test_a_call_for_another_tool_is_refused() -> None:
    result = await Greeter().call(ToolCall("test-1", "other", {"arg1": "x"}))
    assert result.error == "UNKNOWN_TOOL: this is my_tool, not other"


async def test_a_class_may_want_a_person_asked() -> None:
    result = await Asking().call(ToolCall("test-1", "my_tool", {"arg1": "x"}))
    assert result.error is not None
    assert result.error.startswith("WAITING_FOR_APPROVAL")
    async with Room.in_memory() as room:
        room.register(Asking())
        assert isinstance(await room.call("my_tool", {"arg1": "x"}), Waiting)


def test_a_registry_offers_a_class_to_models() -> None:
    registry = ToolRegistry()
    registry.register(Greeter())
    (wrapped,) = registry.to_openai_functions(wrapped=True)
    assert wrapped["type"] == "function"
    assert wrapped["function"]["parameters"]["type"] == "object"


def test_a_schema_model_servers_would_refuse_is_refused_here() -> None:
    with pytest.raises(ConfigError, match="description"):
        create_json_schema(properties={"arg1": {"type": "string"}})
