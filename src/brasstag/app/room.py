"""Room: the library's front door. Async only; whoever has no loop starts one around it."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from brasstag.app.abstracts import Abstracts
from brasstag.app.documents import RoomDocuments
from brasstag.app.listening import Listener
from brasstag.app.opening import Fittings, fit_out, fit_out_in_memory
from brasstag.app.runs import Ended, Runs
from brasstag.app.shelf import Shelf
from brasstag.app.vault import Vault
from brasstag.app.watching import Happening
from brasstag.engine.asking import call_of
from brasstag.engine.facts import tool_facts
from brasstag.engine.judging import Explained, landing_of
from brasstag.engine.looking import Looked
from brasstag.engine.payloads import reopened
from brasstag.policy.narrow import NoRule, narrow_rule
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.replay import Replayed, recorded_calls, replay
from brasstag.policy.roles import OPERATOR
from brasstag.policy.rule_engine import AnyRule
from brasstag.settings import ProfileName
from brasstag.store.approvals import approval_of_call
from brasstag.store.books import Books, Desk
from brasstag.store.graph_words import Stopped
from brasstag.store.memories import Memory
from brasstag.store.tasks import Task, find_task
from brasstag.store.timeline import read_entries
from brasstag.store.verify import Report
from brasstag.toolkit.discovery import discover_folder
from brasstag.toolkit.kinds import ToolType
from brasstag.toolkit.repair import read_arguments
from brasstag.toolkit.tool import Tool
from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState, Approver
from brasstag.words.budgets import NO_LIMITS, Budget
from brasstag.words.calls import Call, Done, Failed, Outcome, Tag, Waiting
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import Entry
from brasstag.words.ids import new_id
from brasstag.words.times import Clock, utc_now

_CALL_ID = re.compile(r"[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,63}")

DRAIN_SECONDS = 10.0
"""How long a closing room waits for calls whose caller went away."""

POLL_SECONDS = 0.25
"""How often ``wait`` looks whether a person has decided."""


class Room:
    """An open room: its tools, its rules, its timeline, and one desk that owns the calls made here."""

    def __init__(self, fittings: Fittings, actor: str, purpose: str) -> None:
        """Use ``Room.open`` or ``Room.in_memory``."""
        self._fittings = fittings
        self._shop = fittings.shop
        self._counter = fittings.counter
        self._actor = actor
        self._purpose = purpose
        self.recovered = fittings.recovered
        self.tools = Shelf(self._shop.registry, self._shop.roles)
        self.documents = RoomDocuments(
            fittings.library,
            Abstracts(
                fittings.settings.documents.summary_model,
                fittings.models.model,
                fittings.library,
                self._shop.threads,
            ),
            fittings.watch,
            self.books,
            self._shop.threads,
        )
        self.runs = Runs(fittings, actor, self.documents.watch)
        self._desk = self._new_desk()
        self._is_open = True

    @classmethod
    @asynccontextmanager
    async def open(
        cls, project: str | Path = ".", *, actor: str = "library", purpose: str = "", clock: Clock = utc_now
    ) -> AsyncIterator["Room"]:
        """Open the room of a project that ``brasstag init`` made.

        Raises ConfigError for settings or tools that cannot be used, UntrustedError when they changed unseen.
        """
        fittings = await fit_out(Path(project), clock)
        async with cls._opened(fittings, actor, purpose) as room:
            yield room

    @classmethod
    @asynccontextmanager
    async def in_memory(
        cls,
        workspace: Path | None = None,
        *,
        profile: ProfileName = "careful",
        actor: str = "library",
        clock: Clock = utc_now,
    ) -> AsyncIterator["Room"]:
        """Open a room that leaves nothing behind, on a directory of yours or a scratch one; made for tests."""
        async with cls._opened(await fit_out_in_memory(workspace, profile, clock), actor, "") as room:
            yield room

    @classmethod
    @asynccontextmanager
    async def _opened(cls, fittings: Fittings, actor: str, purpose: str) -> AsyncIterator["Room"]:
        room = cls(fittings, actor, purpose)
        try:
            yield room
        finally:
            await room._close()

    @property
    def books(self) -> Books:
        """Everything this room has written down."""
        return self._shop.books

    @property
    def vault(self) -> Vault:
        """Books, key and lock of this room."""
        return self._fittings.vault

    @property
    def task_id(self) -> str:
        """The desk that owns the calls made here."""
        return self._desk.id

    @property
    def workspace(self) -> Path:
        """The directory tools may touch."""
        return self._fittings.workspace

    def register(self, thing: Any) -> Tool:
        """Add a tool of yours: a decorated or plain typed function, a BaseTool, or a Tool."""
        return self._fittings.register(thing)

    def register_folder(self, folder: str | Path) -> list[Tool]:
        """Add every tool of a folder of ``name.py`` + ``name.json`` pairs."""
        return [self.register(found) for found in discover_folder(Path(folder))]

    def add_rule(self, rule: AnyRule) -> None:
        """Add a rule: a SafetyRule, a Rule, or a callable ``(call, preview) -> Verdict | None``."""
        self._fittings.add_rule(rule)

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
        names: tuple[Any, ...] = (tool, role, "" if call_id is None else call_id)
        if not all(isinstance(name, str) for name in names):
            return Failed(Code.INVALID_ARGUMENTS, "the names of tools, roles and calls are texts")
        if call_id is not None and not _CALL_ID.fullmatch(call_id):
            return Failed(
                Code.INVALID_ARGUMENTS, "a call id is up to 64 letters, digits and the signs . _ : -"
            )
        call = Call(call_id or new_id("call"), tool, {}, self._actor, role, self._desk.id)
        try:
            given, repaired = read_arguments(arguments) if isinstance(arguments, str) else (arguments, "")
        except ToolError as error:
            unread = replace(call, arguments={"unreadable": str(arguments)[:2000]})
            return await self._counter.refuse(unread, Failed(error.code, error.message, error.details))
        async with self.runs.telling(on_output, call.id):
            outcome = await self._counter.dispatch(replace(call, arguments=given, repaired=repaired))
        if isinstance(outcome, Done) and self._is_handoff(tool):
            self._desk = self._new_desk()
        return outcome

    async def undo(self, tag: str, *, role: str = OPERATOR) -> Outcome:
        """Take back what the call with this tag changed; itself a call, judged like any other."""
        return await self.call("undo", {"tag": tag}, role=role)

    async def approvals(self, *states: ApprovalState) -> list[Approval]:
        """Return approvals in these states, or all of them, oldest first."""
        return await self._shop.threads.run(self._counter.asking.decisions.list, *states)

    async def approval(self, name: str) -> Approval:
        """Return one approval, by its id or the end of it."""
        return await self._shop.threads.run(self._counter.asking.decisions.get, name)

    async def preview_edit(self, approval: Approval, arguments: Mapping[str, Any]) -> Looked:
        """Find out what an approval's call would do with other arguments."""
        return await self._counter.preview_edit(approval, arguments)

    async def decide(
        self, approval_id: str, response: ApprovalResponse, by: Approver | str, *, seen: str | None = None
    ) -> Approval:
        """Write down a person's answer; ``seen`` is the digest of the preview they were shown."""
        return await self._counter.decide(approval_id, response, Approver.named(by), seen)

    async def resume(self, approval_id: str, *, on_output: Listener | None = None) -> Outcome:
        """Go on with a call that was approved."""
        approval = await self.approval(approval_id)
        async with self.runs.telling(on_output, approval.call_id):
            outcome = await self._counter.resume(approval.id)
        if approval.task_id != self._desk.id:
            await self._shop.threads.run(self.books.close_if_idle, approval.task_id)
        return outcome

    def narrow_rule(self, approval: Approval, because: str) -> str | NoRule:
        """Return, as TOML, the narrowest rule that would allow what was approved from now on."""
        call = call_of(approval)
        if self._counter.asking.decisions.ran(approval) is not None:
            call, facts = landing_of(call)
            return narrow_rule(self._shop.rules, call, approval.preview, facts, (), because)
        tool = self._shop.registry.get(approval.tool)
        if tool is None:
            return NoRule(f"{approval.tool} is no tool of this room any more")
        facts = tool_facts(tool, call)
        return narrow_rule(self._shop.rules, call, approval.preview, facts, tool.config.parameters, because)

    async def explain(self, tool: str, arguments: Mapping[str, Any], *, role: str = OPERATOR) -> Explained:
        """Say what would be decided about a call, and why, without making it or writing anything down."""
        call = Call(new_id("call"), tool, arguments, self._actor, role, self._desk.id)
        return await self._counter.explain(call)

    async def replay(self, settings_file: Path) -> list[Replayed]:
        """Say what the rules and the profile of another settings file would have decided about every recorded call."""
        rules = self._fittings.rules_of(settings_file)
        entries = await self.timeline()
        return list(replay(recorded_calls(entries, self._facts_of), rules))

    async def wait(self, waiting: Waiting, *, on_output: Listener | None = None) -> Outcome:
        """Wait until a person has decided and the call has ended, here or where they decided.

        Costs a look every quarter of a second.
        """
        if waiting.task_id:
            return await self._returned(waiting.task_id)
        while True:
            approval = await self.approval(waiting.approval_id)
            if approval.state is ApprovalState.APPROVED:
                outcome = await self.resume(approval.id, on_output=on_output)
                if not isinstance(outcome, Failed) or outcome.code is not Code.APPROVAL_CLOSED:
                    return outcome
            elif approval.state is not ApprovalState.OPEN:
                ended = await self._shop.threads.run(self._ended_elsewhere, approval)
                if ended is not None:
                    return ended
            await asyncio.sleep(POLL_SECONDS)

    async def start(
        self,
        request: str,
        *,
        role: str = "",
        documents: Sequence[str] = (),
        model: str = "",
        budget: Budget = NO_LIMITS,
        serve: bool = True,
    ) -> str:
        """Begin a run and return its id; the crew's lead takes it where no role is named.

        The room works on it while it is open, unless ``serve`` is false: then a worker has to. Raises ToolError for a
        role or document that is not there, ModelError where no model could answer.
        """
        return await self.runs.begin(request, role, documents, model, budget, serve=serve)

    def watch(self, task_id: str, *, seen: dict[str, int] | None = None) -> AsyncIterator[Happening]:
        """Yield what happens in a task and below it, until it has ended.

        That is entries, pieces of what models say and programs print here, and, each time it becomes so, that only
        people can go on.
        """
        return self.runs.watch(task_id, seen)

    async def finished(self, task_id: str) -> Ended:
        """Wait until a task has ended, and say how."""
        async for _ in self.watch(task_id):
            pass
        ended = await self.runs.ended(task_id)
        if ended is None:
            raise ToolError(Code.TASK_NOT_FOUND, f"there is no task {task_id}; `brasstag tasks` lists them")
        return ended

    async def tasks(self, tree: str = "") -> list[Task]:
        """Return the tasks of the room, or of one run, oldest first."""
        return await self.runs.tasks(tree)

    async def answer(
        self, question_id: str, answer: str, by: Approver | str, *, documents: Sequence[str] = ()
    ) -> Task:
        """Answer a question that waits for a person."""
        return await self.runs.answer(question_id, answer, Approver.named(by), documents)

    async def stop(self, task_id: str, by: Approver | str = "library") -> Stopped:
        """Stop a task and everything below it; says what was stopped, and what may have happened or not."""
        return await self.runs.stop(task_id, str(by))

    async def resume_run(
        self,
        task_id: str,
        by: Approver | str = "library",
        *,
        budget: Budget = NO_LIMITS,
        note: str = "",
        serve: bool = True,
    ) -> Task:
        """Let a failed or stopped run go on, with more budget where that is what it lacked."""
        return await self.runs.resume(task_id, str(by), budget, note, serve=serve)

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
        return await self._shop.threads.run(self.books.read, lambda view: list(read_entries(view, task_id)))

    async def verify(self) -> Report:
        """Walk every chain of the room and name whatever does not fit."""
        return await self._shop.threads.run(self.vault.verify)

    async def _returned(self, task_id: str) -> Outcome:
        """Wait for the end of a task that a call of this room's desk opened."""
        task = await self.runs.task(task_id)
        if task.kind == "agent" and not task.has_ended:
            await self.runs.serve_run(task.tree)
        await self.finished(task_id)
        entries = await self._shop.threads.run(
            self.books.read, lambda view: list(read_entries(view, task.parent_id, task.parent_call))
        )
        told = next(entry for entry in reversed(entries) if "outcome" in (entry.payload or {}))
        return replace(reopened(told.payload or {}), tag=Tag(told.tag, told.hash))

    def _ended_elsewhere(self, approval: Approval) -> Outcome | None:
        """Say how a call ended that another process went on with; None while it still runs."""
        newest = self.books.read(lambda view: approval_of_call(view, approval.call_id))
        if newest is not None and newest.id != approval.id:
            return Waiting(newest.id, newest.reason)
        for entry in self.books.read(
            lambda view: list(read_entries(view, approval.task_id, approval.call_id))
        ):
            if entry.payload is not None and "outcome" in entry.payload:
                return replace(reopened(entry.payload), tag=Tag(entry.tag, entry.hash))
        if approval.state is ApprovalState.CONSUMED or self._is_asked_anew(approval):
            return None
        return Failed(Code.DENIED, f"a person denied this call: {approval.note or approval.state.value}")

    def _is_asked_anew(self, approval: Approval) -> bool:
        """Say whether a call whose approval was withdrawn will be asked about again: its task goes on."""
        task = self.books.read(lambda view: find_task(view, approval.task_id))
        return approval.state is ApprovalState.VOID and task is not None and not task.has_ended

    def _facts_of(self, call: Call) -> ToolFacts | None:
        tool = self._shop.registry.get(call.tool)
        return None if tool is None else tool_facts(tool, call)

    def _is_handoff(self, name: str) -> bool:
        tool = self._shop.registry.get(name)
        return tool is not None and tool.config.type is ToolType.HANDOFF

    def _new_desk(self) -> Desk:
        desk = Desk(new_id("task"), self._actor, OPERATOR, self._purpose)
        self.books.expect_desk(desk)
        return desk

    async def _close(self) -> None:
        self._is_open = False
        await self.runs.close()
        await self.documents.close()
        await self._fittings.models.close()
        await self._shop.threads.drain(DRAIN_SECONDS)
        end: dict[str, Any] = {"type": "root", "tool": "desk", "input": {}, "result": None}
        try:
            await self._shop.threads.run(self.books.close_task, self._desk.id, "done", end)
        except ToolError as error:
            # Stopped by somebody else while we worked: that is an end, too.
            if error.code is not Code.CANCELLED:
                raise
        finally:
            self._fittings.close()
