"""Services: trusted code works on the tasks of a role."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from brasstag import ApprovalResponse, ConfigError, Room, ToolError, UntrustedError
from brasstag.engine.worker import service
from tests.conftest import MakeProject, accept
from tests.engine.crews import ADA, CREW, call, turn, write_script

ROLE = """
[roles.counter]
description = "Counts"
service = "counting:count"
tools = ["read_file", "write_file"]
{more}
"""

COUNTS = """
from brasstag import Done

async def count(context):
    read = await context.call("read_file", {"path": "a.md"})
    assert isinstance(read, Done), read
    words = len(read.value["content"].split())
    await context.call("write_file", {"path": "count.md", "content": f"{words}\\n"})
    return {"words": words, "asked": context.request, "documents": list(context.documents), "role": context.role}
"""


def make(make_project: MakeProject, code: str, more: str = "") -> Path:
    settings = CREW.replace('["worker", "helper"]', '["worker", "helper", "counter"]') + ROLE.format(
        more=more
    )
    project = make_project(settings)
    (project / "tools").mkdir()
    (project / "tools" / "counting.py").write_text(code)
    accept(project)
    (project / "data" / "a.md").write_text("one two three")
    return project


def boss(project: Path, **arguments: str) -> None:
    assigned = {"target_agent": "counter", "task_description": "Count", "target_file": "a.md"} | arguments
    write_script(project, {"boss": [turn(call("assign_task", **assigned)), turn(text="Thanks.")]})


async def result_of(room: Room, run: str) -> object:
    """What the service's task told the boss."""
    await room.finished(run)
    (returned,) = [entry for entry in await room.timeline(run) if entry.kind.value == "returned"]
    assert returned.payload is not None
    report = await room.verify()
    assert report.ok, report.findings
    return returned.payload["result"]


async def test_assign_task_runs_the_code_under_its_role(make_project: MakeProject) -> None:
    project = make(make_project, COUNTS)
    boss(project)
    async with Room.open(project) as room:
        run = await room.start("Count it")
        told = await result_of(room, run)
        assert isinstance(told, dict)
        assert (told["words"], told["documents"], told["role"]) == (3, ["a.md"], "counter")
        assert told["asked"].startswith("Count")
        (task,) = [one for one in await room.tasks(run) if one.role == "counter"]
        calls = [
            entry.payload
            for entry in await room.timeline(task.id)
            if entry.kind.value in ("called", "settled")
        ]
        assert [one["tool"] for one in calls if one] == ["read_file", "write_file"]
    assert (project / "data" / "count.md").read_text() == "3\n"


async def test_arguments_that_are_not_json_are_refused_and_not_turned_into_words(
    make_project: MakeProject,
) -> None:
    code = """
from pathlib import Path

async def count(context):
    written = await context.call("write_file", {"path": Path("count.md"), "content": "1"})
    return written.code.value
"""
    project = make(make_project, code)
    boss(project)
    async with Room.open(project) as room:
        assert await result_of(room, await room.start("Count it")) == "INVALID_ARGUMENTS"
    assert sorted(path.name for path in (project / "data").iterdir()) == ["a.md"]


async def test_it_may_use_only_the_tools_of_its_role(make_project: MakeProject) -> None:
    code = (
        'async def count(context):\n    return (await context.call("delete_file", {"path": "a.md"})).code\n'
    )
    project = make(make_project, code)
    boss(project)
    async with Room.open(project) as room:
        assert await result_of(room, await room.start("Delete it")) == "NOT_ALLOWED"
    assert (project / "data" / "a.md").exists()


async def test_its_calls_wait_for_approvals(make_project: MakeProject) -> None:
    code = (
        "async def count(context):\n"
        '    done = await context.call("write_file", {"path": "a.md", "content": "new"})\n'
        '    return done.value["path"]\n'
    )
    project = make(make_project, code)
    boss(project)
    async with Room.open(project) as room:
        run = await room.start("Overwrite it")
        async for event in room.watch(run):
            if event.approval_id:
                await room.decide(event.approval_id, ApprovalResponse(True), ADA)
        assert await result_of(room, run) == "a.md"
    assert (project / "data" / "a.md").read_text() == "new"


async def test_its_time_stands_still_while_a_person_is_asked(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its budget is shorter than the pause after which it looks whether the person has answered."""
    # Its own call counts, and may take long on a busy machine.
    monkeypatch.setattr(service, "LOOK_SECONDS", 2.0)
    code = (
        "async def count(context):\n"
        '    done = await context.call("write_file", {"path": "a.md", "content": "new"})\n'
        "    return type(done).__name__\n"
    )
    project = make(make_project, code, "[roles.counter.budget]\nmax_seconds = 1.8\n")
    boss(project)
    async with Room.open(project) as room:
        run = await room.start("Overwrite it")
        async for event in room.watch(run):
            if event.approval_id:
                await room.decide(event.approval_id, ApprovalResponse(True), ADA)
        assert await result_of(room, run) == "Done"


async def test_the_time_of_its_code_counts_for_its_run(make_project: MakeProject) -> None:
    code = "import time\n\nasync def count(context):\n    time.sleep(0.05)\n"
    project = make(make_project, code)
    boss(project)
    async with Room.open(project) as room:
        run = await room.start("Count")
        await room.finished(run)
        (task,) = [one for one in await room.tasks(run) if one.role == "counter"]
        assert task.milliseconds >= 50


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_a_worker_with_one_place_works_on_what_a_service_waits_for(
    make_project: MakeProject,
    database: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if database == "postgres":
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", request.getfixturevalue("postgres").url)
    code = (
        "async def count(context):\n"
        '    answer = await context.call("ask_master", {"question": "All of it?"})\n'
        "    return answer.value\n"
    )
    project = make(make_project, code)
    assigned = call("assign_task", target_agent="counter", task_description="Count")
    write_script(project, {"boss": [turn(assigned), turn(text="Yes."), turn(text="Thanks.")]})
    async with Room.open(project) as room:
        run = await room.start("Count", serve=False)
        working = asyncio.create_task(room.serve(1))
        async with asyncio.timeout(60):
            assert await result_of(room, run) in ("Yes.", "Thanks.")
        working.cancel()


async def test_a_handoff_of_its_own_takes_documents_along(make_project: MakeProject) -> None:
    code = (
        "async def count(context):\n"
        '    await context.call("handoff", {"result": "see", "documents": ["a.md"]})\n'
        '    return "ignored"\n'
    )
    project = make(make_project, code)
    boss(project)
    async with Room.open(project) as room:
        assert await result_of(room, await room.start("Go")) == "see"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("    raise RuntimeError('no ink')", "EXECUTION_ERROR"),
        ("    from brasstag import Code, ToolError\n    raise ToolError(Code.NO_SPACE, 'full')", "NO_SPACE"),
        ("    raise SystemExit(3)", "EXECUTION_ERROR"),
        ("    return {1, 2}", "INVALID_RESULT"),
        ("    import asyncio\n    await asyncio.sleep(3600)", "BUDGET_EXCEEDED"),
    ],
)
async def test_what_goes_wrong_is_coded_and_told_to_the_parent(
    make_project: MakeProject, code: str, error: str
) -> None:
    more = "[roles.counter.budget]\nmax_seconds = 0.2\n" if error == "BUDGET_EXCEEDED" else ""
    project = make(make_project, f"async def count(context):\n{code}\n", more)
    boss(project)
    async with Room.open(project) as room:
        told = await result_of(room, await room.start("Count"))
        assert isinstance(told, dict)
        assert told["error"]["code"] == error
        assert "counter ended without a result" in told["error"]["message"]


async def test_a_run_may_begin_with_it(make_project: MakeProject) -> None:
    project = make(make_project, COUNTS)
    async with Room.open(project) as room:
        ended = await room.finished(await room.start("Count", role="counter"))
        assert ended.ok
        assert ended.result["words"] == 3
        with pytest.raises(ToolError, match=r"Room\.start"):
            await room.open_task("Count", role="counter")


async def test_it_serves_a_loop_of_one_s_own_too(make_project: MakeProject) -> None:
    project = make(make_project, COUNTS)
    async with Room.open(project) as room:
        run = await room.open_task("Count it")
        async for task in room.ready(run):
            messages = await room.render_for_llm(task.id)
            if messages[-1]["role"] == "tool":
                await room.record_turn(task.id, messages[-1]["content"])
                continue
            away = await room.handle_tool_call(task.id, "route_to_counter", {"request": "Count"})
            assert away == {"action": "return", "value": None}
        assert '"words": 3' in str((await room.finished(run)).result).replace("'", '"')


DIES = """
import asyncio, sys
from brasstag import Room

async def main():
    async with Room.open(sys.argv[1]) as room:
        await room.finished(await room.start("Count it"))

asyncio.run(main())
"""


@pytest.mark.parametrize("replay", ["ask", "safe"])
async def test_a_crash_inside_is_never_silently_run_again(make_project: MakeProject, replay: str) -> None:
    code = (
        "import os\nfrom pathlib import Path\n\nMARK = Path(__file__).parent.parent / 'began'\n\n\n"
        "async def count(context):\n    again = MARK.exists()\n"
        "    with MARK.open('a') as mark:\n        mark.write('x')\n"
        "    if not again:\n        os._exit(9)\n    return 'counted'\n"
    )
    project = make(make_project, code, f'service_replay = "{replay}"')
    boss(project)
    died = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-P", "-c", DIES, str(project)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert died.returncode == 9, died.stderr
    async with Room.open(project) as room:
        (run,) = {task.tree for task in await room.tasks() if not task.is_desk}
        await room.runs.serve_run(run)
        told = await result_of(room, run)
    if replay == "safe":
        assert told == "counted"
    else:
        assert isinstance(told, dict)
        assert told["error"]["code"] == "EXECUTION_ERROR"
        assert "not begun again" in told["error"]["message"]
    assert (project / "began").read_text() == ("xx" if replay == "safe" else "x")


@pytest.mark.parametrize(
    ("service", "said"),
    [
        ("counting:none", "Write `async def none(context)` into tools/counting.py"),
        ("missing:count", "tools/missing.py"),
        ("counting:plain", "async def plain"),
        ("counting", "names no function"),
        ("../evil:count", "names no function"),
    ],
)
async def test_a_service_that_is_not_there_is_named(
    make_project: MakeProject, service: str, said: str
) -> None:
    project = make_project()
    (project / "tools").mkdir()
    (project / "tools" / "counting.py").write_text("def plain(context):\n    pass\n")
    with (project / "brasstag.toml").open("a") as settings:
        settings.write(f'[roles.counter]\nservice = "{service}"\n')
    accept(project)
    with pytest.raises(ConfigError) as refused:
        async with Room.open(project):
            pass
    assert said in str(refused.value)


async def test_code_that_no_person_accepted_serves_nothing(make_project: MakeProject) -> None:
    project = make(make_project, COUNTS)
    (project / "tools" / "counting.py").write_text(COUNTS.replace("three", "four") + "# changed\n")
    with pytest.raises(UntrustedError):
        async with Room.open(project):
            pass
