"""The path without its transaction, against the same read_file through frameworks that judge and record nothing."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.tools import StructuredTool
from mcp import Client
from mcp.server.mcpserver import MCPServer
from measuring import goal, interleaved, line, ratio, title
from pydantic_ai import RunContext
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RunUsage

from brasstag import Room
from brasstag.words.calls import Call, Done, Tag
from brasstag.words.events import EntryKind


class Unwritten:
    """Takes the place of the store's one commit, and writes nothing."""

    def __init__(self, room: Room) -> None:
        room.store.record = self.record  # type: ignore[method-assign]

    def record(self, call: Call, kind: EntryKind, payload: dict[str, Any], *_with_it: object) -> Tag:
        return Tag("tag_unwritten", "0" * 64)


async def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "chapter.md").write_text("Call me Ishmael.\n" * 60)

        def read_file(path: str) -> dict[str, Any]:
            """Read a file of the workspace."""
            file = root / path
            status = file.stat()
            return {
                "content": file.read_text(),
                "size": status.st_size,
                "modified": datetime.fromtimestamp(status.st_mtime, UTC).isoformat(),
            }

        langchain = StructuredTool.from_function(read_file)
        context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
        manager = await ToolManager(FunctionToolset([read_file])).for_run_step(context)
        server = MCPServer("bench")
        server.tool()(read_file)
        arguments = {"path": "chapter.md"}
        async with Room.in_memory(root) as room, Client(server) as client:
            outcome = await room.call("read_file", arguments)
            assert isinstance(outcome, Done), outcome
            Unwritten(room)
            found = await interleaved(
                {
                    "brasstag": lambda: room.call("read_file", arguments),
                    "langchain-core": lambda: langchain.ainvoke(arguments),
                    "pydantic-ai": lambda: manager.handle_call(ToolCallPart("read_file", arguments)),
                    "mcp, in memory": lambda: client.call_tool("read_file", arguments),
                },
                calls=100,
                rounds=15,
            )
    title(
        "read_file: the whole path without its transaction, against frameworks that judge and record nothing"
    )
    for name, seconds in found.items():
        line(name, seconds)
    for name in ("langchain-core", "pydantic-ai", "mcp, in memory"):
        goal(f"brasstag / {name}", ratio(found["brasstag"], found[name]), 1.0)
