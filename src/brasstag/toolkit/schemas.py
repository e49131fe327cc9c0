"""The forms in which tools are exported: OpenAI, Anthropic and MCP."""

from collections.abc import Mapping
from typing import Any

from brasstag.toolkit.plain_schema import accepts_null
from brasstag.toolkit.tool import Tool


class NotStrict(ValueError):
    """A schema that strict mode cannot express."""


def openai_function(tool: Tool, *, wrapped: bool = False, strict: bool = False) -> dict[str, Any]:
    """Return OpenAI's form of a tool; ``wrapped`` adds the ``{"type": "function"}`` around it that servers expect.

    With ``strict`` the schema is rewritten for strict mode where that is possible; otherwise the tool stays as it is.
    """
    parameters = tool.config.input_schema()
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.config.description,
        "parameters": parameters,
    }
    if strict:
        try:
            function |= {"parameters": strict_schema(parameters), "strict": True}
        except NotStrict:
            function["strict"] = False
    return {"type": "function", "function": function} if wrapped else function


def anthropic_tool(tool: Tool) -> dict[str, Any]:
    """Return Anthropic's form of a tool."""
    return {
        "name": tool.name,
        "description": tool.config.description,
        "input_schema": tool.config.input_schema(),
    }


def mcp_tool(tool: Tool) -> dict[str, Any]:
    """Return MCP's form of a tool, with hints that follow from its effects and approval."""
    config = tool.config
    reads_only = config.effects == "none"
    exported: dict[str, Any] = {
        "name": tool.name,
        "title": config.title,
        "description": config.description,
        "inputSchema": config.input_schema(),
        "annotations": {
            "title": config.title,
            "readOnlyHint": reads_only,
            # Only a tool that says it needs no person counts as not destructive.
            "destructiveHint": not reads_only and config.approval != "auto",
            "idempotentHint": reads_only or config.replay == "safe",
            "openWorldHint": config.effects in ("external", "code"),
        },
    }
    if output := config.output_schema():
        exported["outputSchema"] = output
    return exported


_KEPT = frozenset(
    {"type", "description", "enum", "const", "pattern", "minimum", "maximum"}
    | {"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
)
_LEFT_OUT = frozenset(
    {"default", "examples", "format", "minLength", "maxLength", "uniqueItems", "deprecated"}
)
"""Strict mode refuses these. Leaving one out loosens only what the model sees: a call is checked against all of them."""


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite a schema for strict mode: every property required, optional ones nullable. Raises NotStrict."""
    strict: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _KEPT:
            strict[keyword] = value
        elif keyword == "items" and isinstance(value, Mapping):
            strict["items"] = strict_schema(value)
        elif keyword == "anyOf":
            strict["anyOf"] = [strict_schema(part) for part in value]
        elif keyword == "properties":
            strict |= _strict_object(schema)
        elif keyword not in _LEFT_OUT and keyword not in ("required", "additionalProperties"):
            raise NotStrict(keyword)
    _require_structure(schema)
    return strict


def _strict_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    required = schema.get("required", ())
    properties = {}
    for name, part in schema["properties"].items():
        if not isinstance(part, Mapping):
            raise NotStrict(name)
        inner = strict_schema(part)
        properties[name] = inner if name in required else _nullable(inner)
    return {"properties": properties, "required": list(properties), "additionalProperties": False}


def _require_structure(schema: Mapping[str, Any]) -> None:
    types = schema.get("type", ())
    is_object = "object" in ([types] if isinstance(types, str) else types)
    if is_object and (schema.get("additionalProperties") is not False or "properties" not in schema):
        raise NotStrict("a free-form object")
    if not {"type", "anyOf", "enum", "const"} & schema.keys():
        raise NotStrict("any value")


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if accepts_null(schema):
        return schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "type" not in schema or "const" in schema:
        others = {"description": schema["description"]} if "description" in schema else {}
        inner = {key: value for key, value in schema.items() if key != "description"}
        return {**others, "anyOf": [inner, {"type": "null"}]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    nullable = {**schema, "type": [*types, "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable
