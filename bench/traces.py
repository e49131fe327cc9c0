"""Traces: which files of Brasstag run on one path through the code, counted in a warm room.

    .venv/bin/python bench/traces.py [--files]

One row is one path. A file counts when at least one of its functions ran. `switches` counts the calls from one package
into another. The script uses public names only, so it also runs on older code and the rows can be compared.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import brasstag
from brasstag import Approval, ApprovalResponse, Room

ROOT = f"{Path(brasstag.__file__).parent}/"
COLUMNS = ("calls", "functions", "files", "engine files", "switches", "threads")
SCRIPT = {"analyst": [{"calls": [{"tool": "list_files", "arguments": {}}]}, {"text": "Done."}]}


@dataclass
class Trace:
    """What ran on one path."""

    calls: int = 0
    switches: int = 0
    functions: set[tuple[str, int]] = field(default_factory=set)
    threads: set[int] = field(default_factory=set)

    def add(self, frame: FrameType) -> None:
        """Count the call of one function."""
        file = frame.f_code.co_filename
        caller = frame.f_back.f_code.co_filename if frame.f_back else ""
        self.calls += 1
        self.switches += caller.startswith(ROOT) and _package(caller) != _package(file)
        self.functions.add((file, frame.f_code.co_firstlineno))
        self.threads.add(threading.get_ident())

    @property
    def files(self) -> list[str]:
        """The files that ran."""
        return sorted({file.removeprefix(ROOT) for file, _ in self.functions})

    def counts(self) -> tuple[int, ...]:
        """The numbers of one row."""
        engine = [file for file in self.files if file.startswith("engine/")]
        return (
            self.calls,
            len(self.functions),
            len(self.files),
            len(engine),
            self.switches,
            len(self.threads),
        )


class Tracer:
    """Collects one trace after the other."""

    def __init__(self) -> None:
        self.traces: dict[str, Trace] = {}
        self._current: Trace | None = None
        # Set before any thread starts: threads take over the profiler that is set when they start.
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    async def trace(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Do the work, and keep its trace under a name."""
        self._current = self.traces[name] = Trace()
        try:
            return await work()
        finally:
            self._current = None

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        code, trace = frame.f_code, self._current
        if trace is None or event != "call" or code.co_name == "<module>":
            return
        if code.co_filename.startswith(ROOT):
            trace.add(frame)


def _package(file: str) -> str:
    return file.removeprefix(ROOT).split("/", 1)[0]


async def _trace_calls(tracer: Tracer, room: Room) -> None:
    async def write(path: str, content: str) -> Any:
        return await room.call("write_file", {"path": path, "content": content})

    async def run(code: str) -> Any:
        return await room.call("run_code", {"code": code, "language": "python"})

    async def decide(approval: Approval) -> Any:
        return await room.decide(approval.id, ApprovalResponse(approved=True), "a person")

    async def ask_and_resume(content: str, name: Callable[[str], str]) -> None:
        await tracer.trace(name("same call that asks"), lambda: write("first.md", content))
        approval = (await room.approvals())[-1]
        await tracer.trace(name("decide an approval"), lambda: decide(approval))
        await tracer.trace(name("resume it"), lambda: room.resume(approval.id))

    await write("first.md", "One.")
    await ask_and_resume("Two.", lambda name: f"warm: {name}")
    await run("open('warm.txt', 'w').write('x')")
    await room.documents.scan()
    await tracer.trace("write_file", lambda: write("second.md", "Two."))
    await ask_and_resume("Three.", str)
    await tracer.trace("run_code that writes a file", lambda: run("open('new.txt', 'w').write('x')"))
    await room.documents.scan()
    (room.workspace / "found.md").write_text("Found.")
    await tracer.trace("scan, one new file", room.documents.scan)


async def _trace_run(tracer: Tracer, room: Room, script: Path) -> None:
    async def run() -> None:
        await room.finished(await room.start("List the files.", role="analyst", model=f"scripted:{script}"))

    await run()
    await tracer.trace("agent run: turn, call, turn, end", run)


async def trace(project: Path) -> dict[str, Trace]:
    """Trace every path in a project with the crew `analyst`."""
    script = project / "script.json"
    script.write_text(json.dumps(SCRIPT))
    tracer = Tracer()
    async with Room.open(project) as room:
        await _trace_calls(tracer, room)
        await _trace_run(tracer, room, script)
    return {name: found for name, found in tracer.traces.items() if not name.startswith("warm")}


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BRASSTAG_USER_DIR"] = f"{folder}/user"
        project = Path(folder) / "project"
        make = [sys.executable, "-P", "-m", "brasstag", "init", project, "--crew", "analyst"]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        traces = asyncio.run(trace(project))
    print(f"{'path':<34}" + "".join(f"{column:>14}" for column in COLUMNS))
    for name, found in traces.items():
        print(f"{name:<34}" + "".join(f"{count:>14,}" for count in found.counts()))
        if "--files" in sys.argv:
            print("".join(f"    {file}\n" for file in found.files), end="")


if __name__ == "__main__":
    main()
