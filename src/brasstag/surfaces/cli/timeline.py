"""The timeline: show, export, verify, redact, head."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.console import Output, print_json, say, table, wants_json
from brasstag.surfaces.cli.rooms import HERE, Project, open_books, run

if TYPE_CHECKING:
    from brasstag.words.events import Entry

app = typer.Typer(help="What happened, and the proof of it.", no_args_is_help=True)


@app.command()
def show(
    tag: Annotated[str | None, typer.Argument(help="One entry in full: its tag, or the end of it.")] = None,
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    newest: Annotated[int, typer.Option("--newest", "-n", min=1, help="How many entries.")] = 40,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show the newest entries, or one in full."""
    run(_show(project, tag, task, newest, output))


@app.command()
def export(
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    calls: Annotated[
        bool, typer.Option("--calls", help="One line a call: type, tool, input, result, timestamp, tag.")
    ] = False,
    file: Annotated[Path | None, typer.Option(help="Write here instead of to standard output.")] = None,
    project: Project = HERE,
) -> None:
    """Export entries as JSON lines, with all that is needed to check their chain elsewhere."""
    run(_export(project, task, calls, file))


@app.command()
def verify(output: Output = None, project: Project = HERE) -> None:
    """Walk every chain; exit 1 when anything was edited, removed, reordered or cut."""
    raise typer.Exit(run(_verify(project, output)))


@app.command()
def redact(
    tag: Annotated[str, typer.Argument(help="The entry whose payload is to go.")],
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why; this stays on the timeline.")],
    contents: Annotated[
        bool, typer.Option("--contents", help="Also delete kept file contents that only this call names.")
    ] = False,
    project: Project = HERE,
) -> None:
    """Delete what an entry says; the chain still verifies, and says that this was done. Cannot be undone."""
    run(_redact(project, tag, reason, contents))


@app.command()
def head(output: Output = None, project: Project = HERE) -> None:
    """Print the newest sealed link; note it elsewhere to prove later that nothing before it changed."""
    run(_head(project, output))


async def _show(project: Path, tag: str | None, task: str | None, newest: int, output: Any) -> None:
    from brasstag.store.tasks import get_task
    from brasstag.store.timeline import find_entry, read_entries
    from brasstag.words.errors import Code, ToolError

    async with open_books(project) as vault:
        if tag is not None:
            entry = vault.books.read(lambda view: find_entry(view, tag))
            if entry is None:
                raise ToolError(
                    Code.TAG_NOT_FOUND, f"no entry has the tag {tag}; `brasstag timeline show` lists them"
                )
            found = [entry]
        else:
            chosen = vault.books.read(lambda view: get_task(view, task).id) if task else None
            found = vault.books.read(lambda view: list(read_entries(view, chosen, newest=newest)))
    if wants_json(output):
        for entry in found:
            print_json(_as_json(entry))
    elif tag is not None:
        say(json.dumps(_as_json(found[0]), indent=2, ensure_ascii=False))
    else:
        table(
            ("time", "task", "entry", "what", "tag"),
            (_row(entry) for entry in found),
            styles={2: "cyan", 4: "dim"},
        )


async def _export(project: Path, task: str | None, calls: bool, file: Path | None) -> None:
    from brasstag.store.exporting import export_calls, export_entries
    from brasstag.store.tasks import get_task

    async with open_books(project) as vault:
        chosen = vault.books.read(lambda view: get_task(view, task).id) if task else None
        stream = file.open("w", encoding="utf-8") if file else sys.stdout
        try:
            lines = export_calls if calls else export_entries
            vault.books.read(lambda view: [stream.write(f"{line}\n") for line in lines(view, chosen)])
        finally:
            if file:
                stream.close()


async def _verify(project: Path, output: Any) -> int:
    async with open_books(project) as vault:
        report = vault.verify()
    if wants_json(output):
        print_json(
            {
                "ok": report.ok,
                "tasks": report.tasks,
                "entries": report.entries,
                "checkpoints": report.checkpoints,
                "redacted": report.redacted,
                "findings": [{"where": one.where, "what": one.what} for one in report.findings],
                "unseen": report.unseen,
            }
        )
        return 0 if report.ok else 1
    for finding in report.findings:
        say(f"{finding.where}: {finding.what}", "red")
    for line in report.unseen:
        say(f"not seen from here: {line}", "yellow")
    counted = f"{report.entries} entries of {report.tasks} tasks, {report.checkpoints} seals"
    if report.redacted:
        counted += f", {report.redacted} redacted"
    if report.ok:
        say(f"The timeline holds: {counted}.", "green")
    else:
        say(f"The timeline was tampered with: {len(report.findings)} findings in {counted}.", "red bold")
    return 0 if report.ok else 1


async def _redact(project: Path, tag: str, reason: str, contents: bool) -> None:
    from brasstag.store.timeline import find_entry
    from brasstag.surfaces.cli.people import require_approver
    from brasstag.words.errors import Code, ToolError

    who = require_approver()
    async with open_books(project) as vault:
        entry = vault.books.read(lambda view: find_entry(view, tag))
        if entry is None:
            raise ToolError(
                Code.TAG_NOT_FOUND, f"no entry has the tag {tag}; `brasstag timeline show` lists them"
            )
        dropped = vault.books.redact(entry, str(who), reason, contents=contents)
        say(f"Redacted {entry.tag}. Its digest stays in the chain.")
        if contents:
            say(f"Deleted {dropped} kept contents.")


async def _head(project: Path, output: Any) -> None:
    from brasstag.store.exporting import newest_seal

    async with open_books(project) as vault:
        seal = vault.books.read(newest_seal)
    if wants_json(output):
        print_json(seal)
    elif seal is None:
        say("Nothing has been sealed yet.", "dim")
    else:
        say(f"link {seal['seq']} · {seal['at']} · {seal['hash']}")


def _row(entry: "Entry") -> tuple[str, str, str, str, str]:
    payload = entry.payload or {}
    return (
        entry.at[:19].replace("T", " "),
        entry.task_id[-6:],
        entry.kind.value,
        _what(entry, payload),
        entry.tag[-8:],
    )


def _what(entry: "Entry", payload: dict[str, Any]) -> str:
    if entry.payload is None:
        return "(redacted)"
    said = [str(payload.get("tool", ""))]
    given = payload.get("input")
    if isinstance(given, dict):
        named = next(
            (f"{key}={given[key]}" for key in ("path", "from", "query", "directory", "tag") if key in given),
            "",
        )
        said.append(named[:60])
    if "outcome" in payload:
        result = payload.get("result")
        error = result.get("error", {}) if isinstance(result, dict) else {}
        said.append(
            f"→ {error.get('code', payload['outcome']) if isinstance(error, dict) else payload['outcome']}"
        )
    if "state" in payload:
        said.append(f"→ {payload['state']} by {payload.get('by', '')}")
    return " ".join(filter(None, said))


def _as_json(entry: "Entry") -> dict[str, Any]:
    return {
        "tag": entry.tag,
        "hash": entry.hash,
        "task": entry.task_id,
        "seq": entry.seq,
        "entry": entry.kind.value,
        "call": entry.call_id,
        "timestamp": entry.at,
        **(entry.payload or {"redacted": True}),
    }
