"""What programs print, as people and programs see it: while it is printed, once, and never as anything else."""

import json
import shutil
import time
from pathlib import Path

import pytest

from brasstag import Output
from brasstag.surfaces.cli.show import program_output
from brasstag.surfaces.cli.show.program_output import LineBuffer, Printed
from tests.conftest import MakeProject, accept
from tests.engine.crews import CREW, call, turn, write_script
from tests.surfaces.conftest import OpenTerminal, Pipe
from tests.surfaces.holding import DEADLINE_SECONDS
from tests.surfaces.terminal import Terminal

confines = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

HOLDING = "echo first; until [ -s go ]; do sleep 0.02; done; echo second"
"""Prints a line, and another once there is something in a file."""


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    return make_project(CREW)


@pytest.fixture
def go(project: Path) -> Path:
    """The file that lets a program go on once something is written there."""
    path = project / "data" / "go"
    path.touch()
    return path


def piece(text: str, stream: str = "stdout", *, of: str = "a", left_out: int = 0) -> Output:
    return Output(of, f"task_of_{of}", "shell", stream, text, left_out)  # type: ignore[arg-type]


class TestLines:
    @pytest.mark.parametrize(
        ("pieces", "lines"),
        [
            (["a\nb", "c\n"], [["a"], ["bc"]]),
            (["a\r\nb\r", "\nc\n"], [["a"], ["b", "c"]]),
            (["10%\r", "20%\r", "done\n"], [[], ["10%"], ["20%", "done"]]),
            (["\r10%", "\r20%\n"], [[], ["10%", "20%"]]),
            (["\n\n", "x"], [["", ""], []]),
            (["a\x0bb\u2028c\n"], [["a\x0bb\u2028c"]]),
        ],
        ids=["cut", "half a break", "drawn anew", "drawn anew first", "empty", "no breaks"],
    )
    def test_a_line_is_given_once_it_is_whole(self, pieces: list[str], lines: list[list[str]]) -> None:
        given = LineBuffer()
        assert [given.add(piece(text)) for text in pieces] == lines

    def test_streams_and_calls_do_not_finish_each_others_lines(self) -> None:
        lines = LineBuffer()
        assert lines.add(piece("a-")) == lines.add(piece("b-", of="b")) == []
        assert lines.add(piece("e\n", "stderr")) == ["e"]
        assert lines.add(piece("b\n", of="b")) == ["b-b"]
        assert list(lines.end("a")) == [("stdout", "a-")]
        assert list(lines.end()) == []

    def test_a_line_that_never_ends_is_not_held_for_ever(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(program_output, "LONGEST_HELD", 10)
        lines = LineBuffer()
        assert lines.add(piece("x" * 8)) == []
        assert lines.add(piece("x" * 8)) == ["x" * 16]

    def test_what_is_missing_is_said_where_it_is_missing(self) -> None:
        lines = LineBuffer()
        lines.add(piece("begun "))
        found = lines.add(piece("rest\n", left_out=1234))
        assert found == ["begun ", "… 1,234 characters are not shown …", "rest"]


class TestColumns:
    def test_calls_that_print_at_once_are_told_apart(self, capsys: pytest.CaptureFixture[str]) -> None:
        printed = Printed()
        printed.show(piece("1\n"), "worker", "shell one")
        printed.show(piece("2\n", of="b"), "worker", "shell two")
        printed.show(piece("3\nend"), "worker", "shell one")
        printed.end("b", "worker")
        printed.end("a", "worker")
        printed.show(piece("4\n", of="c"), "worker", "shell three")
        assert capsys.readouterr().out.splitlines() == [
            "  worker     ┊ 1",
            "· worker     shell two (ask_of_b) prints:",
            "  worker     ┊ 2",
            "· worker     shell one (ask_of_a) prints:",
            "  worker     ┊ 3",
            "  worker     ┊ end",
            "  worker     ┊ 4",
        ]

    def test_of_very_many_lines_at_once_the_newest_are_shown(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(program_output, "MOST_LINES", 2)
        Printed().show(piece("1\n2\n3\n4\n"), "worker", "shell")
        shown = [line.strip() for line in capsys.readouterr().out.splitlines()]
        assert shown == ["worker     ┊ … 2 lines are not shown …", "worker     ┊ 3", "worker     ┊ 4"]


@confines
class TestRun:
    def test_programs_read_an_object_for_each_piece(self, pipe: Pipe, project: Path) -> None:
        command = "echo out; echo err >&2; exit 3"
        write_script(project, {"boss": [turn(call("shell", command=command)), turn(text="Done.")]})
        lines = pipe("run", "Print").lines
        events = [line["event"] for line in lines]
        found = {line["stream"]: line for line in lines if line["event"] == "output"}
        assert {stream: line["text"] for stream, line in found.items()} == {
            "stdout": "out\n",
            "stderr": "err\n",
        }
        (called,) = [line for line in lines if line["event"] == "called"]
        for line in found.values():
            assert line.keys() == {
                *("event", "at", "run", "task", "role"),
                *("call", "tool", "stream", "text", "left_out"),
            }
            assert (line["call"], line["tool"], line["left_out"]) == (called["call"], "shell", 0)
        assert events.index("turn") < events.index("output") < events.index("called")

    def test_the_picture_names_the_call_that_still_runs(
        self, terminal: OpenTerminal, project: Path, go: Path
    ) -> None:
        calls = turn(call("list_files"), call("shell", command=HOLDING))
        write_script(project, {"boss": [calls, turn(text="Done.")]})
        at = terminal("run", "Print").until("┊ first").until("uses shell")
        go.write_text("on")
        assert at.ends() == 0

    def test_people_read_it_once_beside_what_models_say(self, pipe: Pipe, project: Path) -> None:
        command = "echo out; echo err >&2; printf unfinished; exit 3"
        write_script(
            project, {"boss": [turn(call("shell", command=command), text="Go."), turn(text="Done.")]}
        )
        shown = pipe("run", "Print", "-o", "people").out.splitlines()
        places = [
            shown.index("  boss       │ Go.  (scripted, not a live model)"),
            shown.index("  boss       ┊ out"),
            shown.index("  boss       ┊ unfinished"),
            shown.index(f"✓ boss       shell {command}: exit code 3"),
        ]
        assert places == sorted(places)
        assert "  boss      !┊ err" in shown
        assert sum("unfinished" in line for line in shown) == 2, "in the column, and in the command"

    def test_a_line_is_on_the_screen_while_the_program_runs(
        self, terminal: OpenTerminal, project: Path, go: Path
    ) -> None:
        write_script(project, {"boss": [turn(call("shell", command=HOLDING)), turn(text="Done.")]})
        at = terminal("run", "Hold").until("boss       ┊ first")
        assert "second\n" not in at.text
        go.write_text("on")
        assert at.ends() == 0
        assert at.text.index("┊ first") < at.text.index("┊ second") < at.text.index("✓ boss       shell")

    def test_it_can_neither_move_the_cursor_nor_pose_as_a_line_of_ours(
        self, terminal: OpenTerminal, project: Path
    ) -> None:
        code = r"print('\x1b[2J\x1b]0;title\x07\u202e\n✓ boss       forged\rDone. 99 steps\x9b2J')"
        write_script(
            project, {"boss": [turn(call("run_code", language="python", code=code)), turn(text="Done.")]}
        )
        at = terminal("run", "Forge")
        assert at.ends() == 0
        assert not [sign for sign in ("\x1b[2J", "\x1b]0;", "\x07", "\u202e", "\x9b") if sign in at.screen]
        lines = [
            line for line in at.text.replace("\r", "\n").split("\n") if "forged" in line or "99 steps" in line
        ]
        assert lines
        assert all(line.startswith("  boss       ┊ ") for line in lines), lines

    def test_what_is_printed_while_a_person_thinks_is_shown_afterwards(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path, go: Path
    ) -> None:
        begun = "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; echo oops $i >&2; sleep 0.11; done"
        delegates = turn(call("route_to_worker", request="Print"), call("ask_master", question="Which?"))
        write_script(
            project,
            {
                "boss": [delegates, turn(text="Done.")],
                "worker": [turn(call("shell", command=begun)), turn(text="Printed.")],
            },
        )
        at = terminal("run", "Ask").until("your answer, or Enter for later:")
        wait_for_end_of_worker(pipe)
        assert "line 9" not in at.text
        at.type("This.\n")
        assert at.ends() == 0
        for number in range(1, 10):
            assert at.text.count(f"┊ line {number}\n") == at.text.count(f"!┊ oops {number}\n") == 1


def wait_for_end_of_worker(pipe: Pipe) -> None:
    """Wait until the worker's task is done."""
    until = time.monotonic() + DEADLINE_SECONDS
    while not any(task["role"] == "worker" and task["status"] == "done" for task in pipe("tasks").lines):
        assert time.monotonic() < until, "the worker never ended"


@confines
class TestCall:
    def shown(self, at: Terminal) -> list[str]:
        return at.text.splitlines()

    def test_a_line_is_seen_before_the_program_ends_and_none_is_shown_twice(
        self, terminal: OpenTerminal, go: Path
    ) -> None:
        at = terminal("call", "shell", f"command={HOLDING}; echo oops >&2; printf end").until("┊ first")
        assert "second\n" not in at.text
        go.write_text("on")
        assert at.ends() == 0
        lines = self.shown(at)
        assert lines[0] == "  ┊ first"
        assert set(lines[1:4]) == {"  ┊ second", " !┊ oops", "  ┊ end"}
        assert not any(line.startswith(("stdout", "stderr")) for line in lines)
        assert "exit_code: 0" in lines
        assert "first" not in "\n".join(lines[1:])

    def test_the_result_is_whole_where_it_goes_elsewhere(self, terminal: OpenTerminal, pipe: Pipe) -> None:
        ended = pipe("call", "shell", "command=echo out")
        assert ended.json["value"]["stdout"] == "out\n"
        assert ended.err == ""
        at = terminal("call", "shell", "command=echo out", "-o", "json")
        assert at.ends() == 0
        live, result = self.shown(at)
        assert live == "  ┊ out"
        assert json.loads(result)["value"]["stdout"] == "out\n"

    def test_what_could_not_all_be_shown_at_once_is_in_the_result(self, terminal: OpenTerminal) -> None:
        count = program_output.MOST_LINES + 10
        at = terminal("call", "shell", f"command=seq {count}")
        assert at.ends() == 0
        assert {f"  ┊ {number}" for number in range(1, count + 1)} <= set(self.shown(at))

    def test_it_can_neither_move_the_cursor_nor_hide(self, terminal: OpenTerminal) -> None:
        at = terminal("call", "shell", r"command=printf 'a\033[2Jb\007\nexit_code: 0\rdone\n' >&2; exit 1")
        assert at.ends() == 0
        assert "\x1b[2J" not in at.screen
        assert "\x07" not in at.screen
        lines = self.shown(at)
        assert lines[:3] == [" !┊ a⟨U+001B⟩[2Jb⟨U+0007⟩", " !┊ exit_code: 0", " !┊ done"]
        assert "exit_code: 1" in lines

    def test_code_that_is_asked_about_is_shown_before_the_question_and_only_then(
        self, terminal: OpenTerminal, project: Path
    ) -> None:
        (project / "data" / "a.md").write_text("old\n")
        question = "approve, deny or later? [later]:"
        at = terminal("call", "shell", "command=echo new > a.md; echo changed").until(question).type("a\n")
        assert at.ends() == 0
        lines = self.shown(at)
        assert lines[0] == "  ┊ changed"
        assert lines.count("  ┊ changed") == 1
        assert not any(line.startswith("stdout") for line in lines)
        assert (project / "data" / "a.md").read_text() == "new\n"

    def test_code_that_runs_after_a_yes_is_shown_where_the_yes_was_given(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        settings = project / "brasstag.toml"
        settings.write_text(settings.read_text().replace('"careful"', '"locked"'))
        accept(project)
        waiting = pipe("call", "shell", "command=echo out").json["error"]["details"]["approvalId"]
        at = terminal("approvals", "approve", waiting)
        assert at.ends() == 0
        lines = self.shown(at)
        assert lines[0] == "  ┊ out"
        assert not any(line.startswith("stdout") for line in lines)
