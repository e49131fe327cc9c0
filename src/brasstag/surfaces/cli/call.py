"""Calling a tool, and taking a call back."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.console import Output, OutputName, at_terminal, print_json, say, wants_json
from brasstag.surfaces.cli.rooms import HERE, Project, open_room, run

if TYPE_CHECKING:
    from brasstag.app.room import Room
    from brasstag.words.calls import Outcome, Waiting

Role = Annotated[str, typer.Option("--as", metavar="ROLE", help="The role that makes the call.")]
Yes = Annotated[
    bool, typer.Option("--yes", help="Approve the call if it asks; needs a terminal or an approver's token.")
]

Later = Annotated[bool, typer.Option("--later", help="Do not ask here; leave the approval waiting.")]


def call(
    tool: Annotated[str, typer.Argument(help="The tool's name or alias.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[key=value]...", help="Its arguments.", show_default=False)
    ] = None,
    json_text: Annotated[str | None, typer.Option("--json", help="All arguments as one JSON object.")] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the JSON object from standard input.")] = False,
    role: Role = "operator",
    yes: Yes = False,
    later: Later = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Call a tool through the whole path: validate, judge, approve where needed, perform, record."""
    given = given_arguments(tool, arguments or [], json_text, stdin)
    raise typer.Exit(run(_call(project, tool, given, role, yes, later, output)))


def undo(
    tag: Annotated[str, typer.Argument(help="The tag of the call to take back, or the end of it.")],
    role: Role = "operator",
    yes: Yes = False,
    later: Later = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Take back what a call changed, if nobody has changed it since; itself a judged call."""
    raise typer.Exit(run(_call(project, "undo", {"tag": tag}, role, yes, later, output)))


def given_arguments(
    tool: str, pairs: list[str], json_text: str | None, stdin: bool
) -> "dict[str, str] | str":
    """Return the arguments as they were typed: pairs, or the text of a JSON object."""
    if sum((bool(pairs), json_text is not None, stdin)) > 1:
        raise typer.BadParameter("give the arguments in one way: key=value, --json or --stdin")
    if stdin:
        return sys.stdin.read()
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
            raise typer.BadParameter(f"{name} is given twice")
        given[name] = value
    return given


async def _call(
    project: Path,
    tool: str,
    given: "dict[str, str] | str",
    role: str,
    yes: bool,
    later: bool,
    output: OutputName | None,
) -> int:
    from brasstag.surfaces.cli.people import require_approver
    from brasstag.words.calls import Waiting

    if yes:
        require_approver()
    async with open_room(project, f"call {tool}") as room:
        arguments = given if isinstance(given, str) else typed_arguments(room, tool, given)
        outcome = await room.call(tool, arguments, role=role)
        while isinstance(outcome, Waiting) and not later:
            settled = await _decide_now(room, outcome, yes)
            if settled is None:
                break
            outcome = settled
        return show_outcome(outcome, output)


def typed_arguments(room: "Room", name: str, given: dict[str, str]) -> dict[str, Any]:
    """Read each value as its parameter's type: text stays text, everything else is JSON."""
    found = next((tool for tool in room.tools.list() if name in (tool.name, *tool.config.aliases)), None)
    if found is None:
        return dict(given)
    arguments: dict[str, Any] = {}
    for key, text in given.items():
        parameter = found.config.parameters.get(found.config.argument_names.get(key, key))
        arguments[key] = text if parameter is None or "string" in parameter.types else _json_or_text(text)
    return arguments


def show_outcome(outcome: "Outcome", output: OutputName | None) -> int:
    """Print how a call ended and return the exit code."""
    from brasstag.surfaces.cli.exits import exit_for
    from brasstag.words.views import result_view

    if wants_json(output):
        view = result_view(outcome)
        if outcome.tag is not None:
            view["tag"] = {"id": outcome.tag.id, "hash": outcome.tag.hash}
        print_json(view)
    else:
        _tell(outcome)
    return exit_for(outcome)


def _tell(outcome: "Outcome") -> None:
    from brasstag.words.calls import Done, Failed, Waiting

    match outcome:
        case Done():
            say(_value(outcome.value))
            if "edited" in outcome.meta:
                say(f"  approved with changed arguments by {outcome.meta['edited']['by']}", "yellow")
            _tell_tag("done", "green", outcome)
        case Failed():
            say(f"{outcome.code.value}: {outcome.message}", "red")
            _tell_tag("failed, nothing changed", "dim", outcome)
        case Waiting():
            say(f"Waiting for approval: {outcome.reason}", "yellow")
            say(f"  brasstag approvals show {outcome.approval_id}")
            say(f"  brasstag approvals approve {outcome.approval_id}")
        case _:
            say(f"UNKNOWN: {outcome.message}", "red bold")
            _tell_tag("it may have happened; look before trying again", "red", outcome)


def _tell_tag(words: str, style: str, outcome: "Outcome") -> None:
    if outcome.tag is not None:
        say(f"  {words} · {outcome.tag.id} · {outcome.tag.hash[:16]}", style)


def _value(value: Any) -> str:
    if isinstance(value, dict) and isinstance(value.get("content"), str):
        return str(value["content"])
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


async def _decide_now(room: "Room", waiting: "Waiting", yes: bool) -> "Outcome | None":
    from brasstag.surfaces.cli.approvals import approve_one, prompt

    if yes:
        return await approve_one(room, waiting.approval_id)
    if at_terminal() and sys.stdout.isatty():
        return await prompt(room, waiting.approval_id)
    return None
