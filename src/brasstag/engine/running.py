"""Running a tool's function: arguments in, a checked value out, and no exception to the caller."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from brasstag.engine.history import History
from brasstag.engine.shop import Shop
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call, Done, Failed, Settled, Unknown
from brasstag.words.errors import Code, ToolError


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call whose tool is known, whose arguments are valid and whose role may use the tool."""

    call: Call
    tool: Tool


async def run_function(shop: Shop, admitted: Admitted, draft: Draft) -> Settled:
    """Run the function on a draft of the workspace and say how it ended.

    A function that only has the draft can do nothing once the draft is closed, so its time-out is a failure; of any other
    one nobody knows what it still does.
    """
    tool, call = admitted.tool, admitted.call
    started = time.perf_counter()
    limits = tool.config.limits
    try:
        async with asyncio.timeout(limits.timeout_seconds):
            value = await _invoke(shop, admitted, draft)
        ending: Settled = Done(tool.check_result(value))
    except TimeoutError:
        ending = _timed_out(tool, limits.timeout_seconds)
    except ToolError as error:
        ending = Failed(error.code, error.message, error.details)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises ends here
        ending = Failed(
            Code.EXECUTION_ERROR, scrub(shop, f"{call.tool} raised {type(error).__name__}: {error}")
        )
    finally:
        draft.close()
    return with_time(ending, started)


def with_time(ending: Settled, started: float) -> Settled:
    """Note how long it took, in seconds."""
    meta = dict(ending.meta) | {"execution_time": round(time.perf_counter() - started, 6)}
    match ending:
        case Done():
            return Done(ending.value, meta, ending.tag)
        case Failed():
            return Failed(ending.code, ending.message, ending.details, meta, ending.tag)
        case Unknown():
            return Unknown(ending.message, ending.details, meta, ending.tag)


def scrub(shop: Shop, message: str) -> str:
    """Take the host's paths out of a message a tool did not write for its caller."""
    for path in shop.host_paths:
        message = message.replace(str(path), "…")
    return message


async def _invoke(shop: Shop, admitted: Admitted, draft: Draft) -> Any:
    tool, call = admitted.tool, admitted.call
    assert tool.function is not None  # noqa: S101 - only kinds that execute code come here
    arguments = tool.python_arguments(call.arguments) | _injected(shop, admitted, draft)
    if tool.is_async:
        return await tool.function(**arguments)
    return await shop.threads.run(lambda: tool.function(**arguments))  # type: ignore[misc]


def _injected(shop: Shop, admitted: Admitted, draft: Draft) -> dict[str, Any]:
    tool, call = admitted.tool, admitted.call
    if not tool.injected:
        return {}
    offered = {
        "workspace": draft,
        "task_id": call.task_id,
        "call_id": call.id,
        "role": call.role,
        "limits": tool.config.limits,
        "history": History(shop.books),
    }
    return {name: offered[name] for name in tool.injected}


def _timed_out(tool: Tool, seconds: float) -> Settled:
    if tool.config.effects == "external":
        return Unknown(
            f"{tool.config.tool_id} did not answer within {seconds:g} s and may still be acting; look before trying again"
        )
    return Failed(
        Code.TIMEOUT,
        f"{tool.config.tool_id} took longer than {seconds:g} s and was stopped; nothing was changed",
    )
