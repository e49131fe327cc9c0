"""The law of events: whoever makes the changes that are told, one after the other, ends with what is there."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from brasstag import Room
from brasstag.documents.scan.scanner import Scanner
from brasstag.store.documents.batch import in_order
from tests.documents.scans import live_rows, require_events, scanner_of

NAMES = ("a", "b", "c", "d")
NAME = st.sampled_from(NAMES)
STEP = st.tuples(st.sampled_from(["write", "remove", "move", "swap", "hide", "show", "scan"]), NAME, NAME)
Steps = list[tuple[str, str, str]]

SWAPPED_WHILE_AWAY: Steps = [
    ("hide", "a", "a"),
    ("hide", "b", "b"),
    ("scan", "a", "a"),
    ("show", "a", "b"),
    ("show", "b", "a"),
]
CHAINED_WHILE_AWAY: Steps = [("hide", "a", "a"), ("scan", "a", "a"), ("show", "a", "d"), ("move", "b", "a")]
RECREATED: Steps = [("hide", "a", "a"), ("scan", "a", "a"), ("show", "a", "c"), ("write", "a", "a")]


class Outside:
    """Somebody who moves files about in a workspace, and keeps some of them aside for a while."""

    def __init__(self, workspace: Path, aside: Path, scanner: Scanner) -> None:
        self.workspace = workspace
        self.aside = aside
        self.scanner = scanner
        self.written = 0

    def write(self, name: str, _other: str) -> None:
        self.written += 1
        (self.workspace / name).unlink(missing_ok=True)
        (self.workspace / name).write_text(f"text {self.written}")

    def remove(self, name: str, _other: str) -> None:
        (self.workspace / name).unlink(missing_ok=True)

    def move(self, name: str, other: str) -> None:
        _rename(self.workspace / name, self.workspace / other)

    def swap(self, name: str, other: str) -> None:
        self.move(name, "between")
        self.move(other, name)
        self.move("between", other)

    def hide(self, name: str, other: str) -> None:
        _rename(self.workspace / name, self.aside / other)

    def show(self, name: str, other: str) -> None:
        _rename(self.aside / name, self.workspace / other)

    def scan(self, _name: str, _other: str) -> None:
        self.scanner.scan_all()


def _rename(place: Path, target: Path) -> None:
    if place.exists():
        os.replace(place, target)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.lists(STEP, max_size=14))
@example(SWAPPED_WHILE_AWAY)
@example(CHAINED_WHILE_AWAY)
@example(RECREATED)
async def test_events_made_one_after_the_other_end_with_what_is_there(steps: Steps) -> None:
    with tempfile.TemporaryDirectory(prefix="law-") as folder:
        workspace, aside = Path(folder, "data"), Path(folder, "aside")
        for place in (workspace, aside):
            os.mkdir(place)
        async with Room.in_memory(workspace, profile="trusted") as room:
            outside = Outside(workspace, aside, scanner_of(room))
            for name in NAMES:
                outside.write(name, name)
            for what, name, other in [("scan", "", ""), *steps, ("scan", "", "")]:
                getattr(outside, what)(name, other)
            assert sorted(live_rows(room)) == sorted(os.listdir(room.workspace))
            require_events(room)


def moved(path: str, source: str) -> dict[str, Any]:
    return {"path": path, "change": "moved", "source": source}


def told(change: str, path: str) -> dict[str, Any]:
    return {"path": path, "change": change}


@pytest.mark.parametrize(
    ("found", "ordered"),
    [
        ([told("added", "a"), moved("c", "a")], [moved("c", "a"), told("added", "a")]),
        (
            [told("changed", "a"), moved("b", "z"), told("removed", "y")],
            [told("removed", "y"), moved("b", "z"), told("changed", "a")],
        ),
        (
            [moved("b", "a"), moved("c", "b"), moved("d", "c")],
            [moved("d", "c"), moved("c", "b"), moved("b", "a")],
        ),
        (
            [moved("c", "b"), moved("d", "c"), moved("b", "a")],
            [moved("d", "c"), moved("c", "b"), moved("b", "a")],
        ),
        ([moved("b", "a"), moved("a", "b")], [moved("a", "b"), told("added", "b")]),
        ([], []),
    ],
)
def test_what_leaves_a_path_is_told_before_what_arrives_there(
    found: list[dict[str, Any]], ordered: list[dict[str, Any]]
) -> None:
    assert in_order(found) == ordered
