"""What the shell offers on Tab."""

from collections.abc import Callable
from pathlib import Path

import pytest

from brasstag.store.database.postgres_address import DATABASE_VARIABLE
from tests.conftest import MakeProject, accept
from tests.engine.crews import CREW, call, turn, write_script
from tests.postgres import Server
from tests.surfaces.conftest import Pipe

Tab = Callable[..., list[str]]


@pytest.fixture
def tab(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> Tab:
    def press(*words: str) -> list[str]:
        with monkeypatch.context() as shell:
            shell.setenv("_BRASSTAG_COMPLETE", "complete_bash")
            shell.setenv("COMP_WORDS", " ".join(["brasstag", *words]))
            shell.setenv("COMP_CWORD", str(len(words)))
            return pipe().out.split()

    return press


def test_commands_tools_and_roles(tab: Tab, project: Path) -> None:
    assert tab("ca") == ["call"]
    assert tab("call", "read_") == ["read_file"]
    assert tab("tools", "show", "un") == ["undo", "undo_run"]
    (project / "brasstag.toml").write_text("[roles.editor]\n[roles.architect]\n")
    assert tab("call", "read_file", "--as", "") == ["operator", "editor", "architect"]


def test_crews(tab: Tab) -> None:
    assert tab("init", "--crew", "") == ["analyst", "developer", "novel"]


def test_what_waits_and_what_has_not_ended(tab: Tab, pipe: Pipe, asked: str) -> None:
    task = pipe("approvals", "show", asked).json["taskId"]
    for command in ("show", "approve", "deny"):
        assert tab("approvals", command, "apr_") == [asked]
    assert tab("stop", "") == [task]


def test_runs_questions_roles_and_memories(tab: Tab, pipe: Pipe, project: Path) -> None:
    (project / "brasstag.toml").write_text(f"[room]\nworkspace = 'data'\n{CREW}")
    accept(project)
    remember = call("save_to_long_term_memory", content="x")
    write_script(project, {"boss": [turn(remember), turn(call("ask_master", question="Sure?"))]})
    last = pipe("run", "Ask").lines[-1]
    (question,) = last["questions"]
    assert tab("run", "x", "--role", "") == ["boss", "worker", "helper"]
    assert tab("answer", "") == [question["question"]]
    assert tab("watch", "") == [last["run"], question["question"]]
    for command in ("tasks", "resume", "cost"):
        assert tab(command, "") == [last["run"]]
    assert tab("memories", "forget", "") == [pipe("memories").json["memory"]]


def test_the_end_of_an_id_is_completed_as_lists_show_it(tab: Tab, pipe: Pipe, asked: str) -> None:
    task = pipe("approvals", "show", asked).json["taskId"]
    assert tab("approvals", "show", asked[-8:-4]) == [asked[-8:]]
    assert tab("stop", task[-8:-4]) == [task[-8:]]
    assert tab("timeline", "show", task[-8:-4]) == [task[-8:]]
    assert tab("stop", "zzzz") == []


def test_a_room_on_postgres_is_looked_at_too(
    tab: Tab, pipe: Pipe, make_project: MakeProject, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATABASE_VARIABLE, postgres.url)
    there = make_project(name="there")
    (there / "data" / "a.md").write_text("old")
    monkeypatch.chdir(there)
    asked = pipe("call", "write_file", "path=a.md", "content=new").json["error"]["details"]["approvalId"]
    assert tab("approvals", "show", "apr_") == [asked]
    monkeypatch.setenv(DATABASE_VARIABLE, f"postgresql:///nothing?host={there}")
    assert tab("approvals", "show", "apr_") == []


def test_tools_of_the_project_are_offered_without_being_loaded(tab: Tab, project: Path) -> None:
    (project / "tools").mkdir()
    (project / "tools" / "mine.json").write_text("{ not even JSON")
    (project / "tools" / "mine.py").write_text("raise SystemExit('loaded')")
    assert tab("call", "mi") == ["mine"]


def test_no_name_reaches_a_shell_that_it_could_run(tab: Tab, project: Path) -> None:
    (project / "tools").mkdir()
    (project / "tools" / "$(touch pwned).json").write_text("{}")
    (project / "tools" / "a`id`.json").write_text("{}")
    (project / "brasstag.toml").write_text("[roles.'$(id)']\n")
    assert not any("$" in word or "`" in word for word in tab("call", ""))
    assert tab("call", "read_file", "--as", "") == ["operator"]


def test_outside_a_project_or_in_a_broken_one_nothing_is_said(
    tab: Tab, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (project / ".brasstag" / "state.db").write_bytes(b"broken" * 1000)
    assert tab("approvals", "show", "") == []
    monkeypatch.chdir("/")
    assert tab("approvals", "show", "") == []


def test_the_script_for_a_shell_can_be_shown(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_BRASSTAG_COMPLETE", "source_bash")
    assert "complete -o default -F _brasstag_completion brasstag" in pipe().out
