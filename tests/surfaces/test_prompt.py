"""The question at the terminal, when a call waits."""

import stat
from pathlib import Path

import pytest

from tests.surfaces.conftest import OpenTerminal, Pipe
from tests.surfaces.terminal import CTRL_C, CTRL_D

QUESTION = "approve, edit, deny or later? [later]:"
OVERWRITE = ("call", "write_file", "path=notes.md", "content=new\n")


@pytest.fixture(autouse=True)
def notes(project: Path) -> Path:
    file = project / "data" / "notes.md"
    file.write_text("old\n")
    return file


def editor(folder: Path, script: str) -> str:
    """An editor that needs nobody: a shell script that is given the file."""
    file = folder / "editor"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


@pytest.mark.parametrize("keys", ["\n", "later\n", "l\n", CTRL_C, CTRL_D])
def test_nothing_is_approved_by_enter_or_by_leaving(
    terminal: OpenTerminal, pipe: Pipe, notes: Path, keys: str
) -> None:
    at = terminal(*OVERWRITE)
    assert at.until(QUESTION).type(keys).ends() == 3
    assert notes.read_text() == "old\n"
    (waiting,) = pipe("approvals").lines
    assert waiting["state"] == "open"
    assert waiting["approvalId"] in at.text.partition(QUESTION)[2]


def test_the_person_sees_the_change_before_the_question_and_approves(
    terminal: OpenTerminal, pipe: Pipe, notes: Path
) -> None:
    at = terminal(*OVERWRITE).until(QUESTION)
    assert "overwrites notes.md (4 → 4 bytes)" in at.text
    assert "    -old\n    +new\n" in at.text
    assert at.type("approve\n").ends() == 0
    assert notes.read_text() == "new\n"
    (used,) = pipe("approvals", "list", "--all").lines
    assert used["state"] == "consumed"
    assert used["decidedBy"].endswith("(terminal)")


def test_a_denial_with_its_reason_ends_the_call(terminal: OpenTerminal, pipe: Pipe, notes: Path) -> None:
    at = terminal(*OVERWRITE).until(QUESTION).type("d\n").until("why?:").type("the old one is better\n")
    assert at.ends() == 4
    assert "DENIED: a person denied this call: the old one is better" in at.text
    assert notes.read_text() == "old\n"
    assert [one["note"] for one in pipe("approvals", "list", "--all").lines] == ["the old one is better"]


def test_leaving_at_the_reason_denies_nothing(terminal: OpenTerminal, pipe: Pipe) -> None:
    assert terminal(*OVERWRITE).until(QUESTION).type("d\n").until("why?:").type(CTRL_C).ends() == 3
    assert [one["state"] for one in pipe("approvals").lines] == ["open"]


def test_an_answer_nobody_knows_is_asked_again(terminal: OpenTerminal) -> None:
    assert terminal(*OVERWRITE).until(QUESTION).type("yes\n").until(QUESTION, times=2).type("\n").ends() == 3


def test_edited_arguments_are_shown_and_run_once_confirmed(
    terminal: OpenTerminal, notes: Path, tmp_path: Path
) -> None:
    changes = editor(tmp_path, 'sed -i s/new/better/ "$1"')
    at = (
        terminal(*OVERWRITE, EDITOR=changes, VISUAL="")
        .until(QUESTION)
        .type("e\n")
        .until("Approve this? [y/N]:")
    )
    assert "    +better\n" in at.text
    assert at.type("y\n").ends() == 0
    assert notes.read_text() == "better\n"
    assert "approved with changed arguments" in at.text


def test_enter_does_not_confirm_an_edit(terminal: OpenTerminal, notes: Path, tmp_path: Path) -> None:
    changes = editor(tmp_path, 'sed -i s/new/better/ "$1"')
    at = (
        terminal(*OVERWRITE, EDITOR=changes, VISUAL="").until(QUESTION).type("e\n").until("[y/N]:").type("\n")
    )
    assert at.until(QUESTION, times=2).type("\n").ends() == 3
    assert notes.read_text() == "old\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo '{' > \"$1\"", "INVALID_ARGUMENTS: the changed arguments are not JSON"),
        ("echo '[]' > \"$1\"", "not a JSON object"),
        ('echo \'{"path": ".env", "content": "x"}\' > "$1"', "BLOCKED_BY_RULE"),
        ("exit 1", "CANCELLED"),
    ],
)
def test_an_edit_that_cannot_be_used_is_told_and_asked_again(
    terminal: OpenTerminal, tmp_path: Path, script: str, said: str
) -> None:
    at = terminal(*OVERWRITE, EDITOR=editor(tmp_path, script), VISUAL="").until(QUESTION).type("e\n")
    assert at.until(QUESTION, times=2).type("\n").ends() == 3
    assert said in at.text


def test_what_hides_is_written_out(terminal: OpenTerminal) -> None:
    at = terminal("call", "write_file", "path=notes.md", "content=a\x1b[2Jb\u202ec\u200bd").until(QUESTION)
    assert "a⟨U+001B⟩[2Jb⟨U+202E⟩c⟨U+200B⟩d" in at.text
    assert "\x1b[2J" not in at.screen
    at.type("\n").ends()


def test_a_long_line_cannot_pose_as_one_of_ours(terminal: OpenTerminal) -> None:
    posing = "x" * 78 + "  overwrites harmless.md (1 → 1 bytes)" + "\n" + "y" * 300
    at = terminal("call", "write_file", "path=notes.md", f"content={posing}").until(QUESTION)
    assert not any(line.startswith("  overwrites harmless") for line in at.text.splitlines())
    assert all(len(line) <= 80 for line in at.text.splitlines())
    # All of it is there.
    assert at.text.replace("\n    │ ⤷ ", "").count("y" * 300) == 1
    at.type("\n").ends()


def test_somebody_who_wants_json_is_not_asked(terminal: OpenTerminal) -> None:
    at = terminal(*OVERWRITE, "-o", "json")
    assert at.ends() == 3
    assert QUESTION not in at.text


def test_what_changed_while_the_person_thought_is_asked_anew(terminal: OpenTerminal, notes: Path) -> None:
    at = terminal(*OVERWRITE).until(QUESTION)
    notes.write_text("somebody else was here\n")
    at.type("a\n").until(QUESTION, times=2)
    assert "-somebody else was here" in at.text
    assert notes.read_text() == "somebody else was here\n"
    assert at.type("a\n").ends() == 0
    assert notes.read_text() == "new\n"


def test_yes_at_a_terminal_approves_without_asking(terminal: OpenTerminal, notes: Path) -> None:
    at = terminal(*OVERWRITE, "--yes")
    assert at.ends() == 0
    assert QUESTION not in at.text
    assert notes.read_text() == "new\n"


def test_an_approval_from_the_queue_whose_file_has_changed_shows_the_change_of_now_and_asks_at_once(
    terminal: OpenTerminal, pipe: Pipe, notes: Path
) -> None:
    pipe(*OVERWRITE)
    (waiting,) = pipe("approvals").lines
    notes.write_text("newer\n")
    at = terminal("approvals", "approve", waiting["approvalId"], "--always").until(QUESTION)
    assert "What you approved has changed since, so nothing was done yet." in at.text
    assert "    -newer\n    +new\n" in at.text
    assert at.type("approve\n").ends() == 0
    assert notes.read_text() == "new\n"
    assert [one["state"] for one in pipe("approvals", "list", "--all").lines] == ["void", "consumed"]
