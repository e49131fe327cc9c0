"""Tracebacks of tools that raised, by the tag of their call."""

from pathlib import Path
from typing import Annotated, Any

import typer

from brasstag.surfaces.cli.commands.complete import logged_tags
from brasstag.surfaces.cli.commands.options import HERE, Output, Project
from brasstag.surfaces.cli.commands.timeline import find_entry
from brasstag.surfaces.cli.session.rooms import open_store
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, quote_all, say, table, wants_json
from brasstag.surfaces.cli.terminal.exits import Exit


def logs(
    tag: Annotated[
        str | None,
        typer.Argument(
            help="Show the traceback of this call: its tag, or the end of it.", autocompletion=logged_tags
        ),
    ] = None,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show the traceback of a tool that failed, or list them."""
    if tag is None:
        _list(project, output)
    else:
        raise typer.Exit(_show(project, tag, output))


def _list(project: Path, output: OutputName | None) -> None:
    with open_store(project) as room_state:
        kept = room_state.tracebacks
        found = [_facts(tag, text) for tag in kept.tags() if (text := kept.read(tag)) is not None]
    if wants_json(output):
        for one in found:
            print_json(one)
    elif found:
        rows = [(one["tag"], one["at"], one["tool"], one["error"]) for one in found]
        table(("TAG", "AT", "TOOL", "ERROR"), rows)
    else:
        say("No tool has raised an exception here.", "dim")


def _show(project: Path, name: str, output: OutputName | None) -> Exit:
    with open_store(project) as room_state:
        entry = find_entry(room_state, name)
        # A call has several entries, and a person may have the tag of any of them.
        same = room_state.store.entries(entry.task_id, entry.call_id) if entry.call_id else [entry]
        texts = {one.tag: room_state.tracebacks.read(one.tag) for one in same}
    found = [(tag, text) for tag, text in texts.items() if text is not None]
    if not found:
        say(
            f"No traceback is kept for {entry.tag}: its tool raised no exception, or newer ones took its place.",
            stderr=True,
        )
        return Exit.FAILED
    for tag, text in found:
        if wants_json(output):
            print_json(_facts(tag, text) | {"text": text})
        else:
            quote_all(text.removesuffix("\n").split("\n"), indent="")
    return Exit.DONE


def _facts(tag: str, text: str) -> dict[str, Any]:
    """Return what the first and the last line of a log say."""
    lines = text.rstrip().split("\n")
    at, tool, *_ = [*lines[0].split(" · "), "", ""]
    return {"tag": tag, "at": at, "tool": tool, "error": lines[-1]}
