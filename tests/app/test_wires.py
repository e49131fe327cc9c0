"""wires.py: a control file whose Python rules and tools count each time the room opens."""

import sys
from pathlib import Path

import pytest

from brasstag import ConfigError, Done, Failed, Room, UntrustedError
from brasstag.app import Trust, answer, open_state, unanswered_tools
from brasstag.app.project.load import check_configuration, check_unloaded
from tests.conftest import MakeProject, accept

ENGINE = """
from brasstag import RuleEngine, SafetyRule

engine = RuleEngine()
engine.add_rule(SafetyRule("no_drafts", ["drafts/**"]))
"""

TOOLS = '''
from brasstag import BaseTool, create_json_schema, tool


class Greet(BaseTool):
    name = "greet"
    description = "Greet by name."
    parameters = create_json_schema({"name": {"type": "string", "description": "Who."}}, required=["name"])
    requires_approval = False

    def __init__(self, greeting: str = "Hello") -> None:
        self.greeting = greeting

    async def execute(self, arguments):
        return f"{self.greeting} {arguments['name']}"


@tool(effects="none", approval="auto")
def twice(text: str) -> str:
    """Say a text twice."""
    return text * 2
'''


def wire(project: Path, text: str) -> Path:
    (project / "wires.py").write_text(text)
    accept(project)
    return project


async def test_its_rules_hold_in_the_room_and_for_its_documents(project: Path) -> None:
    (project / "data" / "drafts").mkdir()
    (project / "data" / "drafts" / "one.md").write_text("draft")
    (project / "data" / "two.md").write_text("final")
    async with Room.open(wire(project, ENGINE)) as room:
        outcome = await room.call("read_file", {"path": "drafts/one.md"})
        assert isinstance(outcome, Failed)
        assert outcome.details["rule"] == "no_drafts"
        listed = await room.call("list_documents", {})
        assert isinstance(listed, Done)
        assert [one["path"] for one in listed.value["documents"]] == ["two.md"]


async def test_a_rule_that_stands_alone_counts_too(project: Path) -> None:
    text = 'from brasstag import SafetyRule\n\nno_drafts = SafetyRule("no_drafts", ["drafts/**"])\n'
    async with Room.open(wire(project, text)) as room:
        assert isinstance(await room.call("write_file", {"path": "drafts/a", "content": ""}), Failed)


@pytest.mark.parametrize(
    ("more", "tools", "said"),
    [
        ("", {"greet", "twice"}, "Hello Ada"),
        ('polite = Greet("Good day")', {"greet", "twice"}, "Good day Ada"),
        (
            'from brasstag import ToolRegistry\nregistry = ToolRegistry([Greet("Hi")])\nspare = Greet()',
            {"greet"},
            "Hi Ada",
        ),
    ],
    ids=["what it declares", "an instance", "a registry"],
)
async def test_its_tools_are_there(project: Path, more: str, tools: set[str], said: str) -> None:
    async with Room.open(wire(project, f"{TOOLS}\n{more}\n")) as room:
        assert {tool.name for tool in room.tools.list()} & {"greet", "twice"} == tools
        outcome = await room.call("greet", {"name": "Ada"})
        assert isinstance(outcome, Done)
        assert outcome.value == said


async def test_settings_may_speak_of_its_tools(make_project: MakeProject) -> None:
    project = make_project(
        '[[rules]]\ndeny = "greet"\nbecause = "no greetings"\n\n[tools.twice.limits]\ntimeout_seconds = 5\n\n'
        '[roles.clerk]\ndescription = "Greets"\ntools = ["greet"]\n'
    )
    (project / "wires.py").write_text(TOOLS)
    assert check_unloaded(project) == []
    async with Room.open(wire(project, TOOLS)) as room:
        assert isinstance(await room.call("greet", {"name": "Ada"}, role="clerk"), Failed)
        twice = room.tools.get("twice")
        assert twice is not None
        assert twice.config.limits.timeout_seconds == 5


async def test_a_new_or_changed_one_is_not_run_before_a_person_has_seen_it(project: Path) -> None:
    mark = project / "loaded"
    marking = f"import pathlib; pathlib.Path({str(mark)!r}).touch()"
    (project / "wires.py").write_text(f"{marking}\n{ENGINE}")
    for _ in range(2):
        with pytest.raises(UntrustedError, match=r"wires\.py"):
            async with Room.open(project):
                pass
        assert not mark.exists()
        assert check_unloaded(project) == []
        assert not mark.exists()
        accept(project)
        async with Room.open(project):
            assert mark.exists()
        mark.unlink()
        (project / "wires.py").write_text(f"{marking}  # changed\n{ENGINE}")


WRONG = {
    "does not parse": ("def", "SyntaxError"),
    "raises": (f"{ENGINE}\nraise ValueError('no boot')", "ValueError: no boot (line 7)"),
    "leaves": ("raise SystemExit(3)", "SystemExit: 3"),
    "is empty": ("", "adds neither rules nor tools"),
    "another profile": (ENGINE.replace("RuleEngine()", 'RuleEngine(profile="trusted")'), "'careful'"),
    "a misspelt tool": (
        ENGINE.replace('"]))', '"], tools=["raed_file"]))'),
        "raed_file, which is not a tool of this room",
    ),
    "a failing example": (
        ENGINE.replace("SafetyRule", "Rule").replace(
            'Rule("no_drafts", ["drafts/**"])',
            'Rule("deny", ("*(drafts/**)",), "closed", match=("read_file(notes.md)",))',
        ),
        "does not match read_file(notes.md)",
    ),
    "a name that is taken": (TOOLS.replace('"greet"', '"read_file"'), "'read_file' already stands for"),
}


@pytest.mark.parametrize("why", WRONG)
async def test_one_that_cannot_be_used_stops_the_opening(project: Path, why: str) -> None:
    text, message = WRONG[why]
    wire(project, text)
    with pytest.raises(ConfigError) as caught:
        async with Room.open(project):
            pass
    assert any(message in str(problem) for problem in caught.value.problems)
    assert any(message in str(problem) for problem in check_configuration(project))


INSTALLED = """
from brasstag import BaseTool, create_json_schema


class Send(BaseTool):
    name = "send"
    description = "Send a text."
    parameters = create_json_schema({})
    to = "here"

    async def execute(self, arguments):
        return self.to
"""
MADE_OF_IT = {
    "an instance": ("wires.py", "from sending import Send\n\nsend = Send()\nsend.to = {to!r}\n"),
    "a registry": (
        "wires.py",
        "import brasstag, sending\n\nsend = sending.Send()\nsend.to = {to!r}\nregistry = brasstag.ToolRegistry([send])\n",
    ),
    "a class": ("wires.py", "from sending import Send\n\n\nclass Mine(Send):\n    to = {to!r}\n"),
    "a class of the folder": (
        "tools/mine.py",
        "from sending import Send\n\n\nclass Mine(Send):\n    to = {to!r}\n",
    ),
}


@pytest.mark.parametrize("how", MADE_OF_IT)
def test_what_was_said_of_a_tool_does_not_count_once_the_file_makes_it_in_another_way(
    project: Path, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code of the tool is in an installed package, and stays the same."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "sending.py").write_text(INSTALLED)
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.delitem(sys.modules, "sending", raising=False)
    (project / "tools").mkdir()
    place, text = MADE_OF_IT[how]

    def write(to: str) -> None:
        (project / place).write_text(text.format(to=to))
        accept(project)

    room_state = open_state(project)
    try:
        trust = Trust(project, room_state.folder)
        write("here")
        answer(project, trust, {"send": "free"})
        assert unanswered_tools(project, trust) == []
        write("elsewhere")
        assert [tool.name for tool in unanswered_tools(project, trust)] == ["send"]
    finally:
        room_state.close()
