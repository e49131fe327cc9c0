"""The form in which commands print: for people everywhere, JSON only where it was asked for."""

import io
import re
import sys
from pathlib import Path

import pytest

from brasstag.surfaces.cli.main import main
from tests.conftest import MakeProject, accept
from tests.engine.crews import CREW, call, turn, write_script
from tests.surfaces.conftest import Ended, Pipe
from tests.transcripts import Keyboard, Screen

JSON = '[cli]\noutput = "json"\n'
LONG = f"{'a-long-name/' * 12}end.md"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*([A-Za-z])")


def add_settings(project: Path, text: str) -> None:
    file = project / "brasstag.toml"
    file.write_text(f"{file.read_text()}\n{text}")


def is_json(ended: Ended) -> bool:
    assert ended.out
    return ended.out.startswith("{")


class TestInAPipe:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("call", "list_files"), "done · tag_"),
            (("tasks",), "No run was started here yet"),
            (("approvals",), "No approval is open"),
            (("timeline", "verify"), "The timeline holds"),
            (("doctor",), "✓ project"),
        ],
    )
    def test_a_command_speaks_to_people(self, pipe: Pipe, arguments: tuple[str, ...], said: str) -> None:
        assert said in pipe.as_typed(*arguments).out

    def test_what_went_wrong_goes_to_standard_error(self, pipe: Pipe) -> None:
        ended = pipe.as_typed("call", "read_file", "path=nothing.md")
        assert ended.code == 1
        assert ended.out == ""
        assert ended.err.startswith("FILE_NOT_FOUND: nothing.md is not in the workspace")

    def test_nothing_is_cut_or_folded_to_the_width_of_a_terminal(
        self, pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "40")
        written = pipe("call", "write_file", f"path={LONG}", "content=x").json
        tag = written["tag"]["id"]
        for arguments in (("documents",), ("documents", "search", "x"), ("timeline", "show", tag)):
            assert LONG in pipe.as_typed(*arguments).out
        overview = pipe.as_typed("tools", "list").out.splitlines()
        described = {one["name"]: one["description"] for one in pipe("tools", "list").lines}
        assert any(line.endswith(described["read_file"].splitlines()[0]) for line in overview)

    @pytest.mark.parametrize("colours", [False, True])
    def test_a_run_is_whole_lines_that_a_log_can_hold(
        self, make_project: MakeProject, pipe: Pipe, monkeypatch: pytest.MonkeyPatch, colours: bool
    ) -> None:
        crew = make_project(CREW, name="crew")
        monkeypatch.chdir(crew)
        monkeypatch.setenv("COLUMNS", "40")
        if colours:
            monkeypatch.setenv("FORCE_COLOR", "1")
        request = f"Write all of it into {LONG}"
        write_script(
            crew, {"boss": [turn(call("write_file", path=LONG, content="x")), turn(text="Written.")]}
        )
        ended = pipe.as_typed("run", request)
        assert ended.code == 0
        lines = ESCAPE.sub("", ended.out).splitlines()
        assert f"▸ boss       {request}" in lines
        assert any(line.startswith("✓ boss       write_file") and LONG in line for line in lines)
        assert any(line.startswith("✓ boss") and "tokens" in line and len(line) > 40 for line in lines)
        # Colours may be there where they were asked for; the cursor is never moved.
        assert set(ESCAPE.findall(ended.out)) == ({"m"} if colours else set())

    def test_no_question_is_asked_about_what_went_into_a_file(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (project / "data" / "notes.md").write_text("old")
        monkeypatch.chdir(project)
        screen, file = Screen(), io.StringIO()
        monkeypatch.setattr(sys, "stdin", Keyboard(["approve"], screen))
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(sys, "stdout", file)
        with pytest.raises(SystemExit) as ended:
            main(["call", "write_file", "path=notes.md", "content=new"])
        assert ended.value.code == 3
        assert "Waiting for approval" in file.getvalue()
        assert (project / "data" / "notes.md").read_text() == "old"


class TestSetting:
    def test_it_makes_every_command_print_json(self, pipe: Pipe, project: Path) -> None:
        add_settings(project, JSON)
        accept(project)
        assert pipe.as_typed("call", "list_files").json["ok"] is True
        assert pipe.as_typed("timeline", "verify").json["ok"] is True
        assert {line["what"] for line in pipe.as_typed("doctor").lines} >= {"project"}

    def test_the_option_counts_before_it(self, pipe: Pipe, project: Path) -> None:
        add_settings(project, JSON)
        accept(project)
        (project / "data" / "a.md").write_text("x")
        assert "The timeline holds" in pipe.as_typed("timeline", "verify", "--output", "people").out
        assert not is_json(pipe.as_typed("documents", "-o", "people", "list"))

    def test_it_is_that_of_the_project_the_command_is_about(
        self, pipe: Pipe, project: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add_settings(project, JSON)
        accept(project)
        other = make_project(name="other")
        for place in (project, other):
            (place / "data" / "a.md").write_text("x")
        inside = project / "data"
        assert pipe.as_typed("timeline", "verify", "-C", str(inside)).json["ok"] is True
        assert "The timeline holds" in pipe.as_typed("timeline", "verify", "-C", str(other)).out
        assert not is_json(pipe.as_typed("documents", "-C", str(other), "list"))
        assert not is_json(pipe.as_typed("documents", "list", "-C", str(other)))
        monkeypatch.chdir(other)
        assert is_json(pipe.as_typed("documents", "-C", str(project), "list"))

    @pytest.mark.parametrize("value", ['"xml"', "3", '["json"]', '"JSON"', "true"])
    def test_any_other_word_is_refused_with_the_two_there_are(
        self, pipe: Pipe, project: Path, value: str
    ) -> None:
        add_settings(project, f"[cli]\noutput = {value}\n")
        for arguments in (("trust",), ("doctor",)):
            ended = pipe.as_typed(*arguments)
            said = " ".join(f"{ended.out} {ended.err}".split())
            assert ended.code == 1
            assert "cli.output" in said
            assert "'people' or 'json'" in said
        # What a person needs when settings are broken goes on.
        assert "The timeline holds" in pipe.as_typed("timeline", "verify").out

    def test_a_file_that_is_not_accepted_gets_no_yes_by_printing_json(
        self, pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add_settings(project, JSON)
        screen = Screen()
        monkeypatch.setattr(sys, "stdin", Keyboard(["y"], screen))
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(sys, "stdout", screen)
        with pytest.raises(SystemExit) as ended:
            main(["trust"])
        assert ended.value.code == 1
        assert "Load these control files" not in screen.getvalue()
        assert 'output = \\"json\\"' in screen.getvalue()
