"""Calling tools from a pipe: arguments in every form, exit codes, and who may say yes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import accept
from tests.surfaces.conftest import OpenTerminal, Pipe
from tests.surfaces.terminal import CTRL_C


def add_tool(project: Path, name: str, body: str, **config: Any) -> None:
    """Give the project a tool, and accept it."""
    folder = project / "tools"
    folder.mkdir()
    about = {"tool_id": name, "description": "Made for a test.", "approval": "auto", "effects": "external"}
    (folder / f"{name}.json").write_text(json.dumps(about | config))
    (folder / f"{name}.py").write_text(
        "import threading\nfrom brasstag import tool\n\n\n"
        f'@tool(execution_type="function")\ndef {name}() -> None:\n    """{name}"""\n    {body}\n'
    )
    accept(project)


class TestExitCodes:
    def test_0_done(self, pipe: Pipe) -> None:
        ended = pipe("call", "write_file", "path=a.md", "content=hello")
        assert ended.code == 0
        assert ended.json["ok"] is True
        assert ended.json["value"]["path"] == "a.md"
        assert ended.json["tag"]["id"].startswith("tag_")

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (("read_file", "path=nothing.md"), "FILE_NOT_FOUND"),
            (("read_file",), "INVALID_ARGUMENTS"),
            (("read_file", "path=a.md", "colour=red"), "INVALID_ARGUMENTS"),
            (("read_fiel", "path=a.md"), "UNKNOWN_TOOL"),
            (("read_file", "path=../a.md"), "INVALID_PATH"),
            (("read_file", "--json", "{"), "INVALID_ARGUMENTS"),
            (("search_code", "query=a", "include=" + "[" * 5000), "INVALID_ARGUMENTS"),
        ],
    )
    def test_1_failed_with_its_code(self, pipe: Pipe, arguments: tuple[str, ...], code: str) -> None:
        ended = pipe("call", *arguments)
        assert (ended.code, ended.json["error"]["code"]) == (1, code)

    @pytest.mark.parametrize(
        "arguments",
        [
            ("read_file", "notes.md"),
            ("read_file", "=notes.md"),
            ("read_file", "path=a", "path=b"),
            ("read_file", "path=a", "--json", "{}"),
            ("read_file", "--json", "{}", "--stdin"),
            ("read_file", "path=a", "--yes", "--later"),
            ("read_file", "path=a", "--output", "xml"),
            ("read_file", "path=a", "--colour"),
            (),
        ],
    )
    def test_2_usage_and_nothing_is_recorded(self, pipe: Pipe, arguments: tuple[str, ...]) -> None:
        ended = pipe("call", *arguments)
        assert ended.code == 2
        assert ended.out == ""
        assert "brasstag call" in ended.err
        assert pipe("timeline", "show").lines == []

    def test_3_waiting_and_its_id_is_printed(self, pipe: Pipe, asked: str) -> None:
        assert [one["approvalId"] for one in pipe("approvals").lines] == [asked]

    def test_4_denied_by_a_rule_a_role_or_as_a_control_file(self, pipe: Pipe) -> None:
        assert pipe("call", "read_file", "path=.env").code == 4
        assert pipe("call", "read_file", "path=a.md", "--as", "nobody").code == 4
        assert pipe("call", "read_file", "path=.git/config").code == 4

    def test_5_unknown(self, pipe: Pipe, project: Path) -> None:
        add_tool(project, "post", "raise ConnectionResetError")
        ended = pipe("call", "post")
        assert (ended.code, ended.json["error"]["code"]) == (5, "UNKNOWN")


class TestArguments:
    def test_text_stays_text_and_the_rest_is_json(self, pipe: Pipe, project: Path) -> None:
        assert pipe("call", "write_file", "path=a.md", "content=1").code == 0
        assert (project / "data" / "a.md").read_text() == "1"
        found = pipe("call", "search_code", "query=1", "max_results=5", "regex=true", 'globs=["*.md"]')
        assert found.json["value"]["matches"][0]["path"] == "a.md"

    def test_a_value_may_hold_what_it_likes(self, pipe: Pipe, project: Path) -> None:
        assert pipe("call", "write_file", "path=a.md", "content=x=1\n--yes\n").code == 0
        assert (project / "data" / "a.md").read_text() == "x=1\n--yes\n"

    def test_one_json_object_on_the_line_or_on_standard_input(self, pipe: Pipe) -> None:
        assert pipe("call", "write_file", "--json", '{"path": "a.md", "content": "ü"}').code == 0
        ended = pipe("call", "read_file", "--stdin", stdin=b'{"path": "a.md"}')
        assert ended.json["value"]["content"] == "ü"

    def test_standard_input_that_is_not_text_is_refused(self, pipe: Pipe) -> None:
        ended = pipe("call", "read_file", "--stdin", stdin=b'{"path": "\xff"}')
        assert ended.code == 2
        assert "not UTF-8 text, at byte 10" in ended.err

    def test_a_truncated_call_is_never_completed(self, pipe: Pipe, project: Path) -> None:
        ended = pipe("call", "write_file", "--stdin", stdin=b'{"path": "a.md", "content": "half')
        assert (ended.code, ended.json["error"]["code"]) == (1, "INVALID_ARGUMENTS")
        assert not (project / "data" / "a.md").exists()

    def test_an_argument_that_is_not_text_is_refused_everywhere(self, pipe: Pipe) -> None:
        for arguments in (
            ("call", "read_file", "path=\udcff"),
            ("approvals", "show", "\udcff\udcff"),
            ("stop", "\udcff"),
        ):
            ended = pipe(*arguments)
            assert ended.code == 2
            assert "not UTF-8 text" in ended.err


class TestYes:
    def test_without_a_person_it_is_refused_before_the_call_is_made(self, pipe: Pipe) -> None:
        ended = pipe("call", "write_file", "path=a.md", "content=x", "--yes")
        assert ended.code == 4
        assert ended.err.startswith("NOT_AN_APPROVER: a decision needs a person")
        assert pipe("timeline", "show").lines == []

    def test_a_token_of_nobody_is_refused_too(self, pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BRASSTAG_APPROVER_TOKEN", "guessed")
        assert pipe("call", "write_file", "path=a.md", "content=x", "--yes").code == 4
        assert pipe("timeline", "show").lines == []

    def test_with_a_token_it_approves(self, pipe: Pipe, ada: str, project: Path) -> None:
        (project / "data" / "a.md").write_text("old")
        assert pipe("call", "write_file", "path=a.md", "content=new", "--yes").code == 0
        assert (project / "data" / "a.md").read_text() == "new"
        (used,) = pipe("approvals", "list", "--all").lines
        assert (used["state"], used["decidedBy"]) == ("consumed", ada)

    def test_it_does_not_outrank_a_rule(self, pipe: Pipe, ada: str) -> None:
        assert pipe("call", "read_file", "path=.env", "--yes").code == 4


class TestTools:
    def test_what_a_tool_prints_is_not_taken_for_our_output(self, pipe: Pipe, project: Path) -> None:
        add_tool(project, "chatty", "print('hello')", effects="none")
        ended = pipe("call", "chatty")
        assert ended.json["ok"] is True
        assert ended.err == "hello\n"

    def test_ctrl_c_leaves_and_the_call_is_not_forgotten(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        add_tool(project, "hang", "print('begun', flush=True); threading.Event().wait()")
        at = terminal("call", "hang").until("begun").type(CTRL_C).until("Ctrl-C again").type(CTRL_C)
        assert at.ends() == 130
        assert "Stopped. `brasstag timeline show`" in at.text
        recovered = pipe("tools")
        assert recovered.code == 0
        assert "Recovered call_" in recovered.err
        (ended,) = [one for one in pipe("timeline", "show").lines if one["entry"] == "settled"]
        assert ended["outcome"] == "unknown"


class TestUndo:
    def test_it_takes_back_and_refuses_after_later_edits(self, pipe: Pipe, ada: str, project: Path) -> None:
        file = project / "data" / "a.md"
        file.write_text("first")
        tag = pipe("call", "write_file", "path=a.md", "content=second", "--yes").json["tag"]["id"]
        assert pipe("undo", tag).code == 3
        assert pipe("undo", tag[-10:], "--yes").code == 0
        assert file.read_text() == "first"
        file.write_text("third")
        ended = pipe("undo", tag, "--yes")
        assert (ended.code, ended.json["error"]["code"]) == (1, "CANNOT_UNDO")

    def test_a_tag_nobody_knows(self, pipe: Pipe) -> None:
        assert pipe("undo", "tag_nothing").json["error"]["code"] == "TAG_NOT_FOUND"


class TestForPeople:
    def test_results_are_read_not_parsed(self, terminal: OpenTerminal, project: Path) -> None:
        at = terminal("call", "write_file", "path=a.md", "content=hello\n")
        assert at.ends() == 0
        assert at.text.startswith("Created a.md: 1 line, 6 bytes.\n  done · tag_")
        at = terminal("call", "read_file", "path=a.md")
        assert at.ends() == 0
        assert at.text.startswith("hello\n  done · tag_")
        at = terminal("call", "list_files")
        assert at.ends() == 0
        assert at.text.splitlines()[0].split() == ["name", "type", "size", "modified"]

    def test_a_wrong_call_is_told_where_the_arguments_are_listed(self, terminal: OpenTerminal) -> None:
        at = terminal("call", "write_file", "path=a.md")
        assert at.ends() == 1
        assert "INVALID_ARGUMENTS: write_file: content is missing" in at.text
        assert "`brasstag tools show write_file`" in at.text

    def test_a_file_cannot_speak_to_the_terminal(self, terminal: OpenTerminal, project: Path) -> None:
        (project / "data" / "a.md").write_text("\x1b]0;title\x07\x9b31m\u2066")
        at = terminal("call", "read_file", "path=a.md")
        assert at.ends() == 0
        assert "⟨U+001B⟩]0;title⟨U+0007⟩⟨U+009B⟩31m⟨U+2066⟩" in at.text
        at = terminal("call", "read_file", "path=a.md", "-o", "json")
        assert at.ends() == 0
        assert at.screen.isascii()
        assert not {"\x1b", "\x07"} & set(at.screen)
