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
    assert "brasstag.toml (changed). Run `brasstag trust`" in ended.err
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
        assert "the timeline you knew is not here" in at.text
        assert at.type("\n").ends() == 1
