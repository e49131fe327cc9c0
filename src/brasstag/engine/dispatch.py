"""The Counter: the whole path of a call, in order.

resolve, validate, role ─ look ─ judge ─┬─ deny   refused, on the timeline
                                        ├─ ask    an approval waits; Waiting
                                        └─ allow  claim ─ perform ─ settle
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from brasstag.engine import payloads
from brasstag.engine.asking import Asking
from brasstag.engine.judging import Explained, explain_call, judge, mistake_in
from brasstag.engine.looking import Looked, admit_unless_denied, blocked, look
from brasstag.engine.patience import busy, patiently
from brasstag.engine.rounds import Rounds
from brasstag.engine.running import Admitted
from brasstag.engine.shop import Shop
from brasstag.engine.watch import Watch
from brasstag.policy.grants import grant_allowed
from brasstag.words.approvals import Approval, ApprovalResponse, Approver
from brasstag.words.calls import Call, Failed, Outcome, Settled, Unknown
from brasstag.words.errors import Code, StoreError, StoreLost, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.verdicts import Verdict

log = logging.getLogger("brasstag")

_T = TypeVar("_T")


class Counter:
    """Takes calls and gives back outcomes; never raises for what a call did.

    Async outside, sync inside: a call runs on one worker from look to settle, under a watch.
    """

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.asking = Asking(shop)
        self._rounds: Rounds | None = None

    async def dispatch(self, call: Call, seconds_left: float | None = None) -> Outcome:
        """Take one call through the whole path; its function has no longer than its task has left."""
        return await self.watched(self._dispatch, call, seconds_left=seconds_left)

    async def resume(self, approval_id: str, epoch: int = 0, seconds_left: float | None = None) -> Outcome:
        """Go on with a call a person has approved: look and judge again, which can only tighten."""
        return await self.watched(self._resume, approval_id, epoch, seconds_left=seconds_left)

    async def refuse(self, call: Call, failed: Failed) -> Outcome:
        """Write down a call that ended before it could even be read."""
        return await self.shop.threads.run(self._refuse, call, failed)

    def hurry(self, task_id: str) -> None:
        """End the running functions of a task that was stopped; what they did outside is for a person to find out."""
        for call_id, watch in list(self.shop.active.items()):
            if call_id.startswith(f"{task_id}:"):
                watch.hurry()

    async def decide(
        self, name: str, response: ApprovalResponse, approver: Approver, seen: str | None
    ) -> Approval:
        """Write down a person's answer."""
        return await self._looking(self.asking.decide, name, response, approver, seen)

    async def preview_edit(self, approval: Approval, arguments: Mapping[str, Any]) -> Looked:
        """Find out what an approval's call would do with other arguments."""
        return await self._looking(self.asking.preview_edit, approval, arguments)

    async def explain(self, call: Call) -> Explained:
        """Say what would be decided about a call, and why."""
        return await self._looking(explain_call, self.shop, call)

    async def _looking(self, work: Callable[..., _T], *arguments: Any) -> _T:
        """Run what ends with more than an outcome; a look that takes too long is raised, as there is no call to end."""
        found = await self.watched(work, *arguments)
        if isinstance(found, Failed | Unknown):
            raise ToolError(Code.TIMEOUT, found.message)
        return cast("_T", found)

    async def watched(
        self, work: Callable[..., _T], *arguments: Any, seconds_left: float | None = None
    ) -> _T | Settled:
        """Run a piece of the path on a worker; a function that does not come back in time is left behind."""
        loop = asyncio.get_running_loop()
        watch = Watch(loop, seconds_left)
        future: asyncio.Future[Any] = self.shop.threads.start(_under_watch, work, arguments, watch)
        watch.look = partial(self._look_at_watch, watch, future)
        self._rounds_of(loop).add(watch)
        try:
            found = await future
        except asyncio.CancelledError:
            # What acts goes on to its end, and its watch with it.
            watch.leave()
            raise
        except BaseException:
            watch.rest()
            raise
        watch.rest()
        return cast("_T | Settled", found)

    def _rounds_of(self, loop: asyncio.AbstractEventLoop) -> Rounds:
        rounds = self._rounds
        if rounds is None or rounds.loop is not loop:
            # Those of another loop go on there until all their watches have been looked at.
            rounds = self._rounds = Rounds(loop)
        return rounds

    def _look_at_watch(self, watch: Watch, future: "asyncio.Future[Any]") -> None:
        if watch.over or watch.expired:
            return
        late = watch.expire()
        if late is None:
            watch.loop.call_later(max(watch.left(), 0.001), watch.look)
            return
        ended = self.shop.threads.start(late)
        ended.add_done_callback(lambda written: _hand_over(written, future))
        self.shop.threads.leave_behind(future)

    def write_leftovers(self) -> None:
        """Write down endings that could not be written before."""
        for _ in range(len(self.shop.unsettled)):
            with suppress(IndexError):  # another call is at them, too
                write = self.shop.unsettled.pop(0)
                try:
                    write()
                except StoreLost:
                    self.shop.unsettled.append(write)
                except StoreError as error:
                    log.warning("an ending is given up: %s", error)

    def _dispatch(self, call: Call, watch: Watch) -> Outcome:
        if self.shop.unsettled:
            self.write_leftovers()
        admitted = admit_unless_denied(self.shop, call)
        self.shop.active[call.id] = watch
        try:
            if isinstance(admitted, Failed):
                return self._refuse(call, admitted)
            return patiently(lambda: self._take(admitted, watch)) or self._refuse(call, busy(call.tool))
        except ToolError as error:
            # The task has ended, so there is no timeline left to write on.
            return Failed.by(error)
        except (StoreError, OSError) as error:
            return _unrecorded(error)
        finally:
            self._leave(call.id, watch)

    def _take(self, admitted: Admitted, watch: Watch) -> Outcome:
        looked = look(self.shop, admitted, watch)
        verdict = judge(self.shop, looked)
        try:
            return self._by_verdict(looked, verdict, watch)
        except ToolError as error:
            if error.code is Code.CHANGED:
                raise
            return self._record_failure(looked, verdict, Failed.by(error))

    def _resume(self, approval_id: str, epoch: int, watch: Watch) -> Outcome:
        call_id = ""
        try:
            call_id = self.asking.decisions.get(approval_id).call_id
            self.shop.active[call_id] = watch
            return patiently(lambda: self.asking.resume(approval_id, epoch, watch)) or busy(approval_id)
        except ToolError as error:
            return Failed.by(error)
        except (StoreError, OSError) as error:
            return _unrecorded(error)
        finally:
            self._leave(call_id, watch)

    def _leave(self, call_id: str, watch: Watch) -> None:
        # A worker that was left behind may come back when another is at the same call.
        if self.shop.active.get(call_id) is watch:
            del self.shop.active[call_id]

    def _by_verdict(self, looked: Looked, verdict: Verdict, watch: Watch) -> Outcome:
        call, tool = looked.admitted.call, looked.admitted.tool
        mistake = mistake_in(looked, verdict)
        if mistake is not None:
            return self._refuse(call, mistake)
        if verdict.decision == "deny":
            return self._refuse(call, blocked(verdict), looked, verdict)
        if isinstance(looked.ending, Failed) and not (verdict.decision == "ask" and verdict.by_rule):
            # It would fail, so there is nothing to ask a person about, unless even that is for a person to allow.
            return self._record_failure(looked, verdict, looked.ending)
        if verdict.decision == "ask":
            return self.asking.ask(looked, verdict)
        return self.asking.act(grant_allowed(call, looked.preview, verdict, tool.version), looked, watch)

    def _record_failure(self, looked: Looked, verdict: Verdict, failed: Failed) -> Settled:
        call, tool = looked.admitted.call, looked.admitted.tool
        payload = payloads.proposed(call, tool) | payloads.judged(looked.preview, verdict, tool)
        return self._write(call, EntryKind.CALLED, payload, failed)

    def _refuse(
        self, call: Call, failed: Failed, looked: Looked | None = None, verdict: Verdict | None = None
    ) -> Settled:
        payload = payloads.attempted(call, self.shop.registry.get(call.tool))
        if looked is not None and verdict is not None:
            payload |= payloads.judged(looked.preview, verdict, looked.admitted.tool)
        return self._write(call, EntryKind.REFUSED, payload, failed)

    def _write(self, call: Call, kind: EntryKind, payload: payloads.Payload, failed: Failed) -> Settled:
        tag = self.shop.books.record(call, kind, payload | payloads.closed(failed))
        return replace(failed, tag=tag)


def _under_watch(work: Callable[..., _T], arguments: tuple[Any, ...], watch: Watch) -> _T:
    try:
        return work(*arguments, watch)
    finally:
        watch.over = True


def _hand_over(written: "asyncio.Future[Settled]", future: "asyncio.Future[Any]") -> None:
    error = written.exception()
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(written.result())


def _unrecorded(error: Exception) -> Failed:
    """Say that a call did not happen because it could not be written down; what has happened is never said here."""
    said = error.strerror if isinstance(error, OSError) else error
    # A database comes back, and a disk gets room; what else is wrong stays so.
    details = {"again": True} if isinstance(error, OSError | StoreLost) else {}
    return Failed(Code.INTERNAL_ERROR, f"nothing was done, as it could not be written down: {said}", details)
