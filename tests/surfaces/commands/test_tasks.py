"""Tasks as people see and steer them: the tree, answers, stops, costs, memories."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.conftest import MakeProject
from tests.engine.crews import CREW, call, turn, write_script
from tests.surfaces.commands.test_run import asking, delegating
from tests.surfaces.conftest import OpenTerminal, Pipe
from tests.surfaces.holding import add_hold, wait_begun


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    return make_project(CREW)


@pytest.fixture
def waiting(pipe: Pipe, project: Path) -> str:
    """A run that waits for an approval and an answer."""
    asking(project)
    ended = pipe("run", "Do it")
    assert ended.code == 3
    return str(ended.lines[-1]["run"])


@pytest.fixture
def question(pipe: Pipe, waiting: str) -> str:
    (found,) = [task["task"] for task in pipe("tasks", waiting).lines if task["role"] == "person"]
    return str(found)


class TestTasks:
    def test_programs_get_a_line_for_each_task_with_what_it_waits_for(
        self, pipe: Pipe, waiting: str, question: str
    ) -> None:
        root, asked = pipe("tasks").lines
        assert (root["task"], root["parent"], root["kind"], root["status"]) == (
            waiting,
            None,
            "agent",
            "blocked",
        )
        assert root["waitsFor"] == ["approval of write_file", "an answer"]
        assert len(root["approvals"]) == 1
        assert (asked["task"], asked["parent"], asked["kind"]) == (question, waiting, "question")
        assert asked["title"] == "Which colour?"

    def test_people_see_a_tree_and_how_to_answer(
        self, terminal: OpenTerminal, waiting: str, question: str
    ) -> None:
        at = terminal("tasks", columns=120)
        assert at.ends() == 0
        assert "waits for approval of write_file, an answer" in at.text
        assert "└─ ◌ person" in at.text
        assert f"brasstag answer {question[-8:]} 'YOUR ANSWER'" in at.text
        assert "brasstag approvals approve " in at.text

    def test_runs_that_ended_long_ago_and_desks_are_shown_on_demand(self, pipe: Pipe, project: Path) -> None:
        write_script(project, {"boss": [turn(text="Done.")]})
        runs = [pipe("run", f"Do {number}").lines[-1]["task"] for number in range(6)]
        pipe("call", "list_files")
        assert [task["task"] for task in pipe("tasks").lines] == runs[1:]
        everything = pipe("tasks", "--all").lines
        assert [task["task"] for task in everything if task["kind"] == "agent"] == runs
        assert [task["kind"] for task in everything].count("desk") == 1
        assert [task["task"] for task in pipe("tasks", runs[0][-8:]).lines] == [runs[0]]

    def test_a_desk_is_shown_while_it_waits(self, pipe: Pipe, asked: str) -> None:
        (desk,) = pipe("tasks").lines
        assert desk["approvals"] == [asked]

    def test_nothing_yet(self, pipe: Pipe) -> None:
        assert pipe("tasks").lines == []
        assert "No run was started here yet" in pipe("tasks", "-o", "people").out
        assert "TASK_NOT_FOUND" in pipe("tasks", "nothing").err


class TestAnswer:
    def test_it_takes_a_person(self, pipe: Pipe, question: str) -> None:
        ended = pipe("answer", question, "Blue")
        assert ended.code == 4
        assert "NOT_AN_APPROVER" in ended.err

    def test_it_says_that_nobody_works_on_the_run_and_how_to(
        self, pipe: Pipe, question: str, waiting: str, ada: str
    ) -> None:
        said = pipe("answer", question[-8:], "Blue", "-o", "people").out
        assert "No process works on this run now." in said
        assert f"brasstag resume {waiting}" in said
        assert "TASK_CLOSED" in pipe("answer", question, "Red").err

    def test_documents_go_with_it_and_the_run_goes_on_here(
        self, pipe: Pipe, project: Path, question: str, ada: str
    ) -> None:
        (project / "data" / "colours.md").write_text("blue")
        ended = pipe("answer", question, "See colours.md", "-d", "data/colours.md", "--go-on")
        assert ended.code == 3, "the approval still waits"
        (answered,) = [line for line in ended.lines if line.get("event") == "answered"]
        assert answered["by"] == ada
        assert ended.lines[-1]["event"] == "waiting"
        assert [one["tool"] for one in ended.lines[-1]["approvals"]] == ["write_file"]

    def test_it_works_while_settings_are_broken(
        self, pipe: Pipe, project: Path, question: str, ada: str
    ) -> None:
        (project / "brasstag.toml").write_text("[room\n")
        assert pipe("answer", question, "Blue").json["answered"] is True

    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            (["answer", "{question}"], 2, "Missing argument"),
            (["answer", "{question}", " "], 1, "an answer needs words"),
            (["answer", "{run}", "Blue"], 1, "is no question to a person"),
            (["answer", "nothing", "Blue"], 1, "TASK_NOT_FOUND"),
            (["answer", "{question}", "Blue", "-d", "none.md"], 1, "FILE_NOT_FOUND"),
        ],
    )
    def test_what_cannot_be_an_answer_answers_nothing(
        self, pipe: Pipe, question: str, waiting: str, ada: str, arguments: list[str], code: int, said: str
    ) -> None:
        ended = pipe(*(one.format(question=question, run=waiting) for one in arguments))
        assert ended.code == code
        assert said in ended.err
        (still,) = [task for task in pipe("tasks").lines if task["task"] == question]
        assert still["status"] == "blocked"


class TestStop:
    def test_everything_below_is_stopped_and_withdrawn(self, pipe: Pipe, waiting: str, question: str) -> None:
        ended = pipe("stop", waiting)
        assert ended.code == 0
        assert ended.json["stopped"] == [question, waiting]
        assert len(ended.json["withdrawn"]) == 1
        assert ended.json["acting"] == []
        assert {task["status"] for task in pipe("tasks").lines} == {"cancelled"}
        assert "TASK_CLOSED" in pipe("stop", waiting).err

    def test_people_read_each_of_them(self, pipe: Pipe, waiting: str, question: str) -> None:
        said = pipe("stop", waiting, "-o", "people").out
        assert f"Stopped {waiting}." in said
        assert f"stopped person {question}" in said
        assert "withdrew write_file (apr_" in said

    def test_a_call_that_acts_is_named_and_unknown(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        go = add_hold(project)
        write_script(project, {"boss": [turn(call("hold", until=str(go))), turn(text="Held.")]})
        at = terminal("run", "Hold")
        wait_begun(go)
        (task,) = pipe("tasks").lines
        ended = pipe("stop", task["task"])
        assert ended.code == 5
        assert ended.json["acting"] == [{"call": f"{task['task']}:0.0", "tool": "hold", "outcome": "unknown"}]
        assert ended.json["cutOff"] == []
        go.touch()
        assert at.ends() == 1
        assert "CANCELLED: stopped by " in at.text

    @pytest.mark.parametrize("effects", ["none", "files"])
    def test_a_call_that_has_changed_nothing_is_named_and_cut_off(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path, effects: str
    ) -> None:
        go = add_hold(project, effects=effects)
        write_script(project, {"boss": [turn(call("hold", until=str(go))), turn(text="Held.")]})
        at = terminal("run", "Hold")
        wait_begun(go)
        (task,) = pipe("tasks").lines
        ended = pipe("stop", task["task"], "-o", "people")
        assert ended.code == 0
        assert f"hold ({task['task']}:0.0) was cut off before it changed anything" in ended.out
        # It still hangs, and nobody waits for it.
        assert at.ends() == 1
        assert "CANCELLED: stopped by " in at.text
        go.touch()

    def test_a_stopped_run_can_go_on(self, pipe: Pipe, project: Path, waiting: str, ada: str) -> None:
        pipe("stop", waiting)
        resumed = pipe("resume", waiting)
        assert resumed.code == 3
        assert resumed.lines[0]["event"] == "resumed"

    def test_nothing_to_stop(self, pipe: Pipe) -> None:
        assert pipe("stop").code == 2
        assert "TASK_NOT_FOUND" in pipe("stop", "nothing").err

    @pytest.mark.parametrize("command", ["stop", "watch", "resume", "tasks", "cost"])
    @pytest.mark.parametrize("name", ["", " ", "ab"])
    def test_a_name_that_names_nothing_is_told_how_to_be_one(
        self, pipe: Pipe, command: str, name: str
    ) -> None:
        ended = pipe(command, name)
        assert ended.code == 1
        assert "TASK_NOT_FOUND: name the task by its id, or by 4 or more characters of its end" in ended.err

    def test_every_command_takes_the_end_of_an_id(self, pipe: Pipe, waiting: str, question: str) -> None:
        tail = waiting[-8:]
        shown = pipe("timeline", "show", tail).lines
        assert shown == pipe("timeline", "show", "--task", waiting).lines
        assert shown == pipe("timeline", "show", waiting).lines
        assert {entry["task"] for entry in shown} == {waiting}
        assert len(pipe("timeline", "export", "--task", tail).lines) >= len(shown)
        assert [task["task"] for task in pipe("tasks", tail).lines] == [waiting, question]
        assert list(pipe("cost", tail).json["tasks"]) == [waiting]
        assert pipe("resume", tail).code == 3
        assert pipe("stop", tail).json["task"] == waiting


class TestApprovingForAgents:
    def test_the_queue_says_which_role_of_which_task_asks(self, pipe: Pipe, waiting: str) -> None:
        assert f"boss ({waiting})" in pipe("approvals", "-o", "people").out
        assert pipe("approvals").json["taskId"] == waiting

    def test_a_rule_for_the_next_time_is_written(
        self, pipe: Pipe, project: Path, waiting: str, ada: str
    ) -> None:
        approval = pipe("approvals").json["approvalId"]
        ended = pipe("approvals", "approve", approval, "--always")
        assert ended.code == 0
        assert ended.json["rule"].strip() in (project / "brasstag.toml").read_text()

    def test_edited_arguments_run_where_the_task_does(
        self, pipe: Pipe, project: Path, waiting: str, question: str, ada: str
    ) -> None:
        approval = pipe("approvals").json["approvalId"]
        edited = json.dumps({"path": "a.md", "content": "better"})
        assert pipe("approvals", "approve", approval, "--arguments", edited).json["ran"] is False
        assert pipe("approvals", "approve", approval).code == 0, "a second yes changes nothing"
        assert (project / "data" / "a.md").read_text() == "old"
        pipe("answer", question, "Blue")
        assert pipe("resume", waiting).code == 0
        assert (project / "data" / "a.md").read_text() == "better"


class TestCost:
    def test_steps_and_tokens_by_task_role_and_model(self, pipe: Pipe, project: Path) -> None:
        delegating(project)
        run = pipe("run", "Sum", "-d", "raw.csv").lines[-1]["task"]
        found = pipe("cost", run).json
        assert found["total"]["steps"] == 4
        assert {name: one["steps"] for name, one in found["roles"].items()} == {"boss": 2, "worker": 2}
        assert len(found["tasks"]) == 2
        assert list(found["models"]) == [f"scripted:{project}/script.json"]
        for kind in ("tasks", "roles", "models"):
            assert sum(one["tokensIn"] for one in found[kind].values()) == found["total"]["tokensIn"]
        assert list(pipe("cost").json["runs"]) == [run]
        assert "Altogether 4 steps" in pipe("cost", run, "-o", "people").out

    def test_a_price_that_nobody_knows_is_said_plainly(
        self, pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from brasstag.words.turns import Usage

        write_script(project, {"boss": [turn(text="Done.")]})
        monkeypatch.setattr(
            "brasstag.models.scripted.estimated", lambda *_, **__: Usage(input_tokens=10, output_tokens=5)
        )
        ended = pipe("run", "Do it").lines[-1]
        run = ended["task"]
        assert (ended["steps"], ended["tokens"], ended["cost"]) == (1, 15, None)
        assert [task["cost"] for task in pipe("tasks", run).lines] == [None]
        assert "1 step · 15 tokens · cost not known" in pipe("watch", run, "-o", "people").out
        total = pipe("cost", run).json["total"]
        assert (total["stepsWithoutPrice"], total["cost"]) == (1, None)
        said = pipe("cost", run, "-o", "people").out
        assert "not known" in said
        assert "The price of 1 step is not known" in said

    def test_nothing_spent_and_nothing_found(self, pipe: Pipe) -> None:
        assert pipe("cost").json["total"]["steps"] == 0
        assert "nothing was spent" in pipe("cost", "-o", "people").out
        assert "TASK_NOT_FOUND" in pipe("cost", "nothing").err


class TestMemories:
    @pytest.fixture
    def remembered(self, pipe: Pipe, project: Path) -> str:
        write_script(
            project,
            {
                "boss": [
                    turn(call("save_to_long_term_memory", content="Ada likes blue.\nA lot.")),
                    turn(text="Noted."),
                ]
            },
        )
        assert pipe("run", "Remember").code == 0
        return str(pipe("memories").json["memory"])

    def test_they_are_listed_by_role(self, pipe: Pipe, remembered: str) -> None:
        (found,) = pipe("memories", "list", "--role", "boss").lines
        assert (found["memory"], found["role"], found["run"]) == (remembered, "boss", None)
        assert found["content"] == "Ada likes blue.\nA lot."
        assert pipe("memories", "list", "--role", "worker").lines == []
        said = pipe("memories", "-o", "people").out
        assert "  │ Ada likes blue.\n  │ A lot.\n" in said

    def test_one_is_forgotten(self, pipe: Pipe, remembered: str) -> None:
        assert pipe("memories", "forget", remembered[-8:]).json == {"memory": remembered, "forgotten": True}
        assert pipe("memories").lines == []
        assert "Nothing is remembered." in pipe("memories", "-o", "people").out

    def test_all_are_forgotten_or_none(self, pipe: Pipe, remembered: str) -> None:
        assert pipe("memories", "forget").code == 2
        ended = pipe("memories", "forget", remembered, "nothing")
        assert ended.code == 1
        assert "there is no memory nothing" in ended.err
        assert len(pipe("memories").lines) == 1


class TestAProcessThatDied:
    def test_what_it_held_is_said_to_be_nobodys(
        self, pipe: Pipe, terminal: OpenTerminal, project: Path
    ) -> None:
        go = add_hold(project)
        write_script(project, {"boss": [turn(call("hold", until=str(go))), turn(text="Held.")]})
        at = terminal("run", "Hold").until("uses hold")
        (held,) = pipe("tasks").lines
        assert (held["status"], held["isLeft"]) == ("running", False)
        os.kill(at.pid, signal.SIGKILL)
        at.ends()
        (left,) = pipe("tasks").lines
        assert (left["status"], left["isLeft"]) == ("running", True)
        shown = pipe("tasks", "-o", "people").out
        assert "no process works on it: Hold" in shown
        assert f"brasstag resume {left['run'][-8:]}" in shown


class TestIn80Columns:
    def test_what_goes_wrong_is_told_in_lines_that_break_at_words(self, terminal: OpenTerminal) -> None:
        at = terminal("resume", "nothing_of_that_name_is_anywhere_in_this_room")
        assert at.ends() == 1
        said = at.text.strip().splitlines()
        assert len(said) > 1
        assert max(map(len, said)) <= 80
        assert " ".join(said).endswith("`brasstag tasks` lists them")

    def test_a_long_name_of_a_model_is_not_broken(
        self, terminal: OpenTerminal, pipe: Pipe, project: Path
    ) -> None:
        name = "a-name-of-a-script-that-is-longer-than-what-is-left-of-a-line.json"
        write_script(project, {"boss": [turn(text="Done.")]})
        (project / "script.json").rename(project / name)
        assert pipe("run", "Do it", "--model", f"scripted:{name}").code == 0
        at = terminal("cost")
        assert at.ends() == 0
        assert name in at.text

    def test_a_task_about_a_file_names_it_in_its_title(self, pipe: Pipe, project: Path) -> None:
        given = call("assign_task", target_agent="worker", task_description="Write it", target_file="n.md")
        write_script(project, {"boss": [turn(given), turn(text="Done.")], "worker": [turn(text="Written.")]})
        assert pipe("run", "Do it").code == 0
        assert pipe("tasks").lines[-1]["title"] == "Write it [The file to work on: n.md]"
