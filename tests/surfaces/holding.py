"""A tool that acts until it is let go, in a project of its own; so a test can look while a call is under way."""

import json
import time
from pathlib import Path

from tests.conftest import accept

DEADLINE_SECONDS = 60.0

_CONFIG = {
    "tool_id": "hold",
    "description": "Act until a file is there.",
    "type": "function_tool",
    "parameters": {"until": {"type": "string", "description": "The file.", "required": True}},
    "returns": {
        "type": "object",
        "properties": {"held": {"type": "boolean"}},
        "required": ["held"],
        "additionalProperties": False,
    },
    "approval": "auto",
    "effects": "external",
    "replay": "ask",
}
_CODE = '''
import time
from pathlib import Path

from brasstag import tool


@tool(execution_type="function")
def hold(until: str) -> dict[str, bool]:
    """hold"""
    Path(until + ".begun").touch()
    while not Path(until).exists():
        time.sleep(0.02)
    return {"held": True}
'''


def add_hold(project: Path, effects: str = "external") -> Path:
    """Give a project the tool; return the file that lets it go."""
    (project / "tools").mkdir(exist_ok=True)
    (project / "tools" / "hold.json").write_text(json.dumps(_CONFIG | {"effects": effects}))
    (project / "tools" / "hold.py").write_text(_CODE)
    accept(project)
    return project / "go"


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    until = time.monotonic() + DEADLINE_SECONDS
    while not path.exists():
        assert time.monotonic() < until, f"{path} never came"
        time.sleep(0.01)


def wait_begun(go: Path) -> None:
    """Wait until the tool acts."""
    wait_for(go.with_name(f"{go.name}.begun"))
