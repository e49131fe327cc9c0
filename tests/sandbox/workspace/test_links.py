"""A move may not make a link lead out of the workspace, neither one that moves nor one that stays."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import Code, ToolError
from tests.sandbox.support import carry_out, fails, open_workspace, snapshot

OUTWARD: dict[str, tuple[dict[str, str], str, str, str]] = {
    "a link goes up": ({"d/e/up": "../../f"}, "d/e/up", "up", "up"),
    "a link goes down": ({"up": "../outside/f"}, "up", "other", "other"),
    "a directory goes up": ({"d/e/up": "../../f"}, "d/e", "e", "e/up"),
    "a directory below one that goes up": ({"d/e/deep/up": "../../../f"}, "d/e", "e", "e/deep/up"),
    "an absolute link": ({"d/far": "/etc/hostname"}, "d", "g", "g/far"),
    "a link that leads through another": ({"d/out": "../../outside", "l": "d/out/f"}, "l", "m", "m"),
}


@pytest.mark.parametrize("kind", OUTWARD)
def test_no_link_moves_to_where_it_leads_out(workspace: Workspace, data: Path, kind: str) -> None:
    links, source, target, named = OUTWARD[kind]
    make(data, links)
    before = snapshot(data)
    draft = Draft(workspace, writable=True)
    with fails(Code.INVALID_PATH) as caught:
        draft.move(source, target)
    assert named in caught.value.message
    assert "out of the workspace" in caught.value.message
    assert draft.preview().changes == ()
    assert snapshot(data) == before


def make(data: Path, links: dict[str, str]) -> None:
    for name, target in links.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).symlink_to(target)


def test_no_link_moves_to_where_one_that_stays_leads_out_by_it(workspace: Workspace, data: Path) -> None:
    make(data, {"stays": "place/../outside/f", "home": "."})
    draft = Draft(workspace, writable=True)
    with fails(Code.INVALID_PATH) as caught:
        draft.move("home", "place")
    assert "stays would lead out of the workspace" in caught.value.message


def test_a_link_that_leads_inside_from_its_new_place_moves(workspace: Workspace, data: Path) -> None:
    make(data, {"d/up": "../f", "d/e/in": "deep", "d/e/nowhere": "not/yet", "d/round": "round"})
    (data / "f").write_text("inside")
    carry_out(workspace, lambda draft: draft.move("d/up", "g/up"), lambda draft: draft.move("d", "h"))
    assert (data / "g/up").read_text() == "inside"
    assert (data / "h/e/in").readlink() == Path("deep")


NAMES = st.sampled_from(["a", "b", "c", "a/a", "a/b", "b/a", "b/c", "a/a/b", "b/a/c"])
TARGETS = st.lists(st.sampled_from(["..", "a", "b", "c"]), min_size=1, max_size=4).map("/".join)


@settings(max_examples=150)
@given(st.dictionaries(NAMES, TARGETS, max_size=5), st.lists(st.tuples(NAMES, NAMES), max_size=4))
def test_no_row_of_moves_makes_a_link_lead_out(links: dict[str, str], moves: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        data = Path(place, "data")
        for directory in ("a/a", "b/a"):
            (data / directory).mkdir(parents=True)
        for name, target in links.items():
            with suppress(OSError):
                (data / name).symlink_to(target)
        with open_workspace(Path(place)) as workspace:
            for source, target in moves:
                before = outward(data)
                with suppress(ToolError):
                    carry_out(workspace, lambda draft, one=source, other=target: draft.move(one, other, True))
                assert outward(data) <= before


def outward(data: Path) -> set[str]:
    """Return the links that the kernel follows out of the workspace."""
    found = set()
    top = os.path.realpath(data)
    for where, directories, files in os.walk(data):
        for name in (*directories, *files):
            path = os.path.join(where, name)
            if os.path.islink(path):
                led = os.path.realpath(path)
                if led != top and not led.startswith(f"{top}/"):
                    found.add(os.path.relpath(path, data))
    return found
