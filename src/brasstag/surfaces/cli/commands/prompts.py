"""Prompt tools: list, show, copy, propose, review, decide, go back, test and use them."""

from pathlib import Path
from typing import Annotated

import typer

from brasstag.surfaces.cli.commands.complete import crew_roles, prompt_tool_ids, proposal_ids, run_ids
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import HERE, Output, Project, pass_on
from brasstag.surfaces.cli.commands.run import Detach, Later
from brasstag.surfaces.cli.session.rooms import run as in_loop

app = CommandGroup(help="List, show, propose, review and use prompt tools.", invoke_without_command=True)

ToolId = Annotated[str, typer.Argument(help="The id of the prompt tool.", autocompletion=prompt_tool_ids)]
ProposalName = Annotated[
    str, typer.Argument(help="The id of the proposal, or the end of it.", autocompletion=proposal_ids)
]
Note = Annotated[str, typer.Option("--note", "-n", help="Say why; the author is told.")]
Seen = Annotated[
    str,
    typer.Option(
        metavar="DIGEST",
        help="Decide only if the proposal still has this digest, as `prompts show` printed it.",
    ),
]


@app.callback()
def prompts(context: typer.Context, output: Output = None, project: Project = HERE) -> None:
    """List the live prompt tools, when no command is given."""
    pass_on(context, project, output)
    if context.invoked_subcommand is None:
        from brasstag.surfaces.cli.actions.prompts import PromptCommands

        in_loop(PromptCommands(project, output).list())


@app.command("list")
def list_(
    proposals: Annotated[bool, typer.Option("--proposals", help="List open proposals instead.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="With --proposals, list decided ones, too.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """List the live prompt tools, and what was left out of the catalog."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    commands = PromptCommands(project, output)
    in_loop(commands.list_proposals(everything=everything) if proposals or everything else commands.list())


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A prompt tool, or a proposal.", autocompletion=prompt_tool_ids, show_default=False
        ),
    ] = "",
    as_injected: Annotated[
        str,
        typer.Option(
            "--as-injected",
            metavar="ROLE",
            help="Print exactly what a model of this role is told of the catalog.",
            autocompletion=crew_roles,
        ),
    ] = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show a prompt tool or a proposal, or what a role is told of the catalog."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    if bool(name) == bool(as_injected):
        raise typer.BadParameter("name a prompt tool or a proposal, or give --as-injected ROLE")
    commands = PromptCommands(project, output)
    in_loop(commands.show_injected(as_injected) if as_injected else commands.show(name))


@app.command()
def copy(
    tool_id: ToolId,
    new_id: Annotated[
        str, typer.Argument(help="The id of the copy; ID_custom by default.", show_default=False)
    ] = "",
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it to this file; NEW_ID.json by default.")
    ] = None,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Write a copy of a prompt tool to a file, to be edited and proposed."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    in_loop(PromptCommands(project, output).copy(tool_id, new_id, to))


@app.command()
def propose(
    file: Annotated[Path, typer.Argument(help="A JSON file with the proposal.")],
    revises: Annotated[
        str,
        typer.Option(
            metavar="PROPOSAL",
            help="Make it the next revision of this proposal.",
            autocompletion=proposal_ids,
        ),
    ] = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Propose a new, changed or retired prompt tool. It is screened, tested and reviewed at once."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    in_loop(PromptCommands(project, output).propose(file, revises))


@app.command()
def review(name: ProposalName, output: Output = None, project: Project = HERE) -> None:
    """Test and review a proposal again."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    in_loop(PromptCommands(project, output).review(name))


@app.command()
def approve(
    name: ProposalName, note: Note = "", seen: Seen = "", output: Output = None, project: Project = HERE
) -> None:
    """Approve a proposal; the prompt tool is live then.

    This needs a terminal or an approver's token, as approving a call does.
    """
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    in_loop(PromptCommands(project, output).decide("approve", name, note, seen))


@app.command("needs-changes")
def needs_changes(
    name: ProposalName, note: Note = "", seen: Seen = "", output: Output = None, project: Project = HERE
) -> None:
    """Send a proposal back to its author; --note says what has to change."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    in_loop(PromptCommands(project, output).decide("needs_changes", name, note, seen))


@app.command()
def reject(
    name: ProposalName, note: Note = "", seen: Seen = "", output: Output = None, project: Project = HERE
) -> None:
    """Reject a proposal for good."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    in_loop(PromptCommands(project, output).decide("reject", name, note, seen))


@app.command()
def accept(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept without a question.")] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show what colleagues approved, as one diff, and accept all of it by one decision."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    raise typer.Exit(in_loop(PromptCommands(project, output).accept(yes=yes)))


@app.command()
def history(tool_id: ToolId, output: Output = None, project: Project = HERE) -> None:
    """List the approved versions of a prompt tool, oldest first."""
    from brasstag.surfaces.cli.actions.prompt_versions import PromptVersions

    in_loop(PromptVersions(project, output).history(tool_id))


@app.command()
def diff(
    tool_id: ToolId,
    old: Annotated[str, typer.Argument(help="A version: its number, or the beginning of its name.")] = "",
    new: Annotated[
        str, typer.Argument(help="Another version; the newest by default.", show_default=False)
    ] = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show what changed between two versions of a prompt tool, the last two by default."""
    from brasstag.surfaces.cli.actions.prompt_versions import PromptVersions

    in_loop(PromptVersions(project, output).diff(tool_id, old, new))


@app.command()
def rollback(
    tool_id: ToolId,
    version: Annotated[str, typer.Argument(help="A version: its number, or the beginning of its name.")],
    because: Annotated[str, typer.Option(help="Why the earlier version is wanted again.")],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Propose to go back to an earlier version; that is reviewed and decided like any proposal."""
    from brasstag.surfaces.cli.actions.prompt_versions import PromptVersions

    in_loop(PromptVersions(project, output).rollback(tool_id, version, because))


@app.command()
def harness(
    name: ProposalName,
    passed: Annotated[
        list[str] | None, typer.Option(metavar="CASE", help="Record that this case passed; may be repeated.")
    ] = None,
    failed: Annotated[
        list[str] | None, typer.Option(metavar="CASE", help="Record that this case failed; may be repeated.")
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK",
            help="Replay this recorded task with the live and the proposed prompt; may be repeated.",
            autocompletion=run_ids,
        ),
    ] = None,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Run the test cases of a proposal, record what a person saw, or replay recorded tasks."""
    from brasstag.surfaces.cli.actions.prompt_versions import PromptVersions

    commands = PromptVersions(project, output)
    if task:
        in_loop(commands.replay(name, task))
    else:
        in_loop(commands.harness(name, passed or [], failed or []))


@app.command()
def outcomes(tool_id: ToolId, output: Output = None, project: Project = HERE) -> None:
    """Show how the runs ended that had each version of a prompt tool."""
    from brasstag.surfaces.cli.actions.prompt_versions import PromptVersions

    in_loop(PromptVersions(project, output).outcomes(tool_id))


@app.command()
def run(
    tool_id: ToolId,
    words: Annotated[str, typer.Argument(help="What else is to be said.", show_default=False)] = "",
    file: Annotated[Path | None, typer.Option(metavar="PATH", help="Use it on this workspace file.")] = None,
    lines: Annotated[str, typer.Option(metavar="A-B", help="Use it on these lines of the file.")] = "",
    role: Annotated[
        str,
        typer.Option(
            metavar="ROLE",
            help="The role that takes it; one of the tool's archetype by default.",
            autocompletion=crew_roles,
        ),
    ] = "",
    model: Annotated[str, typer.Option(metavar="MODEL", help="Use this model for every role.")] = "",
    later: Later = False,
    detach: Detach = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Start a task with a prompt tool on a selection, a file or the project, and follow it."""
    from brasstag.surfaces.cli.actions.prompt_run import prompt_use
    from brasstag.surfaces.cli.commands.run import running

    use = prompt_use(tool_id, words, file, lines, role, model)
    raise typer.Exit(in_loop(running(project, output, later).use(use, detach=detach)))


@app.command("export")
def export_(
    tool_id: ToolId,
    skill: Annotated[Path, typer.Option(metavar="DIR", help="Write an Agent Skill into this directory.")],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Write a prompt tool as an Agent Skill: a directory with SKILL.md and its test cases."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    in_loop(PromptCommands(project, output).export(tool_id, skill))


@app.command("import")
def import_(
    skill: Annotated[Path, typer.Argument(metavar="DIR", help="The directory of an Agent Skill.")],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Make a proposal of an Agent Skill; it is never live before it is approved."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    in_loop(PromptCommands(project, output).import_(skill))


@app.command("four-eyes")
def four_eyes(
    off: Annotated[
        bool, typer.Option("--off", help="Agree to switch it off; two approvers have to.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Say whether author and approver must be two persons; switching that off takes two approvers."""
    from brasstag.surfaces.cli.actions.prompts import PromptCommands

    in_loop(PromptCommands(project, output).four_eyes(off=off))
