"""Run a tool's function: arguments in, a checked value out, and no exception to the caller."""

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from brasstag.engine.calls.admit import Admitted
from brasstag.engine.calls.capabilities.documents import DocumentAccess
from brasstag.engine.calls.capabilities.history import History
from brasstag.engine.calls.capabilities.model import CallersModel
from brasstag.engine.calls.tool_facts import foretold, may_run_again, tool_facts
from brasstag.engine.deadline import Deadline, Late
from brasstag.engine.graph.receivers import recalled_at_once
from brasstag.engine.runtime import Runtime
from brasstag.engine.threads import AnsweredElsewhere
from brasstag.sandbox.process.module_jobs import ModuleJobs
from brasstag.sandbox.process.ripgrep import Ripgrep
from brasstag.sandbox.process.sandbox import Sandbox
from brasstag.sandbox.process.tool_runner import Confined
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Done, Failed, Settled, Unknown
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, MayHaveActed, ToolError
from brasstag.words.verdicts import Decision

LONGEST_MESSAGE = 4000
"""How much of a tool's own message about its failure is kept."""


class _OutOfTime(Exception):
    """An async function did not return in time; a TimeoutError that the tool itself raised is a different case."""


def run_function(
    runtime: Runtime, admitted: Admitted, draft: Draft, deadline: Deadline, late: Late
) -> Settled:
    """Run the function on a draft of the workspace and say how it ended.

    A sync function runs here, under the deadline: if it does not return in time, ``late`` ends the call on another
    thread. An async function runs on the loop.
    """
    tool = admitted.tool
    meta: dict[str, Any] = {}
    started = time.perf_counter()
    try:
        arguments = tool.python_arguments(admitted.call.arguments) | _injected(
            runtime, admitted, draft, deadline
        )
        value = (
            _on_loop(tool, arguments, deadline) if tool.is_async else _here(tool, arguments, deadline, late)
        )
        ending: Settled = Done(tool.check_result(value), meta)
    except ToolError as error:
        ending = _refused(runtime, admitted, error, meta)
    except _OutOfTime:
        ending = timed_out(admitted, deadline)
    except concurrent.futures.CancelledError:
        ending = _cut_off(admitted, deadline)
    except AnsweredElsewhere:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises ends here, even what would end the program
        ending = _raised(admitted, scrub(runtime, f"{tool.name} raised {described(error)}"), meta)
    finally:
        draft.close()
        meta["execution_time"] = round(time.perf_counter() - started, 6)
    return ending


def timed_out(admitted: Admitted, deadline: Deadline) -> Settled:
    """Say how a call ends whose function did not come back in time.

    A function that only has the draft can do nothing once the draft is closed. What any other still does is not known.
    """
    if deadline.hurried:
        return _cut_off(admitted, deadline)
    tool, meta = admitted.tool, _took(deadline)
    why = f"did not answer within {tool.config.limits.timeout_seconds:g} s"
    if deadline.cut_short:
        why = f"had not answered after {deadline.elapsed:.3g} s, when the time its task may work was over,"
    if _leaves_doubt(admitted):
        said = f"{tool.name} {why} and may still be acting; look before trying again"
        return Unknown(said, meta=meta)
    return Failed(Code.TIMEOUT, f"{tool.name} {why} and was stopped; nothing was changed", meta=meta)


def described(error: BaseException) -> str:
    """Return an exception's kind and words; its words are a stranger's, so they may be missing, endless or a trap."""
    try:
        words = str(error)[:LONGEST_MESSAGE].encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - an exception that cannot be read is told by its kind
        words = "(it cannot be read)"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _refused(runtime: Runtime, admitted: Admitted, error: ToolError, meta: dict[str, Any]) -> Settled:
    """A tool's own refusal, as long as it is made of what can be written down."""
    code: object = error.code
    if not isinstance(code, Code) or why_not_json(dict(error.details)) is not None:
        return _raised(admitted, scrub(runtime, f"{admitted.tool.name} raised {described(error)}"), meta)
    said, details = str(error.message)[:LONGEST_MESSAGE], dict(error.details)
    if isinstance(error, MayHaveActed) and _leaves_doubt(admitted):
        return Unknown(f"{said}; look before trying again", details, meta)
    return Failed(code, said, details, meta)


def scrub(runtime: Runtime, message: str) -> str:
    """Take the host's paths out of a message a tool did not write for its caller."""
    for path in runtime.host_paths:
        message = message.replace(path, "…")
    return message


def _here(tool: Tool, arguments: dict[str, Any], deadline: Deadline, late: Late) -> Any:
    assert tool.function is not None  # noqa: S101 - only kinds that execute code come here
    deadline.begin(tool.config.limits.timeout_seconds, late)
    try:
        return tool.function(**arguments)
    finally:
        deadline.end()


def _on_loop(tool: Tool, arguments: dict[str, Any], deadline: Deadline) -> Any:
    running = asyncio.run_coroutine_threadsafe(_kept_in(tool, arguments), deadline.loop)
    deadline.await_on_loop(running)
    try:
        return running.result(deadline.start(tool.config.limits.timeout_seconds))
    except TimeoutError:
        if running.done():
            raise
        running.cancel()
        raise _OutOfTime from None


async def _kept_in(tool: Tool, arguments: dict[str, Any]) -> Any:
    """Await the function; an exception that would end the event loop and the program stays an error of the tool."""
    assert tool.function is not None  # noqa: S101 - only kinds that execute code come here
    try:
        return await tool.function(**arguments)
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(described(error)) from None


def _injected(runtime: Runtime, admitted: Admitted, draft: Draft, deadline: Deadline) -> dict[str, Any]:
    return {name: OFFERED[name](runtime, admitted, draft, deadline) for name in admitted.tool.injected}


def _history(runtime: Runtime, admitted: Admitted, _draft: Draft, _watch: Deadline) -> History:
    return History(runtime.store, lambda: recalled_at_once(runtime, admitted.call.task_id))


def _confined(runtime: Runtime, admitted: Admitted, draft: Draft, deadline: Deadline) -> Confined:
    return Confined(
        _sandbox(runtime), draft, runtime.listeners.heard(admitted.call), deadline.on_end, admitted.outside
    )


def _card(runtime: Runtime, admitted: Admitted, draft: Draft, _watch: Deadline) -> DocumentAccess:
    if runtime.library is None:
        raise ToolError(Code.NOT_SUPPORTED, "this room keeps no documents")
    rules, name, role = runtime.rules, admitted.tool.name, admitted.call.role
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
    return runtime.rules.judge(call, foretold(tool, call.arguments), tool_facts(tool, call)).decision


OFFERED: Mapping[str, Callable[[Runtime, Admitted, Draft, Deadline], Any]] = MappingProxyType(
    {
        "workspace": lambda _runtime, _admitted, draft, _watch: draft,
        "task_id": lambda _runtime, admitted, _draft, _watch: admitted.call.task_id,
        "call_id": lambda _runtime, admitted, _draft, _watch: admitted.call.id,
        "role": lambda _runtime, admitted, _draft, _watch: admitted.call.role,
        "limits": lambda _runtime, admitted, _draft, _watch: admitted.tool.config.limits,
        "history": _history,
        "models": lambda runtime, _admitted, _draft, _watch: runtime.models,
        "web": lambda runtime, _admitted, _draft, _watch: runtime.web,
        "judge": lambda runtime, admitted, _draft, _watch: partial(_judged, runtime, admitted),
        "ripgrep": lambda runtime, _admitted, _draft, deadline: (
            Ripgrep(runtime.sandbox, deadline.on_end) if runtime.sandbox else None
        ),
        "adviser": lambda runtime, admitted, _draft, deadline: CallersModel(runtime, admitted.call, deadline),
        "annotate": lambda _runtime, _admitted, draft, _watch: draft.annotate,
        "confined": _confined,
        "errands": lambda runtime, _admitted, _draft, deadline: ModuleJobs(
            _sandbox(runtime), deadline.on_end
        ),
        "library": _card,
    }
)
"""How each thing that a function may ask for is made, for one call; a test holds it equal to toolkit.tool.INJECTABLE."""


def _raised(admitted: Admitted, said: str, meta: dict[str, Any]) -> Settled:
    if _leaves_doubt(admitted):
        return Unknown(f"{said}. It may have acted before that; look before trying again", meta=meta)
    return Failed(Code.EXECUTION_ERROR, said, meta=meta)


def _leaves_doubt(admitted: Admitted) -> bool:
    """Say whether a call that did not return may have acted; that does not matter for one that may simply run again."""
    return admitted.outside and not may_run_again(admitted.tool)


def _cut_off(admitted: Admitted, deadline: Deadline) -> Settled:
    tool, meta = admitted.tool, _took(deadline)
    if _leaves_doubt(admitted):
        return Unknown(f"{tool.name} was cut off while it was acting; look before trying again", meta=meta)
    return Failed(
        Code.CANCELLED, f"{tool.name} was cut off before it had an answer; nothing was changed", meta=meta
    )


def _took(deadline: Deadline) -> dict[str, Any]:
    """A function that did not end has taken time, too."""
    return {"execution_time": round(deadline.elapsed, 6)}
