"""What `brasstag worker` does: work on the ready tasks of a room, and print each that it takes and leaves."""

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.follow.events import event
from brasstag.surfaces.cli.session.rooms import open_room
from brasstag.surfaces.cli.show.task_tree import SIGNS, TAIL
from brasstag.surfaces.cli.terminal import streams
from brasstag.surfaces.cli.terminal.console import OutputName, brief, print_json, report, wants_json
from brasstag.surfaces.cli.terminal.interrupts import Leaving, heard_by
from brasstag.words.times import stamp, utc_now

if TYPE_CHECKING:
    from brasstag.app import Room
    from brasstag.store import Task

GLANCE_SECONDS = 0.5
"""How often to look whether anything is left to do."""

WAITING_SECONDS = 5.0
"""How often to look, when nothing is left to do, whether any task still waits for people."""

_DRAINING = "Draining: each task is given back at its next step; a second signal leaves at once."


@dataclass(frozen=True, slots=True)
class Working:
    """One worker; ``linger`` is how long it waits for people when nothing else is left, None for ever."""

    project: Path
    output: OutputName | None
    concurrency: int | None
    linger: float | None

    async def work(self) -> int:
        """Serve until told to stop, or until nothing is left."""
        leaving = Leaving()
        with heard_by(leaving.hear):
            async with open_room(self.project, "worker") as room:
                leaving.gives_back(room.runs.drain, room.runs.abandon, _DRAINING)
                task_log = _TaskLog(room, self.output)
                room.runs.tell(task_log.note)
                self._tell("serving", f"Serving {room.workspace.parent}, as process {os.getpid()}.")
                helpers = [asyncio.create_task(task_log.write())]
                if self.linger is not None:
                    helpers.append(asyncio.create_task(self._until_idle(room, self.linger)))
                try:
                    await room.serve(self.concurrency)
                finally:
                    for helper in helpers:
                        helper.cancel()
                        with suppress(asyncio.CancelledError):
                            await helper
                    await task_log.finish()
        self._tell("left", "Left; this worker holds no task any more.")
        return 0

    async def _until_idle(self, room: "Room", linger: float) -> None:
        loop = asyncio.get_running_loop()
        busy_at = loop.time()
        while loop.time() - busy_at <= linger or await room.runs.tasks_in("ready", "running"):
            if await room.runs.tasks_in("ready", "running"):
                busy_at = loop.time()
                await asyncio.sleep(GLANCE_SECONDS)
            elif linger and await room.runs.tasks_in("blocked"):
                await asyncio.sleep(min(WAITING_SECONDS, linger))
            else:
                break
        room.runs.drain()

    def _tell(self, what: str, words: str) -> None:
        report(self.output, {"event": what, "at": stamp(utc_now()), "process": os.getpid()}, words, "dim")
        streams.output().flush()


class _TaskLog:
    """Writes down which tasks come and go, beside the work."""

    def __init__(self, room: "Room", output: OutputName | None) -> None:
        self._room = room
        self._output = output
        self._noted: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()

    def note(self, task_id: str, begins: bool) -> None:
        """Note that a task came, or went."""
        self._noted.put_nowait((task_id, begins))

    async def write(self) -> None:
        """Write as it goes."""
        while True:
            await self._write_one(*await self._noted.get())

    async def finish(self) -> None:
        """Write what is left."""
        while not self._noted.empty():
            await self._write_one(*self._noted.get_nowait())

    async def _write_one(self, task_id: str, begins: bool) -> None:
        self._print("takes" if begins else "leaves", await self._room.task(task_id))

    def _print(self, what: str, task: "Task") -> None:
        if wants_json(self._output):
            print_json(event(what, task, status=task.status))
            streams.output().flush()
            return
        sign, style = ("▸", "cyan") if what == "takes" else SIGNS[task.status]
        said = task.title if what == "takes" else task.status
        brief((f"{sign} ", style), (f"{task.role:<10} ", "bold"), (f"{task.id[-TAIL:]}  ", "dim"), (said, ""))
