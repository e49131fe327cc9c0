"""Annotating is an effect of its own: rules and profiles are heard on it, and it happens with the grant."""

import os
from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Done, Failed, Room, Waiting
from brasstag.engine.calls.extra_rows import EXTRA_ROWS
from brasstag.policy.replay import recorded_calls, replay
from brasstag.policy.rule import Rule
from brasstag.policy.verdict import Rules
from brasstag.toolkit.discovery import shipped_tools
from brasstag.words.errors import Code
from brasstag.words.previews import Fact, Preview
from tests.conftest import MakeProject
from tests.tools.asking import failure, value

TAG = ("tag_document", {"path": "a.md", "add": ["x"]})
DESCRIBE = ("describe_document", {"path": "a.md", "description": "sums"})
BOTH = pytest.mark.parametrize(("tool", "arguments"), [TAG, DESCRIBE])


def with_documents(project: Path) -> Path:
    for path in ("a.md", "salaries/b.md"):
        (project / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (project / "data" / path).write_text("one\n")
    return project


async def said_of(room: Room, path: str = "a.md") -> tuple[list[str], str]:
    listed = await value(room, "list_documents", glob=path)
    (found,) = listed["documents"]
    return found["tags"], found["description"]


@BOTH
async def test_locked_asks_and_nothing_is_said_until_somebody_says_yes(
    make_project: MakeProject, tool: str, arguments: dict[str, Any]
) -> None:
    async with Room.open(with_documents(make_project(profile="locked"))) as room:
        waiting = await room.call(tool, arguments)
        assert isinstance(waiting, Waiting), waiting
        assert waiting.reason == "it annotates a.md; profile locked asks first"
        approval = await room.approval(waiting.approval_id)
        assert approval.preview.annotates == ("a.md",)
        assert await said_of(room) == ([], "")
        await room.decide(waiting.approval_id, ApprovalResponse(approved=True), by="ada")
        assert isinstance(await room.resume(waiting.approval_id), Done)
        assert await said_of(room) in ((["x"], ""), ([], "sums"))
        assert (await room.verify()).ok


@BOTH
async def test_a_no_leaves_everything_unsaid(
    make_project: MakeProject, tool: str, arguments: dict[str, Any]
) -> None:
    async with Room.open(with_documents(make_project(profile="locked"))) as room:
        waiting = await room.call(tool, arguments)
        assert isinstance(waiting, Waiting)
        await room.decide(waiting.approval_id, ApprovalResponse(approved=False), by="ada")
        assert await said_of(room) == ([], "")


@BOTH
@pytest.mark.parametrize("profile", ["careful", "trusted"])
async def test_the_other_profiles_allow_it_and_the_timeline_says_what_was_allowed(
    make_project: MakeProject, tool: str, arguments: dict[str, Any], profile: str
) -> None:
    async with Room.open(with_documents(make_project(profile=profile))) as room:
        await value(room, tool, **arguments)
        (entry,) = [one for one in await room.timeline() if (one.payload or {}).get("tool") == tool]
        assert entry.payload is not None
        assert entry.payload["preview"]["annotates"] == ["a.md"]
        explained = await room.explain(tool, arguments)
        assert explained.explanation is not None
        said = {line.verdict.because for line in explained.explanation.lines}
        assert f"profile {profile} allows annotating" in said


RULES = """
[[rules]]
deny = "*(salaries/**)"
when = ["annotates"]
because = "salaries speak for themselves"
match = [{ tool = "tag_document", annotates = ["salaries/b.md"] }]
not_match = [{ tool = "read_file", reads = ["salaries/b.md"] }, { tool = "tag_document", annotates = ["a.md"] }]

[[rules]]
allow = "describe_document(a.md)"
when = ["annotates"]
because = "go on"
match = [{ tool = "describe_document", annotates = ["a.md"] }]
not_match = [{ tool = "describe_document", annotates = ["a.md"], deletes = ["a.md"] }]
"""


async def test_rules_speak_of_it_by_path_and_by_fact(make_project: MakeProject) -> None:
    async with Room.open(with_documents(make_project(RULES, profile="locked"))) as room:
        await value(room, DESCRIBE[0], **DESCRIBE[1])
        failed = await failure(room, "tag_document", path="salaries/b.md", add=["x"])
        assert (failed.code, failed.message) == (Code.BLOCKED_BY_RULE, "salaries speak for themselves")
        assert isinstance(await room.call("read_file", {"path": "salaries/b.md"}), Done)
        assert await said_of(room, "salaries/b.md") == ([], "")


async def test_a_link_does_not_lead_past_a_rule(make_project: MakeProject) -> None:
    project = with_documents(make_project(RULES, profile="trusted"))
    os.symlink("salaries", project / "data" / "open")
    async with Room.open(project) as room:
        outcome = await room.call("tag_document", {"path": "open/b.md", "add": ["x"]})
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.BLOCKED_BY_RULE
        assert await said_of(room, "salaries/b.md") == ([], "")


async def test_other_rules_are_replayed_on_it(make_project: MakeProject) -> None:
    async with Room.open(with_documents(make_project(profile="trusted"))) as room:
        await value(room, TAG[0], **TAG[1])
        recorded = list(recorded_calls(await room.timeline(), lambda _call: None))
    stricter = Rules([Rule("ask", ("*",), "who says so?", when={Fact.ANNOTATES: None})], "trusted")
    (tagged,) = [one for one in replay(recorded, stricter) if one.recorded.call.tool == "tag_document"]
    assert (tagged.shift, tagged.verdict and tagged.verdict.because) == ("stricter", "who says so?")


def test_whatever_may_annotate_is_written_down_and_nothing_else_may() -> None:
    may = {tool.name for tool in shipped_tools() if "annotate" in tool.injected}
    written = {
        tool.name
        for tool in shipped_tools()
        if tool.config.behaviour.executes_code and tool.name in EXTRA_ROWS
    }
    assert may == {TAG[0], DESCRIBE[0]}
    assert written == may | {"propose_prompt_tool", "comment_issue"}


def test_a_preview_that_annotates_nothing_keeps_the_digest_it_had() -> None:
    plain, said = Preview(runs=("ls",)), Preview(runs=("ls",), annotates=("a.md",))
    stored = plain.as_json()
    del stored["annotates"]
    assert Preview.from_json(stored) == plain
    assert Preview.from_json(said.as_json()) == said
    # As it was before there was a word for annotating.
    assert plain.digest == "f110136d89e9aba9353d6034109cdde8235e52296669dd93795dfbe982d78ce2"
    assert said.digest != plain.digest
