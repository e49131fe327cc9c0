"""Running code and commands, confined: what they change lands only once it has been judged.

With a network they change nothing: a run that could do both could bring in what nobody has seen, and take out what it
has just made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from brasstag.sandbox.network.door import GuardedDoor
from brasstag.sandbox.network.locations import read_host, refuse_inside
from brasstag.sandbox.network.passages import Allowance
from brasstag.sandbox.network.web import Web
from brasstag.sandbox.process.confined import Confined
from brasstag.sandbox.process.jobs import Ended, Job, Ran
from brasstag.sandbox.process.jobs import Limits as RunLimits
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config import Limits
from brasstag.toolkit.declare import tool
from brasstag.words.errors import Code, MayHaveActed, ToolError
from brasstag.words.previews import Preview

_BASH = "/bin/bash"
_MOST_NOTES = 20
_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1"}

_LIMITS_SAID: Mapping[Ended, tuple[Code, str]] = {
    "time": (Code.TIMEOUT, "it took longer than {seconds:g} s"),
    "cpu": (Code.EXECUTION_ERROR, "it used more processor time than it may"),
    "memory": (Code.EXECUTION_ERROR, "it used more memory than the {memory} MB it may"),
    "processes": (Code.EXECUTION_ERROR, "it started more processes than it may"),
    "disk": (Code.EXECUTION_ERROR, "it wrote more than it may"),
    "file size": (Code.EXECUTION_ERROR, "it wrote a larger file than it may"),
    "output": (Code.EXECUTION_ERROR, "it flooded its output"),
    "cancelled": (Code.CANCELLED, "it was stopped"),
}


def _runs_code(arguments: Mapping[str, Any]) -> Preview:
    return _runs(arguments["code"], arguments["network"])


def _runs_command(arguments: Mapping[str, Any]) -> Preview:
    return _runs(arguments["command"], arguments["network"])


def _runs(code: str, network: Sequence[str]) -> Preview:
    """Say what is run and whom it may reach; what it tells them, nobody can see."""
    places = [read_host(host) for host in network]
    for place in places:
        refuse_inside(place)
    addresses = tuple(dict.fromkeys(place.url for place in places))
    return Preview(runs=(code,), fetches=addresses, external=bool(addresses))


@tool(execution_type="function", preview=_runs_code)
def run_code(
    confined: Confined,
    workspace: Draft,
    web: Web,
    limits: Limits,
    language: str,
    code: str,
    args: list[str] | None = None,
    env: dict[str, str] | None = None,
    seconds: float = 60,
    network: list[str] | None = None,
) -> dict[str, Any]:
    """run_code"""
    python = confined.python()
    started = (python.program, "-") if language == "python" else (_BASH, "-s", "--")
    job = Job(
        (*started, *(args or ())),
        _ENVIRONMENT | (env or {}),
        stdin=code.encode("utf-8", "surrogateescape"),
        limits=_run_limits(limits, seconds),
        binds=python.binds,
    )
    return _run(confined, workspace, job, _door(web, limits, network))


@tool(execution_type="function", preview=_runs_command)
def shell(
    confined: Confined,
    workspace: Draft,
    web: Web,
    limits: Limits,
    command: str,
    cwd: str = ".",
    seconds: float = 30,
    network: list[str] | None = None,
) -> dict[str, Any]:
    """shell"""
    if workspace.look(cwd).kind != "directory":
        raise ToolError(Code.NOT_A_DIRECTORY, f"{cwd} is not a directory; name one to start in")
    job = Job(
        (_BASH, "-c", command),
        _ENVIRONMENT,
        cwd,
        limits=_run_limits(limits, seconds),
        binds=confined.python().binds,
    )
    return _run(confined, workspace, job, _door(web, limits, network))


def _run_limits(limits: Limits, seconds: float) -> RunLimits:
    numbers = limits.numbers
    return RunLimits(
        wall_seconds=seconds,
        cpu_seconds=seconds,
        memory_bytes=numbers["memory_mb"] << 20,
        processes=numbers["processes"],
        output_bytes=numbers["output_bytes"],
    )


def _door(web: Web, limits: Limits, network: Sequence[str] | None) -> GuardedDoor | None:
    if not network:
        return None
    numbers = limits.numbers
    allowance = Allowance(
        numbers["network_connections"], numbers["network_sent_bytes"], numbers["network_received_bytes"]
    )
    return GuardedDoor(web.guard, network, allowance)


def _run(confined: Confined, workspace: Draft, job: Job, door: GuardedDoor | None) -> dict[str, Any]:
    if door is not None:
        job = replace(job, network=True, overlay=False)
    ran = _ran(confined, job, door)
    # With a door, strangers may have written what it said.
    told = _told(ran) | (door.passages.as_json() | {"untrusted": True} if door else {})
    if ran.ended_by is not None:
        code, said = _LIMITS_SAID[ran.ended_by]
        why = said.format(seconds=job.limits.wall_seconds, memory=job.limits.memory_bytes >> 20)
        if told.get("reached"):
            raise MayHaveActed(code, f"the code was ended: {why}; what it sent cannot be taken back", told)
        raise ToolError(code, f"the code was ended: {why}; nothing it did was kept", told)
    told["exit_code"] = ran.exit_code
    if ran.refused is not None:
        raise ToolError(ran.refused.code, ran.refused.message, {**ran.refused.details, "ran": told})
    told["changes"] = [{"path": one.path, "change": one.fact.value} for one in workspace.preview().changes]
    return told | ({"notes": _shortened(ran.notes)} if ran.notes else {})


def _ran(confined: Confined, job: Job, door: GuardedDoor | None) -> Ran:
    try:
        return confined.run(job, door)
    except ToolError as error:
        passed = door.passages.as_json() if door else {}
        if passed.get("reached"):
            raise MayHaveActed(error.code, error.message, {**error.details, **passed}) from None
        raise


def _shortened(notes: Sequence[str]) -> list[str]:
    more = [f"{len(notes) - _MOST_NOTES} more of this kind"] if len(notes) > _MOST_NOTES else []
    return [*notes[:_MOST_NOTES], *more]


def _told(ran: Ran) -> dict[str, Any]:
    return {
        "stdout": ran.stdout.decode(errors="replace"),
        "stderr": ran.stderr.decode(errors="replace"),
        "truncated": ran.stdout_truncated or ran.stderr_truncated,
        "duration": ran.milliseconds,
        "confinement": dict(ran.confinement),
    }
