"""The Counter: the whole path of a call, in order.

resolve, validate, role ─ look ─ judge ─┬─ deny   refused, on the timeline
                                        ├─ ask    an approval waits; Waiting
                                        └─ allow  claim ─ perform ─ settle
"""

import asyncio
import random
from dataclasses import replace

from brasstag.engine import payloads
from brasstag.engine.asking import Asking
from brasstag.engine.judging import judge
from brasstag.engine.looking import Looked, admit, look
from brasstag.engine.performing import perform
from brasstag.engine.running import Admitted
from brasstag.engine.shop import Shop
from brasstag.policy.grants import grant_allowed
from brasstag.words.calls import Call, Failed, Outcome, Settled
from brasstag.words.errors import Code, LeaseHeld, StoreError, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.verdicts import Verdict

TRIES = 60
"""How often a call looks again while other calls hold or change its paths; about ten seconds in all."""


class Counter:
    """Takes calls and gives back outcomes; never raises for what a call did."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.asking = Asking(shop)

    async def dispatch(self, call: Call) -> Outcome:
        """Take one call through the whole path."""
        admitted = admit(self.shop, call)
        try:
            if isinstance(admitted, Failed):
                return await self.refuse(call, admitted)
            return await self._until_free(admitted)
        except StoreError as error:
            return unrecorded(error)

    async def resume(self, approval_id: str) -> Outcome:
        """Go on with a call a person has approved: look and judge again, which can only tighten."""
        try:
            for attempt in range(TRIES):
                try:
                    return await self.asking.resume(approval_id)
                except LeaseHeld:
                    await _pause(attempt)
            return _busy(approval_id)
        except ToolError as error:
            return Failed(error.code, error.message, error.details)
        except StoreError as error:
            return unrecorded(error)

    async def _until_free(self, admitted: Admitted) -> Outcome:
        for attempt in range(TRIES):
            looked = await look(self.shop, admitted)
            verdict = judge(self.shop, looked)
            try:
                return await self._by_verdict(looked, verdict)
            except LeaseHeld:
                # Another call is at these paths. What it leaves behind has to be looked at anew.
                await _pause(attempt)
            except ToolError as error:
                if error.code is not Code.CHANGED:
                    return await self._record_failure(
                        looked, verdict, Failed(error.code, error.message, error.details)
                    )
                await _pause(attempt)
        return await self.refuse(admitted.call, _busy(admitted.call.tool))

    async def _by_verdict(self, looked: Looked, verdict: Verdict) -> Outcome:
        call, tool = looked.admitted.call, looked.admitted.tool
        if verdict.decision == "deny":
            failed = Failed(Code.BLOCKED_BY_RULE, verdict.because, {"rule": verdict.rule})
            return await self.refuse(call, failed, looked, verdict)
        if isinstance(looked.ending, Failed) and not (verdict.decision == "ask" and verdict.by_rule):
            # It would fail, so there is nothing to ask a person about, unless even that is for a person to allow.
            return await self._record_failure(looked, verdict, looked.ending)
        if verdict.decision == "ask":
            return await self.asking.ask(looked, verdict)
        return await perform(self.shop, grant_allowed(call, looked.preview, verdict, tool.version), looked)

    async def _record_failure(self, looked: Looked, verdict: Verdict, failed: Failed) -> Settled:
        call, tool = looked.admitted.call, looked.admitted.tool
        payload = payloads.proposed(call, tool) | payloads.judged(looked.preview, verdict, tool)
        return await self._write(call, EntryKind.CALLED, payload, failed)

    async def refuse(
        self, call: Call, failed: Failed, looked: Looked | None = None, verdict: Verdict | None = None
    ) -> Settled:
        """Write down a call that ended before it could act."""
        tool = looked.admitted.tool if looked else self.shop.registry.get(call.tool)
        payload = payloads.proposed(call, tool)
        if looked is not None and verdict is not None:
            payload |= payloads.judged(looked.preview, verdict, looked.admitted.tool)
        return await self._write(call, EntryKind.REFUSED, payload, failed)

    async def _write(self, call: Call, kind: EntryKind, payload: payloads.Payload, failed: Failed) -> Settled:
        payload |= payloads.closed(failed)
        tag = await self.shop.threads.run(self.shop.books.record, call, kind, payload)
        return replace(failed, tag=tag)


def unrecorded(error: StoreError) -> Failed:
    """Say that a call did not happen because it could not be written down; what has happened is never said here."""
    return Failed(Code.INTERNAL_ERROR, f"nothing was done, as it could not be written down: {error}")


def _busy(what: str) -> Failed:
    return Failed(Code.BUSY, f"{what}: other calls kept working at the same paths; try again")


async def _pause(attempt: int) -> None:
    ceiling = min(0.3, 0.005 * 2 ** min(attempt, 6))
    await asyncio.sleep(ceiling * (0.5 + random.random() / 2))  # noqa: S311 - spreads retries, guards nothing
