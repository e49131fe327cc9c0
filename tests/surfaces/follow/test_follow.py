"""Following a run at a terminal: the live picture, questions and approvals where one is, leaving."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.conftest import MakeProject
from tests.engine.crews import CREW, call, turn, write_script
from tests.surfaces.commands.test_run import asking, delegating
from tests.surfaces.conftest import OpenTerminal, Pipe
from tests.surfaces.holding import DEADLINE_SECONDS, add_hold, wait_begun
from tests.surfaces.terminal import CTRL_C, CTRL_D

APPROVAL = "approve, edit, deny or later? [later]:"
QUESTION = "your answer, or Enter for later:"


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    return make_project(CREW)


def lines(text: str) -> list[str]:
    """What stands on a screen, line by line, whether printed or drawn over."""
    return [line.rstrip() for line in text.replace("\r", "\n").split("\n")]


class TestTheScreen:
    def test_a_reply_whose_evidence_does_not_hold_is_shown_with_the_reason(
        self, terminal: OpenTerminal, pipe: Pipe, make_project: MakeProject
    ) -> None:
        project = make_project(
            CREW.replace('tools = ["*"]', 'tools = ["*"]\nevidence = true', 1), name="bound"
        )
        write_script(
            project, {"boss": [turn(text="All is well."), turn(text="NO_CLAIMS: nothing was asked.")]}
        )
        at = terminal("run", "Go", "-C", str(project), columns=200)
        assert at.ends() == 0
        assert "✗ boss       evidence refused (1 of 3): the reply has no evidence" in at.text

    @pytest.mark.parametrize("columns", [60, 80, 120])
    def test_no_line_is_wider_than_the_terminal(
        self, terminal: OpenTerminal, project: Path, columns: int
    ) -> None:
        delegating(project)
        at = terminal("run", "Sum up " + "everything there is " * 20, "-d", "raw.csv", columns=columns)
        assert at.ends() == 0
        assert max(map(len, lines(at.text))) <= columns

    def test_it_shows_the_tree_while_the_run_goes_on_and_takes_it_down_again(
        self, terminal: OpenTerminal, project: Path
    ) -> None:
        go = add_hold(project)
        write_script(
            project, {"boss": [turn(call("hold", until=str(go)), text="I hold."), turn(text="Held.")]}
        )
        at = terminal("run", "Hold").until("uses hold")
        assert "boss       │ I hold.  (scripted, not a live model)" in "\n".join(lines(at.text))
        go.touch()
        assert at.ends() == 0
        assert "\x1b[?25h" in at.screen, "the cursor is back"
        assert "✓ boss       hold" in at.text

    def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(
        self, terminal: OpenTerminal, project: Path
    ) -> None:
        delegating(project)
        at = terminal("run", "Sum", "-d", "raw.csv", TERM="dumb")
        assert at.ends() == 0
        assert "\x1b" not in at.screen
        assert "└─ ✓ worker" in at.text

    def test_what_models_and_files_say_cannot_move_the_cursor(
        self, terminal: OpenTerminal, project: Path
    ) -> None:
        posing = "a\x1b[2Jb\u202ec\nDone. 99 steps"
        write_script(
            project, {"boss": [turn(call("read_file", path=posing), text=posing), turn(text=posing)]}
        )
        at = terminal("run", posing)
        assert at.ends() == 0
        assert "\x1b[2J" not in at.screen
        assert "\u202e" not in at.screen
        assert "⟨U+001B⟩" in at.text
        assert sum(line.startswith("Done. 99") for line in lines(at.text)) == 1, "only the result itself"


def asking_in_turn(project: Path) -> None:
    """A crew whose boss first wants to write over a file, and then asks a question."""
    (project / "data" / "a.md").write_text("old")
    write_script(
        project,
        {
            "boss": [
                turn(call("write_file", path="a.md", content="new")),
                turn(call("ask_master", question="Which colour?")),
                turn(text="Thanks."),
            ]
        },
    )


class TestAnsweringInline:
    def test_approvals_and_questions_are_asked_where_the_run_is(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        asking_in_turn(project)
        at = terminal("run", "Do it").until(APPROVAL)
        assert "    -old\n" in at.text
        at.type("a\n").until("Which colour?").until(QUESTION).type("Blue\n")
        assert at.ends() == 0
        assert (project / "data" / "a.md").read_text() == "new"
        answered = [entry for entry in pipe("timeline", "show").lines if entry["entry"] == "answered"]
        assert answered[0]["result"] == "Blue"
        assert answered[0]["by"].endswith("(terminal)")

    @pytest.mark.parametrize("keys", ["\n", CTRL_D])
    def test_an_approval_that_is_put_off_waits_and_the_command_ends_with_3(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path, keys: str
    ) -> None:
        asking_in_turn(project)
        at = terminal("run", "Do it").until(APPROVAL).type(keys)
        assert at.ends() == 3
        assert "Waiting for people:" in at.text
        assert [one["state"] for one in pipe("approvals").lines] == ["open"]

    @pytest.mark.parametrize("keys", ["\n", "  \n", CTRL_D])
    def test_a_question_that_is_put_off_waits_too(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path, keys: str
    ) -> None:
        asking_in_turn(project)
        at = terminal("run", "Do it").until(APPROVAL).type("a\n").until(QUESTION).type(keys)
        assert at.ends() == 3
        assert [task["status"] for task in pipe("tasks").lines] == ["blocked", "blocked"]

    def test_ctrl_c_at_a_question_leaves_the_run(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        asking_in_turn(project)
        at = terminal("run", "Do it").until(APPROVAL).type(CTRL_C)
        assert at.ends() == 130
        assert "continues it here" in at.text
        (run,) = pipe("tasks").lines
        at = terminal("resume", run["task"]).until(APPROVAL).type("a\n").until(QUESTION).type(CTRL_C)
        assert at.ends() == 130
        assert [task["status"] for task in pipe("tasks").lines] == ["blocked", "blocked"]

    def test_later_asks_nothing(self, terminal: OpenTerminal, project: Path) -> None:
        asking(project)
        at = terminal("run", "Do it", "--later")
        assert at.ends() == 3
        assert APPROVAL not in at.text

    def test_a_denial_with_its_reason_reaches_the_agent(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        (project / "data" / "a.md").write_text("old")
        write_script(project, {"boss": [turn(call("delete_file", path="a.md")), turn(text="Kept.")]})
        at = terminal("run", "Delete").until(APPROVAL).type("d\n").until("why?:").type("no\n")
        assert at.ends() == 0
        assert "✗ boss       delete_file denied by" in at.text
        assert "Kept." in at.text

    def test_what_somebody_else_answers_is_no_longer_asked(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path, ada: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (project / "data" / "a.md").write_text("old")
        write_script(project, {"boss": [turn(call("delete_file", path="a.md")), turn(text="Kept.")]})
        at = terminal("run", "Delete", BRASSTAG_APPROVER_TOKEN="").until(APPROVAL)
        (approval,) = pipe("approvals").lines
        denied = pipe("approvals", "deny", approval["approvalId"], "-o", "people")
        assert "The process that works on this run continues it." in denied.out
        at.until("Another person has answered this.")
        assert at.ends() == 0

    def test_others_work_on_while_the_person_thinks(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        go = add_hold(project)
        (project / "data" / "a.md").write_text("old")
        write_script(
            project,
            {
                "boss": [
                    turn(call("delete_file", path="a.md"), call("route_to_worker", request="Hold")),
                    turn(text="Done with both."),
                ],
                "worker": [turn(call("hold", until=str(go))), turn(text="Held.")],
            },
        )
        at = terminal("run", "Do both").until(APPROVAL)
        wait_begun(go)
        go.touch()
        until = time.monotonic() + DEADLINE_SECONDS
        while ("worker", "done") not in {(task["role"], task["status"]) for task in pipe("tasks").lines}:
            assert time.monotonic() < until
        assert at.type("a\n").ends() == 0
        assert "Done with both." in at.text


class TestLeaving:
    @pytest.fixture
    def go(self, project: Path) -> Path:
        go = add_hold(project)
        write_script(project, {"boss": [turn(call("hold", until=str(go))), turn(text="Held.")]})
        return go

    def test_ctrl_c_gives_the_task_back_and_says_how_to_go_on(
        self, terminal: OpenTerminal, pipe: Pipe, go: Path
    ) -> None:
        at = terminal("run", "Hold").until("uses hold")
        at.type(CTRL_C).until("Leaving. Each task is given back")
        go.touch()
        assert at.ends() == 130
        (task,) = pipe("tasks").lines
        assert task["status"] == "ready"
        assert f"brasstag resume {task['task']}" in at.text
        resumed = pipe("resume", task["task"])
        assert resumed.code == 0
        assert resumed.lines[-1]["result"] == "Held."
        kinds = [entry["entry"] for entry in pipe("timeline", "show", "--task", task["task"]).lines]
        assert (kinds.count("claimed"), kinds.count("settled")) == (1, 1)

    def test_leaving_a_watch_leaves_the_run_alone(self, terminal: OpenTerminal, pipe: Pipe, go: Path) -> None:
        running = terminal("run", "Hold").until("uses hold")
        (task,) = pipe("tasks").lines
        watching = terminal("watch", task["task"]).until("boss")
        watching.type(CTRL_C).until("You no longer watch")
        assert watching.ends() == 130
        go.touch()
        assert running.ends() == 0

    def test_sigterm_leaves_in_order_too(self, terminal: OpenTerminal, pipe: Pipe, go: Path) -> None:
        at = terminal("run", "Hold").until("uses hold")
        os.kill(at.pid, signal.SIGTERM)
        at.until("Leaving.")
        go.touch()
        assert at.ends() == 130
        assert [task["status"] for task in pipe("tasks").lines] == ["ready"]


class TestWatching:
    def test_it_shows_all_from_the_beginning_and_ends_as_the_run_did(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        delegating(project)
        run = pipe("run", "Sum", "-d", "raw.csv").lines[-1]["task"]
        at = terminal("watch", run[-8:])
        assert at.ends() == 0
        assert "✓ worker     write_file sum.md" in at.text
        told = [line["event"] for line in pipe("watch", run).lines]
        assert (told[0], told[-1]) == ("opened", "ended")
        assert [line["event"] for line in pipe("watch", run, "--new").lines] == ["ended"]

    def test_a_task_below_can_be_watched_alone(self, pipe: Pipe, project: Path) -> None:
        delegating(project)
        pipe("run", "Sum", "-d", "raw.csv")
        (child,) = [task["task"] for task in pipe("tasks").lines if task["role"] == "worker"]
        told = pipe("watch", child).lines
        assert {line["task"] for line in told} == {child}
        assert told[-1]["result"] == "summed up"

    def test_from_another_terminal_one_can_answer_and_the_run_goes_on(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        write_script(
            project, {"boss": [turn(call("ask_master", question="Which colour?")), turn(text="Thanks.")]}
        )
        running = terminal("run", "Ask").until(QUESTION)
        (question,) = [task for task in pipe("tasks").lines if task["role"] == "person"]
        watching = terminal("watch", question["run"]).until(QUESTION).type("Blue\n")
        assert watching.ends() == 0
        assert running.until("Another person has answered this.").ends() == 0

    def test_it_says_when_nobody_works_on_the_run(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path, ada: str
    ) -> None:
        asking(project)
        last = pipe("run", "Do it").lines[-1]
        at = terminal("watch", last["run"], "--later").until("Waiting for people:")
        pipe("approvals", "approve", last["approvals"][0]["approvalId"])
        at.until("No process works on this run now.")
        pipe("answer", last["questions"][0]["question"], "Blue")
        assert pipe("resume", last["run"]).code == 0
        assert at.ends() == 0
