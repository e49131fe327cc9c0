"""The Counter takes calls and gives back outcomes: async outside, one worker thread for each call inside."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from brasstag.engine.calls import record
from brasstag.engine.calls.approvals import Decisions
from brasstag.engine.calls.edit import EditedCall, decide, preview_edit
from brasstag.engine.calls.explain import Explained, explain_call
from brasstag.engine.calls.pipeline import busy, dispatch, while_leased
from brasstag.engine.calls.resume import resume
from brasstag.engine.in_flight import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.words.approvals import Approval, ApprovalResponse, Approver
from brasstag.words.calls import Call, Failed, Outcome, Unknown
from brasstag.words.errors import Code, StoreError, StoreLost, ToolError

_T = TypeVar("_T")


class Counter:
    """Takes calls and gives back outcomes; never raises for what a call did.

    Async outside, sync inside: a call runs on one thread from preview to settle, under a deadline.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.decisions = Decisions(runtime.store)

    async def dispatch(self, call: Call, seconds_left: float | None = None) -> Outcome:
        """Take one call through the whole path; its function has no longer than its task has left."""
        return await self.runtime.in_flight.run(self._dispatch, call, seconds_left=seconds_left)

    async def resume(self, approval_id: str, epoch: int = 0, seconds_left: float | None = None) -> Outcome:
        """Go on with a call a person has approved: look and judge again, which can only tighten."""
        return await self.runtime.in_flight.run(self._resume, approval_id, epoch, seconds_left=seconds_left)

    async def refuse(self, call: Call, failed: Failed) -> Outcome:
        """Write down a call that ended before it could even be read."""
        return await self.runtime.threads.run(record.refusal, self.runtime, call, failed)

    async def decide(
        self, name: str, response: ApprovalResponse, approver: Approver, seen: str | None
    ) -> Approval:
        """Write down a person's answer."""
        return await self._looking(decide, self.runtime, name, response, approver, seen)

    async def preview_edit(self, approval: Approval, arguments: Mapping[str, Any]) -> EditedCall:
        """Find out what an approval's call would do with other arguments."""
        return await self._looking(preview_edit, self.runtime, approval, arguments)

    async def explain(self, call: Call) -> Explained:
        """Say what would be decided about a call, and why."""
        return await self._looking(explain_call, self.runtime, call)

    async def _looking(self, work: Callable[..., _T], *arguments: Any) -> _T:
        """Run what ends with more than an outcome; a look that takes too long is raised, as there is no call to end."""
        found = await self.runtime.in_flight.run(work, *arguments)
        if isinstance(found, Failed | Unknown):
            raise ToolError(Code.TIMEOUT, found.message)
        return cast("_T", found)

    def _dispatch(self, call: Call, deadline: Deadline) -> Outcome:
        in_flight = self.runtime.in_flight
        if in_flight.unsettled:
            in_flight.write_unsettled()
        in_flight.enter(call.id, deadline)
        try:
            return self._logged(call.id, dispatch(self.runtime, call, deadline))
        except ToolError as error:
            # The task has ended, so there is no timeline left to write on.
            return Failed.by(error)
        except (StoreError, OSError) as error:
            return _unrecorded(error)
        finally:
            in_flight.leave(call.id, deadline)

    def _resume(self, approval_id: str, epoch: int, deadline: Deadline) -> Outcome:
        call_id = ""
        try:
            call_id = self.decisions.get(approval_id).call_id
            self.runtime.in_flight.enter(call_id, deadline)
            attempt = partial(resume, self.runtime, approval_id, epoch, deadline)
            ending = while_leased(self.runtime, call_id, attempt)
            return self._logged(call_id, ending or busy(approval_id))
        except ToolError as error:
            return Failed.by(error)
        except (StoreError, OSError) as error:
            return _unrecorded(error)
        finally:
            self.runtime.in_flight.leave(call_id, deadline)

    def _logged(self, call_id: str, outcome: Outcome) -> Outcome:
        """Keep the traceback of a tool that raised, by the tag of its call."""
        self.runtime.tracebacks.keep(call_id, outcome.tag.id if outcome.tag else None)
        return outcome


def _unrecorded(error: Exception) -> Failed:
    """Say that a call did not happen because it could not be recorded; never used for a call that has happened."""
    said = error.strerror if isinstance(error, OSError) else error
    # A lost database or a full disk may recover; other errors stay.
    details = {"again": True} if isinstance(error, OSError | StoreLost) else {}
    return Failed(
        Code.INTERNAL_ERROR,
        f"nothing was done, as it could not be written down: {said}",
        details,
        hint=getattr(error, "hint", ""),
    )
