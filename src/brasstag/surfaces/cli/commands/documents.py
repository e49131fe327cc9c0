"""The documents of a room: list, show, search, diff, history, restore, tag, describe, reindex, prune."""

from typing import Annotated, Literal

import typer

from brasstag.surfaces.cli.actions.document_calls import call_for
from brasstag.surfaces.cli.actions.document_filters import closed, filter_of
from brasstag.surfaces.cli.commands.call import Later, Yes
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import HERE, Output, Project, Role, pass_on
from brasstag.surfaces.cli.commands.words_command import WordsCommand
from brasstag.surfaces.cli.session.rooms import run

app = CommandGroup(
    help="List, read, search and restore documents of the workspace.", invoke_without_command=True
)

DocumentPath = Annotated[str, typer.Argument(help="A path in the workspace.")]
VersionName = Annotated[
    str,
    typer.Option(
        "--version", "-v", help="The version: its number, former/path@number, or the start of its digest."
    ),
]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", help="Show only documents with this tag; may be repeated.")
]
MimeType = Annotated[
    str, typer.Option("--mime-type", "--type", help="Show only this type, such as text/csv or image/.")
]
Creator = Annotated[
    str,
    typer.Option(
        "--creator",
        "--by",
        help="Show only what this role created or changed last; outside: what another program did.",
    ),
]
OfTask = Annotated[str, typer.Option("--task", help="Show only what this task created or changed last.")]
After = Annotated[
    str,
    typer.Option(
        "--changed-after",
        "--after",
        help="Show only what changed at or after this local time, such as 2026-03-01.",
    ),
]
Before = Annotated[
    str, typer.Option("--changed-before", "--before", help="Show only what changed before this local time.")
]
Glob = Annotated[
    str, typer.Option("--glob", "-g", callback=closed, help="Show only paths that match, such as reports/**.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="Show at most this many.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="Skip this many first.")]
Ordered = Annotated[
    Literal["path", "newest", "oldest", "largest", "smallest"],
    typer.Option("--order", help="Show these first."),
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
    """List documents, with what is known about each."""
    from brasstag.surfaces.cli.actions.document_queries import list_documents

    asked = filter_of(glob, tag, mime_type, creator, task, changed_after, changed_before)
    run(list_documents(project, output, asked, order, limit, offset))


@app.command()
def show(
    path: DocumentPath,
    form: Annotated[
        Form | None,
        typer.Option(
            "--as", help="Print its content: as Markdown, plain text, blocks in JSON, or its own bytes."
        ),
    ] = None,
    version: VersionName = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show what is known about a document, or print its content."""
    from brasstag.surfaces.cli.actions.document_queries import show_document

    run(show_document(project, output, path, form, version))


@app.command(cls=WordsCommand)
def search(
    query: Annotated[
        list[str], typer.Argument(help='The words to find; you may use "a phrase", begin*, -not and OR.')
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
    """Find documents by their words; the best match comes first."""
    from brasstag.surfaces.cli.actions.document_queries import search_documents

    asked = filter_of(glob, tag, mime_type, creator, task, changed_after, changed_before)
    run(search_documents(project, output, " ".join(query), asked, limit, offset))


@app.command()
def diff(
    path: DocumentPath,
    other: Annotated[str, typer.Argument(help="The document to compare with; the same one by default.")] = "",
    old: Annotated[str, typer.Option("--from", help="The old version.")] = "",
    new: Annotated[str, typer.Option("--to", help="The new version.")] = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Compare two documents, or two versions of one. With a path alone, it shows the last change."""
    from brasstag.surfaces.cli.actions.document_queries import compare_versions

    run(compare_versions(project, output, path, other, old, new))


@app.command()
def history(path: DocumentPath, output: Output = None, project: Project = HERE) -> None:
    """List every version of a document, also under its former paths. Other documents of its path come last."""
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
    """Restore an earlier version of a document.

    Without --version it restores the version before the present one.

    Restoring is a call: it is judged, may need approval, and can be undone.
    """
    given = {"path": path, "version": version}
    raise typer.Exit(run(call_for("restore", project, given, role, yes, later, output)))


@app.command()
def tag(
    path: DocumentPath,
    add: Annotated[list[str] | None, typer.Argument(help="Tags to add.")] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", "-r", help="Remove this tag; may be repeated.")
    ] = None,
    role: Role = "operator",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Add tags to a document, or remove them."""
    given = {"path": path, "add": add or [], "remove": remove or []}
    raise typer.Exit(run(call_for("tag", project, given, role, False, False, output)))


@app.command()
def describe(
    path: DocumentPath,
    description: Annotated[str, typer.Argument(help="What the document is, in a sentence or two.")],
    role: Role = "operator",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Describe a document; search finds it by these words."""
    given = {"path": path, "description": description}
    raise typer.Exit(run(call_for("describe", project, given, role, False, False, output)))


@app.command()
def reindex(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Delete the index first.")] = False,
    summaries: Annotated[
        bool, typer.Option("--summaries", help="Let the model of the settings summarise every document.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Update the search index from every file. Files are converted where needed."""
    from brasstag.surfaces.cli.actions.reindex import make_index

    run(make_index(project, output, rebuild=rebuild, summaries=summaries))


@app.command()
def prune(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Prune only these paths, and what lies below them.")
    ] = None,
    keep: Annotated[int, typer.Option(min=1, help="Keep this many versions of each path.")] = 10,
    older_than_days: Annotated[
        float, typer.Option(min=0, metavar="DAYS", help="Keep versions newer than this many days.")
    ] = 90,
    yes: Annotated[
        bool, typer.Option("--yes", help="Delete them; without this, only list what would be deleted.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Delete the contents of old versions for good. The list of versions stays.

    Only a person may do this, at a terminal or with an approver's token. The timeline records who did it.
    """
    from brasstag.surfaces.cli.actions.prune import prune_versions

    prune_versions(project, output, paths or (), keep, older_than_days, yes=yes)
