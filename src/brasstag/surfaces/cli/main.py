"""The app: every command, and the one place where an error becomes a paragraph and an exit code."""

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer

from brasstag.surfaces.cli.commands import (
    approvals,
    approvers,
    call,
    cost,
    documents,
    issues,
    logs,
    memories,
    permissions,
    policy,
    project,
    prompts,
    run,
    serve,
    tasks,
    timeline,
    tokens,
    tools,
    worker,
)
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.demo.demo import StoryName, play_story
from brasstag.surfaces.cli.terminal import failures, streams
from brasstag.surfaces.cli.terminal.exits import Exit

app = CommandGroup(
    name="brasstag",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 waiting for a person, 4 denied, 5 unknown.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(project.init)
app.command()(run.run)
app.command()(tasks.tasks)
app.command()(run.watch)
app.command()(tasks.answer)
app.command()(tasks.stop)
app.command()(run.resume)
app.command("follow-up")(run.follow_up)
app.command()(tasks.changes)
app.command()(cost.cost)
app.command()(worker.worker)
app.command()(serve.serve)
app.add_typer(documents.app, name="documents")
app.add_typer(memories.app, name="memories")
app.add_typer(prompts.app, name="prompts")
app.add_typer(issues.app, name="issues")
app.command()(call.call)
app.command()(call.undo)
app.command("undo-run")(call.undo_run)
app.add_typer(approvals.app, name="approvals")
app.add_typer(permissions.app, name="permissions")
app.add_typer(timeline.app, name="timeline")
app.command()(logs.logs)
app.add_typer(policy.app, name="policy")
app.add_typer(tools.app, name="tools")
app.command()(project.trust)
app.command()(project.doctor)
app.command()(project.gc)
app.add_typer(approvers.app, name="approvers")
app.add_typer(tokens.app, name="tokens")


@app.command()
def demo(
    story: Annotated[
        StoryName,
        typer.Argument(
            help="crew shows agents at work; counter single calls; prompts how a prompt tool goes live."
        ),
    ] = "crew",
    keep: Annotated[str | None, typer.Option(help="Use this directory, and keep it.")] = None,
) -> None:
    """Show a crew of agents at work; needs no model and no key.

    `brasstag demo counter` shows single calls instead: allowed, asked, edited, denied and undone. `brasstag demo prompts`
    shows a prompt tool from its proposal to its first use.
    """
    play_story(story, keep)


def _tell_version(wanted: bool) -> None:
    if wanted:
        from brasstag import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def brasstag(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Run AI agents whose every tool call is checked, judged, approved where needed, and recorded."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; whatever goes wrong is one readable paragraph, never a traceback."""
    streams.prepare()
    code = _run(sys.argv[1:] if arguments is None else arguments)
    unwritten = streams.finish()
    if unwritten is not None:
        sys.stderr.write(f"The output could not be written. {failures.paragraph(unwritten)}\n")
        code = code or Exit.FAILED
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    if os.name == "nt":
        sys.stderr.write(
            "Brasstag works on Linux, and does not on Windows; use WSL 2. See docs/platforms.md.\n"
        )
        return Exit.FAILED
    for argument in arguments:
        if not _is_text(argument):
            sys.stderr.write(f"{argument!a} is not UTF-8 text; arguments have to be.\n")
            return Exit.USAGE
    try:
        _command()(arguments, prog_name="brasstag")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else Exit.FAILED
    except Exception as error:  # noqa: BLE001 - the last place before the person sees it
        return failures.tell(error)
    return Exit.DONE


@cache
def _command() -> Callable[..., Any]:
    """Build every command from its function, which takes longer than many a command itself: once for a process."""
    return typer.main.get_command(app)


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True
