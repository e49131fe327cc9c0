"""Small tools to test with, and two ways to catch what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import ConfigError, Problem, ToolError

TEXT = {"type": "string", "description": "A text."}
PATH = {"type": "string", "description": "Path of the file.", "required": True}


def config(**words: Any) -> ToolConfig:
    return ToolConfig.model_validate({"tool_id": "sample", "description": "A sample.", **words})


def a_tool(parameters: dict[str, Any] | None = None, **words: Any) -> Tool:
    return Tool(config(parameters=parameters or {}, **words))


def problems_of(act: Callable[[], object]) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        act()
    return caught.value.problems


def refusal_of(act: Callable[[], object]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        act()
    return caught.value
