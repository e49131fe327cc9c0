import json
from typing import Any, get_args

import pytest

from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.config.load import read_config
from brasstag.toolkit.kinds import BEHAVIOUR, ToolType
from brasstag.words.errors import Problem
from brasstag.words.verdicts import CONDITIONS, Condition
from tests.toolkit.samples import PATH, TEXT, config, problems_of

S1_WRITE_FILE = """{
  "tool_id": "write_file",
  "description": "Create or overwrite file with auto-summarization.",
  "type": "function_tool",
  "parameters": {
    "path": {"type": "string", "description": "File path", "required": true},
    "content": {"type": "string", "description": "File content", "required": true},
    "mime_type": {"type": "string", "description": "MIME type", "required": true}
  },
  "returns": {
    "path": "string",
    "size_bytes": "integer",
    "summary": "string"
  }
}"""


def wrong(**words: Any) -> tuple[Problem, ...]:
    data = json.dumps({"tool_id": "sample", "description": "A sample.", **words}).encode()
    return problems_of(lambda: read_config(data, "sample.json"))


def test_the_spec_s_own_example_is_a_config() -> None:
    read = ToolConfig.model_validate_json(S1_WRITE_FILE)
    assert read.input_schema()["required"] == ["path", "content", "mime_type"]
    assert read.input_schema()["additionalProperties"] is False
    assert read.output_schema() == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "size_bytes": {"type": "integer"},
            "summary": {"type": "string"},
        },
        "required": ["path", "size_bytes", "summary"],
        "additionalProperties": False,
    }


def test_silence_means_external_effects_and_a_person_after_a_crash() -> None:
    read = config()
    assert (read.effects, read.replay, read.approval) == ("external", "ask", None)
    assert (read.limits.timeout_seconds, read.limits.max_result_bytes) == (30, 2_000_000)


@pytest.mark.parametrize("kind", list(ToolType))
def test_every_kind_can_be_declared_and_only_code_has_effects(kind: ToolType) -> None:
    assert config(type=kind.value).effects == ("external" if BEHAVIOUR[kind].executes_code else "none")


def test_returns_may_be_a_whole_schema() -> None:
    schema = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
    assert config(returns=schema).output_schema() == {**schema, "additionalProperties": False}


def test_a_result_may_have_a_field_named_type() -> None:
    read = config(returns={"type": "string", "size": "integer"}).output_schema()
    assert read is not None
    assert set(read["properties"]) == {"type", "size"}


def test_every_condition_may_be_named() -> None:
    assert set(get_args(Condition)) == set(CONDITIONS)
    for condition in CONDITIONS:
        assert config(approval=condition).approval == condition


@pytest.mark.parametrize(
    ("words", "field", "what"),
    [
        ({"tool_id": "Write File"}, "tool_id", "'Write File' is not a usable name"),
        ({"tool_id": "x" * 65}, "tool_id", "is not a usable name"),
        ({"description": " "}, "description", "is empty"),
        ({"type": "function"}, "type", "'function' is not known"),
        ({"parameters": {"a": {"type": "string"}}}, "parameters.a.description", "is missing"),
        ({"parameters": {"a b": TEXT}}, "parameters.a b", "is not a usable name"),
        (
            {"parameters": {"a": {**TEXT, "python_name": "class"}}},
            "parameters.a.python_name",
            "is a word of Python",
        ),
        (
            {"parameters": {"a": {**TEXT, "python_name": "b"}, "b": TEXT}},
            "parameters.b.python_name",
            "also the Python",
        ),
        (
            {"parameters": {"a": {**TEXT, "aliases": ["b"]}, "b": TEXT}},
            "parameters.a.aliases",
            "already stands for b",
        ),
        ({"returns": {"path": "text"}}, "returns", "is neither"),
        ({"returns": {"type": "array", "items": {}}}, "returns", "is neither"),
        ({"returns": {}}, "returns", "is neither"),
        ({"approval": "sometimes"}, "approval", "'sometimes' is not known"),
        ({"effects": "some"}, "effects", "'some' is not known"),
        ({"replay": "yes"}, "replay", "'yes' is not known"),
        ({"limits": {"timeout_seconds": 0}}, "limits.timeout_seconds", "greater than 0"),
        ({"limits": {"timeout_seconds": "30"}}, "limits.timeout_seconds", "valid number"),
        ({"limits": {"max_lines": 3}}, "limits.max_lines", "is not a field"),
        ({"aliases": ["sample"]}, "aliases", "holds a name twice"),
        ({"aliases": ["Read"]}, "aliases[0]", "is not a usable name"),
        ({"type": "handoff", "effects": "files"}, "effects", "runs no code"),
        (
            {"type": "handoff", "parameters": {"documents": TEXT}},
            "parameters.documents",
            "array of workspace paths",
        ),
        ({"examples": [{"arguments": {"x": 1}}]}, "examples[0].arguments", "x is not known"),
        (
            {"parameters": {"path": PATH}, "examples": [{"arguments": {}}]},
            "examples[0].arguments",
            "path is missing",
        ),
        ({"descripton": "x"}, "descripton", "is not a field"),
    ],
)
def test_a_wrong_config_names_its_file_its_field_and_what_is_wrong(
    words: dict[str, Any], field: str, what: str
) -> None:
    (problem,) = wrong(**words)
    assert (problem.file, problem.field) == ("sample.json", field)
    assert what in problem.what
    assert problem.mend.endswith(".")


def test_an_unknown_field_is_answered_with_the_one_that_was_meant() -> None:
    (problem,) = wrong(aproval="auto")
    assert problem.mend == 'Rename it to "approval".'


def test_all_problems_are_listed_at_once() -> None:
    found = wrong(
        approval="maybe",
        parameters={"a": {"type": "text"}, "b": {"type": "array", "description": "B.", "minimum": 1}},
        unknown=1,
    )
    assert {problem.field for problem in found} == {
        "approval",
        "parameters.a.type",
        "parameters.a.description",
        "parameters.b.items",
        "parameters.b.minimum",
        "unknown",
    }


def test_a_config_cannot_be_changed_through_the_schemas_it_hands_out() -> None:
    read = config(parameters={"path": PATH}, returns={"path": "string"})
    read.input_schema()["properties"].clear()
    output = read.output_schema()
    assert output is not None
    output.clear()
    assert read.input_schema()["properties"]
    assert read.output_schema()
