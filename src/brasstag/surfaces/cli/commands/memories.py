"""What agents remember: list it, forget some of it."""

from pathlib import Path
from typing import Annotated

import typer

from brasstag.surfaces.cli.commands.complete import crew_roles, memory_ids
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import HERE, Output, Project, pass_on
from brasstag.surfaces.cli.session.rooms import open_store
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, quote, report, say, wants_json

app = CommandGroup(help="List and delete what agents remember.", invoke_without_command=True)

OfRole = Annotated[
    str, typer.Option(metavar="ROLE", help="List only what this role remembers.", autocompletion=crew_roles)
]


@app.callback()
def memories(context: typer.Context, output: Output = None, project: Project = HERE) -> None:
    """List what agents remember, when no command is given."""
    pass_on(context, project, output)
    if context.invoked_subcommand is None:
        _list(project, output, "")


@app.command("list")
def list_(role: OfRole = "", output: Output = None, project: Project = HERE) -> None:
    """List what agents remember, oldest first."""
    _list(project, output, role)


@app.command()
def forget(
    names: Annotated[
        list[str], typer.Argument(help="The ids of memories, or the ends of them.", autocompletion=memory_ids)
    ],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Delete one or more memories for good; later tasks do not see them."""
    from brasstag.app import user_name
    from brasstag.policy import OPERATOR
    from brasstag.store import Desk
    from brasstag.store import forget as forget_memories
    from brasstag.words.ids import new_id

    who = f"cli:{user_name()}"
    with open_store(project) as room_state:
        desk = Desk(new_id("task"), who, OPERATOR, "memories forget")
        forgotten = forget_memories(room_state.store, names, who, desk)
    for memory in forgotten:
        report(output, {"memory": memory.id, "forgotten": True}, f"Forgot {memory.id} of {memory.role}.")


def _list(project: Path, output: OutputName | None, role: str) -> None:
    from brasstag.surfaces.cli.terminal.numbers import local_time

    with open_store(project) as room_state:
        found = room_state.store.memories(role)
    for memory in found:
        if wants_json(output):
            print_json(
                {
                    "memory": memory.id,
                    "role": memory.role,
                    "run": memory.tree or None,
                    "content": memory.content,
                    "task": memory.task_id,
                    "at": memory.at,
                }
            )
            continue
        kept = f"in run {memory.tree[-8:]}" if memory.tree else "for good"
        say(f"{memory.id}  {memory.role}, {kept}", "bold")
        for line in memory.content.split("\n"):
            quote(line, indent="  │ ")
        say(f"  {local_time(memory.at)}", "dim")
    if not found and not wants_json(output):
        say("Nothing is remembered.", "dim")
