"""Running a tool's function: arguments in, a checked value out, and no exception to the caller."""

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from brasstag.engine.advising import CallersModel
from brasstag.engine.card import Card
from brasstag.engine.facts import foretold, may_run_again, tool_facts
from brasstag.engine.history import History
from brasstag.engine.readers import recalled_at_once
from brasstag.engine.shop import Shop
from brasstag.engine.threads import AnsweredElsewhere
from brasstag.engine.watch import Late, Watch
from brasstag.sandbox.process.booth import Booth
from brasstag.sandbox.process.confined import Confined
from brasstag.sandbox.process.ripgrep import Ripgrep
from brasstag.sandbox.process.sending import Errands
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call, Done, Failed, Settled, Unknown
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, MayHaveActed, ToolError
from brasstag.words.verdicts import Decision

LONGEST_MESSAGE = 4000
"""How much of a tool's own words about its failure is kept."""


class _OutOfTime(Exception):
    """An async function did not come back in time; a tool's own TimeoutError is another thing."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call whose tool is known, whose arguments are valid and whose role may use the tool."""

    call: Call
    tool: Tool
    outside: bool = False
    """Whether it runs where no draft holds it back, so that nobody can say of a run that was cut off what it did."""


def run_function(shop: Shop, admitted: Admitted, draft: Draft, watch: Watch, late: Late) -> Settled:
    """Run the function on a draft of the workspace and say how it ended.

    A sync function runs here, under the watch: should it not come back in time, ``late`` ends the call elsewhere. An async
    one runs on the loop.
    """
    tool = admitted.tool
    meta: dict[str, Any] = {}
    started = time.perf_counter()
    try:
        arguments = tool.python_arguments(admitted.call.arguments) | _injected(shop, admitted, draft, watch)
        value = _on_loop(tool, arguments, watch) if tool.is_async else _here(tool, arguments, watch, late)
        ending: Settled = Done(tool.check_result(value), meta)
    except ToolError as error:
        ending = _refused(shop, admitted, error, meta)
    except _OutOfTime:
        ending = timed_out(admitted, watch)
    except concurrent.futures.CancelledError:
        ending = _cut_off(admitted, watch)
    except AnsweredElsewhere:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises ends here, even what would end the program
        ending = _raised(admitted, scrub(shop, f"{tool.name} raised {described(error)}"), meta)
    finally:
        draft.close()
        meta["execution_time"] = round(time.perf_counter() - started, 6)
    return ending


def timed_out(admitted: Admitted, watch: Watch) -> Settled:
    """Say how a call ends whose function did not come back in time.

    One that only has the draft can do nothing once the draft is closed; of any other nobody knows what it still does.
    """
    if watch.hurried:
        return _cut_off(admitted, watch)
    tool, meta = admitted.tool, _took(watch)
    why = f"did not answer within {tool.config.limits.timeout_seconds:g} s"
    if watch.cut_short:
        why = f"had not answered after {watch.elapsed:.3g} s, when the time its task may work was over,"
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


def _refused(shop: Shop, admitted: Admitted, error: ToolError, meta: dict[str, Any]) -> Settled:
    """A tool's own refusal, as long as it is made of what can be written down."""
    code: object = error.code
    if not isinstance(code, Code) or why_not_json(dict(error.details)) is not None:
        return _raised(admitted, scrub(shop, f"{admitted.tool.name} raised {described(error)}"), meta)
    said, details = str(error.message)[:LONGEST_MESSAGE], dict(error.details)
    if isinstance(error, MayHaveActed) and _leaves_doubt(admitted):
        return Unknown(f"{said}; look before trying again", details, meta)
    return Failed(code, said, details, meta)


def scrub(shop: Shop, message: str) -> str:
    """Take the host's paths out of a message a tool did not write for its caller."""
    for path in shop.host_paths:
        message = message.replace(path, "…")
    return message


def _here(tool: Tool, arguments: dict[str, Any], watch: Watch, late: Late) -> Any:
    assert tool.function is not None  # noqa: S101 - only kinds that execute code come here
    watch.begin(tool.config.limits.timeout_seconds, late)
    try:
        return tool.function(**arguments)
    finally:
        watch.end()


def _on_loop(tool: Tool, arguments: dict[str, Any], watch: Watch) -> Any:
    running = asyncio.run_coroutine_threadsafe(_kept_in(tool, arguments), watch.loop)
    watch.await_on_loop(running)
    try:
        return running.result(watch.start(tool.config.limits.timeout_seconds))
    except TimeoutError:
        if running.done():
            raise
        running.cancel()
        raise _OutOfTime from None


async def _kept_in(tool: Tool, arguments: dict[str, Any]) -> Any:
    """Await the function; what would end the event loop, and the program with it, stays an error of the tool."""
    assert tool.function is not None  # noqa: S101 - only kinds that execute code come here
    try:
        return await tool.function(**arguments)
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(described(error)) from None


def _injected(shop: Shop, admitted: Admitted, draft: Draft, watch: Watch) -> dict[str, Any]:
    return {name: OFFERED[name](shop, admitted, draft, watch) for name in admitted.tool.injected}


def _history(shop: Shop, admitted: Admitted, _draft: Draft, _watch: Watch) -> History:
    return History(shop.books, lambda: recalled_at_once(shop, admitted.call.task_id))


def _confined(shop: Shop, admitted: Admitted, draft: Draft, watch: Watch) -> Confined:
    return Confined(_booth(shop), draft, shop.audience.heard(admitted.call), watch.on_end, admitted.outside)


def _card(shop: Shop, admitted: Admitted, draft: Draft, _watch: Watch) -> Card:
    if shop.library is None:
        raise ToolError(Code.NOT_SUPPORTED, "this room keeps no documents")
    rules, name, role = shop.rules, admitted.tool.name, admitted.call.role
    return Card(
        shop.library,
        shop.books.blobs,
        draft,
        hides=lambda path: rules.hides(path, name, role) is not None,
        asks=lambda path: rules.asks(path, name, role) is not None,
        kept=rules.kept_from(name, role),
    )


def _booth(shop: Shop) -> Booth:
    if shop.booth is None:
        raise ToolError(Code.NOT_SUPPORTED, "this room has no place where code could run confined")
    return shop.booth


def _judged(shop: Shop, admitted: Admitted, changed: Mapping[str, Any]) -> Decision:
    """Return what the rules say of this call with some arguments changed; a call that finds more to do asks first."""
    tool = admitted.tool
    call = replace(admitted.call, arguments={**admitted.call.arguments, **changed})
    return shop.rules.judge(call, foretold(tool, call.arguments), tool_facts(tool, call)).decision


OFFERED: Mapping[str, Callable[[Shop, Admitted, Draft, Watch], Any]] = MappingProxyType(
    {
        "workspace": lambda _shop, _admitted, draft, _watch: draft,
        "task_id": lambda _shop, admitted, _draft, _watch: admitted.call.task_id,
        "call_id": lambda _shop, admitted, _draft, _watch: admitted.call.id,
        "role": lambda _shop, admitted, _draft, _watch: admitted.call.role,
        "limits": lambda _shop, admitted, _draft, _watch: admitted.tool.config.limits,
        "history": _history,
        "models": lambda shop, _admitted, _draft, _watch: shop.models,
        "web": lambda shop, _admitted, _draft, _watch: shop.web,
        "judge": lambda shop, admitted, _draft, _watch: partial(_judged, shop, admitted),
        "ripgrep": lambda shop, _admitted, _draft, watch: (
            Ripgrep(shop.booth, watch.on_end) if shop.booth else None
        ),
        "adviser": lambda shop, admitted, _draft, watch: CallersModel(shop, admitted.call, watch),
        "annotate": lambda _shop, _admitted, draft, _watch: draft.annotate,
        "confined": _confined,
        "errands": lambda shop, _admitted, _draft, watch: Errands(_booth(shop), watch.on_end),
        "library": _card,
    }
)
"""How each thing that a function may ask for is made, for one call; a test holds it equal to toolkit.tool.INJECTABLE."""


def _raised(admitted: Admitted, said: str, meta: dict[str, Any]) -> Settled:
    if _leaves_doubt(admitted):
        return Unknown(f"{said}. It may have acted before that; look before trying again", meta=meta)
    return Failed(Code.EXECUTION_ERROR, said, meta=meta)


def _leaves_doubt(admitted: Admitted) -> bool:
    """Say whether a call that did not come back may have acted; what may simply run again leaves none that matters."""
    return admitted.outside and not may_run_again(admitted.tool)


def _cut_off(admitted: Admitted, watch: Watch) -> Settled:
    tool, meta = admitted.tool, _took(watch)
    if _leaves_doubt(admitted):
        return Unknown(f"{tool.name} was cut off while it was acting; look before trying again", meta=meta)
    return Failed(
        Code.CANCELLED, f"{tool.name} was cut off before it had an answer; nothing was changed", meta=meta
    )


def _took(watch: Watch) -> dict[str, Any]:
    """What did not come to an end has taken its time as well."""
    return {"execution_time": round(watch.elapsed, 6)}
