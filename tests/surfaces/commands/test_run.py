"""Running a crew in a pipe: what programs read, and how it ends."""

from pathlib import Path
from typing import Any

import pytest

from brasstag.app import add_approver
from brasstag.models.choose import DEFAULT_MODELS
from brasstag.surfaces.cli.follow.events import TOLD
from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from brasstag.surfaces.cli.terminal.exits import Exit
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject, accept
from tests.engine.crews import CREW, call, turn, write_script
from tests.surfaces.conftest import Pipe


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    return make_project(CREW)


def delegating(project: Path) -> None:
    """A crew whose boss gives a file to a worker, who writes another one."""
    (project / "data" / "raw.csv").write_text("a,b\n1,2\n")
    write_script(
        project,
        {
            "boss": [
                turn(call("route_to_worker", request="Sum it up", documents=["raw.csv"]), text="Go on."),
                turn(call("handoff", result={"sum": 3}, documents=["sum.md"])),
            ],
            "worker": [
                turn(call("write_file", path="sum.md", content="3")),
                turn(call("handoff", result="summed up", documents=["sum.md"])),
            ],
        },
    )


def asking(project: Path) -> None:
    """A crew whose boss wants to write over a file, and asks a question."""
    (project / "data" / "a.md").write_text("old")
    write_script(
        project,
        {
            "boss": [
                turn(
                    call("write_file", path="a.md", content="new"),
                    call("ask_master", question="Which colour?"),
                ),
                turn(text="Thanks."),
            ]
        },
    )


class TestEvents:
    def test_each_happening_is_a_line_and_the_last_says_how_it_ended(self, pipe: Pipe, project: Path) -> None:
        delegating(project)
        ended = pipe("run", "Sum up raw.csv", "--document", "raw.csv")
        assert ended.code == 0, ended.err
        first, *between, last = ended.lines
        assert first["model"] == "scripted:script.json"
        assert first["why"] == "brasstag.toml names it"
        assert [line["event"] for line in between if line["event"] != "text"] == [
            *(
                "opened",
                "turn",
                "opened",
                "delegated",
                "turn",
                "claimed",
                "settled",
                "turn",
                "called",
                "closed",
            ),
            *("returned", "turn", "called", "closed"),
        ]
        for line in [*between, last]:
            assert {"event", "at", "run", "task", "role"} <= line.keys()
        assert {line["run"] for line in between} == {last["task"]}
        assert (last["event"], last["status"], last["result"]) == ("ended", "done", {"sum": 3})
        assert last["documents"] == ["sum.md"]
        assert last["steps"] == 4

    def test_what_models_say_comes_piece_by_piece(self, pipe: Pipe, project: Path) -> None:
        delegating(project)
        said = [line["text"] for line in pipe("run", "Sum").lines if line["event"] == "text"]
        assert "Go on." in "".join(said)

    def test_a_call_tells_its_arguments_and_its_end(self, pipe: Pipe, project: Path) -> None:
        write_script(project, {"boss": [turn(call("read_file", path="none.md")), turn(text="No.")]})
        (told,) = [line for line in pipe("run", "Read").lines if line["event"] == "called"]
        assert (told["tool"], told["input"]["path"], told["outcome"]) == ("read_file", "none.md", "failed")
        assert told["result"]["error"]["code"] == "FILE_NOT_FOUND"

    def test_every_kind_of_entry_has_its_fields(self) -> None:
        assert TOLD.keys() == set(EntryKind)


class TestWaiting:
    def test_when_all_that_is_left_waits_for_people_it_exits_3_and_says_what(
        self, pipe: Pipe, project: Path
    ) -> None:
        asking(project)
        ended = pipe("run", "Do it")
        assert ended.code == 3
        last = ended.lines[-1]
        assert last["event"] == "waiting"
        assert [one["tool"] for one in last["approvals"]] == ["write_file"]
        assert [one["text"] for one in last["questions"]] == ["Which colour?"]

    def test_people_are_told_the_commands_that_answer(self, pipe: Pipe, project: Path) -> None:
        asking(project)
        said = pipe("run", "Do it", "-o", "people").out
        (approval,) = pipe("approvals").lines
        (question,) = [task for task in pipe("tasks").lines if task["role"] == "person"]
        assert f"brasstag approvals approve {approval['approvalId']}" in said
        assert f"brasstag answer {question['task']} 'YOUR ANSWER'" in said
        assert f"brasstag resume {question['run']}" in said

    def test_what_was_answered_meanwhile_goes_on_where_it_was(
        self, pipe: Pipe, project: Path, ada: str
    ) -> None:
        asking(project)
        last = pipe("run", "Do it").lines[-1]
        approved = pipe("approvals", "approve", last["approvals"][0]["approvalId"])
        assert approved.code == 0
        assert approved.json["ran"] is False
        assert approved.json["served"] is False
        assert (project / "data" / "a.md").read_text() == "old"
        answered = pipe("answer", last["questions"][0]["question"], "Blue")
        assert answered.json == {
            "question": last["questions"][0]["question"],
            "run": last["run"],
            "answered": True,
            "served": False,
        }
        resumed = pipe("resume", last["run"])
        assert resumed.code == 0
        assert (project / "data" / "a.md").read_text() == "new"
        assert "opened" not in [line["event"] for line in resumed.lines], (
            "what was told before is not told again"
        )
        assert resumed.lines[-1]["result"] == "Thanks."
        assert pipe("timeline", "verify").json["ok"] is True

    def test_a_denial_is_told_to_the_agent_who_goes_on(self, pipe: Pipe, project: Path, ada: str) -> None:
        (project / "data" / "a.md").write_text("old")
        write_script(project, {"boss": [turn(call("delete_file", path="a.md")), turn(text="Kept.")]})
        (approval,) = pipe("run", "Delete it").lines[-1]["approvals"]
        assert pipe("approvals", "deny", approval["approvalId"], "-r", "we need it").code == 0
        resumed = pipe("resume", approval["task"])
        assert resumed.lines[-1]["result"] == "Kept."
        assert (project / "data" / "a.md").exists()


class TestEndings:
    def test_a_run_that_fails_exits_1_with_its_code(self, pipe: Pipe, project: Path) -> None:
        write_script(project, {"boss": []})
        ended = pipe("run", "Do it")
        assert ended.code == 1
        assert ended.lines[-1]["status"] == "failed"
        assert ended.lines[-1]["result"]["error"]["code"].startswith("MODEL_")

    def test_a_budget_ends_it_and_more_of_it_lets_it_go_on(
        self, pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        thinking = [turn(call("stop_and_think", thoughts=str(n))) for n in range(3)]
        write_script(project, {"boss": [*thinking, turn(text="At last.")]})
        ended = pipe("run", "Think", "--max-steps", "2")
        assert ended.code == 1
        assert ended.lines[-1]["result"]["error"]["code"] == "BUDGET_EXCEEDED"
        assert "continues it" not in ended.out
        assert pipe("resume", ended.lines[-1]["task"]).code == 1
        more = ("resume", ended.lines[-1]["task"], "--max-steps", "9", "--note", "take your time")
        assert pipe(*more).code == Exit.DENIED
        monkeypatch.setenv(TOKEN_VARIABLE, add_approver("ada"))
        resumed = pipe(*more)
        assert resumed.code == 0
        assert resumed.lines[-1]["result"] == "At last."
        (noted,) = [line for line in resumed.lines if line["event"] == "resumed"]
        assert (noted["note"], noted["budget"]) == ("take your time", {"max_steps": 9})

    def test_people_see_the_tree_the_result_and_the_documents(self, pipe: Pipe, project: Path) -> None:
        delegating(project)
        said = pipe("run", "Sum up raw.csv", "-d", "raw.csv", "-o", "people").out
        assert "✓ worker     write_file sum.md: Created sum.md: 1 line, 1 byte." in said
        assert "└─ ✓ worker" in said
        assert "Done. 4 steps" in said
        assert "sum: 3" in said
        assert "document sum.md" in said
        assert "(scripted, not a live model)" in said


class TestBadInput:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["run"],
            ["run", " "],
            ["run", "x", "--max-steps", "0"],
            ["run", "x", "--max-steps", "many"],
            ["run", "x", "--max-steps", "99999999999999999999"],
            ["run", "x", "--max-children", "99999999999999999999"],
            ["run", "x", "--max-depth", "-1"],
            ["run", "x", "--max-seconds", "nan"],
            ["run", "x", "--max-cost", "0"],
            ["run", "x", "--max-cost", "-1"],
            ["run", "x", "--max-cost", "nan"],
            ["run", "x", "--max-cost", "inf"],
            ["run", "x", "--max-seconds", "0"],
            ["run", "x", "--max-depth", "0"],
            ["run", "x", "--max-children", "-3"],
            ["resume"],
            ["resume", "x", "--max-tokens", "0"],
            ["watch"],
        ],
    )
    def test_what_cannot_be_meant_is_a_usage_error_and_begins_nothing(
        self, pipe: Pipe, arguments: list[str]
    ) -> None:
        assert pipe(*arguments).code == 2
        assert pipe("tasks", "--all").lines == []

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (
                ["run", "x", "--role", "cook"],
                "UNKNOWN_ROLE: there is no role 'cook' in this crew; it has boss",
            ),
            (["run", "x", "--document", "none.csv"], "FILE_NOT_FOUND: none.csv"),
            (["run", "x", "--document", "/etc/hostname"], "INVALID_PATH: /etc/hostname lies outside"),
            (["run", "x", "--document", ""], "NOT_A_FILE"),
            (["run", "x", "--model", "nonsense"], "MODEL_NOT_CONFIGURED: 'nonsense' names no model"),
            (["run", "x", "--model", "scripted:none.json"], "MODEL_NOT_CONFIGURED: the script"),
            (["watch", "task_nothing"], "TASK_NOT_FOUND"),
            (["resume", "task_nothing"], "TASK_NOT_FOUND"),
        ],
    )
    def test_what_is_not_there_is_named_and_begins_nothing(
        self, pipe: Pipe, project: Path, arguments: list[str], said: str
    ) -> None:
        write_script(project, {"boss": [turn(text="Done.")]})
        ended = pipe(*arguments)
        assert ended.code == 1
        assert said in ended.err
        assert [task for task in pipe("tasks", "--all").lines if task["kind"] != "desk"] == []

    def test_a_done_run_and_a_desk_cannot_go_on(self, pipe: Pipe, project: Path) -> None:
        write_script(project, {"boss": [turn(text="Done.")]})
        run = pipe("run", "Do it").lines[-1]["task"]
        assert "TASK_CLOSED" in pipe("resume", run).err
        pipe("call", "list_files")
        (desk,) = [task["task"] for task in pipe("tasks", "--all").lines if task["kind"] == "desk"]
        assert "NOT_SUPPORTED" in pipe("resume", desk).err

    @pytest.mark.usefixtures("ada")
    def test_limits_are_not_changed_while_a_run_goes_on(self, pipe: Pipe, project: Path) -> None:
        asking(project)
        run = pipe("run", "Do it").lines[-1]["run"]
        assert "has not ended" in pipe("resume", run, "--max-steps", "9").err

    def test_without_any_model_it_says_how_to_get_one(
        self, pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for variable in [*DEFAULT_MODELS, "OPENAI_BASE_URL", "OLLAMA_HOST", "AZURE_OPENAI_API_KEY"]:
            monkeypatch.delenv(variable, raising=False)
        settings = project / "brasstag.toml"
        settings.write_text(settings.read_text().replace('model = "scripted:script.json"', ""))
        accept(project)
        ended = pipe("run", "Do it")
        assert ended.code == 1
        assert "MODEL_NOT_CONFIGURED: no model is set" in ended.err
        assert pipe("tasks").lines == []


class TestDocuments:
    def test_a_document_named_twice_travels_and_is_shown_once(self, pipe: Pipe, project: Path) -> None:
        (project / "data" / "raw.csv").write_text("a,b\n1,2\n")
        twice = ["raw.csv", "./raw.csv", "raw.csv"]
        write_script(
            project,
            {
                "boss": [
                    turn(call("route_to_worker", request="Sum it up", documents=twice)),
                    turn(call("handoff", result="done", documents=twice)),
                ],
                "worker": [turn(text="3")],
            },
        )
        said = pipe("run", "Sum", "-d", "raw.csv", "-d", "data/raw.csv", "-o", "people")
        assert said.code == 0, said.err
        assert "boss       Sum [raw.csv]\n" in said.out
        assert "worker: Sum it up [raw.csv]\n" in said.out
        assert said.out.count("document raw.csv") == 1

    @pytest.mark.parametrize("typed", ["raw.csv", "data/raw.csv", "./data/raw.csv", "{data}/raw.csv"])
    def test_a_document_may_be_named_as_the_shell_completes_it(
        self, pipe: Pipe, project: Path, typed: str
    ) -> None:
        (project / "data" / "raw.csv").write_text("a\n")
        write_script(project, {"boss": [turn(text="Read.")]})
        ended = pipe("run", "Read", "-d", typed.format(data=project / "data"))
        assert ended.code == 0, ended.err
        opened: dict[str, Any] = ended.lines[1]
        assert opened["input"]["documents"] == ["raw.csv"]


class TestCallsOfAgents:
    def test_tasks_given_away_and_questions_are_exported_as_calls(self, pipe: Pipe, project: Path) -> None:
        delegating(project)
        assert pipe("run", "Sum up raw.csv", "--document", "raw.csv").code == 0
        calls = {one["tool"]: one for one in pipe("timeline", "export", "--calls").lines}
        given = calls["route_to_worker"]
        assert given["type"] == "agent_as_tool"
        assert given["input"] == {"request": "Sum it up", "documents": ["raw.csv"]}
        assert (given["result"], given["status"]) == ("summed up", "done")
        assert given["said"] == "← result from worker"

    def test_what_is_open_is_exported_as_waiting_and_once_stopped_as_cut_off(
        self, pipe: Pipe, project: Path
    ) -> None:
        asking(project)
        waiting = pipe("run", "Paint").lines[-1]
        calls = {one["tool"]: one for one in pipe("timeline", "export", "--calls").lines}
        assert {tool: one["status"] for tool, one in calls.items()} == {
            "write_file": "waiting",
            "ask_master": "waiting",
        }
        asked = calls["ask_master"]
        assert (asked["type"], asked["input"]) == ("ask_master", {"question": "Which colour?"})
        assert asked["result"].startswith("→ asked a person (task_")
        pipe("stop", waiting["run"])
        left = {one["tool"]: one["status"] for one in pipe("timeline", "export", "--calls").lines}
        assert left == {"write_file": "cut off", "ask_master": "cut off"}
