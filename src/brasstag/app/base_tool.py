"""BaseTool: a tool as a class that can be tried by itself."""

from brasstag.app.room import Room
from brasstag.policy.rule import Rule
from brasstag.toolkit.declare.classes import ToolClass
from brasstag.toolkit.views import tool_result_view
from brasstag.words.calls import ToolCall, ToolResult


class BaseTool(ToolClass):
    """A tool with a name, a description, parameters and ``async execute``; register an instance with a room."""

    async def call(self, call: ToolCall) -> ToolResult:
        """Take one call through the whole path of a room in memory: made for testing a tool alone."""
        async with Room.in_memory() as room:
            tool = room.register(self)
            if tool.requires_approval is None:
                # Where the tool does not say, a person would be asked; here that is the tool's author.
                room.add_rule(Rule("allow", (tool.name,), "its author is trying it"))
            if call.name != tool.name:
                return ToolResult(
                    call.id, error=f"UNKNOWN_TOOL: this is {tool.name}, not {call.name}", success=False
                )
            outcome = await room.call(call.name, call.arguments, call_id=call.id)
            return tool_result_view(outcome, call.id)
