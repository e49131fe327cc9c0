"""What agents are told names no command, as only people have a command line; people are told the command beside it."""

import json
from pathlib import Path

import pytest

from brasstag import Failed, Room
from brasstag.catalog.sealed_core import core_tools, refuse_core
from brasstag.models.failures import not_installed
from brasstag.surfaces.cli.terminal.failures import paragraph
from brasstag.words.errors import Code, IndexDamaged, StoreError, ToolError, Unproven, with_hint
from brasstag.words.events import EntryKind
from tests.architecture import COMMAND, names_command
from tests.conftest import MakeProject
from tests.engine.crews import CREW, call, turn, write_script
from tests.surfaces.conftest import Pipe

WRONG = (
    call("no_such_tool"),
    call("root", request="Begin"),
    call("undo", tag="tag_0123456789abcdef0123456789abcdef"),
    call("undo", tag="abc"),
    call("load_prompt_tool", id="no_such_prompt_tool"),
    call("comment_issue", issue="iss_0123456789abcdef0123456789abcdef", text="Hello"),
    call("assign_task", target_agent="nobody_here", task_description="Do it"),
    call("read_file", path="nothing.md"),
    call("search_documents", query="nothing"),
    call("recall", tag="tag_0123456789abcdef0123456789abcdef"),
)


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    return make_project(f"{CREW}\n[roles.worker.budget]\nmax_steps = 1\n")


def test_no_entry_that_a_model_is_shown_names_a_command(pipe: Pipe, project: Path) -> None:
    write_script(
        project,
        {
            "boss": [
                *(turn(one) for one in WRONG),
                turn(call("route_to_worker", request="Work without an end")),
                turn(text="Nothing worked."),
            ],
            "worker": [turn(call("list_files")), turn(call("list_files"))],
        },
    )
    events = pipe("run", "Try everything").lines
    assert events[-1]["status"] == "done"
    told = [event for event in events if "outcome" in event]
    failures = [event["result"]["error"] for event in told if event["outcome"] == "failed"]
    codes = {failure["code"] for failure in failures}
    assert codes >= {
        "UNKNOWN_TOOL",
        "TAG_NOT_FOUND",
        "PROMPT_TOOL_NOT_FOUND",
        "ISSUE_NOT_FOUND",
        "BUDGET_EXCEEDED",
    }
    for event in told:
        assert not names_command(json.dumps(event["result"])), event


def test_a_core_tool_is_refused_to_an_agent_without_a_command() -> None:
    with pytest.raises(ToolError) as caught:
        refuse_core(core_tools()[0].id)
    assert not COMMAND.search(caught.value.message)
    assert "brasstag prompts copy" in caught.value.hint


def test_people_are_told_the_command_beside_the_same_message(pipe: Pipe) -> None:
    said = pipe.as_typed("call", "undo", "tag=tag_0123456789abcdef0123456789abcdef").err
    assert "there is no tag tag_0123456789abcdef0123456789abcdef; `brasstag timeline show` lists them" in said
    assert "did you mean read_file? `brasstag tools` lists them all" in pipe.as_typed("call", "read_fil").err


def test_a_run_that_used_up_its_steps_names_the_option_that_gives_more(pipe: Pipe, project: Path) -> None:
    write_script(project, {"boss": [turn(call("list_files"))] * 3})
    ended = pipe.as_typed("run", "Go on", "--max-steps", "1")
    assert ended.code == 1
    assert "--max-steps N   continues it, with a limit of N" in ended.out


async def test_a_model_whose_package_is_missing_is_told_by_the_package_alone(
    make_project: MakeProject,
) -> None:
    project = make_project(CREW.replace("[roles.worker]", '[roles.worker]\nmodel = "mistral:any"'))
    write_script(project, {"boss": [turn(call("route_to_worker", request="Work")), turn(text="It failed.")]})
    async with Room.open(project) as room:
        run = await room.start("Go")
        await room.finished(run)
        (back,) = [one for one in await room.timeline(run) if one.kind is EntryKind.RETURNED]
    assert "needs pydantic-ai-slim[mistral], which is not installed" in str(back.payload)
    assert not names_command(str(back.payload))


async def test_a_program_gets_both_apart() -> None:
    async with Room.in_memory() as room:
        outcome = await room.call("no_such_tool", {})
    assert isinstance(outcome, Failed)
    assert not COMMAND.search(outcome.message)
    assert COMMAND.search(outcome.hint)
    assert outcome.as_error().hint == outcome.hint


@pytest.mark.parametrize(
    "error",
    [
        StoreError("It broke.", hint="`brasstag doctor` says more"),
        Unproven("It does not hold.", hint="`brasstag timeline verify` says what does not fit"),
        ToolError(Code.TASK_NOT_FOUND, "there is no task x", hint="`brasstag tasks` lists them"),
        IndexDamaged("malformed"),
        not_installed("openai:gpt-5.5", "brasstag[models]"),
    ],
)
def test_an_error_says_the_command_to_people_only(error: StoreError | ToolError) -> None:
    assert not names_command(str(error))
    assert names_command(paragraph(error))


@pytest.mark.parametrize(
    ("said", "hint", "whole"),
    [
        ("It broke.", "", "It broke."),
        ("It broke.", "do this", "It broke; do this"),
        ("it broke", "do this", "it broke; do this"),
        ("did you mean x?", "Do this", "did you mean x? Do this"),
    ],
)
def test_message_and_hint_make_one_sentence(said: str, hint: str, whole: str) -> None:
    assert with_hint(said, hint) == whole
