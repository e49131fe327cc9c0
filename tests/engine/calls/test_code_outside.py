"""Code that reaches the web: only by a rule, claimed before it runs, and never run again by itself."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Done, Failed, Outcome, Room, Unknown, Waiting
from brasstag.settings.crew import PERSON
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script
from tests.processes import KILLED, Killer, end, start
from tests.runtimes import put_in
from tests.sandbox.network.servers import Server, Writes, replying, serving
from tests.tools.test_web_fetch import towards

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

WHEN = 'when = ["runs", "fetches", "external"]\nbecause = "a test"\n'
ANYWHERE = f'[[rules]]\nallow = ["run_code", "shell"]\n{WHEN}'
READ = "import urllib.request; print(urllib.request.urlopen('http://{}/').read().decode())"


def opening(decision: str, *hosts: str, more: str = "") -> str:
    patterns = ", ".join(f'"run_code({host}/**)"' for host in hosts)
    return f"[[rules]]\n{decision} = [{patterns}]\n{WHEN}{more}\n"


async def reach(room: Room, server: Server, *others: str, code: str = READ, **more: Any) -> Outcome:
    """Run code that asks a server something."""
    host = f"api.test:{server.port}"
    arguments = {"language": "python", "code": code.replace("{}", host), "network": [host, *others]}
    return await towards(room, server).call("run_code", arguments, **more)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving(replying(b"hello")) as running:
        yield running


@pytest.mark.parametrize("profile", ["careful", "trusted", "locked"])
async def test_without_a_rule_the_web_is_closed_to_code_in_every_profile(
    make_project: MakeProject, server: Server, profile: str
) -> None:
    async with Room.open(make_project(profile=profile)) as room:
        outcome = await reach(room, server)
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.BLOCKED_BY_RULE
    host = f"api.test:{server.port}"
    assert f'allow = "run_code({host}/**)", when = ["runs", "fetches", "external"]' in outcome.message
    assert server.connections == 0


async def test_the_rule_that_a_refusal_names_lets_the_code_reach_the_web(
    make_project: MakeProject, server: Server
) -> None:
    async with Room.open(make_project(opening("allow", f"api.test:{server.port}"))) as room:
        outcome = await reach(room, server)
        assert isinstance(outcome, Done), outcome
        assert outcome.value["stdout"] == "hello\n"
        assert (await room.verify()).ok


async def test_a_rule_has_to_let_every_address_and_is_held_to_its_roles(
    make_project: MakeProject, server: Server
) -> None:
    roles = 'roles = ["scout"]\n'
    for name in ("scout", "clerk"):
        roles += f'[roles.{name}]\ndescription = "Looks"\ntools = ["run_code"]\n'
    async with Room.open(make_project(opening("allow", f"api.test:{server.port}", more=roles))) as room:
        assert isinstance(await reach(room, server, role="scout"), Done)
        assert isinstance(await reach(room, server, role="clerk"), Failed)
        assert isinstance(await reach(room, server, "other.test", role="scout"), Failed)
    assert server.connections == 1


async def test_where_a_rule_asks_a_person_is_shown_the_addresses(
    make_project: MakeProject, server: Server
) -> None:
    host = f"api.test:{server.port}"
    async with Room.open(make_project(opening("allow", host) + opening("ask", host))) as room:
        waiting = await reach(room, server)
        assert isinstance(waiting, Waiting)
        approval = await room.approval(waiting.approval_id)
        assert approval.preview.fetches == (f"https://api.test:{server.port}/",)
        assert server.connections == 0
        await room.decide(waiting.approval_id, ApprovalResponse(True), ADA)
        assert isinstance(await room.resume(waiting.approval_id), Done)
    assert server.connections == 1


async def test_it_is_claimed_before_it_runs_and_changes_no_file(
    make_project: MakeProject, server: Server
) -> None:
    project = make_project(ANYWHERE)
    seen: list[int] = []
    async with Room.open(project) as room:
        put_in(room, at=lambda step: seen.append(server.connections) if step == "claimed" else None)
        outcome = await reach(room, server, code=f"{READ}\nopen('made.txt', 'w')")
        assert isinstance(outcome, Done)
        assert (outcome.value["exit_code"], outcome.value["changes"]) == (1, [])
        kinds = [entry.kind for entry in await room.timeline()]
    assert kinds[-2:] == [EntryKind.CLAIMED, EntryKind.SETTLED]
    assert (seen, server.connections) == ([0], 1)
    assert not (project / "data" / "made.txt").exists()


async def test_code_without_a_network_only_drafts_as_before(make_project: MakeProject) -> None:
    async with Room.open(make_project(ANYWHERE)) as room:
        outcome = await room.call("shell", {"command": "echo x > made.txt"})
        assert isinstance(outcome, Done)
        claimed = (await room.timeline())[-2].payload or {}
    assert claimed["intended"]["result"] == outcome.value
    assert outcome.value["changes"] == [{"path": "made.txt", "change": "creates"}]


def reach_and_die(project: Path, user: Path, port: int) -> None:
    """Begin code that would reach a server of this machine, and die."""
    os.environ["BRASSTAG_USER_DIR"] = str(user)

    async def work() -> None:
        async with Room.open(project) as room:
            put_in(room, at=Killer(0))
            await reach(room, Server(port))

    asyncio.run(work())


async def test_after_a_crash_nobody_knows_and_it_is_not_run_again(
    make_project: MakeProject, server: Server, tmp_path: Path
) -> None:
    project = make_project(ANYWHERE)
    process = start(reach_and_die, project, tmp_path / "user", server.port)
    assert await asyncio.to_thread(end, process) == KILLED
    async with Room.open(project) as room:
        ((_, ended),) = room._open_room.recovered.calls
        assert isinstance(ended, Unknown)
        assert (await room.verify()).ok
    assert server.connections == 0


def swallowing(heard: asyncio.Event) -> Writes:
    """Return what hears a request, and never answers."""

    async def write(_writer: asyncio.StreamWriter, _target: str) -> None:
        heard.set()
        await asyncio.Event().wait()

    return write


async def test_code_that_is_ended_once_it_has_reached_somebody_leaves_a_doubt(
    make_project: MakeProject,
) -> None:
    async with serving(swallowing(asyncio.Event())) as server, Room.open(make_project(ANYWHERE)) as room:
        host = f"api.test:{server.port}"
        ask = {"language": "python", "code": READ.replace("{}", host), "network": [host], "timeout": 3}
        reached = await towards(room, server).call("run_code", ask)
        asleep = await room.call("run_code", ask | {"code": "import time; time.sleep(60)", "timeout": 1})
    assert isinstance(reached, Unknown), reached
    assert reached.details["reached"][0]["host"] == "api.test"
    assert isinstance(asleep, Failed)
    assert asleep.code is Code.TIMEOUT


async def test_a_task_that_is_stopped_meanwhile_puts_it_to_a_person(make_project: MakeProject) -> None:
    heard = asyncio.Event()
    project = make_project(CREW + ANYWHERE)
    async with serving(swallowing(heard)) as server, Room.open(project) as room:
        host = f"api.test:{server.port}"
        asked = call("run_code", language="python", code=READ.replace("{}", host), network=[host], timeout=3)
        write_script(project, {"boss": [turn(asked), turn(text="Done.")]})
        run = await towards(room, server).start("Ask")
        await heard.wait()
        await room.stop(run, "ada")
        await room.resume_run(run)
        async for event in room.watch(run):
            if event.entry is not None and event.entry.kind is EntryKind.QUESTIONED:
                break
        [question] = [task for task in await room.tasks(run) if task.role == PERSON and not task.has_ended]
        await room.answer(question.id, "It got there.", ADA)
        assert (await room.finished(run)).ok
    assert server.connections == 1
