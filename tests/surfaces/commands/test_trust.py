"""Control files that changed: nothing of them is loaded before a person has seen how."""

import json
import shutil
from pathlib import Path

import pytest

from tests.surfaces.conftest import OpenTerminal, Pipe

QUESTION = "Load these control files from now on? [y/N]:"


@pytest.fixture
def marker(project: Path, pipe: Pipe) -> Path:
    """A tool nobody has accepted, which leaves a mark when it is loaded."""
    mark = project / "loaded"
    (project / "tools").mkdir()
    (project / "tools" / "spy.json").write_text(
        json.dumps({"tool_id": "spy", "description": "Leave a mark.", "effects": "none", "approval": "auto"})
    )
    (project / "tools" / "spy.py").write_text(
        "from pathlib import Path\n\nfrom brasstag import tool\n\n"
        f"Path({str(mark)!r}).touch()\n\n\n"
        '@tool(execution_type="function")\ndef spy() -> None:\n    """spy"""\n'
    )
    return mark


def test_a_new_tool_is_loaded_by_no_command_before_it_is_accepted(
    pipe: Pipe, marker: Path, project: Path, ada: str
) -> None:
    commands = [
        *(["call", "spy"], ["call", "list_files"], ["undo", "tag_x"], ["tools"], ["tools", "show", "spy"]),
        *(["tools", "schema"], ["policy", "explain", "spy"], ["policy", "test"], ["doctor"], ["trust"]),
        *(["approvals"], ["approvals", "approve", "x"], ["timeline", "verify"], ["stop", "x"], ["gc"]),
    ]
    for command in commands:
        pipe(*command)
        assert not marker.exists(), command
    assert pipe("trust", "--yes").code == 0
    assert pipe("call", "spy").code == 0
    assert marker.exists()


def test_changed_settings_are_not_loaded_either(pipe: Pipe, project: Path) -> None:
    (project / "data" / "a.md").write_text("old")
    (project / "brasstag.toml").write_text('[room]\nprofile = "trusted"\n')
    ended = pipe("call", "write_file", "path=a.md", "content=new")
    assert ended.code == 1
    assert "brasstag.toml (changed). `brasstag trust` shows the change." in ended.err
    assert (project / "data" / "a.md").read_text() == "old"


def test_doctor_says_what_it_did_not_look_at(pipe: Pipe, marker: Path) -> None:
    checks = {check["what"]: check for check in pipe("doctor").lines}
    assert "tools/spy.py (new)" in checks["control files"]["found"]
    assert checks["configuration"]["ok"] is False


def test_accepting_in_a_pipe_takes_a_token_and_a_yes(pipe: Pipe, marker: Path) -> None:
    shown = pipe("trust")
    assert shown.code == 1
    assert shown.json["accepted"] is False
    assert {change["path"]: change["what"] for change in shown.json["changes"]} == {
        "tools/spy.json": "new",
        "tools/spy.py": "new",
    }
    assert pipe("trust", "--yes").code == 4


def test_nothing_changed(pipe: Pipe) -> None:
    ended = pipe("trust")
    assert (ended.code, ended.json) == (0, {"accepted": True, "changes": []})


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("\n", 1), ("n\n", 1), ("\x03", 1), ("\x04", 1)])
def test_a_person_sees_the_change_and_only_a_yes_accepts_it(
    terminal: OpenTerminal, pipe: Pipe, project: Path, answer: str, code: int
) -> None:
    file = project / "brasstag.toml"
    file.write_text(file.read_text().replace('"careful"', '"trusted"'))
    at = terminal("trust").until(QUESTION)
    assert '    -profile = "careful"' in at.text
    assert '    +profile = "trusted"' in at.text
    assert at.type(answer).ends() == code
    assert pipe("call", "list_files").code == code


def test_a_call_at_a_terminal_shows_the_change_first_and_goes_on(
    terminal: OpenTerminal, marker: Path
) -> None:
    at = terminal("call", "spy").until(QUESTION)
    assert not marker.exists()
    assert "tools/spy.py is new:" in at.text
    assert at.type("y\n").ends() == 0
    assert marker.exists()


def test_a_call_at_a_terminal_stops_at_a_no(terminal: OpenTerminal, marker: Path) -> None:
    assert terminal("call", "spy").until(QUESTION).type("\n").ends() == 1
    assert not marker.exists()


class TestReplacedState:
    @pytest.fixture(autouse=True)
    def replaced(self, pipe: Pipe, project: Path) -> None:
        assert pipe("call", "list_files").code == 0
        shutil.rmtree(project / ".brasstag")

    def test_verify_does_not_call_an_empty_room_whole(self, pipe: Pipe) -> None:
        ended = pipe("timeline", "verify")
        assert ended.code == 1
        assert "removed or replaced" in ended.json["findings"][0]["what"]

    def test_no_call_is_made_before_a_person_has_seen_it(self, pipe: Pipe, ada: str) -> None:
        assert "the timeline was replaced" in pipe("call", "list_files").err
        checks = {check["what"]: check["ok"] for check in pipe("doctor").lines}
        assert checks["room"] is False
        changes = pipe("trust", "--yes").json["changes"]
        assert {"path": ".brasstag/", "what": "replaced"} in changes
        assert pipe("call", "list_files").code == 0

    def test_a_person_is_told_what_they_accept(self, terminal: OpenTerminal) -> None:
        at = terminal("trust").until(QUESTION)
        assert "the timeline in it belongs to another room" in at.text
        assert at.type("\n").ends() == 1


class TestWhatCouldNotBeLoaded:
    @pytest.fixture
    def broken(self, project: Path, pipe: Pipe, marker: Path) -> list[str]:
        """Settings with mistakes of several kinds, beside a tool that was not accepted; returns what has to be told."""
        with (project / "brasstag.toml").open("a") as settings:
            settings.write(
                '[crew.budget2]\nmax_steps = 3\n[roles.a]\nbudgt = 3\ntools = ["spi", "reed_file", "spy"]\n'
            )
        return [
            "crew.budget2: is not a setting. Did you mean [crew.budget]?",
            "roles.a.budgt: is not a setting. Did you mean `budget` in [roles.NAME]?",
            "roles.a.tools[0]: 'spi' is not a tool of this room. Did you mean spy?",
            "roles.a.tools[1]: 'reed_file' is not a tool of this room. Did you mean read_file?",
        ]

    def test_it_is_not_accepted_and_every_problem_is_named(
        self, pipe: Pipe, broken: list[str], marker: Path, ada: str
    ) -> None:
        ended = pipe("trust", "--yes")
        assert (ended.code, ended.json["accepted"]) == (1, False)
        assert len(ended.json["problems"]) == len(broken)
        for told, wanted in zip(ended.json["problems"], broken, strict=True):
            assert wanted in told
        assert "control files have changed" in pipe("call", "list_files").err
        assert not marker.exists()

    def test_a_person_is_told_before_the_question_and_not_asked(
        self, terminal: OpenTerminal, broken: list[str]
    ) -> None:
        at = terminal("call", "list_files", columns=200)
        assert at.ends() == 1
        assert QUESTION not in at.text
        assert all(told in at.text for told in broken)

    def test_doctor_looks_without_loading(self, pipe: Pipe, broken: list[str], marker: Path) -> None:
        found = [one["found"] for one in pipe("doctor").lines if one["what"] == "configuration"]
        assert [told in one for told, one in zip(broken, found, strict=True)] == [True] * len(broken)
        assert not marker.exists()

    def test_tools_are_listed_all_the_same(self, pipe: Pipe, broken: list[str], marker: Path) -> None:
        ended = pipe("tools")
        assert ended.code == 0
        assert {"read_file", "spy"} <= {one["name"] for one in ended.lines}
        assert "`brasstag trust` shows the change" in ended.err
        assert pipe("tools", "show", "spy").json["name"] == "spy"
        assert not marker.exists()

    def test_what_looks_right_is_said_to_wait_for_a_yes(self, pipe: Pipe, marker: Path) -> None:
        (found,) = [one for one in pipe("doctor").lines if one["what"] == "configuration"]
        assert not found["ok"]
        assert "has no mistakes, but is not accepted yet" in found["found"]
        assert not marker.exists()

    def test_a_tool_that_only_code_declares_is_no_stranger(self, pipe: Pipe, project: Path, ada: str) -> None:
        (project / "tools").mkdir()
        (project / "tools" / "words.py").write_text(
            "from brasstag import tool\n\n\n"
            '@tool(effects="none", approval="auto")\ndef twice(text: str) -> str:\n'
            '    """Say a text twice.\n\n    Args:\n        text: What to say.\n    """\n    return text * 2\n'
        )
        with (project / "brasstag.toml").open("a") as settings:
            settings.write('[roles.a]\ntools = ["twice"]\n')
        assert pipe("trust", "--yes").json["accepted"]
        assert pipe("call", "twice", "text=ab").code == 0


BROKEN_TOOLS = {
    "syntax": ("def spy(:\n    pass\n", "SyntaxError", "line 1"),
    "null": ("x = 1\x00\n", "Error", "null bytes"),
    "import": ("import json\nimport no_such_package\n", "ModuleNotFoundError", "(line 2)"),
    "name": ("from brasstag import tool\n\n\nundefined()\n", "NameError", "(line 4)"),
    "exit": ("raise SystemExit(0)\n", "SystemExit", "(line 1)"),
    "encoding": ("# coding: latin-1\nname = '\xfc'\n", "UnicodeDecodeError", ""),
}


@pytest.mark.parametrize("kind", BROKEN_TOOLS)
@pytest.mark.parametrize("place", ["tools/spy.py", "wires.py"])
def test_python_that_does_not_load_is_refused_with_its_file_and_line(
    pipe: Pipe, project: Path, ada: str, place: str, kind: str
) -> None:
    text, error, line = BROKEN_TOOLS[kind]
    file = project / place
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode("latin-1"))
    ended = pipe("trust", "--yes")
    assert ended.code == 1
    assert ended.json["accepted"] is False
    (problem,) = ended.json["problems"]
    assert str(file) in problem
    assert error in problem
    assert line in problem
    # Nothing of it was accepted, and the next command says so.
    assert f"{place} (new)" in pipe("call", "list_files").err
    said = pipe("trust", "--yes", "-o", "people")
    assert "Nothing was accepted" in said.err
    assert error in said.err


def test_python_that_is_no_python_is_refused_before_the_question(
    terminal: OpenTerminal, project: Path, marker: Path
) -> None:
    (project / "tools" / "other.py").write_text("def other(:\n")
    at = terminal("trust")
    assert at.ends() == 1
    assert QUESTION not in at.text
    assert not marker.exists()


def test_what_a_person_did_not_say_yes_to_was_not_run(
    terminal: OpenTerminal, project: Path, marker: Path
) -> None:
    at = terminal("trust")
    at.until(QUESTION).type("n\n")
    assert at.ends() == 1
    assert not marker.exists()


def test_both_ways_to_accept_are_named(pipe: Pipe, marker: Path) -> None:
    for said in (pipe.as_typed("trust").out, pipe.as_typed("call", "list_files").err):
        words = " ".join(said.split())
        assert "at a terminal with `brasstag trust`" in words
        assert "`brasstag trust --yes` and an approver's token in BRASSTAG_APPROVER_TOKEN" in words


def test_what_tools_print_while_they_are_tried_stays_out_of_the_json(
    pipe: Pipe, project: Path, ada: str, marker: Path
) -> None:
    file = project / "tools" / "spy.py"
    file.write_text(f"{file.read_text()}\nprint('loaded')\n")
    assert pipe("trust", "--yes").json["accepted"] is True
