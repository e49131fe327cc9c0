"""Hearing programs while they run: in order, never mixed up, within limits, and without harm to the call."""

import asyncio
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Approver, Done, Failed, Output, Room, RunEvent, Waiting
from brasstag.app.watch import output as listening
from brasstag.app.watch.events import _WatchedRun
from brasstag.app.watch.output import OutputListeners, OutputQueue
from brasstag.store.database.base import View
from brasstag.words.calls import Call
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script

confines = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

HOLDING = "echo first; until [ -s go ]; do sleep 0.02; done; echo second"
"""Prints a line, and another once there is something in a file."""


def holding(workspace: Path) -> Path:
    """Make the file that a program waits for; it goes on once something is written there."""
    go = workspace / "go"
    go.touch()
    return go


def a_call(name: str = "call_1", task: str = "task_1") -> Call:
    return Call(name, "shell", {}, "library", "operator", task)


def text_of(outputs: list[Output], stream: str = "stdout") -> str:
    return "".join(output.text for output in outputs if output.stream == stream)


class TestTrays:
    def test_a_character_that_comes_in_pieces_is_one_character(self) -> None:
        listeners = OutputListeners()
        with listeners.queue() as queue:
            out, other = listeners.of(a_call("a")), listeners.of(a_call("b"))
            for byte in "aé€😀".encode():
                out("stdout", bytes([byte]))
                out("stderr", b"e")
                other("stdout", bytes([byte]))
            found = queue.take()
        for name in ("a", "b"):
            assert text_of([one for one in found if one.call_id == name]) == "aé€😀"

    def test_what_is_no_text_is_replaced_and_what_follows_is_read(self) -> None:
        listeners = OutputListeners()
        with listeners.queue() as queue:
            listeners.of(a_call())("stdout", b"a\xff\xc3(b")
            assert text_of(queue.take()) == "a\ufffd\ufffd(b"

    def test_what_one_stream_prints_in_a_row_is_one_piece_and_streams_keep_their_order(self) -> None:
        listeners = OutputListeners()
        with listeners.queue() as queue:
            tell = listeners.of(a_call())
            for stream, data in (("stdout", b"1"), ("stdout", b"2"), ("stderr", b"3"), ("stdout", b"4")):
                tell(stream, data)  # type: ignore[arg-type]
            found = [(one.stream, one.text) for one in queue.take()]
        assert found == [("stdout", "12"), ("stderr", "3"), ("stdout", "4")]

    def test_of_a_flood_the_newest_is_held_and_the_rest_counted(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(listening, "MOST_HELD", 1000)
        listeners = OutputListeners()
        with listeners.queue() as queue:
            tell = listeners.of(a_call())
            for number in range(100):
                tell("stdout", f"{number:050}".encode())
            (found,) = queue.take()
            assert found.left_out + len(found.text) == 100 * 50
            assert 0 < len(found.text) <= 1000
            assert found.text.endswith(f"{99:050}")
            tell("stdout", b"on")
            assert queue.take() == [Output("call_1", "task_1", "shell", "stdout", "on")]

    def test_a_flood_of_nothing_but_single_letters_is_held_within_limits_too(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(listening, "MOST_HELD", 10_000)
        listeners = OutputListeners()
        with listeners.queue() as queue:
            tell = listeners.of(a_call())
            for _ in range(5000):
                tell("stdout", b"o")
                tell("stderr", b"e")
            assert len(queue._pieces) < 200
            found = queue.take()
        for stream in ("stdout", "stderr"):
            mine = [one for one in found if one.stream == stream]
            assert sum(one.left_out + len(one.text) for one in mine) == 5000

    def test_a_call_of_which_everything_was_left_out_is_still_told_of(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(listening, "MOST_HELD", 1000)
        listeners = OutputListeners()
        with listeners.queue() as queue:
            listeners.of(a_call("early"))("stderr", b"lost")
            listeners.of(a_call("late"))("stdout", b"x" * 900)
            early, late = queue.take()
        assert early == Output("early", "task_1", "shell", "stderr", "", left_out=4)
        assert (late.call_id, late.left_out, len(late.text)) == ("late", 0, 900)

    def test_taking_of_some_calls_leaves_the_others(self) -> None:
        queue = OutputQueue()
        for name in ("a", "b", "a"):
            queue.put(Output(name, "task_1", "shell", "stdout", name))
        assert [one.text for one in queue.take({"a"})] == ["aa"]
        assert [one.text for one in queue.take()] == ["b"]
        assert queue.take() == []

    def test_nothing_is_lost_or_doubled_between_threads(self) -> None:
        listeners = OutputListeners()
        found: list[Output] = []
        with listeners.queue() as queue:

            def print_much(name: str) -> None:
                tell = listeners.of(a_call(name))
                for number in range(2000):
                    tell("stdout", f"{number},".encode())

            threads = [threading.Thread(target=print_much, args=(name,)) for name in "abcd"]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                found += queue.take()
            found += queue.take()
        for name in "abcd":
            mine = [one for one in found if one.call_id == name]
            assert text_of(mine) == "".join(f"{number}," for number in range(2000))

    def test_whoever_stopped_listening_is_told_nothing(self) -> None:
        listeners = OutputListeners()
        tell = listeners.of(a_call())
        with listeners.queue() as queue:
            tell("stdout", b"a")
        tell("stdout", b"b")
        assert text_of(queue.take()) == "a"


@confines
class TestOneCall:
    async def test_a_line_is_heard_before_the_program_has_ended(self, room: Room) -> None:
        go = holding(room.workspace)
        heard: list[Output] = []

        def hear(output: Output) -> None:
            heard.append(output)
            # The program ends only after this: what came before was heard while it ran.
            go.write_text("on")

        outcome = await room.call("shell", {"command": HOLDING}, on_output=hear)
        assert isinstance(outcome, Done)
        assert [one.text for one in heard] == ["first\n", "second\n"]
        assert {(one.tool, one.stream, one.task_id) for one in heard} == {("shell", "stdout", room.task_id)}

    async def test_all_of_it_is_told_before_the_call_returns_and_is_what_the_result_has(
        self, room: Room
    ) -> None:
        heard: list[Output] = []
        code = "import sys\nfor i in range(9999): print('é', i)\nprint('€', file=sys.stderr)"
        outcome = await room.call("run_code", {"language": "python", "code": code}, on_output=heard.append)
        assert isinstance(outcome, Done)
        assert text_of(heard) == outcome.value["stdout"]
        assert text_of(heard, "stderr") == outcome.value["stderr"] == "€\n"

    async def test_calls_side_by_side_hear_only_their_own(self, room: Room) -> None:
        async def run(word: str) -> tuple[str, set[str]]:
            heard: list[Output] = []
            command = f"for i in 1 2 3 4 5; do echo {word}; sleep 0.02; done"
            await room.call("shell", {"command": command}, call_id=f"call_{word}", on_output=heard.append)
            return text_of(heard), {one.call_id for one in heard}

        one, two = await asyncio.gather(run("one"), run("two"))
        assert one == ("one\n" * 5, {"call_one"})
        assert two == ("two\n" * 5, {"call_two"})

    async def test_a_listener_that_raises_harms_neither_the_call_nor_what_it_hears_next(
        self, room: Room
    ) -> None:
        go = holding(room.workspace)
        heard: list[str] = []
        troubles: list[Mapping[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, about: troubles.append(about))

        def hear(output: Output) -> None:
            heard.append(output.text)
            go.write_text("on")
            raise ValueError(output.text)

        outcome = await room.call("shell", {"command": HOLDING}, on_output=hear)
        assert isinstance(outcome, Done)
        assert heard == ["first\n", "second\n"]
        assert [str(about["exception"]) for about in troubles] == heard

    async def test_what_was_printed_before_the_time_was_over_is_heard(self, room: Room) -> None:
        heard: list[Output] = []
        arguments = {"command": "echo begun; sleep 60", "timeout": 1}
        outcome = await room.call("shell", arguments, on_output=heard.append)
        assert isinstance(outcome, Failed)
        assert text_of(heard) == "begun\n"

    async def test_whoever_goes_away_leaves_nothing_that_listens(self, room: Room) -> None:
        go = holding(room.workspace)
        begun = asyncio.Event()
        going = asyncio.create_task(
            room.call("shell", {"command": HOLDING}, call_id="left", on_output=lambda _: begun.set())
        )
        await begun.wait()
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
        assert room.runs._watchers.listeners._queues == (room._recorder,), "only the recorder listens always"
        go.write_text("on")

    async def test_code_that_waits_for_a_yes_is_heard_where_it_goes_on(self, tmp_path: Path) -> None:
        async with Room.in_memory(tmp_path, profile="locked") as room:
            early, late, later = list[Output](), list[Output](), list[Output]()
            calling = {"command": "echo heard > made; echo heard"}
            waiting = await room.call("shell", calling, on_output=early.append)
            assert isinstance(waiting, Waiting)
            await room.decide(waiting.approval_id, ApprovalResponse(True), ADA)
            landing = await room.wait(waiting, on_output=late.append)
            assert isinstance(landing, Waiting)
            await room.decide(landing.approval_id, ApprovalResponse(True), Approver("ada", "terminal"))
            assert isinstance(await room.resume(landing.approval_id, on_output=later.append), Done)
        # What the code changed lands without running again.
        assert [text_of(heard) for heard in (early, late, later)] == ["", "heard\n", ""]


def told(event: RunEvent) -> str:
    """A event in one word."""
    if event.output is not None:
        return f"{event.output.stream}: {event.output.text.strip()}"
    return event.entry.kind.value if event.entry else "waiting" if event.waiting else "text"


@confines
class TestWatching:
    async def test_output_comes_after_what_led_to_it_and_before_what_came_of_it(
        self, make_project: MakeProject
    ) -> None:
        project = make_project(CREW)
        command = call("shell", command="echo hello > made.md; echo out")
        write_script(project, {"boss": [turn(command, text="I try."), turn(text="Done.")]})
        async with Room.open(project) as room:
            run = await room.start("Try it")
            found = [told(one) async for one in room.watch(run)]
        order = [one for one in found if one not in ("text", "claimed")]
        assert order == ["opened", "turn", "stdout: out", "settled", "turn", "closed"]

    async def test_a_line_is_seen_while_the_program_still_runs(self, make_project: MakeProject) -> None:
        project = make_project(CREW)
        go = holding(project / "data")
        write_script(project, {"boss": [turn(call("shell", command=HOLDING)), turn(text="Done.")]})
        seen: list[str] = []
        async with Room.open(project) as room:
            run = await room.start("Hold")
            async for event in room.watch(run):
                seen.append(told(event))
                if event.output is not None and event.output.text == "first\n":
                    go.write_text("on")
        order = [one for one in seen if one in ("stdout: first", "stdout: second", "called")]
        assert order == ["stdout: first", "stdout: second", "called"]

    async def test_code_that_waited_for_a_yes_prints_after_it(self, make_project: MakeProject) -> None:
        project = make_project(CREW, profile="locked")
        write_script(project, {"boss": [turn(call("shell", command="echo out")), turn(text="Done.")]})
        async with Room.open(project) as room:
            run = await room.start("Try it")
            found: list[str] = []
            async for event in room.watch(run):
                found.append(told(event))
                for approval in event.waiting.approvals if event.waiting else ():
                    await room.decide(approval.id, ApprovalResponse(True), ADA)
        order = [one for one in found if one in ("asked", "decided", "stdout: out", "settled")]
        assert order == ["asked", "decided", "stdout: out", "settled"]

    async def test_the_order_holds_for_a_watcher_that_reads_all_of_it_at_once(
        self, make_project: MakeProject
    ) -> None:
        project = make_project(CREW, profile="locked")
        command = call("shell", command="echo > made.md; echo out")
        write_script(project, {"boss": [turn(command), turn(text="Done.")]})
        async with Room.open(project) as room:
            run = await room.start("Try it")
            late = room.watch(run)
            found = [told(await anext(late))]
            async for event in room.watch(run):
                for approval in event.waiting.approvals if event.waiting else ():
                    await room.decide(approval.id, ApprovalResponse(True), ADA)
            found += [told(one) async for one in late]
        order = [one for one in found if one not in ("text", "waiting", "claimed")]
        assert order == [
            *("opened", "turn", "asked", "decided", "stdout: out", "asked", "decided", "settled"),
            *("turn", "closed"),
        ]

    async def test_what_comes_while_the_watcher_looks_is_still_told_before_the_end_of_its_call(
        self, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project = make_project(CREW)
        write_script(project, {"boss": [turn(call("list_files")), turn(text="Done.")]})
        async with Room.open(project) as room:
            run = await room.start("Look")
            await room.finished(run)
            looks = _WatchedRun.look

            def look_while_it_prints(following: _WatchedRun, view: View) -> list[RunEvent]:
                found = looks(following, view)
                (ended,) = [one.entry for one in found if told(one) == "called"]
                assert ended is not None
                room._runtime.listeners.heard(a_call(ended.call_id, run))("stdout", b"late")
                return found

            monkeypatch.setattr(_WatchedRun, "look", look_while_it_prints)
            found = [told(one) async for one in room.watch(run)]
        assert found.index("stdout: late") + 1 == found.index("called")

    async def test_a_watcher_hears_only_the_run_it_follows(self, make_project: MakeProject) -> None:
        project = make_project(CREW)
        roles = {
            role: [
                turn(call("shell", command=f"for i in 1 2 3; do echo {role}; sleep 0.05; done")),
                turn(text="Done."),
            ]
            for role in ("boss", "worker")
        }
        write_script(project, roles)
        async with Room.open(project) as room:
            runs = {role: await room.start("Print", role=role) for role in roles}

            async def heard(run: str) -> list[RunEvent]:
                return [one async for one in room.watch(run) if one.output is not None]

            found = dict(zip(runs, await asyncio.gather(*map(heard, runs.values())), strict=True))
        for role, happenings in found.items():
            assert text_of([one.output for one in happenings if one.output]) == f"{role}\n" * 3
            assert {one.task.id for one in happenings} == {runs[role]}

    async def test_a_watcher_that_leaves_does_not_disturb_the_run(self, make_project: MakeProject) -> None:
        project = make_project(CREW)
        go = holding(project / "data")
        write_script(project, {"boss": [turn(call("shell", command=HOLDING)), turn(text="Done.")]})
        async with Room.open(project) as room:
            run = await room.start("Hold")
            watching = room.watch(run)
            async for event in watching:
                if event.output is not None:
                    break
            await watching.aclose()  # type: ignore[attr-defined]
            assert room.runs._watchers.listeners._queues == (room._recorder,), (
                "only the recorder listens always"
            )
            go.write_text("on")
            ended = await room.finished(run)
            (came,) = [one for one in await room.timeline(run) if one.kind is EntryKind.CALLED]
        assert ended.ok
        assert (came.payload or {})["result"]["stdout"] == "first\nsecond\n"

    async def test_a_watcher_that_is_slower_than_a_flood_is_told_how_much_it_missed(
        self, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(listening, "MOST_HELD", 10_000)
        project = make_project(CREW)
        flood = "head -c 500000 /dev/zero | tr '\\0' x"
        write_script(project, {"boss": [turn(call("shell", command=flood)), turn(text="Done.")]})
        async with Room.open(project) as room:
            run = await room.start("Flood")
            outputs = [one.output async for one in room.watch(run) if one.output is not None]
            (came,) = [one for one in await room.timeline(run) if one.kind is EntryKind.CALLED]
        assert sum(one.left_out for one in outputs) > 0
        assert sum(one.left_out + len(one.text) for one in outputs) == 500_000
        assert len((came.payload or {})["result"]["stdout"]) == 500_000
