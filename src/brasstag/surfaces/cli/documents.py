"""The documents of a room: list, show, search, diff, history, restore, tag, describe, reindex, prune."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from brasstag.surfaces.cli.call import Later, Yes, call_tool
from brasstag.surfaces.cli.console import OutputName, print_json, report, say, wants_json
from brasstag.surfaces.cli.exits import Exit
from brasstag.surfaces.cli.options import HERE, Output, Project, Role, pass_on
from brasstag.surfaces.cli.rooms import open_books, open_room, run

if TYPE_CHECKING:
    from brasstag.app.room import Room
    from brasstag.store.catalogue import Order, Wanted
    from brasstag.store.versions import Version

app = typer.Typer(help="The documents of the workspace, and their versions.", invoke_without_command=True)

DocumentPath = Annotated[str, typer.Argument(help="A path in the workspace.")]
VersionName = Annotated[
    str, typer.Option("--version", "-v", help="Its number, or the beginning of its digest.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only what has this tag; may be repeated.")]
MediaType = Annotated[str, typer.Option("--type", help="Only this type, such as text/csv or image/.")]
Creator = Annotated[str, typer.Option("--by", help="Only what this role made; outside for all others.")]
OfTask = Annotated[str, typer.Option("--task", help="Only what this task made.")]
After = Annotated[str, typer.Option("--after", help="Only what changed since, such as 2026-03-01.")]
Before = Annotated[str, typer.Option("--before", help="Only what changed until then.")]
Glob = Annotated[str, typer.Option("--glob", "-g", help="Only paths that match, such as reports/**.")]
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
        run(_list(project, output, _wanted(None, "", "", "", "", ""), "", "path", 50))


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
    run(_list(project, output, _wanted(tag, media_type, by, task, after, before), glob, order, limit))


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


@app.command()
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
    wanted = _wanted(tag, media_type, by, task, after, before)
    run(_search(project, output, " ".join(query), wanted, glob, limit))


@app.command()
def diff(
    path: DocumentPath,
    other: Annotated[str, typer.Argument(help="Another document; the same one if left out.")] = "",
    old: Annotated[str, typer.Option("--from", help="The version on the old side.")] = "",
    new: Annotated[str, typer.Option("--to", help="The version on the new side.")] = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Compare two documents, or two versions of one; its last change if nothing more is said."""
    raise typer.Exit(run(_diff(project, output, path, other, old, new)))


@app.command()
def history(path: DocumentPath, output: Output = None, project: Project = HERE) -> None:
    """List every version of a document, also from before it was moved here."""
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
    """Bring an earlier version back; the last one before the present state if none is named.

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
    """Look at every file, and bring the index up to date, with all that has to be converted for it."""
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
    """Delete what old versions held, for good. That they were there, and who made them, stays known."""
    from datetime import timedelta

    from brasstag.sandbox.workspace.paths import parse_path
    from brasstag.store.pruning import prunable
    from brasstag.words.times import stamp, utc_now

    before = stamp(utc_now() - timedelta(days=older_than_days))
    with open_books(project) as vault:
        books = vault.books
        found = books.read(
            lambda view: prunable(view, keep, before, [parse_path(one) for one in paths or ()])
        )
        if yes:
            dropped = sum(books.blobs.drop(digest) for digest in sorted(found.digests))
            told = f"Deleted what {found.versions} versions held: {dropped} contents."
        else:
            dropped = 0
            told = (
                f"Would delete what {found.versions} versions held. Say --yes to do it; it cannot be undone."
            )
    report(output, {"versions": found.versions, "contents": len(found.digests), "deleted": dropped}, told)


def _wanted(tags: list[str] | None, media_type: str, by: str, task: str, after: str, before: str) -> "Wanted":
    from brasstag.store.catalogue import Wanted
    from brasstag.words.times import read_moment

    try:
        since, until = (read_moment(given) if given else "" for given in (after, before))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    family = f"{media_type}*" if media_type.endswith("/") else media_type
    return Wanted(family, tuple(tags or ()), by, task, since, until)


async def _list(
    project: Path, output: OutputName | None, wanted: "Wanted", glob: str, order: "Order", limit: int
) -> None:
    from brasstag.surfaces.cli.papers import print_documents

    async with open_room(project, "documents list") as room:
        listed = await room.documents.list(wanted, glob=glob, order=order, limit=limit)
    if wants_json(output):
        for document in listed.documents:
            print_json(document.as_json())
        return
    print_documents(listed)


async def _show(project: Path, output: OutputName | None, path: str, form: Form | None, version: str) -> None:
    from brasstag.surfaces.cli.papers import print_content, print_document

    async with open_room(project, "documents show") as room:
        if form is not None or version:
            chosen = await room.documents.version(path, version)
            await print_content(room.documents, chosen, form or "source")
            return
        document = await room.documents.get(path)
        versions = await room.documents.versions(path)
    print_document(document, versions, output)


async def _search(
    project: Path, output: OutputName | None, query: str, wanted: "Wanted", glob: str, limit: int
) -> None:
    from brasstag.surfaces.cli.papers import print_found

    async with open_room(project, "documents search") as room:
        found = await room.documents.search(query, wanted, globs=[glob] if glob else [], limit=limit)
    print_found(found, output)


async def _diff(project: Path, output: OutputName | None, path: str, other: str, old: str, new: str) -> int:
    from brasstag.surfaces.cli.papers import print_difference

    async with open_room(project, "documents diff") as room:
        newer = await room.documents.version(other or path, new)
        older = await _older(room, path, other, old, newer)
        sides = [await room.documents.text(side) for side in (older, newer)]
    print_difference(older, newer, sides[0], sides[1], output)
    return Exit.DONE


async def _older(room: "Room", path: str, other: str, name: str, newer: "Version") -> "Version":
    if name or (other and other != path):
        return await room.documents.version(path, name)
    return await room.documents.version_before(newer)


async def _history(project: Path, output: OutputName | None, path: str) -> None:
    from brasstag.surfaces.cli.papers import print_versions

    async with open_room(project, "documents history") as room:
        versions = await room.documents.versions(path)
    print_versions(versions, output)


async def _reindex(project: Path, output: OutputName | None, rebuild: bool, summaries: bool) -> int:
    async with open_room(project, "documents reindex") as room:
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
