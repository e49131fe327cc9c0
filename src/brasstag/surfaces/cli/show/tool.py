"""One tool for people: what it takes, what it returns, and how to call it."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from brasstag.surfaces.cli.terminal.console import say, table
from brasstag.toolkit import Parameter, Tool, ToolConfig, expected


def print_tool(tool: Tool) -> None:
    """Print all a person has to know to call a tool."""
    config = tool.config
    say(config.tool_id, "bold")
    say(f"  {config.description}")
    table(("", ""), [(f"  {word}", said) for word, said in _facts(config)])
    if config.parameters:
        say("arguments", "bold")
        table(("", ""), [row for name, one in config.parameters.items() for row in _parameter(name, one)])
    if config.returns and (fields := config.returns.get("properties")):
        say("returns", "bold")
        table(("", ""), [row for name, part in fields.items() for row in _field(name, part)])
    if config.examples:
        say("for example", "bold")
        for example in config.examples:
            say(f"  {as_command(config.tool_id, example.arguments)}")


def as_command(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as a person types it in a shell."""
    pairs = [
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    ]
    return shlex.join(["brasstag", "call", tool, *pairs])


def _facts(config: ToolConfig) -> Iterator[tuple[str, str]]:
    if config.aliases:
        yield "also called", ", ".join(config.aliases)
    yield "kind", config.type.value
    yield "effects", config.effects
    yield "approval", config.approval or "by profile"
    yield "time limit", f"{config.limits.timeout_seconds:g} s"


def _parameter(name: str, parameter: Parameter) -> Iterator[tuple[str, str]]:
    schema = parameter.as_schema()
    schema.pop("description", None)
    given = "required" if parameter.required else "optional"
    if parameter.has_default:
        given = f"default {json.dumps(parameter.default, ensure_ascii=False)}"
    also = f", also called {', '.join(parameter.aliases)}" if parameter.aliases else ""
    yield f"  {name}", f"{expected(schema)}, {given}{also}"
    yield "", parameter.description


def _field(name: str, part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield f"  {name}", expected({**part, "description": ""})
    if part.get("description"):
        yield "", str(part["description"])
