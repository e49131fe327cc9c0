"""Tracebacks of tools: kept by tag, for people alone."""

import stat
from pathlib import Path

import pytest

from brasstag.engine import tracebacks
from tests.conftest import MakeProject, accept
from tests.engine.crews import CREW, call, turn, write_script
from tests.surfaces.conftest import Pipe

TOOL = '''
import os
from brasstag import ToolError, tool
from brasstag.words.errors import Code


class Unreadable(Exception):
    def __str__(self):
        raise ValueError("no words")


def deeper(how):
    if how == "secret":
        raise ValueError(f"refused: {os.environ['SHOP_API_KEY']}")
    if how == "controls":
        raise ValueError("\\x1b[2J\\u202e cleared")
    if how == "unreadable":
        raise Unreadable
    if how == "endless":
        raise ValueError("x" * 1_000_000)
    if how == "exit":
        raise SystemExit(3)
    if how == "own":
        raise ToolError(Code.BUSY, "not now")
    if how == "recursion":
        deeper(how)
    raise KeyError("missing")


@tool(effects="none", approval="auto", replay="safe")
def fail(how: str = "") -> str:
    """Fail."""
    return deeper(how)


@tool(effects="none", approval="auto", replay="safe")
async def fail_on_loop(how: str = "") -> str:
    """Fail."""
    return deeper(how)


@tool(effects="external", approval="confirm")
def fail_outside(how: str = "") -> str:
    """Fail."""
    return deeper(how)
'''


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    project = make_project(CREW)
    (project / "tools").mkdir()
    (project / "tools" / "failing.py").write_text(TOOL)
    accept(project)
    return project


def failed(pipe: Pipe, tool: str, how: str = "") -> str:
    """Call a tool that fails; return its tag."""
    return str(pipe("call", tool, f"how={how}").json["tag"]["id"])


@pytest.mark.parametrize("tool", ["fail", "fail_on_loop"])
def test_the_traceback_is_shown_by_the_tag_or_its_end(pipe: Pipe, project: Path, tool: str) -> None:
    tag = failed(pipe, tool)
    for name in (tag, tag[-8:]):
        shown = pipe.as_typed("logs", name).out
        assert "Traceback (most recent call last):" in shown
        assert "tools/failing.py" in shown
        assert 'raise KeyError("missing")' in shown
        assert f" · {tool} · " in shown.splitlines()[0]
    told = pipe("logs", tag).json
    assert (told["tag"], told["tool"], told["error"]) == (tag, tool, "KeyError: 'missing'")
    assert [one["tag"] for one in pipe("logs").lines] == [tag]
    assert tag in pipe.as_typed("logs").out


def test_the_caller_is_told_what_was_raised_and_people_where_to_look(pipe: Pipe, project: Path) -> None:
    ended = pipe.as_typed("call", "fail")
    assert "EXECUTION_ERROR: fail raised KeyError: 'missing'" in ended.err
    tail = pipe("logs").json["tag"][-8:]
    assert f"brasstag logs {tail}   shows the traceback" in ended.err
    assert "Traceback" not in pipe("call", "fail").out


def test_it_is_the_person_s_alone(pipe: Pipe, project: Path) -> None:
    tag = failed(pipe, "fail")
    folder = project / ".brasstag" / "logs"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / f"{tag}.log").stat().st_mode) == 0o600


def test_secrets_and_the_places_of_the_host_are_taken_out(
    pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "correct-horse-battery")
    ended = pipe("call", "fail", "how=secret")
    shown = pipe("logs", ended.json["tag"]["id"]).json["text"]
    for text in (shown, ended.out):
        assert "correct-horse" not in text
        assert "refused: ***" in text
        assert str(project) not in text


def test_what_would_steer_the_terminal_is_written_out(pipe: Pipe, project: Path) -> None:
    shown = pipe.as_typed("logs", failed(pipe, "fail", "controls")).out
    assert "⟨U+001B⟩[2J⟨U+202E⟩ cleared" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in pipe.as_typed("logs").out


@pytest.mark.parametrize(
    ("how", "said"),
    [("unreadable", "Unreadable"), ("endless", "characters are left out"), ("exit", "SystemExit")],
)
@pytest.mark.parametrize("tool", ["fail", "fail_on_loop"])
def test_whatever_is_raised_is_kept_within_bounds(
    pipe: Pipe, project: Path, tool: str, how: str, said: str
) -> None:
    text = pipe("logs", failed(pipe, tool, how)).json["text"]
    assert said in text
    assert len(text) < tracebacks.LONGEST + 1000


def test_an_endless_recursion_is_told_in_short(pipe: Pipe, project: Path) -> None:
    text = pipe("logs", failed(pipe, "fail", "recursion")).json["text"]
    assert "RecursionError" in text
    assert text.count("\n") < 1000


def test_old_ones_make_room_for_new_ones(pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracebacks, "MOST_FILES", 3)
    tags = [failed(pipe, "fail") for _ in range(5)]
    assert [one["tag"] for one in pipe("logs").lines] == tags[2:]
    ended = pipe("logs", tags[0])
    assert ended.code == 1
    assert "newer ones took its place" in ended.err


def test_a_refusal_that_a_tool_means_has_no_traceback(pipe: Pipe, project: Path) -> None:
    tag = failed(pipe, "fail", "own")
    assert pipe("logs").lines == []
    assert pipe("logs", tag).code == 1
    assert pipe("logs", "tag_nothing").code == 1
    assert "No tool has raised" in pipe.as_typed("logs").out


def test_every_tag_of_the_call_leads_to_it(pipe: Pipe, project: Path, ada: str) -> None:
    asked = pipe("call", "fail_outside").json["error"]["details"]["approvalId"]
    ended = pipe("approvals", "approve", asked).json
    task = pipe("timeline", "show", ended["tag"]["id"]).json["task"]
    entries = pipe("timeline", "show", task).lines
    tags = [entry["tag"] for entry in entries if entry["call"]]
    assert len(tags) == 4
    for tag in tags:
        assert "KeyError" in pipe("logs", tag).json["error"]


def test_a_redaction_takes_it_along(pipe: Pipe, project: Path, ada: str) -> None:
    tag = failed(pipe, "fail")
    assert pipe("timeline", "redact", tag, "--reason", "private").code == 0
    assert pipe("logs").lines == []


def test_an_agent_s_call_is_kept_too_and_the_agent_sees_none_of_it(pipe: Pipe, project: Path) -> None:
    write_script(project, {"boss": [turn(call("fail")), turn(text="It failed.")]})
    events = pipe("run", "Fail").lines
    (told,) = [event for event in events if event["event"] == "called" and event["tool"] == "fail"]
    assert "Traceback" not in str(told)
    assert pipe("logs", told["tag"]).json["error"] == "KeyError: 'missing'"


def test_a_log_that_cannot_be_written_changes_nothing(pipe: Pipe, project: Path) -> None:
    (project / ".brasstag" / "logs").write_text("in the way")
    assert pipe("call", "fail").json["error"]["code"] == "EXECUTION_ERROR"
    assert pipe("timeline", "verify").json["ok"] is True
