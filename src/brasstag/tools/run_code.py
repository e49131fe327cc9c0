"""run_code and shell: code and commands run confined, and their changes land only after they are judged.

With a network they change nothing: a run that could do both could bring in what no person has seen, and take out what
it has just made.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from brasstag.policy.shell.named_files import named_paths
from brasstag.policy.shell.read import read_code
from brasstag.sandbox.network.door.door import GuardedDoor
from brasstag.sandbox.network.door.passages import TrafficLimit
from brasstag.sandbox.network.locations import read_host, refuse_inside
from brasstag.sandbox.network.web import Web
from brasstag.sandbox.process.interpreters import Interpreter
from brasstag.sandbox.process.job import SCRIPT, WORKSPACE, Ended, Job, JobLimits, Ran, processor_seconds
from brasstag.sandbox.process.output import FLOOD
from brasstag.sandbox.process.tool_runner import Confined
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.words.errors import Code, MayHaveActed, ToolError
from brasstag.words.previews import Preview

_BASH = "/bin/bash"
_MOST_NOTES = 20

_LESS_OR_LATER = "Let it do less, or give a larger `timeout`"
_OPERATOR = "or let an operator raise `{}` in the limits of the tool"
_LIMITS_SAID: Mapping[Ended, tuple[Code, str, str]] = {
    "time": (Code.TIMEOUT, "it took longer than {limits.wall_seconds:g} s", _LESS_OR_LATER),
    "cpu": (
        Code.EXECUTION_ERROR,
        "it used more than {limits.cpu_seconds:g} s of processor time",
        _LESS_OR_LATER,
    ),
    "memory": (
        Code.EXECUTION_ERROR,
        "it used more than {memory} MB of memory",
        f"Let it hold less at a time, {_OPERATOR.format('memory_mb')}",
    ),
    "processes": (
        Code.EXECUTION_ERROR,
        "it had more than {limits.processes} processes and threads",
        f"Let it start fewer at a time, {_OPERATOR.format('processes')}",
    ),
    "disk": (
        Code.EXECUTION_ERROR,
        "it wrote more than {disk} MB into the workspace",
        "Let it write less, or make smaller files in several runs",
    ),
    "output": (
        Code.EXECUTION_ERROR,
        "it printed more than {flood:,} bytes",
        "Let it print less, or write into a file",
    ),
    "cancelled": (Code.CANCELLED, "it was stopped", "Call again if it is still wanted"),
}
"""How each ending is told: its code, what was broken, and what to do next."""


def _runs_code(arguments: Mapping[str, Any]) -> Preview:
    return _runs(arguments["code"], arguments["language"], arguments["network"])


def _runs_command(arguments: Mapping[str, Any]) -> Preview:
    return _runs(arguments["command"], "bash", arguments["network"], arguments["cwd"])


def _runs(code: str, language: Literal["python", "bash"], network: Sequence[str], cwd: str = ".") -> Preview:
    """Say what is run, which paths it names and whom it may reach; no check can see what it tells them."""
    places = [read_host(host) for host in network]
    for place in places:
        refuse_inside(place)
    addresses = tuple(dict.fromkeys(place.url for place in places))
    names = tuple(
        posixpath.normpath(posixpath.join(cwd, path)) for path in named_paths(read_code(code, language))
    )
    return Preview(runs=(code,), fetches=addresses, external=bool(addresses), names=names)


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
    environment = _environment(python) | (env or {})
    if language == "python":
        # Python searches the script's own directory first, which holds no modules; then the workspace.
        own = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{WORKSPACE}:{own}" if own else WORKSPACE
    job = Job(
        (python.program if language == "python" else _BASH, SCRIPT, *(args or ())),
        environment,
        limits=_run_limits(limits, seconds),
        binds=python.binds,
        script=code.encode("utf-8", "surrogateescape"),
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
    python = confined.python()
    job = Job(
        (_BASH, "-c", command),
        _environment(python),
        cwd,
        limits=_run_limits(limits, seconds),
        binds=python.binds,
    )
    return _run(confined, workspace, job, _door(web, limits, network))


def _environment(python: Interpreter) -> dict[str, str]:
    return {"PATH": python.path, "PYTHONDONTWRITEBYTECODE": "1"}


def _run_limits(limits: Limits, seconds: float) -> JobLimits:
    numbers = limits.numbers
    return JobLimits(
        wall_seconds=seconds,
        cpu_seconds=processor_seconds(seconds),
        memory_bytes=numbers["memory_mb"] << 20,
        processes=numbers["processes"],
        output_bytes=numbers["output_bytes"],
    )


def _door(web: Web, limits: Limits, network: Sequence[str] | None) -> GuardedDoor | None:
    if not network:
        return None
    numbers = limits.numbers
    allowance = TrafficLimit(
        numbers["network_connections"], numbers["network_sent_bytes"], numbers["network_received_bytes"]
    )
    return GuardedDoor(web.guard, network, allowance)


def _run(confined: Confined, workspace: Draft, job: Job, door: GuardedDoor | None) -> dict[str, Any]:
    if door is not None:
        job = replace(job, network=True, overlay=False)
    ran = _ran(confined, job, door)
    # With a door to the network, the output may come from untrusted sources.
    told = _told(ran) | (door.passages.as_json() | {"untrusted": True} if door else {})
    if ran.ended_by is not None:
        raise _ended(ran.ended_by, job.limits, told)
    told["exit_code"] = ran.exit_code
    if ran.refused is not None:
        raise ToolError(ran.refused.code, ran.refused.message, {**ran.refused.details, "ran": told})
    told["changes"] = workspace.preview().told_changes
    return told | ({"notes": _shortened(ran.notes)} if ran.notes else {})


def _ended(by: Ended, limits: JobLimits, told: Mapping[str, Any]) -> ToolError:
    code, said, next_step = _LIMITS_SAID[by]
    why = said.format(
        limits=limits,
        memory=limits.memory_bytes >> 20,
        disk=limits.disk_bytes >> 20,
        flood=FLOOD * limits.output_bytes,
    )
    if told.get("reached"):
        return MayHaveActed(
            code, f"the code was ended: {why}; what it sent cannot be taken back. {next_step}", told
        )
    return ToolError(code, f"the code was ended: {why}; nothing it did was kept. {next_step}", told)


def _ran(confined: Confined, job: Job, door: GuardedDoor | None) -> Ran:
    try:
        return confined.run(job, door)
    except ToolError as error:
        passed = door.passages.as_json() | {"untrusted": True} if door else {}
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
