"""The documents of a room: list, show, search, diff, history, restore, tag, describe, reindex, prune."""

from typing import Annotated, Literal

import typer

from brasstag.surfaces.cli.actions.document_calls import call_for
from brasstag.surfaces.cli.actions.document_filters import closed, filter_of
from brasstag.surfaces.cli.commands.call import Later, Yes
from brasstag.surfaces.cli.commands.options import HERE, Output, Project, Role, pass_on
from brasstag.surfaces.cli.commands.words_command import WordsCommand
from brasstag.surfaces.cli.session.rooms import run

app = typer.Typer(help="The documents of the workspace, and their versions.", invoke_without_command=True)

DocumentPath = Annotated[str, typer.Argument(help="A path in the workspace.")]
VersionName = Annotated[
    str, typer.Option("--version", "-v", help="Its number, former/path@number, or how its digest begins.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only what has this tag; may be repeated.")]
MimeType = Annotated[
    str, typer.Option("--mime-type", "--type", help="Only this type, such as text/csv or image/.")
]
Creator = Annotated[
    str, typer.Option("--creator", "--by", help="Only what this role, or outside, created or changed last.")
]
OfTask = Annotated[str, typer.Option("--task", help="Only what this task created or changed last.")]
After = Annotated[
    str,
    typer.Option(
        "--changed-after",
        "--after",
        help="Only what changed at this local time, such as 2026-03-01, or later.",
    ),
]
Before = Annotated[
    str, typer.Option("--changed-before", "--before", help="Only what changed before this local time.")
]
Glob = Annotated[
    str, typer.Option("--glob", "-g", callback=closed, help="Only paths that match, such as reports/**.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="How many to pass over first.")]
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
        from brasstag.surfaces.cli.actions.document_queries import list_documents

        run(list_documents(project, output, filter_of(), "path", 50, 0))


@app.command("list")
def list_(
    tag: Tags = None,
    mime_type: MimeType = "",
    creator: Creator = "",
    task: OfTask = "",
    changed_after: After = "",
    changed_before: Before = "",
    glob: Glob = "",
    order: Ordered = "path",
    limit: Limit = 50,
    offset: Offset = 0,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """List documents with what is known of each."""
    from brasstag.surfaces.cli.actions.document_queries import list_documents

    asked = filter_of(glob, tag, mime_type, creator, task, changed_after, changed_before)
    run(list_documents(project, output, asked, order, limit, offset))


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
    from brasstag.surfaces.cli.actions.document_queries import show_document

    run(show_document(project, output, path, form, version))


@app.command(cls=WordsCommand)
def search(
    query: Annotated[
        list[str], typer.Argument(help='Words; "a phrase", begin*, -not and OR are understood.')
    ],
    tag: Tags = None,
    mime_type: MimeType = "",
    creator: Creator = "",
    task: OfTask = "",
    changed_after: After = "",
    changed_before: Before = "",
    glob: Glob = "",
    limit: Limit = 10,
    offset: Offset = 0,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Find documents by the words in them, the best first."""
    from brasstag.surfaces.cli.actions.document_queries import search_documents

    asked = filter_of(glob, tag, mime_type, creator, task, changed_after, changed_before)
    run(search_documents(project, output, " ".join(query), asked, limit, offset))


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
    from brasstag.surfaces.cli.actions.document_queries import compare_versions

    run(compare_versions(project, output, path, other, old, new))


@app.command()
def history(path: DocumentPath, output: Output = None, project: Project = HERE) -> None:
    """List every version of a document, followed through its moves. What else was at its path comes after them."""
    from brasstag.surfaces.cli.actions.document_queries import tell_history

    run(tell_history(project, output, path))


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
    raise typer.Exit(run(call_for("restore", project, given, role, yes, later, output)))


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
    raise typer.Exit(run(call_for("tag", project, given, role, False, False, output)))


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
    raise typer.Exit(run(call_for("describe", project, given, role, False, False, output)))


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
    from brasstag.surfaces.cli.actions.reindex import make_index

    run(make_index(project, output, rebuild=rebuild, summaries=summaries))


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
    from brasstag.surfaces.cli.actions.prune import prune_versions

    prune_versions(project, output, paths or (), keep, older_than_days, yes=yes)
