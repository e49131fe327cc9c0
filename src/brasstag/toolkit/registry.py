"""ToolRegistry: every tool of a room, by name and alias."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from brasstag.toolkit.arguments.sentences import did_you_mean
from brasstag.toolkit.declare.declare import as_tool
from brasstag.toolkit.schemas import anthropic_tool, mcp_tool, openai_function
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Done, Outcome
from brasstag.words.errors import ConfigError, Problem

# Named here, because inside the class ``list`` is a method.
Tools = list[Tool]
Names = list[str]
Exported = list[dict[str, Any]]


class ToolRegistry:
    """The tools a room offers; a name or an alias stands for exactly one of them."""

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._answers: dict[str, Tool] = {}
        for thing in tools:
            self.register(thing)

    def register(self, thing: Any) -> Tool:
        """Add a tool, or anything ``as_tool`` accepts; raises ConfigError where a name is taken."""
        tool = as_tool(thing)
        names = (tool.name, *tool.config.aliases)
        taken = [name for name in names if name in self._answers]
        if taken:
            raise ConfigError([self._clash(tool, name) for name in taken])
        self._tools[tool.name] = tool
        self._answers |= dict.fromkeys(names, tool)
        return tool

    def get(self, name: str) -> Tool | None:
        """Return the tool that answers to a name or an alias."""
        return self._answers.get(name)

    def list(self) -> Tools:
        """Return every tool, in the order of registration."""
        return [*self._tools.values()]

    def names(self) -> Names:
        """Return every tool's id, in the order of registration."""
        return [*self._tools]

    def closest(self, name: str) -> str | None:
        """Return the id of the tool a wrong name probably meant, if any is close."""
        close = did_you_mean(name, [*self._answers])
        return self._answers[close].name if close else None

    def advice(self, name: str) -> str:
        """Return what to do about a name that is no tool's."""
        close = self.closest(name)
        return (
            f"Did you mean {close}? `brasstag tools` lists them." if close else "`brasstag tools` lists them."
        )

    def shown(self, name: str, outcome: Outcome) -> Outcome:
        """Return the outcome of a tool's call with the form in which the tool wants its result shown."""
        tool = self.get(name)
        if tool is None or not isinstance(outcome, Done):
            return outcome
        return replace(outcome, form=tool.config.result_form)

    def to_openai_functions(
        self, *, wrapped: bool = False, strict: bool = False, only: Iterable[str] | None = None
    ) -> Exported:
        """Return the tools as OpenAI functions; ``only`` names the ones wanted, such as those of a role."""
        return [openai_function(tool, wrapped=wrapped, strict=strict) for tool in self._chosen(only)]

    def to_anthropic(self, *, only: Iterable[str] | None = None) -> Exported:
        """Return the tools in Anthropic's form."""
        return [anthropic_tool(tool) for tool in self._chosen(only)]

    def to_mcp(self, *, only: Iterable[str] | None = None) -> Exported:
        """Return the tools in MCP's form."""
        return [mcp_tool(tool) for tool in self._chosen(only)]

    def _chosen(self, only: Iterable[str] | None) -> Tools:
        if only is None:
            return self.list()
        wanted = {tool.name for name in only if (tool := self.get(name))}
        return [tool for tool in self._tools.values() if tool.name in wanted]

    def _clash(self, tool: Tool, name: str) -> Problem:
        other = self._answers[name]
        word = "tool_id" if name == tool.name else "aliases"
        what = f"{name!r} already stands for {other.name} from {other.origin}"
        return Problem(tool.origin, word, what, "Rename one of the two.")
