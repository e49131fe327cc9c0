"""Load one JSON file as a ToolConfig, or name every problem in it."""

import json
from typing import Any

from pydantic import ValidationError

from brasstag.toolkit.config.complaints import problems_in
from brasstag.toolkit.config.config import Example, Limits, ToolConfig
from brasstag.toolkit.config.parameters import Parameter
from brasstag.words.errors import ConfigError, Problem

_KNOWN = [*{name: None for model in (ToolConfig, Parameter, Limits, Example) for name in model.model_fields}]


def read_config(data: bytes, file: str) -> ToolConfig:
    """Read a tool's JSON; raises ConfigError with every problem, each naming ``file`` and the field."""
    try:
        content = json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=_without_doubles, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        what = f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise ConfigError([Problem(file, "", what, "Correct the file.")]) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError([Problem(file, "", f"is not JSON: {error}", "Correct the file.")]) from None
    if not isinstance(content, dict):
        raise ConfigError([Problem(file, "", "is not a JSON object", 'Begin with {"tool_id": …}.')])
    if wrong := _root_schema(content, file):
        raise ConfigError([wrong])
    try:
        return ToolConfig.model_validate(content)
    except ValidationError as error:
        raise ConfigError(problems_in(error, file, _KNOWN)) from None


def _root_schema(content: dict[str, Any], file: str) -> Problem | None:
    """Catch a whole JSON schema under ``parameters``: pydantic would complain about each of its keywords."""
    parameters = content.get("parameters")
    if isinstance(parameters, dict) and isinstance(parameters.get("type"), str):
        what = (
            "holds a JSON schema"
            if parameters["type"] == "object"
            else 'is a schema whose root is not "object"'
        )
        mend = 'Write the properties here by name, each with "required": true or false.'
        return Problem(file, "parameters", what, mend)
    return None


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{double!r} stands there twice")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")
