"""Call a tool, and undo a call or a whole run."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.commands.complete import tool_names
from brasstag.surfaces.cli.commands.options import HERE, JsonText, Output, Pairs, Project, Role
from brasstag.surfaces.cli.commands.run import RunName
from brasstag.surfaces.cli.session.rooms import open_room, run
from brasstag.surfaces.cli.terminal.console import OutputName, can_ask

if TYPE_CHECKING:
    from brasstag.app import Room
    from brasstag.surfaces.cli.show.program_output import Live
    from brasstag.words.calls import Outcome, Waiting

ToolName = Annotated[str, typer.Argument(help="The tool's name or alias.", autocompletion=tool_names)]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes", help="Approve the call if it needs approval; needs a terminal or an approver's token."
    ),
]
Later = Annotated[bool, typer.Option("--later", help="Ask nothing here; the approval stays open.")]

MOST_READ = 64 << 20
"""More bytes than any call may hold; so an endless input is not read for ever."""

Given = dict[str, Any] | str
"""Arguments by name, those that were typed as texts; or the text of a JSON object."""


def call(
    tool: ToolName,
    arguments: Pairs = None,
    json_text: JsonText = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the JSON object from standard input.")] = False,
    role: Role = "operator",
    yes: Yes = False,
    later: Later = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Call a tool, as an agent would.

    The call is checked, judged, approved where needed, and recorded. `brasstag tools` lists the tools.
    `brasstag tools show TOOL` lists the arguments of one.
    """
    given = given_arguments(tool, arguments or [], json_text, stdin)
    raise typer.Exit(run(call_tool(project, tool, given, role, yes, later, output)))


def undo(
    tag: Annotated[str, typer.Argument(help="The tag of the call to undo, or the end of it.")],
    role: Role = "operator",
    yes: Yes = False,
    later: Later = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Undo the file changes of a call.

    Undo is a call too: it is judged, may need approval, and is recorded on the timeline. It fails if a file
    has changed since.
    """
    raise typer.Exit(run(call_tool(project, "undo", {"tag": tag}, role, yes, later, output)))


def undo_run(
    task: RunName,
    role: Role = "operator",
    yes: Yes = False,
    later: Later = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Undo all file changes of a run, as one call.

    Files that others have changed since stay as they are. They are named, and so is what the run did outside of
    the workspace. `brasstag changes RUN` shows what the run changed.
    """
    raise typer.Exit(run(call_tool(project, "undo_run", {"run": task}, role, yes, later, output)))


def given_arguments(tool: str, pairs: list[str], json_text: str | None, stdin: bool) -> Given:
    """Return the arguments as they were typed: pairs, or the text of a JSON object."""
    if sum((bool(pairs), json_text is not None, stdin)) > 1:
        raise typer.BadParameter("give the arguments in one way: key=value, --json or --stdin")
    if stdin:
        return _read_stdin()
    if json_text is not None:
        return json_text
    given: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise typer.BadParameter(
                f"{pair!r} is not key=value; for example: brasstag call {tool} path=notes.md"
            )
        if name in given:
            raise typer.BadParameter(f"{name} is given twice; give it once")
        given[name] = value
    return given


def typed_arguments(room: "Room", name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Read each text that was typed as its parameter's type: text stays text, everything else is JSON."""
    found = room.tools.get(name)
    if found is None:
        return dict(given)
    arguments: dict[str, Any] = {}
    for key, typed in given.items():
        parameter = found.config.parameters.get(found.config.argument_names.get(key, key))
        stays = not isinstance(typed, str) or parameter is None or "string" in parameter.types
        arguments[key] = typed if stays else _json_or_text(typed)
    return arguments


async def call_tool(
    project: Path,
    tool: str,
    given: Given,
    role: str,
    yes: bool,
    later: bool,
    output: OutputName | None,
    *,
    retold: Callable[["Outcome"], "Outcome"] = lambda outcome: outcome,
    usage: str = "",
) -> int:
    """Call a tool as a command does: a person here may decide, and the outcome is shown; return the exit code.

    A command of its own may have the outcome ``retold`` in its words, and ``usage`` lists its arguments.
    """
    from brasstag.surfaces.cli.session.people import require_approver
    from brasstag.surfaces.cli.show.outcomes import show_outcome, tell_log
    from brasstag.surfaces.cli.show.program_output import Live
    from brasstag.words.calls import Waiting

    if yes and later:
        raise typer.BadParameter("--yes approves now, --later leaves the approval open; give one of them")
    if yes:
        require_approver()
    async with open_room(project, f"call {tool}") as room:
        arguments = given if isinstance(given, str) else typed_arguments(room, tool, given)
        live = Live(room)
        async with live.shown():
            outcome = await room.call(tool, arguments, role=role)
        if isinstance(outcome, Waiting) and outcome.approval_id and not later:
            outcome = await _decided_now(room, outcome, live, yes=yes, prompts=can_ask(output))
        code = show_outcome(retold(live.rest_of(outcome, output)), output, tool, usage=usage)
        tell_log(room.state.tracebacks, outcome, output)
        return code


async def _decided_now(
    room: "Room", waiting: "Waiting", live: "Live", *, yes: bool, prompts: bool
) -> "Outcome":
    """Let the person here decide, if there is one; after a yes given in advance, a second approval keeps waiting."""
    from brasstag.surfaces.cli.follow.decide import Noted, approve, prompt_until_decided

    if yes:
        async with live.shown():
            decided = await approve(room, waiting.approval_id)
        return waiting if isinstance(decided, Noted) else decided
    return await prompt_until_decided(room, waiting, live) if prompts else waiting


def _read_stdin() -> str:
    if sys.stdin.isatty():
        sys.stderr.write("Type the arguments as one JSON object, then Ctrl-D.\n")
    try:
        return sys.stdin.buffer.read(MOST_READ).decode()
    except UnicodeDecodeError as error:
        raise typer.BadParameter(
            f"what came on standard input is not UTF-8 text, at byte {error.start}"
        ) from None


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
