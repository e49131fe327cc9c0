"""Budgets hold, whatever runs at once; and what a person sees of them is what works."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from brasstag import Budget, Room, tool
from brasstag.models.scripted import ScriptedModel
from brasstag.settings.crew import PERSON
from brasstag.store.database.schema import tasks
from brasstag.store.jobs.sqlite import ready_tasks
from brasstag.toolkit.config.config import Limits
from brasstag.words.errors import Code, Fenced, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.turns import OnText, Turn, TurnRequest
from tests.conftest import accept
from tests.engine.crews import ADA, call, turn, write_script

PATIENCE = 60.0
"""Seconds before a test gives up."""

THINK = turn(call("stop_and_think", thoughts="…"))


class Crowd:
    """A model that answers once every held task of the room is in it: as many turns are under way as can be."""

    name = "crowd"
    sees_images = False
    context_tokens = 100_000

    def __init__(self, room: Room, script: dict[str, Any]) -> None:
        self._room = room
        self._script = ScriptedModel(script)
        self._inside: set[str] = set()
        self.most = 0
        """How many turns were recorded or under way at once."""

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        """Wait for the others, and answer by the script."""
        self._inside.add(request.task_id)
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    found = await self._room.tasks()
                    taken = sum(task.steps for task in found)
                    self.most = max(self.most, taken + len(self._inside))
                    if {task.id for task in found if task.status == "running"} <= self._inside:
                        break
                    await asyncio.sleep(0.01)
            return await self._script.respond(request, on_text)
        finally:
            self._inside.discard(request.task_id)


async def play(room: Room, script: dict[str, Any], budget: Budget) -> tuple[Crowd, str]:
    """Play a script to its end, with as many turns at once as can be."""
    crowd = Crowd(room, script)
    room._runtime.agents.find_model = lambda _name, _fallback: crowd
    run = await room.start("Do it in parts", budget=budget)
    async with asyncio.timeout(PATIENCE):
        await room.finished(run)
    return crowd, run


async def stand(room: Room, run: str, steps: int, statuses: list[str]) -> None:
    """Wait until the tasks of a run have taken so many steps, and stand so."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await room.tasks(run)
            if (
                sum(task.steps for task in found) == steps
                and sorted(task.status for task in found) == statuses
            ):
                return
            await asyncio.sleep(0.01)


def parts(number: int, turns: int) -> dict[str, Any]:
    """A lead that gives away so many parts at once, each of so many turns."""
    return {
        "boss": [turn(*(call("route_to_worker", request=f"Part {n}") for n in range(number)))],
        "worker": [THINK] * turns,
    }


@pytest.mark.parametrize("steps", [2, 12])
async def test_tasks_that_run_at_once_take_no_more_steps_than_their_run_has(crew: Path, steps: int) -> None:
    async with Room.open(crew) as room:
        crowd, run = await play(room, parts(5, 6), Budget(max_steps=steps))
        found = await room.tasks(run)
        assert sum(task.steps for task in found) == steps
        # No model was asked for a turn that would have been one too many, either.
        assert crowd.most == steps
        assert {task.status for task in found} == {"failed"}
        report = await room.verify()
        assert report.ok, report.findings


async def test_the_last_step_goes_to_one_of_several_and_a_person_extends_the_run(crew: Path) -> None:
    script = parts(3, 1)
    script["boss"].append(turn(text="All parts are there."))
    script["worker"] = [turn(text="Part.")]
    async with Room.open(crew) as room:
        _, run = await play(room, script, Budget(max_steps=2))
        assert sorted(task.steps for task in await room.tasks(run)) == [0, 0, 1, 1]
        root, *below = await room.tasks(run)
        failed = [task for task in below if task.status == "failed"]
        for task in (root, *failed):
            ended = await room.finished(task.id)
            assert ended.result["error"]["code"] == Code.BUDGET_EXCEEDED
            assert "a person may extend it, with a higher max_steps" in ended.result["error"]["message"]
            assert ended.result["error"]["details"]["limit"] == "max_steps"
        await room.resume_run(run, budget=Budget(max_steps=9))
        assert (await room.finished(run)).result == "All parts are there."


async def test_a_task_that_had_to_wait_gets_the_step_that_others_did_not_need(crew: Path) -> None:
    release, meeting = asyncio.Event(), asyncio.Barrier(3)

    @tool(effects="external", replay="safe", approval="auto")
    async def hold() -> str:
        """Wait for the others, and then for a word."""
        await meeting.wait()
        await release.wait()
        return "held"

    @tool(effects="external", replay="safe", approval="auto")
    async def meet() -> str:
        """Wait for the others."""
        await meeting.wait()
        return "met"

    holding = [turn(call("hold"), call("handoff", result="held"))]
    requests = ("Hold", "Hold", "Speak")
    write_script(
        crew,
        {
            "boss": [turn(*(call("route_to_worker", request=one) for one in requests)), turn(text="Done.")],
            "worker": [
                {"when": "Hold", "turns": holding},
                {"turns": [turn(call("meet")), turn(text="Spoken.")]},
            ],
        },
    )
    async with Room.open(crew) as room:
        room.register(hold)
        room.register(meet)
        run = await room.start("Go", budget=Budget(max_steps=6))
        await stand(room, run, 4, ["blocked", "ready", "running", "running"])
        release.set()
        assert (await room.finished(run)).result == "Done."
        found = await room.tasks(run)
        assert {task.status for task in found} == {"done"}
        assert sum(task.steps for task in found) == 6


async def test_a_task_that_let_others_go_first_is_given_back_when_its_room_closes(crew: Path) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    class Slow(Crowd):
        async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
            if request.role == "worker":
                asked.set()
                await answer.wait()
            return await self._script.respond(request, on_text)

    script = parts(2, 1) | {"worker": [turn(text="Part.")]}
    script["boss"].append(turn(text="Done."))
    async with Room.open(crew) as room:
        slow = Slow(room, script)
        room._runtime.agents.find_model = lambda _name, _fallback: slow
        run = await room.start("Go", budget=Budget(max_steps=2))
        await asked.wait()
        await stand(room, run, 1, ["blocked", "ready", "running"])
        room.runs.drain()
        answer.set()
    async with Room.open(crew) as room:
        left = [task for task in await room.tasks(run) if not task.has_ended]
        assert {task.status for task in left} <= {"ready", "blocked"}
        room._runtime.agents.find_model = lambda _name, _fallback: ScriptedModel(script)
        await room.runs.serve_run(run)
        async with asyncio.timeout(PATIENCE):
            ended = await room.finished(run)
        assert ended.result["error"]["code"] == Code.BUDGET_EXCEEDED
        assert sum(task.steps for task in await room.tasks(run)) == 2


async def test_two_workers_share_the_steps_of_a_run(crew: Path) -> None:
    async with Room.open(crew) as room, Room.open(crew) as other:
        crowd = Crowd(room, parts(6, 5))
        for one in (room, other):
            one._runtime.agents.find_model = lambda _name, _fallback: crowd
        run = await room.start("Do it in parts", budget=Budget(max_steps=9), serve=False)
        working = [asyncio.create_task(one.runs.serve(3)) for one in (room, other)]
        async with asyncio.timeout(PATIENCE):
            await room.finished(run)
        for one in (room, other):
            one.runs.drain()
        await asyncio.gather(*working)
        assert sum(task.steps for task in await room.tasks(run)) == 9
        assert crowd.most == 9
        report = await room.verify()
        assert report.ok, report.findings


async def test_a_task_whose_worker_died_while_others_went_first_is_offered_again(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        graph, store = room.store.graph, room.store
        run = await room.start("Go", serve=False)
        held = graph.take(run, 1)
        assert held is not None
        graph.step_aside(held)
        assert store.read(lambda view: ready_tasks(view, "", 9)) == []
        [waiting] = await room.tasks(run)
        graph.hint_again([waiting])
        [(found, wake)] = store.read(lambda view: ready_tasks(view, "", 9))
        assert found == run
        assert graph.take(run, wake) is not None
        with pytest.raises(Fenced):
            graph.step_in(held, 1)
        with pytest.raises(Fenced):
            graph.step_aside(held)


async def _linger() -> str:
    """Never come back."""
    await asyncio.sleep(3600)
    return "never"


def _hang(until: threading.Event) -> Callable[[], str]:
    def hang() -> str:
        """Never come back."""
        until.wait()
        return "never"

    return hang


@pytest.mark.parametrize("kind", ["async", "sync"])
@pytest.mark.parametrize("of_run", [False, True])
async def test_a_tool_ends_when_the_time_of_its_task_does(crew: Path, kind: str, of_run: bool) -> None:
    settings = crew / "brasstag.toml"
    section = "crew" if of_run else "roles.worker"
    settings.write_text(f"{settings.read_text()}\n[{section}.budget]\nmax_seconds = 0.5\n")
    accept(crew)
    write_script(
        crew,
        {
            "boss": [turn(call("route_to_worker", request="Linger")), turn(text="It took too long.")],
            "worker": [turn(call("linger")), turn(text="Never said.")],
        },
    )
    over = threading.Event()
    options: dict[str, Any] = {"effects": "external", "replay": "safe", "approval": "auto"}
    limits = Limits(timeout_seconds=3000)
    lingering = tool(name="linger", limits=limits, **options)(_linger if kind == "async" else _hang(over))
    try:
        async with Room.open(crew) as room:
            room.register(lingering)
            run = await room.start("Linger")
            async with asyncio.timeout(PATIENCE):
                ended = await room.finished(run)
            root, child = await room.tasks(run)
            ends = [
                entry.payload or {}
                for entry in await room.timeline(child.id)
                if entry.kind is EntryKind.SETTLED
            ]
            assert [end["result"]["error"]["code"] for end in ends] == [Code.TIMEOUT]
            assert "the time its task may work was over" in ends[0]["result"]["error"]["message"]
            # What was cut off took its time as well, so there is none for another turn.
            assert child.steps == 1
            assert child.milliseconds + (root.milliseconds if of_run else 0) >= 500
            failed = await room.finished(child.id)
            assert failed.result["error"]["details"]["limit"] == "max_seconds"
            assert ended.ok is not of_run
            report = await room.verify()
            assert report.ok, report.findings
    finally:
        over.set()


async def test_a_tool_does_not_begin_when_no_time_is_left_and_begins_when_there_is_more(crew: Path) -> None:
    begun: list[str] = []

    @tool(effects="external", replay="safe", approval="auto")
    async def note(word: str) -> str:
        """Note a word."""
        begun.append(word)
        return word

    class Late(ScriptedModel):
        async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
            # By the time its calls could run, somebody has used up the time.
            said = await super().respond(request, on_text)
            if not request.turn:
                with room.store.database.write() as transaction:
                    transaction.execute(update(tasks).values(milliseconds=9000))
            return said

    async with Room.open(crew) as room:
        room.register(note)
        late = Late({"boss": [turn(call("note", word="a")), turn(text="Noted.")]})
        room._runtime.agents.find_model = lambda _name, _fallback: late
        run = await room.start("Note", budget=Budget(max_seconds=9))
        ended = await room.finished(run)
        assert "before note could begin" in ended.result["error"]["message"]
        assert begun == []
        await room.resume_run(run, budget=Budget(max_seconds=100))
        assert (await room.finished(run)).result == "Noted."
        assert begun == ["a"]


async def test_an_answer_that_is_cut_off_has_taken_its_time(crew: Path) -> None:
    class Silent(ScriptedModel):
        async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
            if request.role == "boss":
                return await super().respond(request, on_text)
            return await asyncio.get_running_loop().create_future()

    script = {"boss": [turn(call("route_to_worker", request="Speak")), turn(text="Never said.")]}
    async with Room.open(crew) as room:
        silent = Silent(script)
        room._runtime.agents.find_model = lambda _name, _fallback: silent
        run = await room.start("Go", budget=Budget(max_seconds=0.5))
        async with asyncio.timeout(PATIENCE):
            ended = await room.finished(run)
        assert ended.result["error"]["code"] == Code.BUDGET_EXCEEDED
        root, child = await room.tasks(run)
        # The time of the run was used below, so its root did not get it again.
        assert root.steps == 1
        assert child.milliseconds + root.milliseconds >= 500
        report = await room.verify()
        assert report.ok, report.findings


async def test_waiting_for_a_person_is_free(crew: Path) -> None:
    write_script(crew, {"boss": [turn(call("ask_master", question="?")), turn(text="Thanks.")]})
    async with Room.open(crew) as room:
        run = await room.start("Ask", budget=Budget(max_seconds=1.5))
        async for event in room.watch(run):
            if event.entry is not None and event.entry.kind is EntryKind.QUESTIONED:
                break
        [question] = [task for task in await room.tasks(run) if task.role == PERSON]
        await asyncio.sleep(1.6)
        await room.answer(question.id, "Now.", ADA)
        assert (await room.finished(run)).result == "Thanks."


async def test_a_task_below_the_root_says_how_its_limit_is_really_raised(crew: Path) -> None:
    settings = crew / "brasstag.toml"
    settings.write_text(f"{settings.read_text()}\n[roles.worker.budget]\nmax_steps = 1\n")
    accept(crew)
    write_script(
        crew,
        {"boss": [turn(call("route_to_worker", request="Think")), turn(text="Well.")], "worker": [THINK] * 2},
    )
    async with Room.open(crew) as room:
        run = await room.start("Go")
        assert (await room.finished(run)).result == "Well."
        _, child = await room.tasks(run)
        error = (await room.finished(child.id)).result["error"]
        assert error["code"] == Code.BUDGET_EXCEEDED
        assert "max_steps in [roles.worker.budget] of brasstag.toml" in error["message"]
        assert "brasstag resume" not in error["message"]
        with pytest.raises(ToolError, match=run):
            await room.resume_run(child.id)


def set_budget(crew: Path, section: str, budget: str) -> None:
    settings = crew / "brasstag.toml"
    settings.write_text(f"{settings.read_text()}\n[{section}.budget]\n{budget}\n")
    accept(crew)


HANDING_DOWN = {
    "boss": [turn(call("route_to_worker", request="Work")), turn(text="Done.")],
    "worker": [turn(call("route_to_helper", request="Help")), turn(text="Worked.")],
    "helper": [turn(text="Helped.")],
}


@pytest.mark.parametrize(
    ("section", "depth", "opened"),
    [
        ("roles.boss", 1, ["boss"]),
        ("roles.boss", 2, ["boss", "worker"]),
        ("roles.boss", 9, ["boss", "worker", "helper"]),
        ("roles.worker", 1, ["boss", "worker"]),
        ("roles.worker", 2, ["boss", "worker", "helper"]),
        ("roles.helper", 1, ["boss", "worker", "helper"]),
        ("crew", 1, ["boss"]),
        ("crew", 2, ["boss", "worker"]),
    ],
)
async def test_no_more_tasks_stand_above_one_another_than_a_role_or_its_run_allows(
    crew: Path, section: str, depth: int, opened: list[str]
) -> None:
    set_budget(crew, section, f"max_depth = {depth}")
    write_script(crew, HANDING_DOWN)
    async with Room.open(crew) as room:
        run = await room.start("Go")
        assert (await room.finished(run)).result == "Done."
        found = await room.tasks(run)
        assert [task.role for task in found] == opened
        refused = [
            (entry.payload or {})["result"]["error"]
            for entry in await room.timeline(found[-1].id)
            if entry.kind is EntryKind.CALLED
        ]
        if len(opened) < 3:
            [error] = refused
            assert error["details"] == {"limit": "max_depth"}
            said = f"this would be task {len(opened) + 1} above one another, of {len(opened)} allowed"
            assert said in error["message"]


@pytest.mark.parametrize(
    ("limits", "opened"),
    [
        ({"crew": 2}, (2, 2)),
        ({"roles.boss": 1}, (1, 3)),
        ({"roles.worker": 2}, (3, 2)),
        ({"crew": 2, "roles.boss": 1}, (1, 2)),
        ({"crew": 1, "roles.boss": 3}, (1, 1)),
    ],
)
async def test_a_task_opens_no_more_tasks_than_its_role_and_its_run_allow(
    crew: Path, limits: dict[str, int], opened: tuple[int, int]
) -> None:
    for section, most in limits.items():
        set_budget(crew, section, f"max_children = {most}")
    script = dict(HANDING_DOWN)
    script["boss"] = [turn(*[call("route_to_worker", request="Work")] * 3), turn(text="Done.")]
    script["worker"] = [turn(*[call("route_to_helper", request="Help")] * 3), turn(text="Worked.")]
    write_script(crew, script)
    async with Room.open(crew) as room:
        run = await room.start("Go")
        assert (await room.finished(run)).result == "Done."
        children = {task.role: task.children for task in await room.tasks(run)}
        assert (children["boss"], children["worker"]) == opened


async def test_limits_given_with_a_run_hold_for_all_its_tasks_and_may_be_extended(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [THINK, turn(call("route_to_worker", request="Work")), turn(text="Done.")],
            "worker": [turn(*[call("route_to_helper", request="Help")] * 3), turn(text="Worked.")],
            "helper": [turn(text="Helped.")],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Go", budget=Budget(max_children=1, max_steps=1))
        await room.finished(run)
        await room.resume_run(run, budget=Budget(max_steps=6))
        assert (await room.finished(run)).result == "Done."
        children = {task.role: task.children for task in await room.tasks(run)}
        assert children == {"boss": 1, "worker": 1, "helper": 0}


@pytest.mark.parametrize(
    ("budget", "used", "said"),
    [
        (Budget(max_tokens=1_234_567), {"tokens": 1_234_999}, "1,234,999 of its 1,234,567 tokens; … max_tokens"),
        (Budget(max_dollars=2.5), {"cost": 2_600_001}, "$2.60 of its $2.50; … max_cost"),
        (Budget(max_dollars=0.0005), {"cost": 700}, "$0.0007 of its $0.0005; … max_cost"),
        (Budget(max_seconds=3600), {"milliseconds": 3_600_250}, "3,600.25 of its 3,600 seconds of work; … max_seconds"),
        (Budget(max_steps=1200), {"steps": 1200}, "1,200 of its 1,200 turns; … max_steps"),
    ],
)  # fmt: skip
async def test_a_limit_is_told_in_figures_people_read(
    crew: Path, budget: Budget, used: dict[str, int], said: str
) -> None:
    write_script(crew, {"boss": [turn(text="Never said.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go", budget=budget, serve=False)
        with room.store.database.write() as transaction:
            transaction.execute(update(tasks).values(used))
        await room.runs.serve_run(run)
        error = (await room.finished(run)).result["error"]
        figures, option = said.split("…")
        assert f"has used {figures}" in error["message"]
        assert error["message"].endswith(option)
        units = {"max_cost": "millionths of a dollar", "max_seconds": "seconds", "max_tokens": "tokens"}
        [(limit, most)] = budget.as_json().items()
        assert error["details"]["most"] == most
        assert error["details"]["unit"] == units.get(limit, "turns")


FORGERIES: dict[str, Any] = {
    "own limits": {"budget": json.dumps({"own": {"max_steps": 99}, "run": {"max_depth": 6, "max_steps": 2}})},
    "limits of the run": {"budget": json.dumps({"own": {"max_children": 20, "max_steps": 2}, "run": {}})},
    "no limits": {"budget": "{}"},
    "steps": {"steps": 0},
    "tokens": {"tokens": 0},
    "cost": {"cost": -1},
    "time": {"milliseconds": -1},
    "children": {"children": 0},
}


@pytest.mark.parametrize("forged", FORGERIES.values(), ids=FORGERIES)
async def test_a_row_that_tells_another_budget_than_its_timeline_is_found(
    crew: Path, forged: dict[str, Any]
) -> None:
    write_script(crew, {"boss": [turn(call("ask_master", question="?")), THINK]})
    async with Room.open(crew) as room:
        run = await room.start("Go", budget=Budget(max_steps=2))
        async for event in room.watch(run):
            if event.entry is not None and event.entry.kind is EntryKind.QUESTIONED:
                break
        assert (await room.verify()).ok
        with room.store.database.write() as transaction:
            transaction.execute(update(tasks).where(tasks.c.id == run).values(forged))
        findings = (await room.verify()).findings
        assert [finding.where for finding in findings] == [run]


async def test_limits_that_were_raised_in_the_table_are_not_believed(crew: Path) -> None:
    write_script(crew, {"boss": [turn(call("ask_master", question="?")), turn(text="Never said.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go", budget=Budget(max_steps=1))
        async for event in room.watch(run):
            if event.entry is not None and event.entry.kind is EntryKind.QUESTIONED:
                break
        with room.store.database.write() as transaction:
            transaction.execute(update(tasks).values(budget="{}"))
        [question] = [task for task in await room.tasks(run) if task.role == PERSON]
        await room.answer(question.id, "Go on.", ADA)
        ended = await room.finished(run)
        assert ended.result["error"]["code"] == Code.BUDGET_EXCEEDED
