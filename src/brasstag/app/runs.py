"""Runs: what people do with agents - begin, watch, answer, stop, resume, count - and the worker behind it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from brasstag.app.open import OpenRoom
from brasstag.app.watch.events import RunEvent
from brasstag.app.watch.output import Listener
from brasstag.app.watch.overview import Overview, look_over
from brasstag.app.watch.spending import UsedByTurns, spendings_of_run
from brasstag.app.workers import WorkerMarks
from brasstag.documents.reading.carry import carry
from brasstag.engine.agents import OUTSIDE_MODEL, Chosen
from brasstag.engine.graph.close import failure
from brasstag.engine.graph.open import Skips, TaskRequest, opening, root_task
from brasstag.engine.graph.people import answer_question, follow_up_task, resume_task, stop_task
from brasstag.engine.graph.receivers import receiving
from brasstag.engine.worker.worker import Worker
from brasstag.models.choose import Choice, choose
from brasstag.policy.roles import OPERATOR
from brasstag.sandbox.workspace.draft import Draft
from brasstag.store.database.base import View
from brasstag.store.maintenance.forget import forget
from brasstag.store.tasks.hints import OUTSIDE
from brasstag.store.tasks.memories import Memory
from brasstag.store.tasks.rows import Status, Task, read_tasks
from brasstag.store.tasks.types import NewTask, Stopped
from brasstag.store.tasks.writer import Desk
from brasstag.store.timeline.timeline import entries_since
from brasstag.words.approvals import Approver
from brasstag.words.budgets import Budget
from brasstag.words.calls import Failed
from brasstag.words.canonical import why_not_json
from brasstag.words.documents import Carried
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.review.prompt_tools import Scope
from brasstag.words.turns import Model, ModelError

_T = TypeVar("_T")

GRACE_SECONDS = 30.0
"""How long a closing room waits for models that still answer."""

_UNTOLD = Failed(
    Code.INTERNAL_ERROR,
    "its timeline does not hold, so its end was not added to it",
    hint="`brasstag timeline verify` says what does not fit",
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a task ended."""

    task: Task
    result: Any
    """What it handed off, or ``{"error": {code, message, details?}}``."""
    documents: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it did what it was asked to."""
        return self.task.status == "done"


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run is told, or not told, beside its request."""

    skips: Skips = field(default_factory=Skips)
    prompt_tool: Mapping[str, str] = field(default_factory=dict)
    """The prompt tool it is started with: ``{id, hash, source}``."""
    scope: Scope = "project"


NOTHING_MORE = RunContext()
"""A run that is told its request, its documents and the catalog."""


class Runs:
    """The runs of one open room: what is behind Room's methods about them, and what only surfaces need."""

    def __init__(self, open_room: OpenRoom, actor: str, watch: Callable[[], None]) -> None:
        self._open_room = open_room
        self._watch_documents = watch
        self._runtime = open_room.runtime
        self._store = open_room.runtime.store
        self._actor = actor
        self._worker = Worker(open_room.runtime, open_room.counter)
        self._marks = WorkerMarks(open_room.room_state)
        self._serving: asyncio.Task[None] | None = None
        self._watchers = open_room.watchers

    async def begin(
        self,
        request: str,
        role: str,
        documents: Sequence[str],
        model: str,
        budget: Budget,
        *,
        serve: bool,
        default_model: str,
        context: RunContext = NOTHING_MORE,
    ) -> str:
        """Write a run down, and work on it here unless another worker is to do it."""
        lead = self._lead(request, role)
        chosen, speaker = await self._speaker(lead, model, default_model)
        carried = await self._run(self._carry, documents, lead, speaker)
        asked = TaskRequest(
            request, lead, self._actor, carried, chosen, context.skips, context.prompt_tool, context.scope
        )
        task_id = await self._open_root(asked, budget, self._runtime.boot.id if serve else "")
        if serve:
            self._serve_own(task_id)
        return task_id

    async def begin_outside(self, request: str, role: str, documents: Sequence[str], budget: Budget) -> str:
        """Write a run down whose turns a program outside takes."""
        lead = self._lead(request, role)
        if lead in self._runtime.agents.services:
            raise ToolError(
                Code.NOT_SUPPORTED, f"code serves the role {lead}, so it takes no turns; use Room.start"
            )
        carried = await self._run(self._carry, documents, lead, None)
        asked = TaskRequest(request, lead, self._actor, carried, Chosen(OUTSIDE_MODEL))
        return await self._open_root(asked, budget, OUTSIDE)

    def _lead(self, request: str, role: str) -> str:
        """Return the role that takes a request; raise ToolError where there is none, or no request."""
        self._require_words(request)
        lead = role or self._runtime.agents.crew.lead
        self._runtime.agents.role(lead)
        return lead

    def _require_words(self, request: str) -> None:
        if not request.strip():
            raise ToolError(Code.INVALID_ARGUMENTS, "a run needs words: what is to be done?")
        if reason := why_not_json(request):
            raise ToolError(Code.INVALID_ARGUMENTS, f"the request cannot be written down: {reason}")

    async def _speaker(self, lead: str, model: str, default_model: str) -> tuple[Chosen, Model | None]:
        """Return the model of a run; a run is not begun if no model could answer it. Where code serves the lead: None."""
        if lead in self._runtime.agents.services:
            return Chosen(model, default_model), None
        chosen = Chosen(model, await self._default_model(lead, model, default_model))
        speaker = self._runtime.agents.model(self._runtime.agents.model_name(lead, chosen), lead)
        await self._open_room.models.open(speaker)
        await self._open_room.models.measure(speaker)
        return chosen, speaker

    async def _open_root(self, asked: TaskRequest, budget: Budget, queue: str) -> str:
        task: NewTask = await self._run(
            self._store.read, lambda view: root_task(self._runtime, view, asked, budget, queue)
        )
        await self._run(self._store.graph.open_root, task)
        return task.id

    async def serve_run(self, tree: str) -> None:
        """Work here on a run that was begun elsewhere, beside the other work of this process."""
        await self._run(self._store.graph.requeue, tree, self._runtime.boot.id)
        self._serve_own(tree)

    async def serve(self, concurrency: int | None = None) -> None:
        """Work on every run of the room until the caller is cancelled, or ``drain``."""
        self._marks.begin()
        self._watch_documents()
        try:
            await self._worker.serve("", concurrency or self._runtime.agents.crew.concurrency)
        finally:
            self._marks.end()

    def tell(self, told: Callable[[str, bool], None]) -> None:
        """Call ``told`` with a task that is looked at here and True, and with False once it has been left."""
        self._worker.told = told

    def drain(self) -> None:
        """Begin no more tasks, and give back each task that is held here at its next step."""
        self._worker.drain()

    def abandon(self) -> None:
        """Break off the tasks that are held here."""
        self._worker.abandon()

    def watch(self, task_id: str, seen: dict[str, int] | None) -> AsyncIterator[RunEvent]:
        """Yield what happens in a task and below it, until it has ended."""
        return self._watchers.watch(self._store, self._runtime.threads, task_id, seen)

    def telling(self, on_output: Listener | None, call_id: str = "") -> AbstractAsyncContextManager[None]:
        """Tell the listener what programs print here meanwhile, for one call or for all."""
        return self._watchers.listeners.telling(on_output, call_id)

    async def ended(self, name: str) -> Ended | None:
        """Say how a task ended, or None while it goes on."""
        return await self._run(self._ended, name)

    async def finished(self, name: str) -> Ended:
        """Wait until a task has ended, and say how."""
        async for _ in self.watch(name, None):
            pass
        ended = await self.ended(name)
        if ended is None:
            raise ToolError(
                Code.TASK_NOT_FOUND, f"there is no task {name}", hint="`brasstag tasks` lists them"
            )
        return ended

    async def task(self, name: str) -> Task:
        """Return a task by its id or the end of it."""
        return await self._run(self._store.task, name)

    async def tasks(self, tree: str) -> list[Task]:
        """Return every task of the room, or of one run, oldest first."""
        return await self._run(self._store.tasks, tree)

    async def tasks_in(self, *statuses: Status) -> list[Task]:
        """Return the tasks of agents, and the questions, that have one of these statuses."""
        found = await self._run(self._store.read, lambda view: read_tasks(view, statuses))
        return [task for task in found if not task.is_desk]

    async def look(self, look: Callable[[View], _T]) -> _T:
        """Run a look-up on a consistent view of the store."""
        return await self._run(self._store.read, look)

    def roles(self) -> list[str]:
        """Return the roles of the crew."""
        return list(self._runtime.agents.roles)

    def lead(self) -> str:
        """Return the role that takes requests."""
        return self._runtime.agents.crew.lead

    async def overview(self, name: str) -> Overview:
        """Look over the run that a task belongs to."""
        return await self._run(self._store.read, lambda view: look_over(view, name))

    async def taken(self, name: str) -> UsedByTurns:
        """Return what the run that a task belongs to has taken."""
        found = await self._run(self._store.read, lambda view: list(spendings_of_run(view, name)))
        return sum((one.taken for one in found), UsedByTurns())

    async def answer(self, name: str, answer: str, by: Approver, documents: Sequence[str]) -> Task:
        """Answer a question that waits for a person."""
        carried = await self._run(self._carry, documents, "", None)
        return await self._run(answer_question, self._store, name, answer, by, carried)

    async def stop(self, name: str, by: str) -> Stopped:
        """Stop a task and all below it."""
        return await self._run(stop_task, self._store, name, by)

    async def resume(self, name: str, by: str, budget: Budget, note: str, *, serve: bool) -> Task:
        """Let a failed or stopped run go on."""
        task = await self._run(resume_task, self._store, name, by, budget, note)
        if serve:
            await self.serve_run(task.tree)
        return task

    async def follow_up(
        self, name: str, request: str, by: str, documents: Sequence[str], budget: Budget, *, serve: bool
    ) -> Task:
        """Ask the agent that led an ended run for more."""
        root = await self.task(name)
        self._require_words(request)
        carried = await self._run(self._carry, documents, root.role, None)
        task = await self._run(follow_up_task, self._store, name, by, request, budget, carried)
        if serve and not task.is_outside:
            await self.serve_run(task.tree)
        return task

    async def memories(self, role: str) -> list[Memory]:
        """Return what agents remember."""
        return await self._run(self._store.memories, role)

    async def forget(self, name: str) -> Memory:
        """Delete a memory."""
        return await self._run(self._forget, name)

    async def close(self) -> None:
        """Give back what is held, after a grace for models that still answer."""
        if self._serving is None:
            return
        self._marks.end()
        self._worker.drain()
        _, late = await asyncio.wait({self._serving}, timeout=GRACE_SECONDS)
        if late:
            self._worker.abandon()
            await asyncio.wait(late, timeout=GRACE_SECONDS)
        with suppress(asyncio.CancelledError):
            self._serving.cancel()
            await self._serving

    def _serve_own(self, tree: str) -> None:
        """Work on the runs that were begun in this room, or given to it."""
        self._marks.begin(tree)
        self._watch_documents()
        if self._serving is None or self._serving.done():
            concurrency = self._runtime.agents.crew.concurrency
            self._serving = asyncio.create_task(self._worker.serve(self._runtime.boot.id, concurrency))

    async def choice(self, role: str = "", named: str = "") -> Choice:
        """Say which model would speak for a role, or for the lead, and why."""
        agents = self._runtime.agents
        settled = agents.model_name(role or agents.crew.lead, Chosen(named))
        if settled:
            return Choice(settled, "it was named" if named else "brasstag.toml names it")
        return await choose()

    async def cautions(self, run: str) -> tuple[str, ...]:
        """Say what a person should know of a run's model before it goes far."""
        task = await self.task(run)
        opened = await self._run(self._store.read, lambda view: opening(view, task))
        model = self._runtime.agents.model(opened["model"], task.role)
        guessed = self._open_room.models.guesses(model)
        return tuple(cautions(model, opened["carried"], guessed=guessed))

    async def _default_model(self, lead: str, named: str, agreed: str) -> str:
        """Return the model for roles that name none: the model the run begins with.

        That is the lead's model, or one for which the environment has a key. A model that merely runs on this machine
        needs a person's agreement.
        """
        if settled := self._runtime.agents.model_name(lead, Chosen(named)):
            return settled
        if agreed:
            return agreed
        choice = await choose()
        if choice.model is None:
            raise ModelError(choice.why, Code.MODEL_NOT_CONFIGURED)
        if choice.needs_consent:
            raise ModelError(
                f"no model is set, but {choice.why}; name it to use it: model = {choice.model}",
                Code.MODEL_NOT_CONFIGURED,
            )
        return choice.model

    def _ended(self, name: str) -> Ended | None:
        task = self._store.task(name)
        if not task.has_ended:
            return None
        # Calls that were acting when the task ended may have been settled after its end.
        entries = self._store.read(lambda view: entries_since(view, task.id, 0))
        last = next((entry for entry in reversed(entries) if entry.kind is EntryKind.CLOSED), None)
        if last is None:
            return Ended(task, failure(_UNTOLD))
        payload = last.payload or {}
        return Ended(task, payload.get("result"), tuple(payload.get("documents", ())))

    def _forget(self, name: str) -> Memory:
        desk = Desk(new_id("task"), self._actor, OPERATOR, "memories forget")
        (forgotten,) = forget(self._store, [name], self._actor, desk)
        return forgotten

    def _carry(self, documents: Sequence[str], role: str, reader: Model | None) -> tuple[Carried, ...]:
        """Read documents that a person sends along; raise ToolError where a rule keeps one from being read."""
        draft = Draft(self._runtime.workspace, writable=False)
        try:
            study = self._runtime.library.study if self._runtime.library else None
            receiver = receiving(self._runtime, role, reader)
            carried = carry(draft, list(documents), receiver, self._store.blobs.put, study)
        finally:
            draft.close()
        for seen in draft.preview().reads:
            because = self._runtime.policy.rules.hides(seen.path, role=role)
            if because is not None:
                raise ToolError(Code.BLOCKED_BY_RULE, f"{seen.path} cannot be sent along: {because}")
        return carried

    async def _run(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await self._runtime.threads.run(function, *arguments)


def cautions(model: Model, carried: Iterable[Mapping[str, Any]], *, guessed: bool) -> Iterator[str]:
    """Yield what is only assumed of a model, and which of the pictures sent along it cannot see."""
    if guessed:
        yield (
            f"How much fits into {model.name} is not known: its server does not say. {model.context_tokens} tokens are "
            "assumed; say better with ?context=32768 at the end of its name"
        )
    pictures = [str(one["path"]) for one in carried if one.get("image")]
    if pictures and not model.sees_images:
        yield f"{model.name} cannot see pictures: of {', '.join(pictures)} it is told the name only"
