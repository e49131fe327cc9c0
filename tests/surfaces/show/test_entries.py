"""Entries for people: one line each."""

import io

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
    screen = io.StringIO()
    monkeypatch.setattr(console, "screen", lambda **_: Console(file=screen, width=120))
    payload = {"tool": "write_file", "state": "denied", "by": by}
    print_entries(
        [Entry("task_1", 1, EntryKind.DECIDED, "tag_1", "call_1", "2026-03-01T09:30:00Z", payload, "")]
    )
    assert f"{said}  " in screen.getvalue()
    assert ("by" in screen.getvalue()) is bool(by)
