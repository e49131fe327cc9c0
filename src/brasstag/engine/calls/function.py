"""Run a tool's function: arguments in, a checked value out, and no exception to the caller."""

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from brasstag.engine.calls.admit import Admitted
from brasstag.engine.calls.capabilities.documents import DocumentAccess
from brasstag.engine.calls.capabilities.history import CallHistory
from brasstag.engine.calls.capabilities.model import CallersModel
from brasstag.engine.calls.capabilities.prompts import PromptAccess
from brasstag.engine.graph.receivers import recalled_at_once
from brasstag.engine.in_flight import Deadline, Late
from brasstag.engine.runtime import Runtime
from brasstag.engine.tracebacks import traceback_text, without_secrets
from brasstag.policy.profiles import facts_of
from brasstag.sandbox.process.module_jobs import ModuleJobs
from brasstag.sandbox.process.ripgrep import Ripgrep
from brasstag.sandbox.process.sandbox import Sandbox
from brasstag.sandbox.process.tool_runner import Confined
from brasstag.sandbox.threads import AnsweredElsewhere
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Done, Failed, Settled, Unknown
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, MayHaveActed, ToolError
from brasstag.words.times import stamp, utc_now
from brasstag.words.verdicts import Decision

LONGEST_MESSAGE = 4000
"""How much of a tool's own message about its failure is kept."""


class _OutOfTime(Exception):
    """An async function did not return in time; a TimeoutError that the tool itself raised is a different case."""


@dataclass(frozen=True, slots=True)
class _Broken:
    """A function that did not return. If it only had a draft, it failed. If it acts outside, it may have acted."""

    failed: Failed
    doubt: str
    """What is said where it may have acted."""


def run_function(
    runtime: Runtime,
    admitted: Admitted,
    draft: Draft,
    deadline: Deadline,
    late: Late,
    *,
    only_drafts: bool = False,
) -> Done | Failed:
    """Run a function that can do no more than change its draft of the workspace, and say how it ended.

    A sync function runs here, under the deadline: if it does not return in time, ``late`` ends the call on another
    thread. An async function runs on the loop. One that ``only_drafts`` is broken off when its caller goes away.
    """
    ending = _run(runtime, admitted, draft, deadline, late, only_drafts=only_drafts)
    return ending.failed if isinstance(ending, _Broken) else ending


def run_outside(
    runtime: Runtime, admitted: Admitted, draft: Draft, deadline: Deadline, late: Late
) -> Settled:
    """Run a function that acts outside, and say how it ended; where it did not return, it may have acted."""
    ending = _run(runtime, replace(admitted, outside=True), draft, deadline, late)
    return _settled(admitted, ending) if isinstance(ending, _Broken) else ending


def timed_out(admitted: Admitted, deadline: Deadline) -> Failed:
    """Say how a call ends whose function did not come back in time: once its draft is closed it can do nothing."""
    return _timed_out(admitted, deadline).failed


def timed_out_outside(admitted: Admitted, deadline: Deadline) -> Settled:
    """Say how a call ends whose function acts outside and did not come back in time: what it still does is not known."""
    return _settled(admitted, _timed_out(admitted, deadline))


def _settled(admitted: Admitted, broken: _Broken) -> Settled:
    """Return how a call ends whose function acts outside: it failed if it may simply run again, else it is unknown."""
    failed = broken.failed
    return failed if admitted.tool.may_run_again else Unknown(broken.doubt, failed.details, failed.meta)


def _run(
    runtime: Runtime,
    admitted: Admitted,
    draft: Draft,
    deadline: Deadline,
    late: Late,
    *,
    only_drafts: bool = False,
) -> Done | Failed | _Broken:
    tool = admitted.tool
    meta: dict[str, Any] = {}
    started = time.perf_counter()
    try:
        arguments = tool.python_arguments(admitted.call.arguments)
        arguments |= {name: OFFERED[name](runtime, admitted, draft, deadline) for name in tool.injected}
        run = _on_loop if tool.is_async else _here
        value = run(tool, arguments, deadline, late, only_drafts)
        return Done(tool.check_result(value), meta)
    except ToolError as error:
        return _refused(runtime, admitted, error, meta)
    except _OutOfTime:
        return _timed_out(admitted, deadline)
    except concurrent.futures.CancelledError:
        return _cut_off(tool, deadline)
    except AnsweredElsewhere:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises ends here, even what would end the program
        return _raised(runtime, admitted, error, meta)
    finally:
        draft.close()
        meta["execution_time"] = round(time.perf_counter() - started, 6)


def _timed_out(admitted: Admitted, deadline: Deadline) -> _Broken:
    tool = admitted.tool
    if deadline.stopped:
        return _cut_off(tool, deadline)
    why = f"did not answer within {tool.config.limits.timeout_seconds:g} s"
    if deadline.cut_short:
        why = f"had not answered after {deadline.elapsed:.3g} s, when the time its task may work was over,"
    said = f"{tool.name} {why} and was stopped; nothing was changed"
    return _Broken(
        Failed(Code.TIMEOUT, said, meta=_took(deadline)),
        f"{tool.name} {why} and may still be acting; look before trying again",
    )


def _cut_off(tool: Tool, deadline: Deadline) -> _Broken:
    said = f"{tool.name} was cut off before it had an answer; nothing was changed"
    return _Broken(
        Failed(Code.CANCELLED, said, meta=_took(deadline)),
        f"{tool.name} was cut off while it was acting; look before trying again",
    )


def _raised(runtime: Runtime, admitted: Admitted, error: BaseException, meta: dict[str, Any]) -> _Broken:
    note_traceback(runtime, admitted, error)
    said = scrub(runtime, f"{admitted.tool.name} raised {described(error)}")
    return _Broken(
        Failed(Code.EXECUTION_ERROR, said, meta=meta),
        f"{said}. It may have acted before that; look before trying again",
    )


def _refused(
    runtime: Runtime, admitted: Admitted, error: ToolError, meta: dict[str, Any]
) -> Failed | _Broken:
    """Return a tool's own refusal, as long as it is made of what can be written down."""
    code: object = error.code
    if not isinstance(code, Code) or why_not_json(dict(error.details)) is not None:
        return _raised(runtime, admitted, error, meta)
    said = str(error.message)[:LONGEST_MESSAGE]
    failed = Failed(code, said, dict(error.details), meta, hint=str(error.hint))
    may_have_acted = isinstance(error, MayHaveActed)
    return _Broken(failed, f"{said}; look before trying again") if may_have_acted else failed


def _took(deadline: Deadline) -> dict[str, Any]:
    """A function that did not end has taken time, too."""
    return {"execution_time": round(deadline.elapsed, 6)}


def described(error: BaseException) -> str:
    """Return an exception's kind and words; its words are a stranger's, so they may be missing, endless or a trap."""
    try:
        words = str(error)[:LONGEST_MESSAGE].encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - an exception that cannot be read is told by its kind
        words = "(it cannot be read)"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def scrub(runtime: Runtime, message: str) -> str:
    """Take the host's paths and secrets out of a message a tool did not write for its caller."""
    message = without_secrets(message)
    for path in runtime.host_paths:
        message = message.replace(path, "…")
    return message


def note_traceback(runtime: Runtime, admitted: Admitted, error: BaseException) -> None:
    """Hold the traceback of a tool until its call has the tag by which a person finds it."""
    call = admitted.call
    head = f"{stamp(utc_now())} · {call.tool} · {call.id} · {call.actor} as {call.role} · {call.task_id}\n"
    runtime.tracebacks.note(call.id, head + scrub(runtime, traceback_text(error)))


def _here(tool: Tool, arguments: dict[str, Any], deadline: Deadline, late: Late, only_drafts: bool) -> Any:
    deadline.begin(tool.config.limits.timeout_seconds, late, only_drafts=only_drafts)
    try:
        return tool.function(**arguments)
    finally:
        deadline.end()


def _on_loop(
    tool: Tool, arguments: dict[str, Any], deadline: Deadline, _late: Late, only_drafts: bool
) -> Any:
    running = asyncio.run_coroutine_threadsafe(_kept_in(tool, arguments), deadline.loop)
    seconds = deadline.begin_on_loop(tool.config.limits.timeout_seconds, running, only_drafts=only_drafts)
    try:
        return running.result(seconds)
    except TimeoutError:
        if running.done():
            raise
        running.cancel()
        raise _OutOfTime from None
    finally:
        deadline.end()


async def _kept_in(tool: Tool, arguments: dict[str, Any]) -> Any:
    """Await the function; an exception that would end the event loop and the program stays an error of the tool."""
    try:
        return await tool.function(**arguments)
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(described(error)) from error


def _history(runtime: Runtime, admitted: Admitted, _draft: Draft, _deadline: Deadline) -> CallHistory:
    return CallHistory(runtime.store, lambda: recalled_at_once(runtime, admitted.call.task_id))


def _confined(runtime: Runtime, admitted: Admitted, draft: Draft, deadline: Deadline) -> Confined:
    return Confined(
        _sandbox(runtime),
        draft,
        runtime.listeners.heard(admitted.call),
        deadline.on_end,
        admitted.outside,
        admitted.only_compiles,
    )


def _documents(runtime: Runtime, admitted: Admitted, draft: Draft, _deadline: Deadline) -> DocumentAccess:
    if runtime.library is None:
        raise ToolError(Code.NOT_SUPPORTED, "this room keeps no documents")
    rules, name, role = runtime.policy.rules, admitted.tool.name, admitted.call.role
    return DocumentAccess(
        runtime.library,
        runtime.store.blobs,
        draft,
        hides=lambda path: rules.hides(path, name, role) is not None,
        asks=lambda path: rules.asks(path, name, role) is not None,
        kept=rules.kept_from(name, role),
    )


def _sandbox(runtime: Runtime) -> Sandbox:
    if runtime.sandbox is None:
        raise ToolError(Code.NOT_SUPPORTED, "this room has no place where code could run confined")
    return runtime.sandbox


def _judged(runtime: Runtime, admitted: Admitted, changed: Mapping[str, Any]) -> Decision:
    """Return what the rules say of this call with some arguments changed; a call that finds more to do asks first."""
    tool = admitted.tool
    call = replace(admitted.call, arguments={**admitted.call.arguments, **changed})
    return runtime.policy.rules.judge(call, tool.foresee(call.arguments), facts_of(tool, call)).decision


OFFERED: Mapping[str, Callable[[Runtime, Admitted, Draft, Deadline], Any]] = MappingProxyType(
    {
        "workspace": lambda _runtime, _admitted, draft, _deadline: draft,
        "task_id": lambda _runtime, admitted, _draft, _deadline: admitted.call.task_id,
        "call_id": lambda _runtime, admitted, _draft, _deadline: admitted.call.id,
        "role": lambda _runtime, admitted, _draft, _deadline: admitted.call.role,
        "limits": lambda _runtime, admitted, _draft, _deadline: admitted.tool.config.limits,
        "history": _history,
        "models": lambda runtime, _admitted, _draft, _deadline: runtime.models,
        "web": lambda runtime, _admitted, _draft, _deadline: runtime.web,
        "judge": lambda runtime, admitted, _draft, _deadline: partial(_judged, runtime, admitted),
        "ripgrep": lambda runtime, _admitted, _draft, deadline: (
            Ripgrep(runtime.sandbox, deadline.on_end) if runtime.sandbox else None
        ),
        "adviser": lambda runtime, admitted, _draft, deadline: CallersModel(runtime, admitted.call, deadline),
        "annotate": lambda _runtime, _admitted, draft, _deadline: draft.annotate,
        "confined": _confined,
        "module_jobs": lambda runtime, _admitted, _draft, deadline: ModuleJobs(
            runtime.sandbox, deadline.on_end
        ),
        "library": _documents,
        "prompts": lambda runtime, admitted, _draft, _deadline: PromptAccess(runtime, admitted.call),
    }
)
"""How each thing that a function may ask for is made, for one call; a test holds it equal to toolkit.tool.INJECTABLE."""
