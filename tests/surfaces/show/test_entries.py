"""Entries for people: one line each."""

import io
from typing import Any

import pytest
from rich.console import Console

from brasstag.surfaces.cli.show.entries import print_entries
from brasstag.surfaces.cli.terminal import console
from brasstag.words.events import Entry, EntryKind


@pytest.mark.parametrize(
    ("by", "said"), [("ada (terminal)", "write_file → denied by ada (terminal)"), ("", "write_file → denied")]
)
def test_a_decision_names_only_a_person_who_made_it(
    monkeypatch: pytest.MonkeyPatch, by: str, said: str
) -> None:
    printed = shown(monkeypatch, EntryKind.DECIDED, {"tool": "write_file", "state": "denied", "by": by})
    assert f"{said}  " in printed
    assert ("by" in printed) is bool(by)


def test_a_challenge_names_each_kind_of_problem_once(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [
        {"id": fault, "line": 1, "says": "no"} for fault in ("NOT_IN_LINE", "NOT_IN_LINE", "NO_RECEIPT")
    ]
    payload = {"type": "challenge", "problems": problems, "refused": 2, "tries": 3}
    assert "2 of 3: NOT_IN_LINE, NO_RECEIPT  " in shown(monkeypatch, EntryKind.CHALLENGED, payload)


def test_a_refused_decision_on_a_proposal_says_what_was_tried_and_why_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    payload = {
        "type": "proposal",
        "tool": "smell_ledger",
        "refused": "approve",
        "by": "ada (terminal)",
        "code": "PROPOSAL_STALE",
    }
    assert "smell_ledger approve by ada (terminal) → PROPOSAL_STALE" in shown(
        monkeypatch, EntryKind.RESOLVED, payload
    )


def shown(monkeypatch: pytest.MonkeyPatch, kind: EntryKind, payload: dict[str, Any]) -> str:
    """The line of one entry."""
    screen = io.StringIO()
    monkeypatch.setattr(console, "screen", lambda **_: Console(file=screen, width=120))
    print_entries([Entry("task_1", 1, kind, "tag_1", "call_1", "2026-03-01T09:30:00Z", payload, "")])
    return screen.getvalue()
