"""What other rules would have said."""

from typing import Any

import pytest

from brasstag.policy.profiles import ToolFacts
from brasstag.policy.replay import RecordedCall, recorded_calls, replay
from brasstag.policy.rule import Rule
from brasstag.policy.verdict import Rules
from brasstag.words.calls import Call
from brasstag.words.events import Entry, EntryKind
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Decision
from tests.policy.calls import call, overwrites, reads

FACTS = ToolFacts("write_file", effects="files")
MADE = call("write_file", path="a")


def shift(decision: Decision, *rules: Rule, preview: Preview | None = None) -> str:
    recorded = RecordedCall(MADE, preview, FACTS, decision, "old")
    (replayed,) = replay([recorded], Rules(rules))
    return replayed.shift


@pytest.mark.parametrize(
    ("before", "rule", "expected"),
    [
        ("ask", Rule("allow", ("write_file",), "x"), "looser"),
        ("ask", Rule("deny", ("write_file",), "x"), "stricter"),
        ("ask", Rule("ask", ("write_file",), "x"), "same"),
        ("allow", Rule("ask", ("write_file",), "x"), "stricter"),
        ("deny", Rule("allow", ("write_file",), "x"), "looser"),
    ],
)
def test_each_call_is_the_same_stricter_or_looser(before: Decision, rule: Rule, expected: str) -> None:
    assert shift(before, rule, preview=overwrites("a")) == expected


def test_a_call_refused_unseen_stays_refused_or_cannot_be_told() -> None:
    assert shift("deny", Rule("deny", ("write_file",), "x")) == "same"
    assert shift("deny") == "unseen"


def entry(kind: EntryKind, call_id: str, payload: dict[str, Any] | None) -> Entry:
    return Entry("task_1", 1, kind, f"tag_{call_id}", call_id, "2026-01-01T00:00:00Z", payload, "0")


def judged(decision: str, preview: Preview) -> dict[str, Any]:
    return {
        "tool": "write_file",
        "input": {"path": "a"},
        "actor": "library",
        "role": "editor",
        "preview": {name: value for name, value in preview.as_json().items() if value},
        "verdict": {"decision": decision, "because": "x", "rule": "r"},
        "effects": "files",
    }


def test_a_timeline_gives_each_judged_call_once_by_its_first_verdict() -> None:
    blocked = {"error": {"code": "BLOCKED_BY_RULE", "message": "x", "details": {"rule": "secrets"}}}
    unknown = {"error": {"code": "UNKNOWN_TOOL", "message": "x"}}
    proposed = {"tool": "read_file", "input": {"path": ".env"}, "actor": "library", "role": "editor"}
    entries = [
        entry(EntryKind.OPENED, "", {"type": "root"}),
        entry(EntryKind.ASKED, "call_1", judged("ask", overwrites("a"))),
        entry(EntryKind.DECIDED, "call_1", {"approved": True}),
        entry(EntryKind.CLAIMED, "call_1", judged("allow", overwrites("a"))),
        entry(EntryKind.REFUSED, "call_2", proposed | {"result": blocked}),
        entry(EntryKind.REFUSED, "call_3", proposed | {"result": unknown}),
        entry(EntryKind.CALLED, "call_4", None),
        entry(EntryKind.CALLED, "call_5", judged("allow", reads("b")) | {"result": "text"}),
    ]

    def facts_of(made: Call) -> ToolFacts | None:
        return FACTS if made.id == "call_5" else None

    first, second, third = recorded_calls(entries, facts_of)
    assert (first.call.id, first.decision, first.rule, first.preview) == (
        "call_1",
        "ask",
        "r",
        overwrites("a"),
    )
    assert first.tool == ToolFacts("write_file", effects="files")
    assert first.call.role == "editor"
    assert (second.call.arguments, second.decision, second.rule) == ({"path": ".env"}, "deny", "secrets")
    assert second.preview is None
    assert (third.call.id, third.tool) == ("call_5", FACTS)


def test_a_call_whose_changes_landed_counts_by_what_was_said_of_running_it() -> None:
    fetched = Preview(fetches=("https://docs.test/x",), saves=("a",))
    ran = {name: judged("ask", fetched)[name] for name in ("preview", "verdict", "effects")}
    landed = judged("allow", overwrites("a")) | {"ran": ran}
    (recorded,) = recorded_calls([entry(EntryKind.CLAIMED, "call_1", landed)], lambda _call: None)
    assert (recorded.decision, recorded.preview) == ("ask", fetched)
