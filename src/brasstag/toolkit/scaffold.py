"""The first files of a new tool: JSON, function, and a test that passes."""

import keyword
import re
from os.path import relpath
from pathlib import Path

from brasstag.words.errors import ConfigError, Problem

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

_JSON = """{
  "tool_id": "NAME",
  "description": "Count the words of a text file in the workspace.",
  "type": "function_tool",
  "parameters": {
    "path": {"type": "string", "description": "Path of the file, relative to the workspace.", "required": true}
  },
  "returns": {"path": "string", "words": "integer"},
  "effects": "none",
  "approval": "auto",
  "replay": "safe",
  "examples": [{"arguments": {"path": "notes.md"}, "note": "Count the words of a note"}]
}
"""

_PYTHON = '''from typing import Any

from brasstag import Draft, tool


@tool(execution_type="function")
def NAME(workspace: Draft, path: str) -> dict[str, Any]:
    """NAME"""
    text = workspace.read_text(path)
    return {"path": path, "words": len(text.split())}
'''

_TEST = """import asyncio
from pathlib import Path

from brasstag import Done, Room

TOOLS = Path(__file__).resolve().parent / "FOLDER"


def test_NAME_counts_the_words_of_a_file() -> None:
    async def story() -> None:
        async with Room.in_memory() as room:
            room.register_folder(TOOLS)
            await room.call("write_file", {"path": "notes.md", "content": "three short words"})
            outcome = await room.call("NAME", {"path": "notes.md"})
            assert isinstance(outcome, Done), outcome
            assert outcome.value == {"path": "notes.md", "words": 3}

    asyncio.run(story())
"""


def scaffold_tool(folder: Path, tests: Path, name: str) -> list[Path]:
    """Write a tool's JSON, its function and its test, and return their paths; never writes over a file."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        mend = "Use lower-case letters, digits and _, beginning with a letter, such as word_count."
        raise ConfigError([Problem(str(folder), name, "cannot be the name of a tool", mend)])
    texts = {
        folder / f"{name}.json": _JSON,
        folder / f"{name}.py": _PYTHON,
        # Relative, so that the test still passes after the project is moved.
        tests / f"test_{name}.py": _TEST.replace("FOLDER", relpath(folder.resolve(), tests.resolve())),
    }
    if there := [path for path in texts if path.exists()]:
        raise ConfigError(
            [Problem(str(path), "", "is already there", "Choose another name.") for path in there]
        )
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("NAME", name))
    return [*texts]
