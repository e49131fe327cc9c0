"""The project the stored rooms belong to: its settings, its tool, and what its agents say.

The script holds the turns of every run to the end, so a run that was left in the middle can be resumed later.
"""

import json
from pathlib import Path
from typing import Any

from tests.engine.crews import Script, call, turn

SETTINGS = """[room]
workspace = "data"
profile = "careful"

[crew]
lead = "boss"
model = "scripted:script.json"

[roles.boss]
description = "Leads"
instructions = "Lead."
tools = ["*"]
delegates_to = ["worker", "reader"]

[roles.worker]
description = "Works"
instructions = "Work."
tools = ["*"]

[roles.reader]
description = "Reads"
instructions = "Read."
model = "scripted:script.json?context=4000"
tools = ["read_file"]

[roles.editor]
description = "Checks"
instructions = "Check."
tools = ["read_file"]
evidence = true
"""

TOOL = '''"""Sends letters; while a room is written, it may end its own process in the middle."""

import os
import signal

from brasstag import tool


@tool(execution_type="function")
def send(letter: str) -> dict:
    """send"""
    if os.environ.get("STORED_ROOM_DIES"):
        os.kill(os.getpid(), signal.SIGKILL)
    return {"sent": True}
'''

TOOL_CONFIG: dict[str, Any] = {
    "tool_id": "send",
    "description": "Send a letter.",
    "type": "function_tool",
    "parameters": {"letter": {"type": "string", "description": "The letter.", "required": True}},
    "approval": "auto",
    "returns": {"sent": "boolean"},
    "replay": "ask",
}

FILES = {
    "notes.md": "# Notes\n\nThe harbour is deep.\n",
    "plan.md": "# Plan\n\nSail on Monday.\n",
    "agreed.md": "old terms\n",
    "draft.md": "a first draft about lighthouses\n",
    "desk.md": "as it was\n",
    "approved.md": "as it was\n",
    "half.md": "as it was\n",
    "sums.csv": "month,sum\nMay,3\nJune,4\n",
    "totals.csv": "month,total\nMay,3\n",
    "long.md": "".join(f"{number}. The tide table is read line by line.\n" for number in range(90)),
}
"""What the workspace holds at first, written outside of Brasstag."""

CODE = "open('sums.csv', 'a').write('July,5\\n')\nopen('July.md', 'w').write('five\\n')\nprint('added')\n"
AGENT_CODE = "open('totals.csv', 'a').write('June,7\\n')\nprint('totalled')\n"

REPORT = "Write the report"
READING = "Read the tide table"
COUNT = "Count the words"
CHECK = "Check the plan"
OVERWRITE = "Overwrite the plan"
AGREED = "Write the agreed terms"
TOTALS = "Add up the totals"
PAINT = "Paint the door"
SHIP = "Name the ship"
STOPPED = "Prepare what is stopped later"
LATER = "Work on this later"
LETTER = "Send the letter"
"""What the runs are asked; the script finds its turns by these words."""

SCRIPT: Script = {
    "editor": [
        turn(call("read_file", path="plan.md")),
        turn(text="All is well."),
        turn(call("handoff", result="All is well.")),
        turn(text='They sail.\nQUOTE plan.md:3 "Sail on Monday."'),
    ],
    "boss": [
        {"when": "Which year?", "turns": [turn(text="This year.")]},
        {
            "when": "Which colour?",
            "turns": [turn(call("ask_master", question="Which colour shall it be?")), turn(text="Green.")],
        },
        {
            "when": REPORT,
            "turns": [
                turn(
                    call("read_file", path="notes.md"),
                    call("route_to_worker", request="Collect the figures", documents=["sums.csv"]),
                    call("save_to_short_term_memory", content="Figures are in euros."),
                    call("send", letter="The report is on its way."),
                    text="I begin.",
                ),
                turn(
                    call("ask_master", question="Shall it be public?", documents=["figures.md"]),
                    call("plan_next_steps", steps=["Ask", "Write"]),
                ),
                turn(
                    call("write_file", path="reports/report.md", content="# Report\n\nSeven in all.\n"),
                    call("save_to_long_term_memory", content="Reports are public."),
                    call("read_file", path="missing.md"),
                    call("no_such_tool"),
                    call("delete_file", path="draft.md"),
                ),
                turn(call("handoff", result={"sum": 7}, documents=["reports/report.md"])),
            ],
        },
        {
            "when": READING,
            "turns": [turn(call("route_to_reader", request="Read long.md")), turn(text="It was read.")],
        },
        {
            "when": COUNT,
            "turns": [
                turn(call("write_file", path="count.md", content="12\n")),
                turn(call("edit_file", path="count.md", search_text="12", replace_text="13")),
                turn(text="Thirteen words."),
            ],
        },
        {
            "when": OVERWRITE,
            "turns": [
                turn(call("write_file", path="plan.md", content="# Plan\n\nSail on Tuesday.\n")),
                turn(call("handoff", result="The plan is new.", documents=["plan.md"])),
            ],
        },
        {
            "when": AGREED,
            "turns": [
                turn(call("write_file", path="agreed.md", content="new terms\n")),
                turn(text="The terms are written."),
            ],
        },
        {
            "when": TOTALS,
            "turns": [
                turn(call("run_code", language="python", code=AGENT_CODE)),
                turn(text="It is added up."),
            ],
        },
        {
            "when": PAINT,
            "turns": [
                turn(call("route_to_worker", request="Choose the paint")),
                turn(call("handoff", result="painted")),
            ],
        },
        {
            "when": SHIP,
            "turns": [
                turn(call("read_file", path="notes.md"), call("ask_master", question="What is her name?")),
                turn(call("write_file", path="ship.md", content="Aurora\n")),
                turn(call("handoff", result="named", documents=["ship.md"])),
            ],
        },
        {
            "when": STOPPED,
            "turns": [
                turn(call("ask_master", question="Shall I begin?"), call("stop_and_think", thoughts="Wait.")),
                turn(text="It was prepared."),
            ],
        },
        {
            "when": LATER,
            "turns": [
                turn(call("write_file", path="later.md", content="later\n")),
                turn(call("handoff", result="worked", documents=["later.md"])),
            ],
        },
        {
            "when": LETTER,
            "turns": [turn(call("send", letter="Dear Bob")), turn(text="It is settled.")],
        },
    ],
    "worker": [
        {
            "when": "Collect the figures",
            "turns": [
                turn(call("ask_master", question="Which year?")),
                turn(call("write_file", path="figures.md", content="# Figures\n\nThree and four.\n")),
                turn(call("handoff", result="collected", documents=["figures.md"])),
            ],
        },
        {
            "when": "Choose the paint",
            "turns": [
                turn(call("ask_master", question="Which colour?")),
                turn(call("write_file", path="paint.md", content="green\n")),
                turn(text="The paint is chosen."),
            ],
        },
    ],
    "reader": [
        turn(call("read_file", path="long.md")),
        turn(call("read_file", path="long.md")),
        turn(call("read_file", path="long.md")),
        turn(call("read_file", path="notes.md")),
        turn(text="All lines were read."),
    ],
}


def write_files(project: Path) -> None:
    """Write the settings, the tool, the script and the first files of the workspace."""
    (project / "brasstag.toml").write_text(SETTINGS)
    (project / "script.json").write_text(json.dumps(SCRIPT, indent=1))
    (project / "tools").mkdir()
    (project / "tools" / "send.py").write_text(TOOL)
    (project / "tools" / "send.json").write_text(json.dumps(TOOL_CONFIG, indent=1))
    for name, text in FILES.items():
        (project / "data" / name).write_text(text)
