"""Which calls of one turn may run together."""

from pathlib import Path

import pytest

from brasstag import Room
from brasstag.engine.transcript.state import CallState, OpenCall
from brasstag.engine.worker.open_calls import Footprint, footprint, is_second_handoff, may_start
from brasstag.toolkit.discovery import discover_package
from brasstag.toolkit.registry import ToolRegistry
from brasstag.words.events import EntryKind
from brasstag.words.messages import ToolUse
from tests.engine.crews import call, write_script
from tests.engine.crews import turn as said_at_once

registry = ToolRegistry(discover_package("brasstag.tools"))


def turn(*calls: tuple[str, dict[str, object]]) -> list[OpenCall]:
    return [
        OpenCall(f"task:0.{index}", 0, index, ToolUse(f"c0_{index}", tool, arguments))
        for index, (tool, arguments) in enumerate(calls)
    ]


def started(calls: list[OpenCall]) -> list[int]:
    return [call.index for call in may_start(registry, calls)]


def test_reading_runs_beside_reading() -> None:
    assert started(turn(("read_file", {"path": "a"}), ("read_file", {"path": "a"}), ("list_files", {}))) == [
        0,
        1,
        2,
    ]


def test_what_is_written_and_then_read_keeps_its_order() -> None:
    calls = turn(("write_file", {"path": "a/b.md", "content": ""}), ("read_file", {"path": "./a//b.md"}))
    assert started(calls) == [0]
    assert started(calls[1:]) == [1]


def test_a_directory_overlaps_what_lies_below_it() -> None:
    assert started(turn(("delete_file", {"path": "a"}), ("write_file", {"path": "a/b", "content": ""}))) == [
        0
    ]
    assert started(turn(("delete_file", {"path": "a"}), ("write_file", {"path": "ab", "content": ""}))) == [
        0,
        1,
    ]


def test_a_call_that_names_no_path_may_read_anything() -> None:
    assert started(turn(("write_file", {"path": "a", "content": ""}), ("list_files", {}))) == [0]


def test_code_may_change_anything_wherever_it_starts() -> None:
    calls = turn(("shell", {"command": "ls", "cwd": "a"}), ("read_file", {"path": "b"}))
    assert started(calls) == [0]


def test_code_that_reaches_the_web_changes_nothing_and_reads_what_was_written() -> None:
    asks = ("shell", {"command": "curl https://api.test", "network": ["api.test"]})
    assert started(turn(asks, ("read_file", {"path": "b"}), asks)) == [0, 1, 2]
    assert started(turn(("write_file", {"path": "a", "content": ""}), asks)) == [0]


def test_a_fetch_stands_only_where_it_saves() -> None:
    url = "https://docs.test/x"
    reads = ("read_file", {"path": "a/x.png"})
    assert started(turn(("web_fetch", {"url": url, "saveAs": "./a//x.png"}), reads)) == [0]
    assert started(turn(("web_fetch", {"url": url, "save_as": "b"}), reads)) == [0, 1]
    assert started(turn(("web_fetch", {"url": url}), reads)) == [0, 1]


@pytest.mark.parametrize("arguments", [{"url": "no address", "save_as": "a"}, {"save_as": "a"}])
def test_a_call_that_will_be_refused_holds_up_nobody(arguments: dict[str, object]) -> None:
    assert started(turn(("web_fetch", arguments), ("read_file", {"path": "a"}))) == [0, 1]


@pytest.mark.parametrize(
    "says",
    [
        ("describe_document", {"path": "a.md", "description": "sums"}),
        ("tag_document", {"path": "./a.md", "add": ["x"]}),
    ],
)
def test_what_is_said_of_a_document_is_said_in_the_order_given(says: tuple[str, dict[str, object]]) -> None:
    for other in (
        ("describe_document", {"path": "a.md", "description": "totals"}),
        ("tag_document", {"path": "a.md", "remove": ["x"]}),
        ("load_to_context", {"path": "a.md"}),
        ("list_documents", {}),
        ("search_documents", {"query": "x"}),
    ):
        assert started(turn(says, other)) == [0], other
        assert started(turn(other, says)) == [0], other
    assert started(turn(says, ("tag_document", {"path": "b.md", "add": ["x"]}))) == [0, 1]


def test_notes_of_an_agents_own_stand_in_nobodys_way() -> None:
    note = ("save_to_short_term_memory", {"content": "x"})
    assert started(turn(note, ("list_documents", {}), note)) == [0, 1, 2]


def test_a_document_that_is_still_being_written_does_not_travel() -> None:
    calls = turn(
        ("write_file", {"path": "plan.md", "content": "x"}),
        ("ask_master", {"question": "Is it right?", "documents": ["plan.md"]}),
    )
    assert started(calls) == [0]


def test_a_handoff_waits_for_its_siblings() -> None:
    calls = turn(("stop_and_think", {"thoughts": "x"}), ("handoff", {"result": "done"}))
    assert started(calls) == [0]
    assert started(calls[1:]) == [1]


def test_a_second_handoff_is_not_waited_for() -> None:
    calls = turn(
        ("handoff", {"result": 1}), ("stop_and_think", {"thoughts": "x"}), ("handoff", {"result": 2})
    )
    assert started(calls) == [1, 2]
    assert [is_second_handoff(registry, calls, call) for call in calls] == [False, False, True]
    assert started(calls[:1]) == [0]


@pytest.mark.parametrize("state", [CallState.ASKED, CallState.ACTING, CallState.CHILD])
def test_a_waiting_call_does_not_start_and_holds_up_only_what_overlaps_it(state: CallState) -> None:
    calls = turn(
        ("write_file", {"path": "a", "content": ""}),
        ("write_file", {"path": "a", "content": "2"}),
        ("write_file", {"path": "b", "content": ""}),
    )
    calls[0].state = state
    assert started(calls) == [2]


def test_arguments_nobody_could_read_stand_in_nobodys_way() -> None:
    assert footprint(registry, "write_file", '{"path": ') == Footprint()
    assert footprint(registry, "no_such_tool", {"path": "a"}) == Footprint()


async def test_of_what_one_turn_says_of_a_document_the_last_holds(crew: Path) -> None:
    (crew / "data" / "a.md").write_text("one\n")
    said = [call("describe_document", path="a.md", description=f"word {number}") for number in range(8)]
    tags = [
        call("tag_document", path="a.md", **{change: ["x"]})
        for change in ("add", "remove", "add", "remove", "add")
    ]
    write_script(crew, {"boss": [said_at_once(*said, *tags), said_at_once(text="Done.")]})
    async with Room.open(crew) as room:
        run = await room.start("Say what it is")
        assert (await room.finished(run)).ok
        document = await room.documents.get("a.md")
        assert (document.description, document.tags) == ("word 7", ("x",))
        called = [entry.payload for entry in await room.timeline(run) if entry.kind is EntryKind.CALLED]
        results = [payload["result"] for payload in called if payload is not None]
        assert [one["description"] for one in results[:8]] == [f"word {number}" for number in range(8)]
        assert [one["tags"] for one in results[8:]] == [["x"], [], ["x"], [], ["x"]]
