"""Room: the front door of the library. It is async only; a caller without an event loop starts one around it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from brasstag.app.approvals import Approvals
from brasstag.app.documents import RoomDocuments
from brasstag.app.loop import OwnLoop
from brasstag.app.model_summaries import ModelSummaries
from brasstag.app.open import OpenRoom, open_in_memory, open_project
from brasstag.app.prompts.issues import RoomIssues
from brasstag.app.prompts.registry import PromptRegistry
from brasstag.app.prompts.use import PromptUse
from brasstag.app.requests import as_text, why_not_named, with_arguments
from brasstag.app.runs import Ended, RunContext, Runs
from brasstag.app.toolbox import Toolbox
from brasstag.app.wait import Awaited
from brasstag.app.watch.events import RunEvent
from brasstag.app.watch.inbox import InboxItem, inbox_of
from brasstag.app.watch.output import Listener
from brasstag.app.watch.output_recorder import OutputRecorder
from brasstag.app.watch.room_events import RoomEvents
from brasstag.app.watch.run_changes import ChangesOfRun, changes_of
from brasstag.engine.calls.edit import EditedCall
from brasstag.engine.calls.explain import Explained
from brasstag.engine.calls.permit import PermissionRequest
from brasstag.engine.graph.open import Skips
from brasstag.policy.narrow import NoRule
from brasstag.policy.profiles import ToolFacts, facts_of
from brasstag.policy.replay import Replayed, recorded_calls, replay
from brasstag.policy.roles import OPERATOR
from brasstag.policy.rule_engine import GivenRule
from brasstag.settings import ProfileName
from brasstag.store.events.sequence import Event, EventId
from brasstag.store.maintenance.verify import Report
from brasstag.store.tasks.memories import Memory
from brasstag.store.tasks.rows import Task
from brasstag.store.tasks.types import Stopped
from brasstag.store.tasks.writer import Desk
from brasstag.store.timeline.records import call_records
from brasstag.toolkit.discovery import discover_folder
from brasstag.toolkit.kinds import Action
from brasstag.toolkit.tool import Tool
from brasstag.words.approvals import (
    DEFAULT_MINUTES,
    Approval,
    ApprovalResponse,
    ApprovalState,
    Approver,
    Permission,
)
from brasstag.words.budgets import NO_LIMITS, Budget
from brasstag.words.calls import Call, Done, Failed, Outcome, Waiting
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import CallRecord, Entry
from brasstag.words.ids import new_id
from brasstag.words.times import Clock, utc_now

DRAIN_SECONDS = 10.0
"""How long a closing room waits for calls whose caller went away."""


class Room(OwnLoop):
    """An open room: its tools, its rules, its timeline, and one desk that owns the calls made here."""

    def __init__(self, open_room: OpenRoom, actor: str, purpose: str) -> None:
        """Use ``Room.open`` or ``Room.in_memory``."""
        self._open_room = open_room
        self._runtime = open_room.runtime
        self._counter = open_room.counter
        self.store = self._runtime.store
        """Everything this room has written down; for the command line, so it may change with any release."""
        self.state = open_room.room_state
        """The store with key and lock of this room; for the command line, too."""
        self._actor = actor
        self._purpose = purpose
        self.recovered = open_room.recovered
        self.tools = Toolbox(self._runtime.registry, lambda: self._runtime.policy.roles)
        self._events = RoomEvents(self.store, self._runtime.threads)
        self._recorder = OutputRecorder(self.store, self._runtime.threads)
        open_room.watchers.listeners.join(self._recorder)
        self.documents = RoomDocuments(
            open_room.library,
            ModelSummaries(
                open_room.settings.documents.summary_model,
                open_room.models.model,
                open_room.library,
                self._runtime.threads,
                self.store.fence,
            ),
            open_room.watch,
            self.store,
            self._runtime.threads,
            self._events,
        )
        super().__init__(open_room, Runs(open_room, actor, self.documents.watch))
        use = PromptUse(self.call, self.runs, self.store.fence)
        self.prompts = PromptRegistry(open_room, actor, lambda: self.task_id, use)
        self.issues = RoomIssues(self.store, self._runtime.threads, actor)
        self._approvals = Approvals(self._runtime, self._counter, self.runs, lambda: self.task_id)
        self._awaited = Awaited(self._approvals, self.runs, self.store, self._runtime.threads)
        self._desk = self._new_desk()
        self._is_open = True

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        project: str | Path = ".",
        *,
        rules: GivenRule | None = None,
        actor: str = "library",
        purpose: str = "",
        clock: Clock = utc_now,
    ) -> AsyncIterator["Room"]:
        """Open the room of a project that ``brasstag init`` made; ``rules`` are added to its own, as by ``add_rule``.

        Raises ConfigError for settings or tools that cannot be used, UntrustedError when they changed unseen.
        """
        open_room = await open_project(Path(project), clock, rules)
        async with cls._opened(open_room, actor, purpose) as room:
            yield room

    @classmethod
    @asynccontextmanager
    async def in_memory(
        cls,
        workspace: str | Path | None = None,
        *,
        profile: ProfileName = "careful",
        rules: GivenRule | None = None,
        actor: str = "library",
        clock: Clock = utc_now,
    ) -> AsyncIterator["Room"]:
        """Open a room that leaves nothing behind, on a directory of yours or a scratch one; made for tests."""
        root = None if workspace is None else Path(workspace)
        async with cls._opened(await open_in_memory(root, profile, clock, rules), actor, "") as room:
            yield room

    @classmethod
    @asynccontextmanager
    async def _opened(cls, open_room: OpenRoom, actor: str, purpose: str) -> AsyncIterator["Room"]:
        room = cls(open_room, actor, purpose)
        try:
            await room.prompts.settle()
            yield room
        finally:
            await room._close()

    @property
    def task_id(self) -> str:
        """The desk that owns the calls made here."""
        return self._desk.id

    @property
    def workspace(self) -> Path:
        """The directory tools may touch."""
        return self._open_room.workspace

    def register(self, thing: Any) -> Tool:
        """Add a tool of yours: a decorated or plain typed function, a BaseTool, or a Tool."""
        return self._open_room.register(thing)

    def register_folder(self, folder: str | Path) -> list[Tool]:
        """Add every tool of a folder of ``name.py`` + ``name.json`` pairs."""
        return [self.register(found) for found in discover_folder(Path(folder))]

    def add_rule(self, rule: GivenRule) -> None:
        """Add a rule: a SafetyRule, a Rule, or a callable ``(call, preview) -> Verdict | None``; or a RuleEngine.

        Of an engine, the room takes every rule it has, and every rule that is added to it later. Raises ConfigError for
        an engine with another profile than the room's.
        """
        self._open_room.add_rule(rule)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | str,
        *,
        role: str = OPERATOR,
        call_id: str | None = None,
        on_output: Listener | None = None,
    ) -> Outcome:
        """Take one call through the whole path; arguments may be the JSON text a model wrote.

        ``call_id`` is the caller's own name for the call, used once. ``on_output`` is told, on the event loop, what
        programs print that the call runs here.
        """
        if not self._is_open:
            return Failed(Code.NOT_SUPPORTED, "this room is closed; open it again")
        misnamed = why_not_named(tool, role, call_id)
        if misnamed is not None:
            return misnamed
        tool, role = as_text(tool), as_text(role)
        named_id = new_id("call") if call_id is None else as_text(call_id)
        named = Call(named_id, tool, {}, self._actor, role, self._desk.id)
        call, unread = with_arguments(named, arguments)
        if unread is not None:
            return await self._counter.refuse(call, unread)
        async with self.runs.telling(on_output, call.id):
            outcome = self._runtime.registry.shown(tool, await self._counter.dispatch(call))
        if isinstance(outcome, Done) and self._is_handoff(tool):
            self._desk = self._new_desk()
        return outcome

    async def undo(self, tag: str, *, role: str = OPERATOR) -> Outcome:
        """Take back what the call with this tag changed; itself a call, judged like any other."""
        return await self.call("undo", {"tag": tag}, role=role)

    async def changes_of(self, run: str) -> ChangesOfRun:
        """Return everything a run, or one task and all below it, changed: by path, and as one diff."""
        return await self._runtime.threads.run(changes_of, self.store, run)

    async def undo_run(self, run: str, *, role: str = OPERATOR) -> Outcome:
        """Take back everything a run changed; one call, judged like any other. It names what it cannot take back."""
        return await self.call("undo_run", {"run": run}, role=role)

    async def approvals(self, *states: ApprovalState) -> list[Approval]:
        """Return approvals in these states, or all of them, oldest first."""
        return await self._approvals.of(*states)

    async def approval(self, name: str) -> Approval:
        """Return one approval, by its id or the end of it."""
        return await self._approvals.get(name)

    async def preview_edit(self, approval: Approval, arguments: Mapping[str, Any]) -> EditedCall:
        """Find out what an approval's call would do with other arguments."""
        return await self._approvals.preview_edit(approval, arguments)

    async def decide(
        self, approval_id: str, response: ApprovalResponse, by: Approver | str, *, seen: str | None = None
    ) -> Approval:
        """Write down a person's answer; ``seen`` is the digest of the preview they were shown."""
        return await self._approvals.decide(approval_id, response, Approver.named(by), seen)

    async def permit(
        self,
        approval_id: str,
        by: Approver | str,
        *,
        pattern: str = "",
        minutes: float = DEFAULT_MINUTES,
        seen: str | None = None,
    ) -> Permission:
        """Approve a call, and let the same role do the like without being asked, for an hour or another time.

        ``pattern`` says what besides this very call: paths, hosts or an argument, as in rules. An approval that a person
        has agreed to already may be given. Raises ToolError where a rule asked, as no permission outranks a rule.
        """
        wanted = PermissionRequest(pattern, minutes, seen)
        return await self._approvals.permit(approval_id, Approver.named(by), wanted)

    async def permissions(self, *, all: bool = False) -> list[Permission]:  # noqa: A002 - what a caller would write
        """Return the timed permissions that count now, or ``all`` that there ever were, oldest first."""
        return await self._approvals.permissions(everything=all)

    async def revoke(self, permission_id: str, by: Approver | str) -> Permission:
        """Take a timed permission back; from then on a person is asked again."""
        return await self._approvals.revoke(permission_id, Approver.named(by))

    async def resume(self, approval_id: str, *, on_output: Listener | None = None) -> Outcome:
        """Go on with a call that was approved."""
        return await self._approvals.resume(approval_id, on_output)

    def narrow_rule(self, approval: Approval, because: str) -> str | NoRule:
        """Return, as TOML, the narrowest rule that would allow what was approved from now on."""
        return self._approvals.narrow_rule(approval, because)

    async def explain(self, tool: str, arguments: Mapping[str, Any], *, role: str = OPERATOR) -> Explained:
        """Say what would be decided about a call, and why, without making it or writing anything down."""
        call = Call(new_id("call"), tool, arguments, self._actor, role, self._desk.id)
        return await self._counter.explain(call)

    async def replay(self, settings_file: Path) -> list[Replayed]:
        """Say what the rules and the profile of another settings file would have decided about every recorded call."""
        rules = self._open_room.rules_of(settings_file)
        entries = await self.timeline()
        return list(replay(recorded_calls(entries, self._facts_of), rules))

    async def wait(self, waiting: Waiting, *, on_output: Listener | None = None) -> Outcome:
        """Wait until a person has decided and the call has ended, here or where they decided.

        It looks into the store every quarter of a second.
        """
        return await self._awaited.of(waiting, on_output)

    async def start(
        self,
        request: str,
        *,
        role: str = "",
        documents: Sequence[str] = (),
        model: str = "",
        default_model: str = "",
        budget: Budget = NO_LIMITS,
        serve: bool = True,
        skip_tool_catalog: bool = False,
        skip_tools: bool = False,
    ) -> str:
        """Begin a run and return its id; the crew's lead takes it where no role is named.

        Where ``model`` is given, every role uses it. ``default_model`` is for roles that name no model; where it is
        left out, they use a model for which the environment has a key. The room works on the run while it is open;
        where ``serve`` is false, a worker has to do it. ``skip_tool_catalog`` leaves the prompt tools out of the context
        of its tasks, ``skip_tools`` the callable tools as well: then the run is one plain question to a model.

        Raises ToolError for a role or document that is not there, ModelError where no model could answer.
        """
        return await self.runs.begin(
            request,
            role,
            documents,
            model,
            budget,
            serve=serve,
            default_model=default_model,
            context=RunContext(Skips(skip_tool_catalog, skip_tools)),
        )

    def watch(self, task_id: str, *, seen: dict[str, int] | None = None) -> AsyncIterator[RunEvent]:
        """Yield what happens in a task and below it, until it has ended.

        It yields entries, and pieces of what models say and programs print in this process. It also tells each time
        when the run waits only for people.
        """
        return self.runs.watch(task_id, seen)

    def events(self, after: EventId | str | None = None) -> AsyncIterator[Event]:
        """Yield what happens in the whole room, whichever process does it, without end, after an event or from now on.

        Raises ToolError: NOT_KEPT where some of what came after that event is gone, INVALID_ARGUMENTS for a text that
        is no id of an event.
        """
        return self._events.watch(EventId.parse(after) if isinstance(after, str) else after)

    async def newest_event(self) -> EventId:
        """Return the id of the newest event: look at the room after this, then take ``events`` from there on."""
        return await self._events.newest()

    async def finished(self, task_id: str) -> Ended:
        """Wait until a task has ended, and say how."""
        return await self.runs.finished(task_id)

    async def inbox(self) -> list[InboxItem]:
        """Return everything that waits for a person, the oldest first."""
        return await self._runtime.threads.run(self.store.read, inbox_of)

    async def task(self, task_id: str) -> Task:
        """Return one task, by its id or the end of it."""
        return await self.runs.task(task_id)

    async def tasks(self, tree: str = "") -> list[Task]:
        """Return the tasks of the room, or of one run, oldest first."""
        return await self.runs.tasks(tree)

    async def answer(
        self, question_id: str, answer: str, by: Approver | str, *, documents: Sequence[str] = ()
    ) -> Task:
        """Answer a question that waits for a person."""
        return await self.runs.answer(question_id, answer, Approver.named(by), documents)

    async def stop(self, task_id: str, by: Approver | str = "a program") -> Stopped:
        """Stop a task and everything below it; says what was stopped, and which calls may have happened."""
        return await self.runs.stop(task_id, str(Approver.named(by)))

    async def resume_run(
        self,
        task_id: str,
        by: Approver | str = "a program",
        *,
        budget: Budget = NO_LIMITS,
        note: str = "",
        serve: bool = True,
    ) -> Task:
        """Let a failed or stopped run go on, with more budget where that is what it lacked."""
        return await self.runs.resume(task_id, str(Approver.named(by)), budget, note, serve=serve)

    async def follow_up(
        self,
        run: str,
        request: str,
        by: Approver | str = "a program",
        *,
        documents: Sequence[str] = (),
        budget: Budget = NO_LIMITS,
        serve: bool = True,
    ) -> Task:
        """Ask the agent that led an ended run for more: it goes on with all it knows, and may use as much again.

        Raises ToolError: BUSY while the run has not ended, NOT_SUPPORTED for a task that is no root of a run.
        """
        return await self.runs.follow_up(
            run, request, str(Approver.named(by)), documents, budget, serve=serve
        )

    async def serve(self, concurrency: int | None = None) -> None:
        """Work on every run of this room until cancelled."""
        await self.runs.serve(concurrency)

    async def memories(self, role: str = "") -> list[Memory]:
        """Return what agents remember, of one role or of all."""
        return await self.runs.memories(role)

    async def forget(self, memory_id: str) -> Memory:
        """Delete what an agent remembers; later tasks are not told of it."""
        return await self.runs.forget(memory_id)

    async def timeline(self, task_id: str | None = None) -> list[Entry]:
        """Return the entries of a task, or of the whole room, in order."""
        return await self._runtime.threads.run(self.store.entries, task_id)

    async def records(self, task_id: str | None = None) -> list[CallRecord]:
        """Return one record for each call of a task, or of the whole room; those that have not ended come last."""
        return await self._runtime.threads.run(
            self.store.read, lambda view: list(call_records(view, task_id))
        )

    async def verify(self, *, contents: bool = False) -> Report:
        """Check every chain of the room and name everything that does not fit."""
        return await self._runtime.threads.run(partial(self.state.verify, contents=contents))

    def _facts_of(self, call: Call) -> ToolFacts | None:
        tool = self._runtime.registry.get(call.tool)
        return None if tool is None else facts_of(tool, call)

    def _is_handoff(self, name: str) -> bool:
        tool = self._runtime.registry.get(name)
        return tool is not None and tool.config.behaviour.action is Action.STOP

    def _new_desk(self) -> Desk:
        desk = Desk(new_id("task"), self._actor, OPERATOR, self._purpose)
        self.store.expect_desk(desk)
        return desk

    async def _close(self) -> None:
        self._is_open = False
        await self._outside.let_go()
        await self.runs.close()
        await self.prompts.close()
        await self.documents.close()
        await self._events.close()
        await self._recorder.close()
        await self._open_room.models.close()
        await self._runtime.threads.drain(DRAIN_SECONDS)
        try:
            await self._runtime.threads.run(self.store.close_task, self._desk.id, "done", Desk.closing())
        except ToolError as error:
            # Another process or person stopped it while we worked: that is an end, too.
            if error.code is not Code.CANCELLED:
                raise
        finally:
            self._open_room.close()
