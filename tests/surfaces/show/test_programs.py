"""Code at the command line: that it has run, how it ended, what it said, and what becomes of its changes."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import accept
from tests.surfaces.conftest import OpenTerminal, Pipe
from tests.surfaces.terminal import CTRL_C

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

CHANGE = "command=seq 12; echo oops >&2; echo new > a.md; exit 3"
QUESTION = "approve, deny or later? [later]:"


@pytest.fixture(autouse=True)
def file(project: Path) -> Path:
    path = project / "data" / "a.md"
    path.write_text("old\n")
    return path


@pytest.fixture
def waiting(pipe: Pipe) -> str:
    """An approval of what code has changed."""
    return str(pipe("call", "shell", CHANGE).json["error"]["details"]["approvalId"])


def patches(project: Path) -> list[str]:
    return [one.name for one in (project / ".brasstag" / "patches").iterdir()]


class TestApprovals:
    def test_one_about_changes_says_that_the_code_has_run_and_how(self, pipe: Pipe, waiting: str) -> None:
        lines = pipe("approvals", "show", waiting, "-o", "people").out.splitlines()
        assert "as operator used shell, and wants its changes to land" in lines[1]
        assert "  it has run already, and ended with exit code 3; what it changed lands or not" in lines
        assert "    ┊ … 2 lines before these …" in lines
        assert lines.count("    ┊ 12") == lines.count("   !┊ oops") == 1
        assert "    ┊ 2" not in lines
        shown = pipe("approvals", "show", waiting).json
        assert (shown["ran"]["exit_code"], shown["ran"]["stderr"]) == (3, "oops\n")
        assert shown["patch"].startswith(".brasstag/patches/")
        assert pipe("approvals").lines == [shown]

    def test_one_about_a_call_that_has_not_run_says_nothing_of_a_run(self, pipe: Pipe, asked: str) -> None:
        assert "wants to use write_file" in pipe("approvals", "show", asked, "-o", "people").out
        assert "ran" not in pipe("approvals", "show", asked).json

    def test_a_denial_tells_where_the_patch_is(
        self, pipe: Pipe, ada: str, waiting: str, project: Path
    ) -> None:
        denied = pipe("approvals", "deny", waiting, "-o", "people").out
        (patch,) = patches(project)
        assert (
            f"It had run; its changes were not applied, but are kept as a patch: .brasstag/patches/{patch}."
            in denied
        )

    def test_always_writes_the_rule_by_which_the_same_landing_passes(
        self, pipe: Pipe, ada: str, waiting: str, file: Path
    ) -> None:
        approved = pipe("approvals", "approve", waiting, "--always").json
        assert 'allow = "apply_changes(/a.md)"' in approved["rule"]
        file.write_text("old\n")
        assert pipe("call", "shell", CHANGE).json["ok"] is True
        assert file.read_text() == "new\n"

    def test_always_writes_a_rule_for_code_that_then_asks_for_its_changes(
        self, make_locked: Path, pipe: Pipe, ada: str
    ) -> None:
        first = pipe("call", "shell", CHANGE).json["error"]["details"]["approvalId"]
        approved = pipe("approvals", "approve", first, "--always")
        assert approved.json["error"]["code"] == "WAITING_FOR_APPROVAL"
        assert '"shell(/a.md)"' in approved.json["rule"]


@pytest.fixture
def make_locked(project: Path) -> Path:
    settings = project / "brasstag.toml"
    settings.write_text(settings.read_text().replace('"careful"', '"locked"'))
    accept(project)
    return project


class TestPrompt:
    def test_it_does_not_offer_to_edit_what_has_run(self, terminal: OpenTerminal) -> None:
        at = terminal("call", "shell", CHANGE).until(QUESTION).type("e\n").until(QUESTION, times=2)
        assert "it has run already, and ended with exit code 3" in at.text
        assert "NOT_SUPPORTED" not in at.text
        assert at.type("l\n").ends() == 3

    def test_whoever_denies_reads_that_it_ran_and_where_its_changes_are(
        self, terminal: OpenTerminal, project: Path, file: Path
    ) -> None:
        at = terminal("call", "shell", CHANGE, columns=200).until(QUESTION).type("d\n").until("why?:")
        assert at.type("no\n").ends() == 4
        said = "DENIED: the code ran, but nothing it changed was kept: a person denied this call: no"
        assert said in at.text
        assert f"what it changed is kept as a patch: .brasstag/patches/{patches(project)[0]}" in at.text
        assert "  it ran, and ended with exit code 3" in at.text
        assert at.text.count("┊ 12\n") == 2, "once while it ran, once before the question"
        assert file.read_text() == "old\n"


class TestResults:
    def test_they_are_short_in_one_order_and_a_failed_program_is_seen(
        self, pipe: Pipe, ada: str, waiting: str, file: Path
    ) -> None:
        approved = pipe("approvals", "approve", waiting, "-o", "people").out.splitlines()
        file.write_text("old\n")
        at_once = pipe("call", "shell", CHANGE, "--yes", "-o", "people").out.splitlines()
        names = [[line.partition(":")[0] for line in lines[:-2]] for lines in (approved, at_once)]
        assert names[0] == names[1]
        assert approved[12:16] == [" !┊ oops", "exit_code: 3", "path  change    ", "a.md  overwrites"]
        assert approved[-3].startswith("duration: ")
        assert approved[-3].endswith(" ms")
        assert approved[-2].startswith("confined: bubblewrap ")
        assert approved[-2].endswith(", no network")
        assert approved[-1].startswith("  done, exit code 3 · tag_")

    def test_a_good_end_is_green_and_a_failed_program_yellow(self, terminal: OpenTerminal) -> None:
        good, bad = terminal("call", "shell", "command=true"), terminal("call", "shell", "command=false")
        assert good.ends() == bad.ends() == 0
        assert "\x1b[32m  done · " in good.screen
        assert "\x1b[33m  done, exit code 1 · " in bad.screen

    def test_what_was_said_before_the_time_was_over_is_shown_once(
        self, pipe: Pipe, terminal: OpenTerminal
    ) -> None:
        late = ("call", "shell", "command=echo early; sleep 60", "timeout=1")
        assert "  ┊ early\n" in pipe(*late, "-o", "people").out
        at = terminal(*late)
        assert at.ends() != 0
        assert "TIMEOUT" in at.text
        assert at.text.count("┊ early") == 1

    def test_undo_tells_what_it_removed_from_what_it_restored(
        self, pipe: Pipe, ada: str, waiting: str, file: Path
    ) -> None:
        call = pipe("call", "shell", "command=echo b > b.md; echo new > a.md", "--yes")
        undone = pipe("undo", call.json["tag"]["id"], "--yes")
        assert undone.json["value"] == {"restored": ["a.md"], "removed": ["b.md"]}


class TestInterrupts:
    def test_ctrl_c_ends_the_program_and_nothing_lands(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        command = "command=echo begun; sleep 60; echo x > made"
        at = terminal("call", "shell", command, "timeout=100").until("begun").type(CTRL_C)
        assert at.ends() == 130
        assert not (project / "data" / "made").exists()
        (ended,) = [one for one in pipe("timeline", "show").lines if one["entry"] == "called"]
        assert (ended["outcome"], ended["result"]["error"]["code"]) == ("failed", "CANCELLED")
        assert ended["result"]["error"]["details"]["stdout"] == "begun\n"
        assert pipe("tools").err == "", "nothing is left to recover"


def test_explaining_a_run_says_that_its_changes_are_judged_afterwards(pipe: Pipe) -> None:
    said = "What it changes is judged once it has run, as apply_changes."
    code = ("policy", "explain", "shell", "command=echo c > a.md")
    assert said in pipe(*code, "-o", "people").out
    assert pipe(*code).json["then"] == "apply_changes"
    file = ("policy", "explain", "write_file", "path=a.md", "content=c")
    assert said not in pipe(*file, "-o", "people").out
    assert pipe(*file).json["then"] is None
    denied = ("policy", "explain", "shell", "command=rm -rf /")
    assert pipe(*denied).json["verdict"]["decision"] == "deny"
    assert said not in pipe(*denied, "-o", "people").out
