"""Searching the web, by whatever engine the room has."""

from typing import Any

from brasstag.sandbox.network.web import Web
from brasstag.toolkit.config import Limits
from brasstag.toolkit.declare import tool
from brasstag.words.errors import Code, ToolError


@tool(execution_type="function")
async def web_search(web: Web, limits: Limits, query: str, num_results: int = 5) -> dict[str, Any]:
    """web_search"""
    if web.engine is None:
        raise ToolError(
            Code.SEARCH_NOT_CONFIGURED,
            'this room has no search engine; an operator sets one in brasstag.toml: [web] with search = "searxng" '
            'and its url, or search = "brave" and key_variable = "BRAVE_API_KEY"',
        )
    hits = await web.engine.search(query, num_results, limits.working_seconds)
    return {"results": [hit.as_json() for hit in hits], "untrusted": True}
