"""Follow a run until it ends, waits for people, or the person leaves."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brasstag.surfaces.cli.follow.decide import prompt
from brasstag.surfaces.cli.follow.endings import tell_ended, tell_unserved, tell_waiting
from brasstag.surfaces.cli.follow.questions import answer_here
from brasstag.surfaces.cli.follow.who_continues import is_served
from brasstag.surfaces.cli.session.rooms import INTERRUPTED
from brasstag.surfaces.cli.terminal.console import say
from brasstag.words.approvals import Approval
from brasstag.words.calls import Failed
from brasstag.words.errors import Code, ToolError, with_hint

if TYPE_CHECKING:
    from brasstag.app import Overview, Room, RunEvent
    from brasstag.store import Task
    from brasstag.surfaces.cli.follow.screen import Showing
    from brasstag.surfaces.cli.terminal.console import OutputName

LOOK_SECONDS = 0.25
"""How often to look where the tasks stand."""

ELSEWHERE_SECONDS = 1.0
"""How often to look, while a person thinks, whether another person has answered."""

MOST_UNSHOWN = 16
"""How many events may be unshown, for example while a person thinks; more wait in the limited buffers."""

_DECIDED = frozenset({Code.DENIED, Code.APPROVAL_STALE})
"""Failures after which the same approval may be asked about again."""


@dataclass(slots=True)
class Follower:
    """One person, or one program, that follows a task."""

    room: "Room"
    top: "Task"
    showing: "Showing"
    output: "OutputName | None"
    leaving: asyncio.Event
    asks: bool
    """Whether a person is here who can answer."""
    stays: bool = False
    """Whether to stay while everything waits for people who answer elsewhere."""
    seen: dict[str, int] = field(default_factory=dict)
    _came: "deque[RunEvent]" = field(default_factory=deque)
    _bell: asyncio.Event = field(default_factory=asyncio.Event)
    _shown: asyncio.Event = field(default_factory=asyncio.Event)
    _is_over: bool = False
    _later: set[str] = field(default_factory=set)
    _told_waiting: bool = False
    _told_unserved: bool = False

    async def follow(self) -> int:
        """Show what happens; return the exit code."""
        pump = asyncio.create_task(self._pump())
        left = asyncio.create_task(self._leave())
        try:
            return await self._follow()
        finally:
            for task in (pump, left):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            self.showing.close()

    async def _follow(self) -> int:
        while True:
            await self._show_what_came()
            if self.leaving.is_set():
                return INTERRUPTED
            if self._is_over and not self._came:
                return await self._tell_end()
            overview = await self.room.runs.overview(self.top.id)
            self.showing.stand(overview)
            if self.asks and await self._ask(overview):
                continue
            if self._has_shown(overview) and overview.waits_for_people:
                if not self.stays:
                    self.showing.close()
                    return tell_waiting(self.output, overview, self.top)
                self._stay(overview)
            else:
                self._told_waiting = False
            self._tell_unserved(overview)

    async def _pump(self) -> None:
        try:
            async for run_event in self.room.watch(self.top.id, seen=self.seen):
                if run_event.waiting is not None:
                    # Told by ``_follow``, once everything that led to it was shown.
                    continue
                self._came.append(run_event)
                self._bell.set()
                if len(self._came) >= MOST_UNSHOWN:
                    self._shown.clear()
                    await self._shown.wait()
        finally:
            self._is_over = True
            self._bell.set()

    async def _leave(self) -> None:
        await self.leaving.wait()
        self._bell.set()

    async def _show_what_came(self) -> None:
        with suppress(TimeoutError):
            if not self._is_over:
                await asyncio.wait_for(self._bell.wait(), LOOK_SECONDS)
        self._bell.clear()
        while self._came:
            run_event = self._came.popleft()
            if run_event.entry is not None:
                self.seen[run_event.task.id] = run_event.entry.seq + 1
            self.showing.show(run_event)
        self._shown.set()

    def _has_shown(self, overview: "Overview", request: "Approval | Task | None" = None) -> bool:
        """Say whether all entries so far, of all tasks or of the task that asks for something, have been shown."""
        asker = ""
        if request is not None:
            asker = request.task_id if isinstance(request, Approval) else request.parent_id
        about = [task for task in overview.tasks if not asker or task.id == asker]
        return all(self.seen.get(task.id, 0) >= task.next_seq for task in about)

    async def _tell_end(self) -> int:
        ended = await self.room.runs.ended(self.top.id)
        overview = await self.room.runs.overview(self.top.id)
        self.showing.close()
        if ended is None:
            raise ToolError(
                Code.TASK_NOT_FOUND, f"{self.top.id} is gone; `brasstag tasks` lists what there is"
            )
        return tell_ended(self.output, ended, overview, await self.room.runs.taken(self.top.id))

    def _stay(self, overview: "Overview") -> None:
        if not self._told_waiting:
            with self.showing.aside():
                tell_waiting(self.output, overview, self.top)
            self._told_waiting = True

    def _tell_unserved(self, overview: "Overview") -> None:
        """Say once, where this command only looks on, that no worker is running the run."""
        at_work = any(task.status in ("ready", "running") for task in overview.tasks)
        if (
            self.stays
            and at_work
            and not self._told_unserved
            and not is_served(self.room.state, self.top.tree)
        ):
            with self.showing.aside():
                tell_unserved(self.output, self.top)
            self._told_unserved = True

    async def _ask(self, overview: "Overview") -> bool:
        """Ask about the first thing that waits and was not put off; say whether there was one."""
        first = next((one for one in overview.requests if one.id not in self._later), None)
        if first is None or not self._has_shown(overview, first):
            return False
        asking = self._prompted(first.id) if isinstance(first, Approval) else answer_here(self.room, first)
        with self.showing.aside():
            answered = await self._unless_settled(asking, first.id)
        if answered is False:
            self._later.add(first.id)
        return True

    async def _prompted(self, name: str) -> bool:
        """Let the person decide; False when they would rather do it later."""
        decided = await prompt(self.room, name)
        if isinstance(decided, Failed) and decided.code not in _DECIDED:
            say(f"{decided.code.value}: {with_hint(decided.message, decided.hint)}", "red")
            return False
        return decided is not None

    async def _unless_settled(self, asking: Coroutine[Any, Any, bool], name: str) -> bool | None:
        """Ask until the person has answered; None when another person has answered elsewhere."""
        asked = asyncio.create_task(asking)
        try:
            while not asked.done():
                await asyncio.wait({asked}, timeout=ELSEWHERE_SECONDS)
                if not asked.done() and not await self._still_waits(name):
                    say("Another person has answered this.", "yellow")
                    return None
            return asked.result()
        finally:
            asked.cancel()
            with suppress(asyncio.CancelledError):
                await asked

    async def _still_waits(self, name: str) -> bool:
        now = await self.room.runs.overview(self.top.id)
        return name in {one.id for one in now.requests}
