"""A trial call decides, whatever a server says of itself."""

import pytest

from brasstag.models.local.trial import calls_tools
from tests.models.http_server import HttpServer, Reply, chat_calls, chat_text
from tests.models.support import compatible


@pytest.mark.parametrize(
    ("reply", "does"),
    [
        (chat_calls(("report_number", '{"number": 7}')), True),
        (chat_calls(("report_number", '{"number": "7"}')), False),
        (chat_calls(("report_number", '{"number": 7')), False),
        (chat_calls(("other", '{"number": 7}')), False),
        (chat_text('<tool_call>{"name": "report_number"}</tool_call>'), False),
    ],
)
async def test_only_a_call_that_comes_through_counts(reply: Reply, does: bool) -> None:
    async with HttpServer(reply) as server, compatible(server.url) as model:
        assert await calls_tools(model) is does
