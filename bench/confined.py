"""Code that runs confined: what its start costs against bubblewrap alone and a peer, and what 200 at once leave behind."""

import asyncio
import os
import subprocess
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from measuring import goal, goal_at_least, interleaved, line, ratio, title
from node_peers import node_peer
from places import scratch

from brasstag import Room
from brasstag.app.project.create import create_project
from brasstag.sandbox.process.job import Job
from brasstag.words.calls import Done

_NOTHING = "/bin/true"
_BARE = (
    "/usr/bin/bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv",
    "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
)  # fmt: skip
_AT_ONCE = 200


async def run() -> None:
    with scratch() as folder:
        project = folder / "project"
        create_project(project)
        (project / "data" / "notes.md").write_text("Call me Ishmael.\n")
        await _start_up(project)
        await _many(project)


async def _start_up(project: Path) -> None:
    workspace = project / "data"
    bare = [*_BARE, "--bind", str(workspace), str(workspace), "--chdir", str(workspace), _NOTHING]
    async with Room.open(project) as room:
        sandbox = room._runtime.sandbox
        assert sandbox is not None

        def job() -> None:
            with sandbox.run(Job((_NOTHING,))) as work:
                assert work.ran.exit_code == 0, work.ran

        async def call() -> None:
            outcome = await room.call("run_code", {"language": "bash", "code": ":"})
            assert isinstance(outcome, Done), outcome

        contenders = {
            "bwrap alone": lambda: _ends_well(bare),
            "the job, on an overlay": lambda: asyncio.to_thread(job),
            "run_code, the whole call": call,
        }
        found = await interleaved(contenders, calls=10, rounds=15)
        srt = node_peer("srt")
        peers = {"run_code, the whole call": call}
        if srt is not None:
            peers["sandbox-runtime"] = lambda: _ends_well([str(srt), "-c", ":"], workspace)
            found_beside = await interleaved(peers, calls=1, rounds=10)
    title("Start-up of confined code that does nothing")
    for name, seconds in found.items():
        line(name, seconds)
    goal("the job / bwrap alone", ratio(found["the job, on an overlay"], found["bwrap alone"]), 2.0)
    print(
        f"  the whole call / bwrap alone: {ratio(found['run_code, the whole call'], found['bwrap alone']):.2f}x"
    )
    if srt is not None:
        line("sandbox-runtime", found_beside["sandbox-runtime"])
        faster = ratio(found_beside["sandbox-runtime"], found_beside["run_code, the whole call"])
        goal_at_least("sandbox-runtime / the whole call", faster, 10.0)


async def _ends_well(command: list[str], directory: Path | None = None) -> None:
    def wait() -> None:
        subprocess.run(command, check=True, capture_output=True, cwd=directory)

    await asyncio.to_thread(wait)


async def _many(project: Path) -> None:
    """200 calls at once; what is left afterwards is compared with what a first 200 left."""
    code = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('x'); print('y' * 10000)"
    async with Room.open(project) as room:

        async def call(number: int) -> None:
            arguments = {"language": "python", "code": code, "args": [f"made-{number}.txt"]}
            outcome = await room.call("run_code", arguments)
            assert isinstance(outcome, Done), outcome

        await asyncio.gather(*(call(-number) for number in range(1, _AT_ONCE + 1)))
        await asyncio.sleep(1)
        before = _left(room)
        await asyncio.gather(*(call(number) for number in range(_AT_ONCE)))
        # A thread that was sent home is on its way.
        await asyncio.sleep(1)
        after = _left(room)
    made = len(list((project / "data").glob("made-[0-9]*.txt")))
    title(f"{_AT_ONCE} calls of run_code at once")
    print(f"  calls that landed their file: {made}")
    for what, count in after.items():
        goal(f"{what} left behind", count - before[what], 0, "")


def _left(room: Room) -> dict[str, int]:
    """Count what a run could leave behind."""
    return {
        "processes": sum(1 for _ in _descendants(os.getpid())),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "descriptors": sum(1 for name in _descriptors() if not name.startswith("state.db")),
        "threads": threading.active_count(),
        "directories of runs": len(list(room._runtime.sandbox._scratch.iterdir())),
    }


def _descriptors() -> Iterable[str]:
    """Name what is open; connections to the database are kept for the next who needs one."""
    for one in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            yield os.path.basename(os.readlink(f"/proc/self/fd/{one}"))


def _descendants(pid: int) -> Iterable[int]:
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield int(child)
            yield from _descendants(int(child))
