"""docs/TOOLS.md, written from the configs, so that it cannot differ from what is checked."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from brasstag.toolkit.arguments.sentences import expected
from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import Code
from brasstag.words.verdicts import CONDITIONS, Condition

_HEAD = """# Tools

This page is generated from the tools' configs by `brasstag tools docs`; do not edit it.
"""

_EFFECTS: Mapping[str, str] = {
    "none": "none; it only reads the workspace",
    "files": "changes files of the workspace; seen in the preview, and can be undone",
    "code": "runs programs confined, on a layer over the workspace; what they change is judged before it lands",
    "external": "acts where a preview cannot see",
}
_BESIDES: Mapping[str, str] = {
    "annotate": "it tags or describes documents, which rules and profiles know as `annotates`",
    "adviser": "where it asks the task's model, which is shown what it read, that is judged as `external`",
}
"""For each injected parameter: what the tool does with it."""
_REPLAY: Mapping[str, str] = {
    "safe": "runs again",
    "check": "is checked first",
    "ask": "is left to a person",
}
_ANY_TOOL = (Code.INVALID_ARGUMENTS, Code.NOT_ALLOWED, Code.BLOCKED_BY_RULE, Code.DENIED, Code.TIMEOUT)
_ON_FILES = (Code.INVALID_PATH, Code.FILE_NOT_FOUND, Code.PERMISSION_DENIED, Code.CONTROL_FILE)


def tools_page(tools: Iterable[Tool]) -> str:
    """Return the page about these tools, in the order of their names; equal tools give equal bytes."""
    ordered = sorted(tools, key=lambda tool: tool.name)
    contents = "\n".join(f"- [`{tool.name}`](#{tool.name}): {tool.config.description}" for tool in ordered)
    return "\n".join([_HEAD, f"{contents}\n", *(_section(tool) for tool in ordered)]).rstrip() + "\n"


def _section(tool: Tool) -> str:
    config = tool.config
    parts = [f"## {config.tool_id}\n", f"{config.description}\n", _facts(tool)]
    if config.parameters:
        parts.append(_parameters(config))
    if config.returns:
        parts.append(_returns(config.returns))
    if config.examples:
        parts.append(_examples(config))
    return "\n".join(parts)


def _facts(tool: Tool) -> str:
    config = tool.config
    facts = [("Kind", f"`{config.type}`")]
    if config.aliases:
        facts.append(("Also called", ", ".join(f"`{alias}`" for alias in config.aliases)))
    facts.append(("Approval", _approval(config)))
    if config.behaviour.executes_code:
        facts += [
            ("Effects", _effects(tool)),
            ("After a crash", f"an interrupted call {_REPLAY[config.replay]}"),
            ("Limits", _limits(config)),
        ]
        codes = _ANY_TOOL if config.effects == "external" else _ANY_TOOL + _ON_FILES
        facts.append(("Fails with", ", ".join(f"`{code}`" for code in codes) + ", and others"))
    return "\n".join(f"- **{word}:** {said}" for word, said in facts) + "\n"


def _effects(tool: Tool) -> str:
    effects = tool.config.effects
    besides = [said for name, said in _BESIDES.items() if name in tool.injected]
    own = "changes no file" if besides and effects == "none" else _EFFECTS[effects]
    return "; ".join([own, *besides])


def _approval(config: ToolConfig) -> str:
    if config.approval is None:
        return "as the profile says"
    if config.approval == "auto":
        return "not needed, unless a rule asks"
    if config.approval == "confirm":
        return "always asked"
    condition: Condition = config.approval
    return f"asked when the call {CONDITIONS[condition]} something"


def _limits(config: ToolConfig) -> str:
    limits = config.limits
    said = [f"{limits.timeout_seconds:g} s", f"results up to {limits.max_result_bytes} bytes"]
    return ", ".join(said + [f"{name} {number}" for name, number in sorted(limits.numbers.items())])


def _parameters(config: ToolConfig) -> str:
    rows = []
    for name, parameter in config.parameters.items():
        schema = parameter.as_schema()
        schema.pop("description", None)
        given = "required" if parameter.required else "optional"
        if parameter.has_default:
            given = f"default `{json.dumps(parameter.default, ensure_ascii=False)}`"
        also = ", ".join(f"`{alias}`" for alias in parameter.aliases)
        rows.append(
            _row(
                f"`{name}` (or {also})" if also else f"`{name}`",
                expected(schema),
                given,
                parameter.description,
            )
        )
    return "\n".join([_row("parameter", "type", "given", "meaning"), "|---|---|---|---|", *rows]) + "\n"


def _returns(schema: Mapping[str, Any]) -> str:
    properties: Mapping[str, Any] = schema.get("properties", {})
    if not properties:
        return "Returns an object.\n"
    rows = [
        _row(f"`{name}`", expected({**part, "description": ""}), part.get("description", ""))
        for name, part in properties.items()
    ]
    return "\n".join(["Returns:\n", _row("field", "type", "meaning"), "|---|---|---|", *rows]) + "\n"


def _examples(config: ToolConfig) -> str:
    shown = []
    for example in config.examples:
        call = json.dumps(
            {"name": config.tool_id, "arguments": example.arguments}, ensure_ascii=False, indent=2
        )
        shown.append(f"{example.note or 'Example'}:\n\n```json\n{call}\n```\n")
    return "\n".join(shown)


def _row(*cells: str) -> str:
    # A bar or a line break inside a cell would end it.
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
