"""A tool that does not say where it acts: S1's three steps, and the question that `brasstag trust` asks once."""

import json
from pathlib import Path

import pytest

from tests.surfaces.conftest import OpenTerminal, Pipe

QUESTION = "Where does my_tool act? [workspace/ASK/free]:"

CONFIG = """{
  "tool_id": "my_tool",
  "description": "What it does",
  "type": "function_tool",
  "parameters": {
    "param1": {"type": "string", "description": "...", "required": true}
  },
  "returns": {"result": "string"}
}
"""
FUNCTION = '''from typing import Dict

from brasstag import Draft as WorkspaceModal, tool


@tool(execution_type="function")
def my_tool(workspace: WorkspaceModal, task_id: str, param1: str) -> Dict:
    """my_tool"""  # Docstring = tool_id ONLY
    # Implementation
    return {"result": "value"}
'''
CLASS = """from brasstag import BaseTool, ToolRegistry, create_json_schema


class MyTool(BaseTool):
    name = "my_tool"
    description = "What it does"
    parameters = create_json_schema({})

    async def execute(self, arguments):
        return "value"


registry = ToolRegistry()
registry.register(MyTool())
"""


@pytest.fixture
def tools(project: Path) -> Path:
    """Follow S1's three steps, word for word but for the import line."""
    folder = project / "tools"
    (folder / "configs").mkdir(parents=True)
    (folder / "configs" / "my_tool.json").write_text(CONFIG)
    (folder / "x_tools.py").write_text(FUNCTION)
    return folder


def effects_of_my_tool(pipe: Pipe) -> tuple[str, str | None]:
    shown = pipe("tools", "show", "my_tool", "-o", "json").json
    return shown["effects"], shown["approval"]


def accept(terminal: OpenTerminal, answer: str) -> str:
    at = terminal("trust").until("from now on? [y/N]:").type("y\n").until(QUESTION).type(answer)
    assert at.ends() == 0
    return at.text


def test_three_steps_give_a_tool_that_runs(tools: Path, terminal: OpenTerminal, pipe: Pipe) -> None:
    shown = accept(terminal, "workspace\n")
    assert "in the workspace only: on a draft, and its changes are judged" in shown
    ended = pipe("call", "my_tool", "param1=x", "-o", "json")
    assert (ended.code, ended.json["value"]) == (0, {"result": "value"})
    page = pipe("timeline", "verify")
    assert page.code == 0


@pytest.mark.parametrize(
    ("answer", "found", "code"),
    [
        ("workspace\n", ("files", None), 0),
        ("w\n", ("files", None), 0),
        ("ask\n", ("external", "confirm"), 3),
        ("\n", ("external", "confirm"), 3),
        ("free\n", ("external", "auto"), 0),
        ("what?\nf\n", ("external", "auto"), 0),
    ],
)
def test_the_answer_decides_how_its_calls_are_judged(
    tools: Path,
    terminal: OpenTerminal,
    pipe: Pipe,
    answer: str,
    found: tuple[str, str | None],
    code: int,
) -> None:
    accept(terminal, answer)
    assert effects_of_my_tool(pipe) == found
    assert pipe("call", "my_tool", "param1=x").code == code


@pytest.mark.parametrize("keys", ["\x03", "\x04"])
def test_no_answer_leaves_it_acting_outside(
    tools: Path, terminal: OpenTerminal, pipe: Pipe, keys: str
) -> None:
    assert "--effects my_tool=workspace" in accept(terminal, keys)
    assert effects_of_my_tool(pipe) == ("external", None)
    assert pipe("call", "my_tool", "param1=x").code == 3


def test_it_is_asked_once_and_a_changed_tool_asks_again(
    tools: Path, terminal: OpenTerminal, pipe: Pipe, project: Path
) -> None:
    accept(terminal, "free\n")
    with (project / "brasstag.toml").open("a") as settings:
        settings.write("[limits]\nundo_bytes = 1_000_000\n")
    at = terminal("trust").until("[y/N]:").type("y\n")
    assert at.ends() == 0
    assert QUESTION not in at.text
    assert effects_of_my_tool(pipe) == ("external", "auto")
    (tools / "x_tools.py").write_text(FUNCTION.replace('"value"', "param1"))
    accept(terminal, "workspace\n")
    assert effects_of_my_tool(pipe) == ("files", None)
    # What was said of the first version went with it.
    (tools / "x_tools.py").write_text(FUNCTION)
    accept(terminal, "\n")


def test_a_command_that_shows_the_change_first_asks_too(tools: Path, terminal: OpenTerminal) -> None:
    at = terminal("call", "my_tool", "param1=x").until("from now on? [y/N]:").type("y\n")
    assert at.until(QUESTION).type("workspace\n").ends() == 0


class TestWithoutATerminal:
    def test_silence_stays_external_and_an_option_says_it(self, tools: Path, pipe: Pipe, ada: str) -> None:
        ended = pipe("trust", "--yes", "-o", "json")
        assert ended.json["effects"] == {"my_tool": ""}
        assert "--effects my_tool=workspace" in ended.err
        assert effects_of_my_tool(pipe) == ("external", None)
        said = pipe("trust", "--effects", "my_tool=workspace", "-o", "json").json
        assert said == {"accepted": True, "changes": [], "effects": {"my_tool": "workspace"}}
        assert effects_of_my_tool(pipe) == ("files", None)

    def test_both_at_once(self, tools: Path, pipe: Pipe, ada: str) -> None:
        assert pipe("trust", "--yes", "--effects", "my_tool=free").code == 0
        assert effects_of_my_tool(pipe) == ("external", "auto")

    def test_it_takes_an_approver(
        self, tools: Path, pipe: Pipe, ada: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pipe("trust", "--yes")
        monkeypatch.delenv("BRASSTAG_APPROVER_TOKEN")
        assert pipe("trust", "--effects", "my_tool=free").code == 4
        assert effects_of_my_tool(pipe) == ("external", None)

    @pytest.mark.parametrize("option", ["my_tool", "my_tool=", "=free", "my_tool=everywhere", "mytool=free"])
    def test_a_wrong_word_is_refused_before_anything_is_accepted(
        self, tools: Path, pipe: Pipe, ada: str, option: str
    ) -> None:
        ended = pipe("trust", "--yes", "--effects", option)
        assert ended.code != 0
        assert "=workspace" in ended.err or "those are: my_tool" in ended.err
        assert "control files have changed" in pipe("call", "list_files").err

    def test_a_tool_that_says_where_it_acts_is_not_overruled(self, tools: Path, pipe: Pipe, ada: str) -> None:
        pipe("trust", "--yes")
        ended = pipe("trust", "--effects", "read_file=free")
        assert (ended.code, "those are: my_tool" in ended.err) == (1, True)

    def test_an_approval_the_tool_states_is_not_loosened(self, tools: Path, pipe: Pipe, ada: str) -> None:
        (tools / "configs" / "my_tool.json").write_text(
            json.dumps(json.loads(CONFIG) | {"approval": "confirm"})
        )
        pipe("trust", "--yes", "--effects", "my_tool=free")
        assert effects_of_my_tool(pipe) == ("external", "confirm")

    def test_functions_and_classes_are_asked_about_alike(self, project: Path, pipe: Pipe, ada: str) -> None:
        (project / "tools").mkdir()
        (project / "tools" / "more.py").write_text(
            "from brasstag import BaseTool, create_json_schema, tool\n\n\n"
            '@tool\ndef twice(text: str) -> str:\n    """Say a text twice."""\n    return text * 2\n\n\n'
            '@tool(effects="none")\ndef once(text: str) -> str:\n    """Say a text."""\n    return text\n\n\n'
            'class Thrice(BaseTool):\n    name = "thrice"\n    description = "Say hello three times."\n'
            "    parameters = create_json_schema({})\n\n"
            '    async def execute(self, arguments):\n        return "hello" * 3\n'
        )
        assert pipe("trust", "--yes", "-o", "json").json["effects"] == {"twice": "", "thrice": ""}


def test_the_answer_lies_where_no_agent_can_write(tools: Path, pipe: Pipe, ada: str, project: Path) -> None:
    pipe("trust", "--yes", "--effects", "my_tool=workspace")
    assert not list(project.rglob("effects.json"))


def test_a_class_in_wires_is_asked_about_like_a_tool_of_the_folder(
    project: Path, terminal: OpenTerminal, pipe: Pipe
) -> None:
    (project / "wires.py").write_text(CLASS)
    accept(terminal, "free\n")
    assert effects_of_my_tool(pipe) == ("external", "auto")
    assert pipe("call", "my_tool", "-o", "json").json["value"] == "value"
