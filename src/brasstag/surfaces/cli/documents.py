"""The documents of a room: list, show, search, diff, history, restore, tag, describe, reindex, prune."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from brasstag.surfaces.cli.call import Later, Yes, call_tool
from brasstag.surfaces.cli.console import OutputName, print_json, say, wants_json
from brasstag.surfaces.cli.exits import Exit
from brasstag.surfaces.cli.filters import closed, unfit, wanted, with_whole_id
from brasstag.surfaces.cli.options import HERE, Output, Project, Role, pass_on
from brasstag.surfaces.cli.rooms import open_room, run
from brasstag.surfaces.cli.wording import WordsCommand

if TYPE_CHECKING:
    from brasstag.app.room import Room
    from brasstag.store.catalogue import Order, Wanted
    from brasstag.store.versions import Version

app = typer.Typer(help="The documents of the workspace, and their versions.", invoke_without_command=True)

DocumentPath = Annotated[str, typer.Argument(help="A path in the workspace.")]
VersionName = Annotated[
    str, typer.Option("--version", "-v", help="Its number, former/path@number, or how its digest begins.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only what has this tag; may be repeated.")]
MediaType = Annotated[str, typer.Option("--type", help="Only this type, such as text/csv or image/.")]
Creator = Annotated[str, typer.Option("--by", help="Only what this role made; outside for all others.")]
OfTask = Annotated[str, typer.Option("--task", help="Only what this task made.")]
After = Annotated[str, typer.Option("--after", help="Only what changed since, such as 2026-03-01.")]
Before = Annotated[str, typer.Option("--before", help="Only what changed until then.")]
Glob = Annotated[
    str, typer.Option("--glob", "-g", callback=closed, help="Only paths that match, such as reports/**.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")]
Ordered = Annotated[
    Literal["path", "newest", "oldest", "largest", "smallest"],
    typer.Option("--order", help="Which come first."),
]
Form = Literal["markdown", "text", "json", "source"]


@app.callback()
def documents(context: typer.Context, output: Output = None, project: Project = HERE) -> None:
    """List the documents, when no command is given."""
    pass_on(context, project, output)
    if context.invoked_subcommand is None:
        run(_list(project, output, wanted(), "", "path", 50))


@app.command("list")
def list_(
    tag: Tags = None,
    media_type: MediaType = "",
    by: Creator = "",
    task: OfTask = "",
    after: After = "",
    before: Before = "",
    glob: Glob = "",
    order: Ordered = "path",
    limit: Limit = 50,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """List documents with what is known of each."""
    run(_list(project, output, wanted(tag, media_type, by, task, after, before), glob, order, limit))


@app.command()
def show(
    path: DocumentPath,
    form: Annotated[
        Form | None,
        typer.Option(
            "--as", help="Print what it holds: as Markdown, plain text, blocks in JSON, or its own bytes."
        ),
    ] = None,
    version: VersionName = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show what is known of a document, or what it holds."""
    run(_show(project, output, path, form, version))


@app.command(cls=WordsCommand)
def search(
    query: Annotated[
        list[str], typer.Argument(help='Words; "a phrase", begin*, -not and OR are understood.')
    ],
    tag: Tags = None,
    media_type: MediaType = "",
    by: Creator = "",
    task: OfTask = "",
    after: After = "",
    before: Before = "",
    glob: Glob = "",
    limit: Limit = 10,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Find documents by the words in them, the best first."""
    asked = wanted(tag, media_type, by, task, after, before)
    run(_search(project, output, " ".join(query), asked, glob, limit))


@app.command()
def diff(
    path: DocumentPath,
    other: Annotated[str, typer.Argument(help="Another document; the same one if left out.")] = "",
    old: Annotated[str, typer.Option("--from", help="The version on the old side.")] = "",
    new: Annotated[str, typer.Option("--to", help="The version on the new side.")] = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Compare two documents, or two versions of one. Of a path alone, its last change is shown."""
    raise typer.Exit(run(_diff(project, output, path, other, old, new)))


@app.command()
def history(path: DocumentPath, output: Output = None, project: Project = HERE) -> None:
    """List every version of a document, followed through its moves. What else was at its path comes after them."""
    run(_history(project, output, path))


@app.command()
def restore(
    path: DocumentPath,
    version: VersionName = "",
    role: Role = "operator",
    yes: Yes = False,
    later: Later = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Bring an earlier version back.

    If none is named, that is the last one before the present state.

    This is a call like any other: it is judged, may ask, and can be undone.
    """
    given = {"path": path, "version": version}
    raise typer.Exit(run(call_tool(project, "restore_document", given, role, yes, later, output)))


@app.command()
def tag(
    path: DocumentPath,
    add: Annotated[list[str] | None, typer.Argument(help="Tags to add.")] = None,
    remove: Annotated[list[str] | None, typer.Option("--remove", "-r", help="A tag to take away.")] = None,
    role: Role = "operator",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Give a document tags, or take some away."""
    given = {"path": path, "add": add or [], "remove": remove or []}
    raise typer.Exit(run(call_tool(project, "tag_document", given, role, False, False, output)))


@app.command()
def describe(
    path: DocumentPath,
    description: Annotated[str, typer.Argument(help="What it is, in a sentence or two.")],
    role: Role = "operator",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Say what a document is; others find it by these words."""
    given = {"path": path, "description": description}
    raise typer.Exit(run(call_tool(project, "describe_document", given, role, False, False, output)))


@app.command()
def reindex(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Throw the index away first.")] = False,
    summaries: Annotated[
        bool, typer.Option("--summaries", help="Have the model of the settings sum every document up.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Look at every file, and bring the index up to date. All that has to be converted for it is."""
    raise typer.Exit(run(_reindex(project, output, rebuild, summaries)))


@app.command()
def prune(
    paths: Annotated[list[str] | None, typer.Argument(help="Only these, and what lies below them.")] = None,
    keep: Annotated[int, typer.Option(min=1, help="Versions of each path that stay whole.")] = 10,
    older_than_days: Annotated[float, typer.Option(min=0, help="Spare what is younger.")] = 90,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this, only say what would go.")] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Delete what old versions held, for good. That they were there, and who made them, stays known.

    This takes a person: somebody at a terminal, or an approver's token. The timeline tells who it was.
    """
    from brasstag.surfaces.cli.pruning import prune_versions

    prune_versions(project, output, paths or (), keep, older_than_days, yes=yes)


async def _list(
    project: Path, output: OutputName | None, asked: "Wanted", glob: str, order: "Order", limit: int
) -> None:
    from brasstag.surfaces.cli.papers import print_documents, tell_unfit

    async with open_room(project, "documents list") as room:
        asked = with_whole_id(room, asked)
        listed = await room.documents.list(asked, glob=glob, order=order, limit=limit)
        unmet = [] if listed.documents else unfit(room, asked, glob)
    if wants_json(output):
        for document in listed.documents:
            print_json(document.as_json())
        tell_unfit(unmet, stderr=True)
        return
    print_documents(listed, unmet)


async def _show(project: Path, output: OutputName | None, path: str, form: Form | None, version: str) -> None:
    from brasstag.surfaces.cli.papers import print_content, print_document

    async with open_room(project, "documents show") as room:
        if form is not None or version:
            chosen = await room.documents.version(path, version)
            await print_content(room.documents, chosen, form or "source")
            return
        document = await room.documents.get(path)
        past = await room.documents.past(path)
        went = await room.documents.moved_to([*past.others, *past.line])
    print_document(document, past, went, output)


async def _search(
    project: Path, output: OutputName | None, query: str, asked: "Wanted", glob: str, limit: int
) -> None:
    from brasstag.surfaces.cli.papers import print_found

    async with open_room(project, "documents search") as room:
        asked = with_whole_id(room, asked)
        found = await room.documents.search(query, asked, globs=[glob] if glob else [], limit=limit)
        unmet = [] if found.answer.hits else unfit(room, asked, glob)
    print_found(found, unmet, output)


async def _diff(project: Path, output: OutputName | None, path: str, other: str, old: str, new: str) -> int:
    from brasstag.surfaces.cli.papers import print_difference
    from brasstag.words.previews import ABSENT

    async with open_room(project, "documents diff") as room:
        newer = await room.documents.version(other or path, new)
        older = await _older(room, path, other, old, newer)
        before = await room.documents.text(older)
        # What is gone by now differs from what there was in all of it; a version that was named has to hold something.
        is_gone = newer.state == ABSENT and not new
        after = "" if is_gone else await room.documents.text(newer)
        went = (await room.documents.moved_to([newer])).get((newer.path, newer.version), "")
    print_difference(older, newer, before, after, went, output)
    return Exit.DONE


async def _older(room: "Room", path: str, other: str, name: str, newer: "Version") -> "Version":
    if name or (other and other != path):
        return await room.documents.version(path, name)
    return await room.documents.version_before(newer)


async def _history(project: Path, output: OutputName | None, path: str) -> None:
    from brasstag.surfaces.cli.papers import print_past

    async with open_room(project, "documents history") as room:
        past = await room.documents.past(path)
        went = await room.documents.moved_to([*past.others, *past.line])
    print_past(past, went, output)


async def _reindex(project: Path, output: OutputName | None, rebuild: bool, summaries: bool) -> int:
    async with open_room(project, "documents reindex") as room:
        if summaries:
            room.documents.require_summaries()
        scanned = await room.documents.scan(rebuild=rebuild)
        indexed = await room.documents.index()
        summed = await room.documents.sum_up() if summaries else 0
    told = {name: getattr(scanned, name) for name in ("added", "changed", "moved", "removed", "unchanged")}
    problems = [{"path": one.path, "code": one.code.value, "reason": one.reason} for one in scanned.problems]
    if wants_json(output):
        print_json(
            told
            | {
                "indexed": indexed.indexed,
                "summed_up": summed,
                "failed": indexed.failed,
                "left": indexed.left,
                "problems": problems,
            }
        )
        return Exit.DONE
    say(", ".join(f"{count} {name}" for name, count in told.items()) + ".")
    if indexed.indexed or indexed.failed or indexed.left:
        say(f"{indexed.indexed} indexed, {indexed.failed} without text, {indexed.left} left.")
    if summaries:
        say(f"{summed} summed up.")
    for one in problems:
        say(f"  {one['path']}: {one['code']}: {one['reason']}", "yellow")
    return Exit.DONE
