"""ask_gpt and ask_claude: one question to another model, outside any task."""

import asyncio
from typing import Any

from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.words.errors import Code, ToolError
from brasstag.words.turns import ModelError, Opinions


@tool(execution_type="function")
async def ask_gpt(models: Opinions, limits: Limits, prompt: str, model: str = "gpt-5.5") -> dict[str, Any]:
    """ask_gpt"""
    return await _opinion(models, limits, f"openai:{model}", prompt)


@tool(execution_type="function")
async def ask_claude(
    models: Opinions, limits: Limits, prompt: str, model: str = "claude-sonnet-5-5"
) -> dict[str, Any]:
    """ask_claude"""
    return await _opinion(models, limits, f"anthropic:{model}", prompt)


async def _opinion(models: Opinions, limits: Limits, model: str, prompt: str) -> dict[str, Any]:
    try:
        async with asyncio.timeout(limits.working_seconds):
            turn = await models.ask(model, prompt)
    except TimeoutError:
        raise ToolError(Code.TIMEOUT, f"{model} did not answer in time; ask something shorter") from None
    except ModelError as error:
        raise error.as_tool_error() from None
    return {"answer": turn.text, "model": turn.model, "usage": turn.usage.as_json()}
