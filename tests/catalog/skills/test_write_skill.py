"""A prompt tool written as a skill is valid for others and comes back whole."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skills_ref import read_properties, validate

from brasstag.catalog.sealed_core import core_tools
from brasstag.catalog.skills.evals import EVALS
from brasstag.catalog.skills.read_skill import read_skill, skill_document
from brasstag.catalog.skills.skill_folder import SKILL, SkillFiles, write_skill_folder
from brasstag.catalog.skills.skill_name import skill_name
from brasstag.catalog.skills.write_skill import skill_files
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.prompt_tools import FIELDS, PromptTool
from brasstag.words.review.proposals import TestCase
from tests.catalog.skills.samples import cases, texts, tools

PLAIN = PromptTool(
    "scene_count", "Scene count", "", "file", "When asked.", "Count.", "Do not guess.", "Count."
)


@given(tools, texts(fewest=0), st.lists(texts(), max_size=3), st.lists(cases, max_size=3))
@settings(max_examples=300)
def test_no_prompt_tool_loses_anything_as_a_skill(
    tool: PromptTool, rationale: str, examples: list[str], test_cases: list[TestCase]
) -> None:
    files = skill_files(tool, rationale=rationale, examples=examples, test_cases=test_cases)
    document = skill_document(SkillFiles(skill_name(tool.id), files[SKILL], files.get(EVALS)))
    assert document == {
        **tool.as_json(),
        "proposalType": "new",
        "target": "project",
        "rationale": rationale,
        "examples": examples,
        "testCases": [case.as_json() for case in test_cases],
    }


@given(tools, st.lists(cases, max_size=2), texts(fewest=0))
@settings(max_examples=100)
def test_the_reference_checker_accepts_every_skill(
    tool: PromptTool, test_cases: list[TestCase], rationale: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = skill_files(tool, test_cases=test_cases, rationale=rationale)
        written = write_skill_folder(Path(folder), skill_name(tool.id), files)
        assert validate(written[0].parent) == []
        read = read_properties(written[0].parent)
        assert read.metadata["brasstag-id"] == tool.id
        assert read.metadata["title"] == tool.name
        assert read.metadata["brasstag-rationale"] == rationale


@pytest.mark.parametrize("tool", core_tools(), ids=lambda tool: tool.id)
def test_the_reference_checker_accepts_every_core_tool(tool: PromptTool, tmp_path: Path) -> None:
    written = write_skill_folder(tmp_path, skill_name(tool.id), skill_files(tool, source="core"))
    assert written == [tmp_path / tool.id.replace("_", "-") / SKILL]
    assert validate(written[0].parent) == []
    assert read_properties(written[0].parent).metadata["brasstag-source"] == "core"
    document = read_skill(written[0].parent)
    assert {field: document[field] for field in FIELDS} == tool.as_json()


def test_another_agent_can_use_the_body_as_it_is() -> None:
    text = skill_files(PLAIN)[SKILL].decode()
    assert text.endswith(
        "\n# Scene count\n\n## Usage notes\n\nWhen asked.\n\n## Goals\n\nCount.\n\n## Guardrails\n\nDo not guess."
        "\n\n## Prompt\n\nCount.\n"
    )
    assert 'name: "scene-count"\ndescription: "When asked."\n' in text


def test_runners_of_evals_read_the_test_cases() -> None:
    case = TestCase("counts", "Count this.", "fail", ("json_only", {"max_words": 3}), "x")
    found = json.loads(skill_files(PLAIN, test_cases=[case], examples=["Count scene 2."])[EVALS])
    assert found["skill_name"] == "scene-count"
    assert found["examples"] == ["Count scene 2."]
    assert found["evals"][0]["id"] == 1
    assert found["evals"][0]["prompt"] == "Count this."
    assert found["evals"][0]["assertions"] == ["json_only", "max_words: 3"]
    assert "fails" in found["evals"][0]["expected_output"]


def test_without_test_cases_and_examples_there_are_no_evals() -> None:
    assert set(skill_files(PLAIN)) == {SKILL}


@pytest.mark.parametrize(
    ("tool_id", "name"), [("beat_architect", "beat-architect"), ("a__b_", "a-b"), ("x", "x")]
)
def test_underscores_become_single_hyphens(tool_id: str, name: str) -> None:
    assert skill_name(tool_id) == name


def test_half_a_character_cannot_be_written() -> None:
    broken = PromptTool("x", "X", "", "file", "a", "b", "c", "half \ud800")
    with pytest.raises(ToolError) as caught:
        skill_files(broken)
    assert caught.value.code is Code.INVALID_PROPOSAL


def test_evals_that_could_not_be_read_again_are_not_written() -> None:
    case = TestCase("long", "x", "pass", ({"contains": "x" * 5_000_000},))
    with pytest.raises(ToolError) as caught:
        skill_files(PLAIN, test_cases=[case])
    assert caught.value.code is Code.TOO_LARGE
