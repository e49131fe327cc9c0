"""SIGSTOP: a worker that sleeps through its task's life must neither write nor touch anything when it wakes."""

import signal
import time

import pytest

from brasstag import Room
from brasstag.engine.calls.perform import FRESH_SECONDS
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from tests.engine.crews import Script, call, turn
from tests.faults.checking import is_end
from tests.faults.conftest import MakeWorld
from tests.faults.harness import until
from tests.faults.sleepers import QUICK, stopped_worker, wake
from tests.faults.workers import Fate

STEPS: Script = {
    "boss": [
        {"when": "Wait", "turns": [turn(call("send")), turn(text="waited")]},
        {
            "turns": [
                turn(call("route_to_helper", request="Help")),
                turn(call("send")),
                turn(call("write_file", path="new.md", content="written by an agent")),
                turn(text="built"),
            ]
        },
    ],
    "helper": [turn(text="helped")],
}
"""One thing at a time, so that who stops at one of them is in the middle of no other."""

CHANGE: Script = {
    "boss": [
        turn(call("write_file", path="new.md", content="written by an agent")),
        turn(call("edit_file", path="old.md", search_text="old", replace_text="changed by an agent")),
        turn(text="built"),
    ]
}


@pytest.mark.parametrize("point", ["taken", "answered", "turn recorded", "opened", "persisted", "settled"])
async def test_a_worker_that_wakes_after_its_run_was_finished_changes_nothing(
    make_world: MakeWorld, point: str
) -> None:
    world = make_world(STEPS)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        asleep = await stopped_worker(world, room, Fate(point, signal=signal.SIGSTOP))
        world.hire(Fate(stopped_seconds=QUICK))
        await world.play(room, [run])
        (world.mill.project / "data" / "new.md").write_text("edited since")
        before = await room.timeline()
        wake(asleep)
        await world.dismiss()
        assert await room.timeline() == before
        assert world.mill.files() == {"old.md": "old", "new.md": "edited since"}
        assert await world.violations(room) == []


@pytest.mark.parametrize(
    ("point", "passing"), [("claimed", 0), ("performed", 0), ("claimed", 1), ("0: written", 0)]
)
async def test_a_worker_that_acts_keeps_its_claim_while_it_sleeps(
    make_world: MakeWorld, point: str, passing: int
) -> None:
    world = make_world(STEPS)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        asleep = await stopped_worker(world, room, Fate(point, passing, signal=signal.SIGSTOP))
        slept_since = time.monotonic()
        world.hire(Fate(stopped_seconds=QUICK))
        await until(lambda: time.monotonic() > slept_since + 2 * QUICK, "it has slept for long")
        # Whoever ends this one has looked over the room since.
        await world.play(room, [await room.start("Wait behind it", serve=False)])
        held = next(task for task in await room.tasks() if task.id == run)
        assert held.status == "running"
        wake(asleep)
        await world.play(room, [run])
        await world.dismiss()
        assert await world.violations(room) == []
        ends = [(entry.payload or {})["outcome"] for entry in await room.timeline(run) if is_end(entry)]
        assert ends == ["done", "done", "done"]


@pytest.mark.parametrize("point", ["persisted", "claimed", "0: written", "0: ready", "0: checked"])
async def test_a_worker_that_wakes_after_its_run_was_stopped_leaves_the_workspace_alone(
    make_world: MakeWorld, point: str
) -> None:
    world = make_world(CHANGE)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        asleep = await stopped_worker(world, room, Fate(point, signal=signal.SIGSTOP))
        claimed_before = time.monotonic()
        await room.stop(run, "ada")
        files = {name: text for name, text in world.mill.files().items() if not name.startswith(".brasstag")}
        await until(lambda: time.monotonic() > claimed_before + FRESH_SECONDS, "no claim is young any more")
        wake(asleep)
        await world.dismiss()
        assert world.mill.files() == files
        assert await world.violations(room) == []
        ends = [entry.payload or {} for entry in await room.timeline(run) if entry.kind is EntryKind.SETTLED]
        if point != "persisted":
            assert ends[-1]["result"]["error"]["code"] == Code.CANCELLED
