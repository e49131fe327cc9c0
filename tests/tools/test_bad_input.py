"""Every tool, every wrong argument: a coded failure, no exception, nothing changed on disk."""

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brasstag import Done, Failed, Outcome, Room, Waiting
from brasstag.toolkit.discovery import discover_package
from brasstag.words.errors import Code

TOOLS = {tool.name: tool for tool in discover_package("brasstag.tools")}

WRONG: list[Any] = [
    None, True, 0, -1, 1.5, 2**60, -(2**60), 2**70, math.nan, math.inf, "", "\0", "a\0b", "\ud800", "x" * 5000,
    "/etc/passwd", "../../x", "~", "a/" * 3000, [], ["x", 1], {}, {"a": {}}, [[[[[]]]]], b"bytes", object(), {1: 2},
]  # fmt: skip

VALID: dict[str, dict[str, Any]] = {
    "read_file": {"path": "a.md"},
    "list_files": {"path": "d"},
    "write_file": {"path": "a.md", "content": "new"},
    "edit_file": {"path": "a.md", "search_text": "text", "replace_text": "TEXT"},
    "delete_file": {"path": "d", "recursive": True},
    "move_file": {"from": "a.md", "to": "b.md"},
    "search_code": {"query": "text"},
    "undo": {"tag": "tag_nothing"},
    "undo_run": {"run": "nowhere"},
    "load_prompt_tool": {"id": "canon_checker"},
    "propose_prompt_tool": {
        "id": "tag_hunter",
        "proposal_type": "new",
        "name": "Tag hunter",
        "scope": "file",
        "usage_notes": "Use it on dialogue.",
        "goals": "Find speech tags.",
        "guardrails": "Change nothing.",
        "prompt": "List every speech tag.",
        "rationale": "The style guide asks for it.",
        "examples": ["Check one.", "Check two."],
        "test_cases": [
            {"name": name, "input": "x", "checks": ["no_fences"], "sampleOutput": "y"}
            for name in ("one", "two")
        ],
    },
    "search_issues": {"query": "proposal"},
    "issue_status_summarizer": {},
    "comment_issue": {"issue": "iss_nothing", "text": "seen"},
    "stop_and_think": {"thoughts": "hm"},
    "plan_next_steps": {"steps": ["one"]},
    "save_to_short_term_memory": {"content": "the table is in euros"},
    "save_to_long_term_memory": {"content": "the table is in euros"},
    "ask_master": {"question": "is it?", "documents": ["a.md"]},
    "assign_task": {"target_agent": "editor", "task_description": "correct it", "target_file": "a.md"},
    "handoff": {"result": {"ok": True}},
    "recall": {"tag": "tag_nothing"},
    "ask_gpt": {"prompt": "is it?"},
    "ask_claude": {"prompt": "is it?"},
    "web_fetch": {"url": "https://nowhere.invalid/", "method": "POST", "body": "x"},
    "web_search": {"query": "brass tags"},
    "run_code": {"language": "python", "code": "print(1)"},
    "shell": {"command": "ls"},
    "list_documents": {"glob": "*.md"},
    "search_documents": {"query": "text"},
    "load_to_context": {"path": "a.md"},
    "tag_document": {"path": "a.md", "add": ["x"]},
    "describe_document": {"path": "a.md", "description": "a text"},
    "compare_documents": {"path": "a.md", "other": "d/c.md"},
    "restore_document": {"path": "a.md", "version": "1"},
    "ask_data": {"documents": ["d/t.csv"], "sql": "SELECT sum(n) FROM t"},
    "plot_data": {"documents": ["d/t.csv"], "path": "chart.svg", "x": "n", "y": "m"},
    "canon_checker": {"bible": ["a.md"], "scenes": ["d"]},
    "consistency_checker": {"scenes": ["d"]},
    "timeline_validator": {"scenes": ["d"]},
    "outline_analyzer": {"outline": ["a.md"]},
    "scene_draft_validator": {"path": "d/c.md", "outline": ["a.md"], "scenes": ["d"]},
    "stakes_mapper": {"bible": ["a.md"]},
    "scene_impact_analyzer": {"path": "d/c.md", "scenes": ["d"]},
    "reader_experience_simulator": {"scenes": ["d"]},
    "beat_architect": {"structure": "five_act", "outline": ["a.md"]},
    "prose_analyzer": {"path": "a.md", "start_line": 1, "end_line": 1},
    "line_editor": {"path": "a.md", "edits": [{"search_text": "text", "replace_text": "words"}]},
}

SLOW = frozenset({"ask_data", "plot_data"})
"""Those that start a process for whatever text they are given; two texts have to do."""


def snapshot(root: Path) -> dict[str, bytes | None]:
    return {str(path): None if path.is_dir() else path.read_bytes() for path in sorted(root.rglob("*"))}


def fill(root: Path) -> None:
    (root / "d").mkdir()
    (root / "a.md").write_text("text")
    (root / "d" / "c.md").write_text("c")
    (root / "d" / "t.csv").write_text("n,m\n1,2\n3,4\n")


def wrong_for(name: str) -> list[Any]:
    return [one for one in WRONG if name not in SLOW or not isinstance(one, str) or one in ("\0", "../../x")]


def check(outcome: Outcome, before: dict[str, bytes | None], after: dict[str, bytes | None]) -> None:
    assert isinstance(outcome, Done | Failed | Waiting), outcome
    if not isinstance(outcome, Done):
        assert after == before
    if isinstance(outcome, Failed):
        assert isinstance(outcome.code, Code)
        assert outcome.code is not Code.INTERNAL_ERROR
        assert outcome.message
        assert outcome.tag is not None


def test_every_shipped_tool_is_tried() -> None:
    assert VALID.keys() == TOOLS.keys()


@pytest.mark.parametrize(
    "name",
    # To draw a chart for every argument takes a minute; plot_data is among the tools of the law below, too.
    [pytest.param(name, marks=pytest.mark.slow if name == "plot_data" else ()) for name in sorted(TOOLS)],
)
async def test_each_argument_wrong_missing_or_too_many(room: Room, name: str) -> None:
    fill(room.workspace)
    tool = TOOLS[name]
    for parameter in tool.config.parameters:
        tries = [VALID[name] | {parameter: wrong} for wrong in wrong_for(name)]
        tries.append({key: value for key, value in VALID[name].items() if key != parameter})
        for arguments in tries:
            before = snapshot(room.workspace)
            outcome = await room.call(name, arguments)
            check(outcome, before, snapshot(room.workspace))
            if isinstance(outcome, Done):
                for path in sorted(room.workspace.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()
                fill(room.workspace)
    for extra in ({"extra": 1}, {"": 1}, {"workspace": "x"}, {"task_id": "x"}, {"limits": {}}):
        before = snapshot(room.workspace)
        outcome = await room.call(name, VALID[name] | extra)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.INVALID_ARGUMENTS
        assert snapshot(room.workspace) == before
    assert (await room.verify()).ok


@pytest.mark.parametrize(
    "arguments", ["", "[]", "null", '"x"', "{", '{"path": "a"', "{'path': 'a.md'", "\ud800", "x" * 10000]
)
async def test_arguments_that_are_no_object_are_refused(room: Room, arguments: str) -> None:
    outcome = await room.call("read_file", arguments)
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.INVALID_ARGUMENTS


@pytest.mark.parametrize("arguments", [None, 1, [], [1], "x", object()])
async def test_arguments_of_another_type_are_refused(room: Room, arguments: Any) -> None:
    outcome = await room.call("read_file", arguments)
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert (await room.verify()).ok


async def test_arguments_over_the_limit_of_the_room_are_refused(room: Room) -> None:
    outcome = await room.call("write_file", {"path": "big.md", "content": "x" * 11_000_000})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert not (room.workspace / "big.md").exists()


ANY_TEXT = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    ["a.md", "d", ".", "d/c.md", ".git", ".."]
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_argument_at_all_raises_or_half_happens(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(TOOLS)))
    known = st.sampled_from([*TOOLS[name].config.parameters, *TOOLS[name].config.argument_names, "extra"])
    arguments = VALID[name] | data.draw(st.dictionaries(known, ANY_JSON | ANY_TEXT, max_size=4))
    asyncio.run(_try(name, arguments))


async def _try(name: str, arguments: dict[str, Any]) -> None:
    async with Room.in_memory(profile="trusted") as room:
        fill(room.workspace)
        before = snapshot(room.workspace)
        outcome = await room.call(name, arguments)
        check(outcome, before, snapshot(room.workspace))
        assert not [path for path in room.workspace.rglob("*") if path.name.startswith(".brasstag")]
