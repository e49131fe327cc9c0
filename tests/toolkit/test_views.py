import json
from typing import Any

import pytest

from brasstag.toolkit.views import result_view, status_view, tool_result_view
from brasstag.words.calls import Done, Failed, Outcome, ResultForm, ToolResult, Unknown, Waiting, as_stored
from brasstag.words.errors import Code

DONE = Done({"path": "a.md", "size": 3}, meta={"bytes_written": 1024, "execution_time": 0.05, "more": 1})
FAILED = Failed(
    Code.FILE_NOT_FOUND, "a.md is not in the workspace", {"path": "a.md"}, {"execution_time": 0.01}
)
BARE = Failed(Code.TIMEOUT, "took too long")
ENDED = Failed(Code.TIMEOUT, "the code was ended", {"stdout": "begun\n", "stderr": ""})
DENIED = Failed(
    Code.DENIED, "the code ran", {"ran": {"stdout": "said\n", "exit_code": 2}, "patch": "a.patch"}
)
UNKNOWN = Unknown("it may have been sent", {"claim": "call_1"}, {"execution_time": 0.5})
WAITING = Waiting("apr_1", "it overwrites a.md")

STATUS: list[tuple[Outcome, dict[str, Any]]] = [
    (
        DONE,
        {
            "status": "success",
            "data": {"path": "a.md", "size": 3},
            "meta": {"bytes_written": 1024, "execution_time": 0.05},
        },
    ),
    (
        FAILED,
        {
            "status": "error",
            "data": "a.md is not in the workspace",
            "meta": {"bytes_written": 0, "execution_time": 0.01},
        },
    ),
    (
        UNKNOWN,
        {
            "status": "error",
            "data": "it may have been sent",
            "meta": {"bytes_written": 0, "execution_time": 0.5},
        },
    ),
    (
        WAITING,
        {
            "status": "error",
            "data": "waiting for approval apr_1: it overwrites a.md",
            "meta": {"bytes_written": 0, "execution_time": 0.0},
        },
    ),
]
RESULT: list[tuple[Outcome, dict[str, Any]]] = [
    (DONE, {"ok": True, "value": {"path": "a.md", "size": 3}}),
    (
        FAILED,
        {
            "ok": False,
            "error": {
                "code": "FILE_NOT_FOUND",
                "message": "a.md is not in the workspace",
                "details": {"path": "a.md"},
            },
        },
    ),
    (BARE, {"ok": False, "error": {"code": "TIMEOUT", "message": "took too long"}}),
    (
        UNKNOWN,
        {
            "ok": False,
            "error": {"code": "UNKNOWN", "message": "it may have been sent", "details": {"claim": "call_1"}},
        },
    ),
    (
        WAITING,
        {
            "ok": False,
            "error": {
                "code": "WAITING_FOR_APPROVAL",
                "message": "waiting for approval apr_1: it overwrites a.md",
                "details": {"approvalId": "apr_1"},
            },
        },
    ),
]
TOOL_RESULT: list[tuple[Outcome, ToolResult]] = [
    (DONE, ToolResult("call_9", output={"path": "a.md", "size": 3}, error=None, success=True)),
    (
        FAILED,
        ToolResult("call_9", output="", error="FILE_NOT_FOUND: a.md is not in the workspace", success=False),
    ),
    (
        ENDED,
        ToolResult(
            "call_9",
            output="begun\n",
            error="TIMEOUT: the code was ended",
            success=False,
            meta={"details": {"stdout": "begun\n", "stderr": ""}},
        ),
    ),
    (
        DENIED,
        ToolResult(
            "call_9",
            output="said\nexit_code: 2",
            error="DENIED: the code ran",
            success=False,
            meta={"details": {"ran": {"stdout": "said\n", "exit_code": 2}, "patch": "a.patch"}},
        ),
    ),
    (UNKNOWN, ToolResult("call_9", output="", error="UNKNOWN: it may have been sent", success=False)),
    (
        WAITING,
        ToolResult(
            "call_9",
            output="",
            error="WAITING_FOR_APPROVAL: waiting for approval apr_1: it overwrites a.md",
            success=False,
        ),
    ),
]


@pytest.mark.parametrize(("outcome", "golden"), STATUS)
def test_the_status_view_is_exactly_status_data_and_meta(outcome: Outcome, golden: dict[str, Any]) -> None:
    assert json.dumps(status_view(outcome)) == json.dumps(golden)


@pytest.mark.parametrize(("outcome", "golden"), RESULT)
def test_the_result_view_is_exactly_ok_with_value_or_error(outcome: Outcome, golden: dict[str, Any]) -> None:
    assert json.dumps(result_view(outcome)) == json.dumps(golden)


@pytest.mark.parametrize(("outcome", "golden"), TOOL_RESULT)
def test_the_tool_result_view_carries_the_caller_s_id(outcome: Outcome, golden: ToolResult) -> None:
    assert tool_result_view(outcome, "call_9") == golden


RAN = ResultForm(("stdout", "stderr", "exit_code", "untrusted"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"stdout": "a\n", "stderr": "", "exit_code": 0}, "a\n"),
        ({"stdout": "a", "stderr": "b\n", "exit_code": 2}, "a\nb\nexit_code: 2"),
        ({"stdout": "", "stderr": "", "exit_code": 0, "untrusted": True}, "untrusted: true"),
        ({"stdout": "", "stderr": "", "exit_code": 0}, ""),
    ],
)
def test_the_text_of_a_run_says_more_only_where_there_is_more(value: dict[str, Any], text: str) -> None:
    done = Done(value, form=RAN)
    assert status_view(done)["data"] == text
    assert status_view(done)["meta"]["value"] == value
    result = tool_result_view(done, "call_9")
    assert (result.output, result.meta) == (text, {"value": value})


def test_a_text_field_is_given_as_it_is_and_the_whole_value_stays() -> None:
    done = Done({"content": "words", "size": 5}, {"execution_time": 0.5}, form=ResultForm(("content",)))
    assert status_view(done) == {
        "status": "success",
        "data": "words",
        "meta": {"bytes_written": 0, "execution_time": 0.5, "value": {"content": "words", "size": 5}},
    }
    assert result_view(done) == {"ok": True, "value": {"content": "words", "size": 5}}
    # A result that does not have the field, or is no object, is shown whole.
    assert status_view(Done({"size": 5}, form=ResultForm(("content",))))["data"] == {"size": 5}
    assert status_view(Done("words", form=ResultForm(("content",))))["data"] == "words"


def test_the_result_view_is_camel_case_throughout_but_for_keys_that_are_data() -> None:
    schema = {
        "properties": {
            "open_by_tag": {"type": "object", "additionalProperties": {"type": "integer"}},
            "any_words": {"type": "object", "additionalProperties": True},
        }
    }
    value = {
        "exit_code": 0,
        "all_changes": [{"before_size": 1}],
        "open_by_tag": {"my_tag": 1},
        "any_words": {"new_york": 1},
        "_own": 1,
        "a__b": 2,
    }
    shown = {
        "exitCode": 0,
        "allChanges": [{"beforeSize": 1}],
        "openByTag": {"my_tag": 1},
        "anyWords": {"new_york": 1},
        "_own": 1,
        "a__b": 2,
    }
    assert result_view(Done(value, form=ResultForm(schema=schema))) == {"ok": True, "value": shown}
    failed = Failed(Code.TIMEOUT, "ended", {"exit_code": 9})
    assert result_view(failed)["error"]["details"] == {"exitCode": 9}
    assert as_stored(failed)["result"]["error"]["details"] == {"exit_code": 9}


def test_a_delegation_is_a_success_with_a_confirmation() -> None:
    said = {"target": "narrator", "task": "Write it", "file": "ch01.md", "task_id": "task_1"}
    waiting = Waiting("", "→ delegated", task_id="task_1", confirmation=said)
    assert status_view(waiting) == {
        "status": "success",
        "data": said,
        "meta": {"bytes_written": 0, "execution_time": 0.0},
    }
    assert result_view(waiting)["error"]["code"] == "WAITING_FOR_TASK"


def test_an_agent_is_told_that_a_person_changed_its_arguments() -> None:
    edited = {"by": "ada (terminal)", "arguments": {"path": "b.md"}}
    for outcome in (
        Done({"path": "b.md"}, {"edited": edited}),
        Failed(Code.TIMEOUT, "ended", meta={"edited": edited}),
    ):
        assert status_view(outcome)["meta"]["edited"] == edited
        assert tool_result_view(outcome, "call_9").meta == {"edited": edited}
