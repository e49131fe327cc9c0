"""The mill: a project in which every part of the task graph turns, played by scripts, whose tools count what they do."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brasstag.app.project.create import create_project
from brasstag.app.project.trust import Trust
from brasstag.app.state import open_state, require_same_room
from tests.engine.crews import CREW, Script, call, turn, write_script

TOOL = """
import os
from pathlib import Path
from brasstag import tool

DONE = {log!r}

def log(name, call_id):
    with open(os.open(DONE, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "w") as file:
        file.write(f"{{name}} {{call_id}}\\n")

def happened(call_id, arguments):
    done = Path(DONE).read_text().splitlines() if os.path.exists(DONE) else []
    return {{"done": True}} if f"{name} {{call_id}}" in done else None

@tool(execution_type="function"{check})
def {name}(call_id: str) -> dict:
    '''{name}'''
    log({name!r}, call_id)
    {then}
    return {{"done": True}}
"""

REPLAYS = {"send": "ask", "repeat": "safe", "pay": "check"}
"""The tools that act outside, and what is to be done when one was cut short."""

WHOLE: Script = {
    "boss": [
        {"when": "Which colour?", "turns": [turn(text="Blue.")]},
        {
            "turns": [
                turn(
                    call("route_to_worker", request="First part"),
                    call("route_to_worker", request="Second part"),
                    call("send"),
                    call("write_file", path="plan.md", content="the plan"),
                ),
                turn(
                    call("write_file", path="old.md", content="new"),
                    call("ask_master", question="Shall it be so?"),
                    call("repeat"),
                ),
                turn(call("handoff", result="built", documents=["plan.md"])),
            ]
        },
    ],
    "worker": [
        {
            "when": "First",
            "turns": [
                turn(call("ask_master", question="Which colour?"), call("send")),
                turn(call("write_file", path="first.md", content="blue"), call("pay")),
                turn(call("handoff", result="first done", documents=["first.md"])),
            ],
        },
        {
            "when": "Second",
            "turns": [
                turn(
                    call("route_to_helper", request="Help"), call("save_to_short_term_memory", content="it")
                ),
                turn(call("edit_file", path="help.md", search_text="help", replace_text="helped")),
                turn(text="second done"),
            ],
        },
    ],
    "helper": [turn(call("write_file", path="help.md", content="help"), call("repeat")), turn(text="helped")],
}
"""Delegation to two at once and below them, questions to an agent and to a person, an approval, tools of every kind."""

SHORT: Script = {
    "boss": [
        turn(call("route_to_helper", request="Help"), call("send"), call("ask_master", question="So?")),
        turn(call("write_file", path="old.md", content="new"), call("pay"), call("repeat")),
        turn(call("handoff", result="built")),
    ],
    "helper": [turn(call("write_file", path="help.md", content="help")), turn(text="helped")],
}
"""As much of it as fits into few commits."""

FILES = {"plan.md": "the plan", "old.md": "new", "first.md": "blue", "help.md": "helped"}
"""What is in the workspace when all of it has happened; somebody says yes to whatever is asked."""


class Mill:
    """One such project on disk."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.log = project.parent / f"{project.name}.done"

    @classmethod
    def build(cls, project: Path, script: Script = WHOLE, tools: Sequence[str] = tuple(REPLAYS)) -> "Mill":
        """Make the project, its tools and its script, and accept them as a person would."""
        mill = cls(project)
        create_project(project, "data", "careful")
        settings = (project / "brasstag.toml").read_text()
        (project / "brasstag.toml").write_text(f"{settings}\n{CREW}")
        (project / "data" / "old.md").write_text("old")
        (project / "tools").mkdir()
        for name in tools:
            mill.write_tool(name)
        write_script(project, script)
        mill.accept()
        return mill

    def write_tool(self, name: str, then: str = "pass", replay: str = "", **config: Any) -> None:
        """Write a tool that logs each time it runs, and then does something more."""
        replay = replay or REPLAYS[name]
        check = ", check=happened" if replay == "check" else ""
        text = TOOL.format(log=str(self.log), name=name, check=check, then=then)
        (self.project / "tools" / f"{name}.py").write_text(text)
        config = {
            "tool_id": name,
            "description": "Do it outside.",
            "type": "function_tool",
            "approval": "auto",
            "returns": {"done": "boolean"},
            "replay": replay,
        } | config
        (self.project / "tools" / f"{name}.json").write_text(json.dumps(config))

    def accept(self) -> None:
        """Accept the control files as they are."""
        room_state = open_state(self.project)
        trust = Trust(self.project, room_state.folder)
        trust.accept(trust.changes())
        require_same_room(self.project, room_state, accept=True)
        room_state.close()

    def done(self) -> Counter[tuple[str, str]]:
        """Return how often each call ran outside, by tool and call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return Counter((name, call_id) for name, _, call_id in (line.partition(" ") for line in lines))

    def files(self) -> dict[str, str]:
        """Return every file of the workspace, temporary ones too."""
        workspace = self.project / "data"
        return {
            str(path.relative_to(workspace)): path.read_text()
            for path in sorted(workspace.rglob("*"))
            if path.is_file()
        }
