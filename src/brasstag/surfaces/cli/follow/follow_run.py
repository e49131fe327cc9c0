"""Work on a run here or in the background, and follow it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.app import user_name
from brasstag.settings import find_project
from brasstag.surfaces.cli.follow.background import require_worker
from brasstag.surfaces.cli.follow.events import event
from brasstag.surfaces.cli.follow.follow import Follower
from brasstag.surfaces.cli.follow.screen import AsLines, InJson, OnScreen, Showing
from brasstag.surfaces.cli.session.rooms import INTERRUPTED, open_room
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, report, say, screen, wants_json
from brasstag.surfaces.cli.terminal.interrupts import Leaving, heard_by
from brasstag.surfaces.cli.terminal.prompts import confirm_meanwhile
from brasstag.words.budgets import NO_LIMITS, Budget
from brasstag.words.errors import Code, ToolError
from brasstag.words.times import stamp, utc_now
from brasstag.words.turns import ModelError

if TYPE_CHECKING:
    from brasstag.app import Room
    from brasstag.models import Choice
    from brasstag.store import Task
    from brasstag.surfaces.cli.actions.prompt_run import PromptRun

_LEFT = """Leaving. Each task is given back at its next step; a second Ctrl-C leaves at once.
  brasstag resume {run}   continues it here
  brasstag worker   continues every run
  brasstag stop {run}   ends it"""


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """What a person asks a crew for."""

    request: str
    role: str = ""
    documents: tuple[Path, ...] = ()
    model: str = ""
    budget: Budget = NO_LIMITS
    skip_tool_catalog: bool = False
    skip_tools: bool = False


@dataclass(frozen=True, slots=True)
class Running:
    """One command about a run: where, in which form, and whether a person is there who can answer."""

    project: Path
    output: OutputName | None
    asks: bool

    async def begin(self, asked: RequestedRun, *, detach: bool) -> int:
        """Write a run down; then work on it until it ends or waits, or let a worker do that."""
        async with self._open("run") as (room, leaving):
            agreed = await self._agreed(await room.runs.choice(asked.role, asked.model))
            names = [workspace_path(room.workspace, name) for name in asked.documents]
            run = await room.start(
                asked.request,
                role=asked.role,
                documents=names,
                model=asked.model,
                default_model=agreed,
                budget=asked.budget,
                serve=not detach,
                skip_tool_catalog=asked.skip_tool_catalog,
                skip_tools=asked.skip_tools,
            )
            return await self._begun(room, leaving, run, detach=detach)

    async def use(self, asked: "PromptRun", *, detach: bool) -> int:
        """Start a run with a prompt tool, and follow it like any other."""
        from brasstag.app import UseRequest

        async with self._open("prompts run") as (room, leaving):
            await room.prompts.get(asked.tool_id)
            agreed = await self._agreed(await room.runs.choice(asked.role, asked.model))
            file = "" if asked.file is None else workspace_path(room.workspace, asked.file)
            request = UseRequest(
                asked.words, file, asked.lines, asked.role, asked.model, agreed, serve=not detach
            )
            run = await room.prompts.run(asked.tool_id, request)
            return await self._begun(room, leaving, run, detach=detach)

    async def _begun(self, room: "Room", leaving: Leaving, run: str, *, detach: bool) -> int:
        await self._caution(room, run)
        if detach:
            return await self._detach(room, run)
        return await self._follow(room, leaving, run, {})

    async def watch(self, name: str, *, new: bool) -> int:
        """Follow a task that others work on."""
        async with self._open("watch") as (room, leaving):
            task = await room.task(name)
            seen = await so_far(room, task) if new else {}
            leaving.gives_back(_nothing, _nothing)
            code = await self._following(room, leaving, task, seen, stays=True).follow()
            if code == INTERRUPTED:
                say(f"You no longer watch {task.id}; nothing else has changed.", "yellow", stderr=True)
            return code

    async def resume(self, name: str, budget: Budget, note: str, *, detach: bool) -> int:
        """Go on with a run, and work on it until it ends or waits."""
        async with self._open("resume") as (room, leaving):
            task = await room.task(name)
            if task.is_desk:
                raise ToolError(Code.NOT_SUPPORTED, f"{task.id} is a desk; only runs of agents can go on")
            if task.is_outside:
                raise ToolError(
                    Code.NOT_SUPPORTED,
                    f"a program takes the turns of {task.tree}: let it go on there, with Room.resume_run if it has ended",
                )
            seen = await so_far(room, task)
            if task.has_ended:
                await room.runs.resume(task.id, user_name(), budget, note, serve=False)
            elif budget != NO_LIMITS or note:
                raise ToolError(
                    Code.NOT_SUPPORTED,
                    f"{task.id} has not ended; limits and notes are given to a run that has",
                )
            if detach:
                return await self._detach(room, task.tree)
            return await self.go_on(room, leaving, task.tree, seen)

    async def follow_up(self, name: str, asked: RequestedRun, *, detach: bool) -> int:
        """Ask an ended run for more, and follow it like any other."""
        async with self._open("follow-up") as (room, leaving):
            task = await room.task(name)
            seen = await so_far(room, task)
            names = [workspace_path(room.workspace, path) for path in asked.documents]
            run = await room.runs.follow_up(
                task.id, asked.request, user_name(), names, asked.budget, serve=False
            )
            if detach:
                return await self._detach(room, run.tree)
            return await self.go_on(room, leaving, run.tree, seen)

    async def go_on(self, room: "Room", leaving: Leaving, run: str, seen: dict[str, int]) -> int:
        """Work on a run that has something to do again, and show what was not seen before."""
        await room.runs.serve_run(run)
        return await self._follow(room, leaving, run, seen)

    @asynccontextmanager
    async def _open(self, purpose: str) -> AsyncIterator[tuple["Room", Leaving]]:
        leaving = Leaving()
        with heard_by(leaving.hear):
            async with open_room(self.project, purpose) as room:
                yield room, leaving

    async def _follow(self, room: "Room", leaving: Leaving, run: str, seen: dict[str, int]) -> int:
        leaving.gives_back(room.runs.drain, room.runs.abandon)
        task = await room.task(run)
        code = await self._following(room, leaving, task, seen, stays=False).follow()
        if code == INTERRUPTED:
            say(_LEFT.format(run=run), "yellow", stderr=True)
        return code

    def _following(
        self, room: "Room", leaving: Leaving, task: "Task", seen: dict[str, int], *, stays: bool
    ) -> Follower:
        showing: Showing
        if wants_json(self.output):
            showing = InJson()
        elif screen().is_interactive:
            showing = OnScreen(task.id)
        else:
            showing = AsLines(task.id)
        return Follower(room, task, showing, self.output, leaving.asked, self.asks, stays, seen)

    async def _agreed(self, choice: "Choice") -> str:
        """Say which model was chosen and why, and return it; a model that no person has named needs a person's yes."""
        if choice.model is None:
            raise ModelError(choice.why, Code.MODEL_NOT_CONFIGURED)
        if wants_json(self.output):
            print_json({"event": "model", "at": stamp(utc_now()), "model": choice.model, "why": choice.why})
        else:
            say(f"Model {choice.model}: {choice.why}.", "dim")
        if not choice.needs_consent:
            return choice.model
        if not self.asks or not await confirm_meanwhile(f"Use {choice.model}?"):
            raise ModelError(
                f"no model is set, and no person has agreed to {choice.model}; to use it, add --model {choice.model}",
                Code.MODEL_NOT_CONFIGURED,
            )
        return choice.model

    async def _caution(self, room: "Room", run: str) -> None:
        """Say what is only assumed of the run's model, and what it cannot see."""
        task = await room.task(run)
        for said in await room.runs.cautions(run):
            report(self.output, event("caution", task, said=said), f"{said}.")

    async def _detach(self, room: "Room", run: str) -> int:
        started = await require_worker(find_project(self.project), room.state)
        report(
            self.output,
            event("detached", await room.task(run), process=started),
            f"A worker runs {run} in the background{'' if started is None else f' (process {started})'}.\n"
            f"  brasstag watch {run}   follows it\n"
            f"  brasstag stop {run}   ends it",
        )
        return 0


def workspace_path(workspace: Path, given: Path) -> str:
    """Return a document's path in the workspace, also where it was typed as seen from the current directory."""
    if (workspace / given).exists() and not given.is_absolute():
        return given.as_posix()
    there = given.resolve()
    if there.is_relative_to(workspace):
        return there.relative_to(workspace).as_posix()
    if there.exists():
        raise ToolError(
            Code.INVALID_PATH, f"{given} lies outside the workspace; copy it into {workspace}, then name it"
        )
    return given.as_posix()


async def so_far(room: "Room", task: "Task") -> dict[str, int]:
    """Return how many entries each task of a run has."""
    return {one.id: one.next_seq for one in await room.tasks(task.tree)}


def _nothing() -> None:
    """Do nothing: a command that only watches holds no tasks."""
