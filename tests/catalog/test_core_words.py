"""The words of the core prompt tools: all sixteen are there, complete, and say what an answer looks like."""

import json
import re
from importlib.resources import files

import pytest

CORE_IDS = [
    "search_issues", "file_locator", "file_reader", "task_router", "canon_checker", "outline_analyzer",
    "prose_analyzer", "consistency_checker", "scene_draft_validator", "issue_status_summarizer", "stakes_mapper",
    "line_editor", "scene_impact_analyzer", "reader_experience_simulator", "timeline_validator", "beat_architect",
]  # fmt: skip
FIELDS = ["id", "name", "archetype", "scope", "usageNotes", "goals", "guardrails", "prompt"]
SHIPPED_TOOLS = {
    "file_reader": {"read_file"},
    "file_locator": {"list_documents", "search_documents"},
    "task_router": set[str](),
}
"""What the prompts call whose tool is no analyser of the same name."""

TOOLS: list[dict[str, str]] = json.loads(
    (files("brasstag.catalog.core") / "tools.json").read_text(encoding="utf-8")
)
each = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool["id"])


def test_the_sixteen_are_there_in_their_order() -> None:
    assert [tool["id"] for tool in TOOLS] == CORE_IDS


def test_no_two_have_the_same_name() -> None:
    assert len({tool["name"] for tool in TOOLS}) == len(CORE_IDS)


@each
def test_it_has_exactly_the_eight_fields_and_none_is_empty(tool: dict[str, str]) -> None:
    assert list(tool) == FIELDS
    assert all(value == value.strip() != "" for value in tool.values())


@each
def test_archetype_and_scope_are_known(tool: dict[str, str]) -> None:
    assert tool["archetype"] in {"planner", "writer", "editor", "any"}
    assert tool["scope"] in {"selection", "file", "project"}


@each
def test_it_is_short_enough_to_be_read_with_the_others(tool: dict[str, str]) -> None:
    assert 120 <= len(tool["prompt"].split()) <= 300
    assert len(tool["prompt"]) <= 2000
    assert all(len(tool[field]) <= 400 for field in FIELDS if field != "prompt")


@each
def test_usage_notes_say_when_to_use_it_and_when_not(tool: dict[str, str]) -> None:
    assert tool["usageNotes"].startswith("Use it ")
    assert "Do not use it " in tool["usageNotes"]


@each
def test_the_prompt_names_the_form_of_the_answer_and_its_evidence(tool: dict[str, str]) -> None:
    prompt = tool["prompt"]
    assert re.search(r"^Write exactly th(is|ese five sections), in this order", prompt, re.MULTILINE)
    assert {"QUOTE", "LINE_REF", "SCOPE_SCAN"} & set(re.findall(r"[A-Z_]+", prompt))
    assert "tag" in prompt or tool["id"] == "task_router"


@each
def test_the_prompt_calls_the_tool_that_computes_the_facts(tool: dict[str, str]) -> None:
    for name in SHIPPED_TOOLS.get(tool["id"], {f"the tool {tool['id']}"}):
        assert name in tool["prompt"].replace("\n", " ")


def test_the_router_has_its_five_sections_in_order() -> None:
    prompt = next(tool["prompt"] for tool in TOOLS if tool["id"] == "task_router")
    sections = re.findall(r"^([A-Z_]+):", prompt, re.MULTILINE)
    assert sections == ["ROUTE", "ORDER", "PARALLEL", "CONTEXT", "EVIDENCE_TYPE"]


@each
def test_plain_text_has_no_hidden_characters_fences_or_links(tool: dict[str, str]) -> None:
    for value in tool.values():
        assert all(letter.isprintable() or letter == "\n" for letter in value)
        assert not re.search(r"```|https?:|<[a-z/!]", value)
