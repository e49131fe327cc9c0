"""The timeline: show, export, verify, redact, head."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brasstag.surfaces.cli.commands.complete import task_ids
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import HERE, Output, Project
from brasstag.surfaces.cli.session.rooms import open_store
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, report, say, wants_json
from brasstag.surfaces.cli.terminal.exits import Exit

if TYPE_CHECKING:
    from brasstag.app import RoomState
    from brasstag.store import Report
    from brasstag.words.errors import ToolError
    from brasstag.words.events import Entry

app = CommandGroup(help="Show, export and verify the record of what happened.", no_args_is_help=True)

Task = Annotated[
    str | None, typer.Option(help="Use only this task: its id, or the end of it.", autocompletion=task_ids)
]


@app.command()
def show(
    tag: Annotated[
        str | None,
        typer.Argument(
            help="Show this entry in full, by its tag or the end of it; or this task.",
            autocompletion=task_ids,
        ),
    ] = None,
    task: Task = None,
    newest: Annotated[int, typer.Option("--newest", "-n", min=1, help="Show this many entries.")] = 40,
    calls: Annotated[
        bool, typer.Option("--calls", help="Show one record for each call, instead of its entries.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show the newest entries, or one entry in full."""
    (_show_calls if calls else _show)(project, tag, task, newest, output)


@app.command()
def export(
    task: Task = None,
    calls: Annotated[
        bool,
        typer.Option(
            "--calls", help="Write one line for each call: type, tool, input, result, timestamp, status, tag."
        ),
    ] = False,
    file: Annotated[Path | None, typer.Option(help="Write to this file instead of standard output.")] = None,
    project: Project = HERE,
) -> None:
    """Export entries and seals as JSON lines.

    An entry's digest is the SHA-256 of its salt and payload, one after the other. Its hash is the SHA-256 of eight
    lines, joined by line feeds: the hash of the entry before it in its task (64 zeros for the first), task_id, seq,
    kind, tag, call_id, at, digest.

    A seal's hash is the SHA-256 of seven lines: the hash of the seal before it (64 zeros for the first), seq,
    task_id, task_seq, head, at, key_id; its head is the hash of entry task_seq of that task. All hashes are in hex.
    """
    _export(project, task, calls, file)


@app.command()
def verify(
    contents: Annotated[
        bool,
        typer.Option(
            "--contents", help="Also read every stored content, and compare types of documents with theirs."
        ),
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Check that no entry was changed or removed; exit 1 if one was.

    It finds what was edited, removed, reordered or cut off, and names what it cannot see from here, and what it does
    not compare.
    """
    raise typer.Exit(_verify(project, contents, output))


@app.command()
def redact(
    tag: Annotated[
        str, typer.Argument(help="The tag of the entry whose payload is deleted, or the end of it.")
    ],
    reason: Annotated[
        str, typer.Option("--reason", "-r", help="Why you delete it; the timeline keeps this reason.")
    ],
    contents: Annotated[
        bool, typer.Option("--contents", help="Also delete stored file contents that only this call names.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Delete the payload of an entry for good.

    The chain still verifies, and says that this was done, by whom and why.
    """
    _redact(project, tag, reason, contents, output)


@app.command()
def head(output: Output = None, project: Project = HERE) -> None:
    """Print the newest seal: a signed hash of all sealed entries.

    Keep a copy elsewhere. With it you can prove later that none of these entries was changed or removed.
    """
    _head(project, output)


def _show(project: Path, tag: str | None, task: str | None, newest: int, output: OutputName | None) -> None:
    from brasstag.surfaces.cli.show.entries import as_json, print_entries, print_entry

    with open_store(project) as room_state:
        one, chosen = (None, _task(room_state, task)) if tag is None else _entry_or_task(room_state, tag)
        found = [one] if one is not None else room_state.store.entries(chosen, newest=newest)
    if wants_json(output):
        for entry in found:
            print_json(as_json(entry))
    elif one is not None:
        print_entry(one)
    elif found:
        print_entries(found)
    else:
        say("Nothing has happened here yet.", "dim")


def _show_calls(
    project: Path, tag: str | None, task: str | None, newest: int, output: OutputName | None
) -> None:
    from brasstag.store import call_records
    from brasstag.surfaces.cli.show.records import print_records

    with open_store(project) as room_state:
        one, chosen = (None, _task(room_state, task)) if tag is None else _entry_or_task(room_state, tag)
        found = room_state.store.read(lambda view: list(call_records(view, one.task_id if one else chosen)))
    if one is not None:
        found = [record for record in found if record.call == one.call_id]
    if wants_json(output):
        for record in found[-newest:]:
            print_json(record.as_json())
    elif found:
        print_records(found[-newest:])
    else:
        say("No call was made here yet.", "dim")


def _export(project: Path, task: str | None, calls: bool, file: Path | None) -> None:
    from brasstag.store import export_calls, export_entries

    with open_store(project) as room_state:
        chosen = _task(room_state, task)
        stream = file.open("w", encoding="utf-8") if file else sys.stdout
        try:
            with room_state.store.database.read() as view:
                for line in (export_calls if calls else export_entries)(view, chosen):
                    stream.write(f"{line}\n")
        finally:
            if file:
                stream.close()


def _verify(project: Path, contents: bool, output: OutputName | None) -> int:
    from brasstag.app import was_replaced
    from brasstag.settings import STATE_DIRECTORY, find_project

    with open_store(project) as room_state:
        found = room_state.verify(contents=contents)
        if was_replaced(find_project(project), room_state):
            what = "another room's state lies here; the timeline you knew was removed or replaced"
            found.add_first(f"{STATE_DIRECTORY}/", what)
    _show_report(found, output)
    return Exit.DONE if found.ok else Exit.FAILED


def _show_report(found: "Report", output: OutputName | None) -> None:
    from brasstag.app import bootstraps

    if wants_json(output):
        print_json(
            {
                "ok": found.ok,
                "tasks": found.tasks,
                "entries": found.entries,
                "checkpoints": found.checkpoints,
                "redacted": found.redacted,
                "findings": [{"where": one.where, "what": one.what} for one in found.findings],
                "unseen": found.unseen,
                "not_compared": [{"what": one.what, "columns": one.columns} for one in found.not_compared],
                "bootstraps": [one.as_json() for one in bootstraps()],
            }
        )
        return
    for finding in found.findings:
        say(f"{finding.where}: {finding.what}", "red")
    for line in found.unseen:
        say(f"not seen from here: {line}", "yellow")
    for one in bootstraps():
        say(f"{one}; no person at a terminal vouched for it", "yellow")
    counted = f"{found.entries} entries of {found.tasks} tasks, {found.checkpoints} seals"
    if found.redacted:
        counted += f", {found.redacted} redacted"
    if found.ok:
        say(f"The timeline holds: {counted}.", "green")
    else:
        number = f"{len(found.findings)} finding{'' if len(found.findings) == 1 else 's'}"
        if found.about_files == len(found.findings):
            say(
                f"The timeline holds, but files beside it are not what was approved: {number}; {counted}.",
                "red bold",
            )
        else:
            say(f"The timeline was tampered with: {number} in {counted}.", "red bold")
    say(f"not compared: {'; '.join(one.what for one in found.not_compared)}", "dim")


def _redact(project: Path, tag: str, reason: str, contents: bool, output: OutputName | None) -> None:
    from brasstag.store import redact
    from brasstag.surfaces.cli.session.people import require_approver

    if not reason.strip():
        raise typer.BadParameter("say why; the reason stays on the timeline in place of what goes")
    who = require_approver()
    with open_store(project) as room_state:
        entry = find_entry(room_state, tag)
        deleted = redact(room_state.store, entry, str(who), reason, contents=contents)
        same = room_state.store.entries(entry.task_id, entry.call_id) if entry.call_id else [entry]
        room_state.tracebacks.forget(one.tag for one in same)
    gone = f" Deleted {deleted.contents} kept contents." if contents else ""
    report(
        output,
        {"tag": entry.tag, "entries_redacted": deleted.entries, "contents_deleted": deleted.contents},
        f"Redacted {entry.tag}: {deleted.entries} entries of its call. Their digests stay in the chain.{gone}",
    )


def _head(project: Path, output: OutputName | None) -> None:
    from brasstag.store import newest_seal

    with open_store(project) as room_state:
        seal = room_state.store.read(newest_seal)
    if wants_json(output):
        print_json(seal)
    elif seal is None:
        say("Nothing has been sealed yet.", "dim")
    else:
        say(f"seal {seal['seq']} · {seal['at']} · {seal['hash']}")


def find_entry(room_state: "RoomState", tag: str) -> "Entry":
    """Return the entry of a tag, or of the end of one; raise ToolError where there is none."""
    entry = room_state.store.entry(tag)
    if entry is None:
        raise _no_entry("tag", tag)
    return entry


def _entry_or_task(room_state: "RoomState", name: str) -> "tuple[Entry | None, str | None]":
    """Return the entry whose tag was given; else the id of the task that was given."""
    from brasstag.words.errors import ToolError

    entry = room_state.store.entry(name)
    if entry is not None:
        return entry, None
    try:
        return None, _task(room_state, name)
    except ToolError:
        raise _no_entry("tag or task", name) from None


def _no_entry(what: str, name: str) -> "ToolError":
    from brasstag.words.errors import Code, ToolError
    from brasstag.words.ids import not_one

    return ToolError(
        Code.TAG_NOT_FOUND,
        not_one(what, name),
        hint="`brasstag timeline show` lists tags, `brasstag tasks` lists tasks; if several have this end, give more of it",
    )


def _task(room_state: "RoomState", name: str | None) -> str | None:
    return None if name is None else room_state.store.task(name).id
