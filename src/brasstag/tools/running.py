"""Running code and commands, confined: what they change lands only once it has been judged."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brasstag.sandbox.process.confined import Confined
from brasstag.sandbox.process.jobs import Ended, Job, Ran
from brasstag.sandbox.process.jobs import Limits as RunLimits
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config import Limits
from brasstag.toolkit.declare import tool
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import Preview

_BASH = "/bin/bash"

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
    return Preview(runs=(arguments["code"],))


def _runs_command(arguments: Mapping[str, Any]) -> Preview:
    return Preview(runs=(arguments["command"],))


@tool(execution_type="function", preview=_runs_code)
def run_code(
    confined: Confined,
    workspace: Draft,
    limits: Limits,
    language: str,
    code: str,
    args: list[str] | None = None,
    env: dict[str, str] | None = None,
    seconds: float = 60,
) -> dict[str, Any]:
    """run_code"""
    python = confined.python()
    started = (python.program, "-") if language == "python" else (_BASH, "-s", "--")
    argv = (*started, *(args or ()))
    return _run(confined, workspace, limits, argv, code, env, ".", seconds, python.binds)


@tool(execution_type="function", preview=_runs_command)
def shell(
    confined: Confined, workspace: Draft, limits: Limits, command: str, cwd: str = ".", seconds: float = 30
) -> dict[str, Any]:
    """shell"""
    if workspace.look(cwd).kind != "directory":
        raise ToolError(Code.NOT_A_DIRECTORY, f"{cwd} is not a directory; name one to start in")
    binds = confined.python().binds
    return _run(confined, workspace, limits, (_BASH, "-c", command), "", None, cwd, seconds, binds)


def _run(
    confined: Confined,
    workspace: Draft,
    limits: Limits,
    argv: tuple[str, ...],
    stdin: str,
    env: Mapping[str, str] | None,
    cwd: str,
    seconds: float,
    binds: Sequence[Path],
) -> dict[str, Any]:
    numbers = limits.numbers
    job = Job(
        argv,
        {"PYTHONDONTWRITEBYTECODE": "1"} | dict(env or {}),
        cwd,
        stdin.encode("utf-8", "surrogateescape"),
        RunLimits(
            wall_seconds=seconds,
            cpu_seconds=seconds,
            memory_bytes=numbers["memory_mb"] << 20,
            processes=numbers["processes"],
            output_bytes=numbers["output_bytes"],
        ),
        binds=tuple(binds),
    )
    ran = confined.run(job)
    told = _told(ran)
    if ran.ended_by is not None:
        code, said = _LIMITS_SAID[ran.ended_by]
        why = said.format(seconds=seconds, memory=numbers["memory_mb"])
        raise ToolError(code, f"the code was ended: {why}; nothing it did was kept", told)
    changes = [{"path": one.path, "change": one.fact.value} for one in workspace.preview().changes]
    return told | {"exit_code": ran.exit_code, "changes": changes}


def _told(ran: Ran) -> dict[str, Any]:
    return {
        "stdout": ran.stdout.decode(errors="replace"),
        "stderr": ran.stderr.decode(errors="replace"),
        "truncated": ran.stdout_truncated or ran.stderr_truncated,
        "duration": ran.milliseconds,
        "confinement": dict(ran.confinement),
    }
