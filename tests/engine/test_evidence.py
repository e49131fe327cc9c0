"""What a task may cite: files as its calls saw them, and tags of its own chain and of those below."""

from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.engine.evidence import evidence_problems
from brasstag.store.maintenance.redact import redact
from brasstag.words.canonical import sha256
from brasstag.words.events import Entry
from tests.conftest import MakeProject
from tests.engine.citing import CREW, let_cite, write_files
from tests.engine.crews import call, turn

DONE = turn(text="NO_CLAIMS: done.")


@pytest.fixture
def crew(make_project: MakeProject) -> Path:
    return make_project(CREW, profile="trusted")


async def run_with(room: Room, *calls: dict[str, Any], **others: Any) -> tuple[str, list[Entry]]:
    """Let the editor make these calls, a turn each, and end; return its task, and the ends of its calls."""
    let_cite(room, {"editor": [*map(turn, calls), DONE], **others})
    run = await room.start("Go")
    assert (await room.finished(run)).ok
    return run, [entry for entry in await room.timeline(run) if "outcome" in (entry.payload or {})]


def faults(room: Room, task: str, reply: Any, role: str = "editor") -> list[str]:
    return [problem.id.value for problem in evidence_problems(room._runtime, task, role, reply)]


async def test_a_quote_is_checked_against_the_version_that_the_cited_call_saw(crew: Path) -> None:
    write_files(crew, {"a.md": "The sea is grey.\n"})
    async with Room.open(crew) as room:
        run, (first, wrote, second) = await run_with(
            room,
            call("read_file", path="a.md"),
            call("write_file", path="a.md", content="The sea is blue.\n"),
            call("read_file", path="a.md"),
        )
        grey, blue = 'QUOTE a.md:1 "The sea is grey."', 'QUOTE a.md:1 "The sea is blue."'
        assert faults(room, run, f"{grey} [{first.tag}]") == []
        assert faults(room, run, f"{blue} [{first.tag}]") == ["NOT_IN_LINE"]
        assert faults(room, run, f"{blue} [{wrote.tag}]") == []
        assert faults(room, run, f"{blue} [{second.tag}]") == []
        assert faults(room, run, blue) == []
        assert faults(room, run, grey) == ["NOT_IN_LINE"]


async def test_a_file_that_changed_outside_is_checked_as_it_was_read_as_long_as_that_is_known(
    crew: Path,
) -> None:
    write_files(crew, {"a.md": "The sea is grey.\n", "b.md": "one\ntwo\n"})
    async with Room.open(crew) as room:
        run, (whole, part) = await run_with(
            room, call("read_file", path="a.md"), call("read_file", path="b.md", start_line=1, end_line=1)
        )
        assert faults(room, run, f'QUOTE b.md:2 "two" [{part.tag}]') == []
        write_files(crew, {"a.md": "The sea is gone.\n", "b.md": "three\n"})
        assert faults(room, run, f'QUOTE a.md:1 "grey" [{whole.tag}]') == []
        assert faults(room, run, 'QUOTE a.md:1 "grey"') == []
        assert faults(room, run, f'QUOTE a.md:1 "gone" [{whole.tag}]') == ["NOT_IN_LINE"]
        # The result has only a part of it, and it is kept nowhere else.
        room.store.blobs.drop(sha256(b"one\ntwo\n"))
        assert faults(room, run, f'QUOTE b.md:1 "one" [{part.tag}]') == ["NOT_CHECKABLE"]


async def test_a_search_proves_the_lines_it_showed_and_where_nothing_was_found(crew: Path) -> None:
    write_files(crew, {"a.md": "one\nAnna left.\nthree\nfour\n", "b.md": "nothing\n"})
    async with Room.open(crew) as room:
        run, (hits, none, note) = await run_with(
            room,
            call("search_code", query="Anna", context=1),
            call("search_code", query="Bertha"),
            call("stop_and_think", thoughts="Hm."),
        )
        assert (
            faults(room, run, f'QUOTE a.md:2 "Anna left." [{hits.tag}]\nLINE_REF a.md:1-3 [{hits.tag}]') == []
        )
        assert faults(room, run, f'QUOTE a.md:4 "four" [{hits.tag}]') == ["NOT_SEEN"]
        assert faults(room, run, f'QUOTE b.md:1 "nothing" [{hits.tag}]') == ["NOT_SEEN"]
        assert faults(room, run, 'QUOTE a.md:2 "Anna left."') == ["NOT_SEEN"]
        assert faults(room, run, f"SCOPE_SCAN all files for Bertha, nothing found [{none.tag}]") == []
        assert faults(room, run, f"SCOPE_SCAN all files, nothing found [{hits.tag}]") == [
            "TAG_PROVES_NOTHING"
        ]
        assert faults(room, run, f"SCOPE_SCAN all files, nothing found [{note.tag}]") == [
            "TAG_PROVES_NOTHING"
        ]


async def test_a_tag_counts_in_its_own_task_and_in_those_above_it(crew: Path) -> None:
    write_files(crew, {"a.md": "The sea is grey.\n"})
    async with Room.open(crew) as room:
        run, (returned,) = await run_with(
            room,
            call("route_to_narrator", request="Read"),
            narrator=[
                turn(call("read_file", path="a.md")),
                turn(call("handoff", result="Read.", documents=["a.md"])),
            ],
        )
        _, child = await room.tasks(run)
        read = next(
            entry
            for entry in await room.timeline(child.id)
            if (entry.payload or {}).get("tool") == "read_file"
        )
        quote = 'QUOTE a.md:1 "grey"'
        assert faults(room, run, f"{quote} [{read.tag}]") == []
        assert faults(room, run, f"{quote} [{returned.tag}]") == []
        assert faults(room, child.id, f"{quote} [{read.tag}]", "narrator") == []
        assert faults(room, child.id, f"{quote} [{returned.tag}]", "narrator") == ["UNKNOWN_TAG"]
        other, (mine,) = await run_with(room, call("read_file", path="a.md"))
        assert faults(room, other, f"{quote} [{read.tag}]") == ["UNKNOWN_TAG"]
        assert faults(room, other, f"{quote} [{mine.tag[:-1]}]") == ["UNKNOWN_TAG"]
        assert faults(room, other, f"{quote} [{mine.tag[-12:]}]") != []


async def test_what_a_person_removed_proves_nothing(crew: Path) -> None:
    write_files(crew, {"a.md": "The sea is grey.\n"})
    async with Room.open(crew) as room:
        run, (read,) = await run_with(room, call("read_file", path="a.md"))
        redact(room.store, read, "ada", "private")
        assert faults(room, run, f'QUOTE a.md:1 "grey" [{read.tag}]') == ["TAG_REMOVED"]
        assert faults(room, run, 'QUOTE a.md:1 "grey"') == ["NOT_SEEN"]


async def test_a_call_that_failed_or_looked_elsewhere_proves_nothing(crew: Path) -> None:
    write_files(crew, {"a.md": "The sea is grey.\n", "b.md": "b\n"})
    async with Room.open(crew) as room:
        run, (failed, other) = await run_with(
            room, call("read_file", path="none.md"), call("read_file", path="b.md")
        )
        assert faults(room, run, f'QUOTE none.md:1 "grey" [{failed.tag}]') == ["TAG_PROVES_NOTHING"]
        assert faults(room, run, f"SCOPE_SCAN none.md is not there [{failed.tag}]") == []
        assert faults(room, run, 'QUOTE none.md:1 "grey"') == ["NOT_SEEN"]
        assert faults(room, run, f'QUOTE a.md:1 "grey" [{other.tag}]') == ["NOT_SEEN"]
        assert faults(room, run, 'QUOTE a.md:1 "grey"') == ["NOT_SEEN"]


async def test_a_file_that_a_rule_hides_from_the_role_is_not_confirmed_to_it(
    make_project: MakeProject,
) -> None:
    rule = '\n[[rules]]\ndeny = "read_file(/secret.md)"\nroles = ["editor"]\nbecause = "private"\n'
    project = make_project(f"{CREW}\n{rule}", profile="trusted")
    write_files(project, {"secret.md": "The key is under the mat.\n"})
    async with Room.open(project) as room:
        run, _ = await run_with(
            room,
            call("route_to_narrator", request="Read"),
            narrator=[turn(call("read_file", path="secret.md")), turn(text="Read.")],
        )
        _, child = await room.tasks(run)
        read = next(
            entry
            for entry in await room.timeline(child.id)
            if (entry.payload or {}).get("tool") == "read_file"
        )
        for quote in ('QUOTE secret.md:1 "under the mat"', 'QUOTE secret.md:1 "in the drawer"'):
            assert faults(room, run, f"{quote} [{read.tag}]") == ["NOT_CHECKABLE"]
            assert faults(room, run, quote) == ["NOT_CHECKABLE"]
        assert faults(room, child.id, f'QUOTE secret.md:1 "under the mat" [{read.tag}]', "narrator") == []


async def test_what_a_person_is_asked_about_is_not_confirmed_by_way_of_a_task_below(
    make_project: MakeProject,
) -> None:
    rule = '\n[[rules]]\nask = "read_file(/secret.md)"\nroles = ["editor"]\nbecause = "private"\n'
    project = make_project(f"{CREW}\n{rule}", profile="trusted")
    write_files(project, {"secret.md": "The key is under the mat.\n"})
    async with Room.open(project) as room:
        run, _ = await run_with(
            room,
            call("route_to_narrator", request="Read"),
            narrator=[turn(call("read_file", path="secret.md")), turn(text="Read.")],
        )
        _, child = await room.tasks(run)
        read = next(
            entry
            for entry in await room.timeline(child.id)
            if (entry.payload or {}).get("tool") == "read_file"
        )
        for quote in ("under the mat", "in the drawer"):
            assert faults(room, run, f'QUOTE secret.md:1 "{quote}" [{read.tag}]') == ["NOT_CHECKABLE"]


async def test_files_in_any_script_and_with_any_line_ends_can_be_quoted_and_pictures_cannot(
    crew: Path,
) -> None:
    write_files(crew, {"a.md": "\ufeffОна не пришла.\r\n彼女は「行かない」と言った。\r\n", "empty.md": ""})
    (crew / "data" / "b.bin").write_bytes(b"\xff\xfe\x00")
    async with Room.open(crew) as room:
        run, _ = await run_with(
            room,
            call("read_file", path="a.md"),
            call("read_file", path="b.bin", encoding="base64"),
            call("read_file", path="empty.md"),
        )
        assert faults(room, run, "QUOTE a.md:1 «Она не пришла.»\nQUOTE a.md:2 「行かない」") == []
        assert faults(room, run, 'QUOTE a.md:1 "Она пришла"') == ["NOT_IN_LINE"]
        assert faults(room, run, 'QUOTE a.md:3 "Она"') == ["NO_SUCH_LINE"]
        assert faults(room, run, 'QUOTE b.bin:1 "x"') == ["NOT_CHECKABLE"]
        assert faults(room, run, "LINE_REF empty.md:1") == ["NO_SUCH_LINE"]
