"""A small crew for tests of the task graph, played by scripts."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brasstag.words.approvals import Approver

ADA = Approver("ada", "terminal")

CREW = """
[crew]
lead = "boss"
model = "scripted:script.json"

[roles.boss]
description = "Leads"
instructions = "Lead."
tools = ["*"]
delegates_to = ["worker", "helper"]

[roles.worker]
description = "Works"
instructions = "Work."
tools = ["*"]
delegates_to = ["helper"]

[roles.helper]
description = "Helps"
instructions = "Help."
tools = ["read_file", "write_file"]
"""

Script = Mapping[str, Sequence[Mapping[str, Any]]]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """One call of a script."""
    return {"tool": tool, "arguments": arguments}


def turn(*calls: dict[str, Any], text: str = "") -> dict[str, Any]:
    """One turn of a script."""
    return {"text": text, "calls": list(calls)}


def write_script(project: Path, script: Script) -> None:
    """Give the crew its lines."""
    (project / "script.json").write_text(json.dumps(script))
