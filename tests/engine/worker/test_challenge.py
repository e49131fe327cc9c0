"""A bound task ends only with a reply whose evidence holds: in words or as a handoff, also after kill -9."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.catalog.evidence.contract import contract
from brasstag.engine.transcript.render import render
from brasstag.words.events import Entry, EntryKind
from brasstag.words.messages import Text, User
from tests.conftest import MakeProject
from tests.engine.citing import CREW, let_cite, write_files
from tests.engine.crews import call, turn
from tests.processes import KILLED, end, start
from tests.runtimes import put_in

READ = turn(call("read_file", path="scene.md"))
SCENE = "Anna has green eyes.\nShe left.\n"
HOLDS = 'Her eyes are green.\nQUOTE scene.md:1 "green eyes" [<0>]'
BARE = "Her eyes are green."
WRONG = 'QUOTE scene.md:2 "green eyes" [<0>]'


@pytest.fixture
def crew(make_project: MakeProject) -> Path:
    project = make_project(CREW)
    write_files(project, {"scene.md": SCENE})
    return project


def challenges(entries: list[Entry]) -> list[dict[str, Any]]:
    return [entry.payload or {} for entry in entries if entry.kind is EntryKind.CHALLENGED]


def said_in(problems: list[dict[str, Any]]) -> list[str]:
    return [problem["id"] for problem in problems]


async def test_words_whose_evidence_holds_end_the_task(crew: Path) -> None:
    async with Room.open(crew) as room:
        let_cite(room, {"editor": [READ, turn(text=HOLDS)]})
        run = await room.start("Check Anna")
        ended = await room.finished(run)
        assert ended.ok, ended.result
        assert ended.result.startswith("Her eyes are green.\nQUOTE")
        assert not challenges(await room.timeline(run))


async def test_words_that_fail_go_back_with_the_reason_and_count_once_they_are_mended(crew: Path) -> None:
    async with Room.open(crew) as room:
        model = let_cite(room, {"editor": [READ, turn(text=BARE), turn(text=WRONG), turn(text=HOLDS)]})
        run = await room.start("Check Anna")
        ended = await room.finished(run)
        assert ended.ok, ended.result
        entries = await room.timeline(run)
        first, second = challenges(entries)
        assert (said_in(first["problems"]), first["refused"], first["tries"]) == (["NO_EVIDENCE"], 1, 3)
        assert second["problems"] == [
            {"id": "NOT_IN_LINE", "line": 1, "says": "scene.md:2 does not hold this text; line 1 does"}
        ]
        assert model.told is not None
        last = model.told.messages[-1]
        assert isinstance(last, User)
        assert isinstance(last.blocks[0], Text)
        assert "(2 of 3 tries)" in last.blocks[0].text
        assert "- line 1: scene.md:2 does not hold this text; line 1 does" in last.blocks[0].text
        assert render(entries, room._runtime.fence)[: len(model.told.messages)] == model.told.messages
        report = await room.verify()
        assert report.ok, report.findings


async def test_a_handoff_that_fails_is_a_failed_call_and_its_task_goes_on(crew: Path) -> None:
    bare, holds = turn(call("handoff", result=BARE)), turn(call("handoff", result=HOLDS))
    async with Room.open(crew) as room:
        let_cite(room, {"editor": [READ, bare, holds]})
        run = await room.start("Check Anna")
        ended = await room.finished(run)
        assert ended.ok, ended.result
        (refused,) = [
            entry.payload or {}
            for entry in await room.timeline(run)
            if (entry.payload or {}).get("outcome") == "failed"
        ]
        error = refused["result"]["error"]
        assert (error["code"], said_in(error["details"]["problems"])) == ("EVIDENCE_REFUSED", ["NO_EVIDENCE"])
        assert "(1 of 3 tries)" in error["message"]


async def test_an_object_is_checked_by_its_list(crew: Path) -> None:
    item = {"type": "QUOTE", "file": "scene.md", "line": 1, "text": "blue eyes", "tag": "<0>"}
    wrong = turn(call("handoff", result={"eyes": "blue", "evidence": [item]}))
    right = turn(call("handoff", result={"eyes": "green", "evidence": [item | {"text": "green eyes"}]}))
    async with Room.open(crew) as room:
        let_cite(room, {"editor": [READ, wrong, right]})
        ended = await room.finished(await room.start("Check Anna"))
        assert ended.ok
        assert ended.result["eyes"] == "green"


async def test_after_as_many_refusals_as_are_allowed_the_task_fails_with_the_last_reasons(crew: Path) -> None:
    mixed = [turn(text=BARE), turn(call("handoff", result=BARE)), turn(text=WRONG), turn(text=HOLDS)]
    async with Room.open(crew) as room:
        let_cite(room, {"editor": [READ, *mixed]})
        run = await room.start("Check Anna")
        ended = await room.finished(run)
        assert ended.task.status == "failed"
        error = ended.result["error"]
        assert (error["code"], said_in(error["details"]["problems"])) == ("EVIDENCE_REFUSED", ["NOT_IN_LINE"])
        # A person lets it go on; it has all its tries again.
        await room.resume_run(run, "ada")
        assert (await room.finished(run)).ok


async def test_the_number_of_tries_is_a_setting(make_project: MakeProject) -> None:
    project = make_project(CREW.replace("[crew]", "[crew]\nevidence_tries = 1"))
    async with Room.open(project) as room:
        let_cite(room, {"editor": [turn(text=BARE), turn(text="NO_CLAIMS: nothing to say.")]})
        ended = await room.finished(await room.start("Check Anna"))
        assert ended.result["error"]["code"] == "EVIDENCE_REFUSED"


async def test_a_role_that_is_not_bound_says_what_it_likes_and_a_subtask_of_a_bound_one_is_bound(
    crew: Path,
) -> None:
    script = {
        "editor": [
            {
                "when": "Check it",
                "turns": [turn(text=BARE), turn(text="NO_CLAIMS: I was asked nothing.")],
            },
            {
                "turns": [
                    turn(
                        call("route_to_narrator", request="Write it"),
                        call("route_to_editor", request="Check it"),
                    ),
                    turn(text="NO_CLAIMS: others did the work."),
                ]
            },
        ],
        "narrator": [turn(text="I searched the attic. Her eyes were blue.")],
    }
    async with Room.open(crew) as room:
        let_cite(room, script)
        run = await room.start("Go")
        assert (await room.finished(run)).ok
        tasks = {task.title: task.id for task in await room.tasks(run)}
        assert len(challenges(await room.timeline(tasks["Check it"]))) == 1
        assert not challenges(await room.timeline(tasks["Write it"]))
        opened = (await room.timeline(tasks["Check it"]))[0].payload or {}
        assert opened["evidence"] == {"tries": 3}
        assert (
            opened["system"].index("Edit.")
            < opened["system"].index("Prompt tools")
            < opened["system"].index(contract(3))
            < opened["system"].index("How you")
        )
        assert contract(3) not in ((await room.timeline(tasks["Write it"]))[0].payload or {})["system"]


async def test_an_answer_to_a_question_is_not_bound(crew: Path) -> None:
    script = {
        "editor": [
            {"when": "asks you", "turns": [turn(text="Green.")]},
            {
                "turns": [
                    turn(call("route_to_narrator", request="Write it")),
                    turn(text="NO_CLAIMS: the narrator did it."),
                ]
            },
        ],
        "narrator": [turn(call("ask_master", question="Which eyes?")), turn(text="Written.")],
    }
    async with Room.open(crew) as room:
        let_cite(room, script)
        run = await room.start("Go")
        ended = await room.finished(run)
        assert ended.ok, ended.result
        for task in await room.tasks(run):
            assert not challenges(await room.timeline(task.id))


async def test_what_is_set_after_a_task_has_opened_does_not_let_it_go(crew: Path) -> None:
    """The contract is on the timeline; settings that a worker opens with later are not asked."""
    async with Room.open(crew) as room:
        role = room._runtime.agents.roles["editor"]
        let_cite(room, {"editor": [turn(text=BARE), turn(text="NO_CLAIMS: nothing to say.")]})
        run = await room.start("Go", serve=False)
        loosened = {"editor": role.model_copy(update={"evidence": False})}
        room._runtime.agents.roles = loosened
        await room.runs.serve_run(run)
        assert (await room.finished(run)).ok
        assert len(challenges(await room.timeline(run))) == 1


def serve_and_die(project: Path, run: str, point: str) -> None:
    """Work on a run, and die as kill -9 would at a point; in a process of its own."""
    asyncio.run(_serve_and_die(project, run, point))


async def _serve_and_die(project: Path, run: str, point: str) -> None:
    def at(step: str) -> None:
        if step == point:
            os.kill(os.getpid(), signal.SIGKILL)

    async with Room.open(project) as room:
        put_in(room, at=at)
        let_cite(
            room, {"editor": [READ, turn(text=BARE), turn(text=WRONG), turn(text=BARE), turn(text=HOLDS)]}
        )
        await room.runs.serve_run(run)
        await room.finished(run)


@pytest.mark.parametrize("point", ["turn recorded", "challenged"])
async def test_killed_in_the_middle_of_a_challenge_the_next_worker_counts_on(crew: Path, point: str) -> None:
    async with Room.open(crew) as room:
        let_cite(room, {"editor": []})
        run = await room.start("Check Anna", serve=False)
    deaths = 0
    while end(start(serve_and_die, crew, run, point)) == KILLED:
        deaths += 1
    assert deaths == {"turn recorded": 4, "challenged": 3}[point]
    async with Room.open(crew) as room:
        ended = await room.finished(run)
        assert ended.result["error"]["code"] == "EVIDENCE_REFUSED"
        assert [one["refused"] for one in challenges(await room.timeline(run))] == [1, 2, 3]
        report = await room.verify()
        assert report.ok, report.findings
