"""The samples by which class tools and their rules were specified: run as written, but for the import lines."""

import re
from typing import Any

import pytest

from brasstag import ConfigError, Failed, Room, ToolResult, Waiting
from tests.conftest import MakeProject, accept

MY_TOOL = """\
from tool.bases import BaseTool, create_json_schema
from core.types import ToolResult
from typing import Dict, Any

class MyTool(BaseTool):
    @property
    def name(self) -> str:
        return "my_tool"

    @property
    def description(self) -> str:
        return "What my tool does"

    @property
    def parameters(self) -> Dict[str, Any]:
        # CRITICAL: type must be "object"
        return create_json_schema(
            properties={
                "arg1": {
                    "type": "string",
                    "description": "First argument",
                },
            },
            required=["arg1"],
        )

    async def execute(self, arguments: Dict[str, Any]) -> ToolResult:
        # Do the work
        result = do_something(arguments["arg1"])

        # Always return ToolResult
        return ToolResult(
            tool_call_id="",
            output=result,
            success=True,
        )
"""

DO_SOMETHING = """
def do_something(text: str) -> str:
    return f"expected {text}"
"""

REGISTER = """\
from tool.index import ToolRegistry

registry = ToolRegistry()
registry.register(MyTool())
"""

SCHEMA = """\
from tool.bases import create_json_schema

schema = create_json_schema(
    properties={...},
    required=[...]
)
"""

PROPERTY = """\
{
    "arg_name": {
        "type": "string",  # or "number", "boolean", "array", "object"
        "description": "What this argument does",
    }
}
"""

RESULTS = """\
from core.types import ToolResult

# Success
ToolResult(
    tool_call_id="call-123",
    output="Result data here",
    success=True,
)

# Failure
ToolResult(
    tool_call_id="call-123",
    output="",
    error="What went wrong",
    success=False,
)
"""

RULE = """\
from core.rules import SafetyRule, RuleEngine

engine = RuleEngine()
engine.add_rule(SafetyRule(
    name="no_network_access",
    forbidden_patterns=["curl", "wget", "nc"]
))
"""

TEST = """\
import pytest
from tool.bases import BaseTool
from core.types import ToolCall

@pytest.mark.asyncio
async def test_my_tool():
    tool = MyTool()

    tool_call = ToolCall(
        id="test-1",
        name="my_tool",
        arguments={"arg1": "value"}
    )

    result = await tool.call(tool_call)

    assert result.success
    assert "expected" in result.output
"""

CURL = {"command": "curl https://example.org"}


def with_our_imports(sample: str) -> str:
    return re.sub(r"^from (tool|core)\.\w+ import", "from brasstag import", sample, flags=re.MULTILINE)


def run_sample(*samples: str) -> dict[str, Any]:
    module: dict[str, Any] = {"__name__": "sample"}
    exec(compile(with_our_imports("\n".join(samples)), "sample", "exec"), module)
    return module


async def test_the_class_is_registered_and_called() -> None:
    registry = run_sample(DO_SOMETHING, MY_TOOL, REGISTER)["registry"]
    assert registry.names() == ["my_tool"]
    parameters = registry.to_openai_functions(wrapped=True)[0]["function"]["parameters"]
    assert parameters["type"] == "object"
    async with Room.in_memory() as room:
        room.register(registry.get("my_tool"))
        assert isinstance(await room.call("my_tool", {"arg1": "value"}), Waiting)


async def test_its_test_passes() -> None:
    await run_sample(DO_SOMETHING, MY_TOOL, TEST)["test_my_tool"]()


def test_the_schema_helper_takes_the_property_and_refuses_the_ellipsis() -> None:
    written = SCHEMA.replace("{...}", PROPERTY).replace("[...]", '["arg_name"]')
    assert run_sample(written)["schema"] == {
        "type": "object",
        "properties": {"arg_name": {"type": "string", "description": "What this argument does"}},
        "required": ["arg_name"],
    }
    with pytest.raises(ConfigError):
        run_sample(written.replace('"type": "string",', ""))


def test_results_are_made_with_these_words() -> None:
    made = re.findall(r"^ToolResult\(.*?^\)", RESULTS, flags=re.MULTILINE | re.DOTALL)
    success, failure = (eval(text, {"ToolResult": ToolResult}) for text in made)
    run_sample(RESULTS)
    assert (success.output, success.success, failure.error) == ("Result data here", True, "What went wrong")


async def test_the_engine_protects_a_room_that_takes_it() -> None:
    engine = run_sample(RULE)["engine"]
    async with Room.in_memory(rules=engine) as room:
        outcome = await room.call("shell", CURL)
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.details["rule"]) == ("BLOCKED_BY_RULE", "no_network_access")


async def test_in_wires_they_hold_each_time_the_room_opens(make_project: MakeProject) -> None:
    project = make_project()
    samples = (DO_SOMETHING, MY_TOOL, REGISTER, RULE)
    (project / "wires.py").write_text(with_our_imports("\n".join(samples)))
    accept(project)
    for _ in range(2):
        async with Room.open(project) as room:
            assert room.tools.get("my_tool") is not None
            blocked = await room.call("shell", CURL)
            assert isinstance(blocked, Failed)
            assert blocked.details["rule"] == "no_network_access"
