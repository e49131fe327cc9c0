"""The app: every command, and the one place where an error becomes a paragraph and an exit code."""

import sys
from typing import Annotated

import typer

from brasstag.surfaces.cli import approvals, approvers, call, policy, project, timeline, tools

app = typer.Typer(
    name="brasstag",
    help="The counter where agents take their tools: typed, judged, approved, tagged.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(project.init)
app.command()(call.call)
app.command()(call.undo)
app.add_typer(approvals.app, name="approvals")
app.add_typer(timeline.app, name="timeline")
app.add_typer(policy.app, name="policy")
app.add_typer(tools.app, name="tools")
app.command()(project.trust)
app.command()(project.stop)
app.command()(project.doctor)
app.command()(project.gc)
app.add_typer(approvers.app, name="approvers")


@app.command()
def demo(
    keep: Annotated[str | None, typer.Option(help="Play in this directory and leave it there.")] = None,
) -> None:
    """Play a story of allowed, asked, edited, denied and undone calls in a scratch room."""
    from brasstag.surfaces.cli.demo import play

    play(keep)


@app.callback()
def brasstag(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Say which version this is, when asked."""
    if version:
        from brasstag import __version__

        typer.echo(__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run a command; whatever goes wrong is one readable paragraph, never a traceback."""
    from brasstag.words.errors import BrasstagError, ConfigError

    try:
        app(arguments)
    except ConfigError as error:
        sys.stderr.write("Brasstag cannot start with this configuration:\n")
        for problem in error.problems:
            sys.stderr.write(f"  {problem}\n")
        sys.exit(1)
    except BrasstagError as error:
        code = getattr(error, "code", None)
        sys.stderr.write(f"{code.value}: {error}\n" if code else f"{error}\n")
        sys.exit(1)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        sys.stderr.write(f"The system said no: {error}\n")
        sys.exit(1)
