"""A conflict as people and programs meet it: base, theirs and ours."""

import asyncio
import json
from pathlib import Path

from brasstag import Done, Room, Waiting
from tests.surfaces.conftest import OpenTerminal, Pipe

BASE, THEIRS, OURS = "one\ntwo\nthree\nfour\n", "one\nTWO\nthree\nfour\n", "one\n2\nthree\n4\n"


def clash(project: Path, *, kept: bool = True, ours: str = OURS, theirs: str = THEIRS) -> str:
    """Let a program write a document, or read it; change it outside; let the program write again: return what waits."""

    async def write() -> str:
        async with Room.open(project) as room:
            document = room.workspace / "new.md"
            if kept:
                outcome = await room.call("write_file", {"path": "new.md", "content": BASE})
            else:
                document.write_text(BASE)
                outcome = await room.call("read_file", {"path": "new.md"})
            assert isinstance(outcome, Done)
            document.write_text(theirs)
            waiting = await room.call("write_file", {"path": "new.md", "content": ours})
            assert isinstance(waiting, Waiting)
            return waiting.approval_id

    return asyncio.run(write())


def test_show_has_both_diffs_in_colour_and_names_the_lines_both_changed(
    project: Path, terminal: OpenTerminal
) -> None:
    at = terminal("approvals", "show", clash(project))
    assert at.ends() == 0
    _, _, shown = at.text.partition("  overwrites new.md")
    lines = [line.strip() for line in shown.splitlines()]
    meanwhile = next(place for place, line in enumerate(lines) if line.startswith("base → theirs"))
    after = lines.index("theirs → ours: what this call would make of that")
    assert lines[meanwhile].startswith("base → theirs: changed by outside after the task last saw it, 20")
    assert {"-two", "+TWO"} <= set(lines[meanwhile:after])
    assert "both changed the same lines of what the task saw: 2" in lines[meanwhile:after]
    assert {"-TWO", "+2", "-four", "+4"} <= set(lines[after:])
    assert "\x1b[31m    -two\x1b[0m" in at.screen
    assert "[changed meanwhile]" in at.text.replace("\n  ⤷ ", "")


def test_a_base_that_was_never_kept_is_named_by_its_digest(project: Path, pipe: Pipe) -> None:
    identity = clash(project, kept=False)
    shown = pipe("approvals", "show", identity, "-o", "people").out
    (conflict,) = pipe("approvals", "show", identity).json["conflicts"]
    digest = conflict["base"].removeprefix("file:")
    assert f"what the task saw was not kept (SHA-256 {digest})" in shown
    assert "base → theirs: changed by outside" in shown
    assert "+TWO" not in shown
    assert conflict["baseToTheirs"] is None


def test_programs_get_the_three_states_and_the_lines_between(project: Path, pipe: Pipe) -> None:
    found = pipe("approvals", "show", clash(project)).json
    (conflict,) = found["conflicts"]
    (change,) = found["preview"]["changes"]
    assert (conflict["theirs"], conflict["ours"]) == (change["before"], change["after"])
    assert found["preview"]["conflicts"][0]["base"] == conflict["base"]
    assert conflict["by"] == "outside"
    assert {"-two", "+TWO"} <= set(conflict["baseToTheirs"])
    assert {"-TWO", "+2"} <= set(conflict["theirsToOurs"])
    assert conflict["note"] == "both changed the same lines of what the task saw: 2"


def test_different_lines_are_told_as_such_and_other_bytes_not_at_all(project: Path, pipe: Pipe) -> None:
    apart = pipe("approvals", "show", clash(project, ours="one\ntwo\nthree\n4\n")).json["conflicts"][0]
    assert apart["note"] == "they and we changed different lines"
    (project / "data" / "new.md").unlink()
    emptied = pipe("approvals", "show", clash(project, theirs="")).json["conflicts"][0]
    assert emptied["note"] == ""


def test_an_approval_without_a_conflict_says_nothing_of_one(asked: str, pipe: Pipe) -> None:
    found = pipe("approvals", "show", asked).json
    assert "conflicts" not in found
    assert json.dumps(found["preview"]["conflicts"]) == "[]"


def test_what_was_shown_can_be_approved(project: Path, terminal: OpenTerminal) -> None:
    identity = clash(project)
    at = terminal("approvals", "approve", identity)
    assert at.ends() == 0
    assert (project / "data" / "new.md").read_text() == OURS


def test_what_was_deleted_meanwhile_is_told_as_such(project: Path, pipe: Pipe) -> None:
    async def write() -> str:
        async with Room.open(project) as room:
            assert isinstance(await room.call("write_file", {"path": "new.md", "content": BASE}), Done)
            (room.workspace / "new.md").unlink()
            waiting = await room.call("write_file", {"path": "new.md", "content": OURS})
            assert isinstance(waiting, Waiting)
            return waiting.approval_id

    identity = asyncio.run(write())
    lines = [line.strip() for line in pipe("approvals", "show", identity, "-o", "people").out.splitlines()]
    meanwhile = next(place for place, line in enumerate(lines) if line.startswith("base → theirs"))
    after = lines.index("theirs → ours: what this call would make of that")
    assert lines[meanwhile].startswith("base → theirs: deleted by outside after the task last saw it, 20")
    assert {"-one", "-two"} <= set(lines[meanwhile:after])
    assert {"+one", "+2"} <= set(lines[after:])
    (conflict,) = pipe("approvals", "show", identity).json["conflicts"]
    assert (conflict["theirs"], conflict["note"]) == ("absent", "")
