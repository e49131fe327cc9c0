"""The tools of a room: list, show, schema, docs, new."""

import difflib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from brasstag.surfaces.cli.commands.complete import tool_names
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import HERE, ForRole, Output, Project, pass_on
from brasstag.surfaces.cli.session.rooms import open_room, run
from brasstag.surfaces.cli.terminal.console import OutputName, brief, print_json, report, say, wants_json
from brasstag.surfaces.cli.terminal.exits import Exit

if TYPE_CHECKING:
    from brasstag.toolkit import Tool, ToolRegistry

app = CommandGroup(help="List, show and create tools.", invoke_without_command=True)

DOCS_FILE = Path("docs/TOOLS.md")
PROJECT_DOCS_FILE = "TOOLS.md"
Form = Literal["openai", "openai-flat", "anthropic", "mcp"]


@app.callback()
def tools(context: typer.Context, output: Output = None, project: Project = HERE) -> None:
    """List the tools, when no command is given."""
    pass_on(context, project, output)
    if context.invoked_subcommand is None:
        run(_list(project, output, "operator"))


@app.command("list")
def list_(role: ForRole = "operator", output: Output = None, project: Project = HERE) -> None:
    """List the tools."""
    run(_list(project, output, role))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The tool's name or alias.", autocompletion=tool_names)],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show one tool: its arguments, what it returns, and how to call it."""
    run(_show(project, name, output))


@app.command()
def schema(
    form: Annotated[Form, typer.Option("--format", help="The format of the provider.")] = "openai",
    strict: Annotated[
        bool, typer.Option("--strict", help="Use OpenAI's strict mode where a tool allows it.")
    ] = False,
    role: ForRole = "operator",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Print the tools as one JSON list for a model provider."""
    if strict and form not in ("openai", "openai-flat"):
        raise typer.BadParameter("--strict is OpenAI's; leave it out, or choose openai or openai-flat")
    run(_schema(project, form, strict, role, output))


@app.command()
def docs(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when the page is out of date.")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option(
            help="Write this file; TOOLS.md beside brasstag.toml, or docs/TOOLS.md without a project."
        ),
    ] = None,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Write a page about the tools of a project, or the shipped ones."""
    from brasstag.toolkit import shipped_tools, tools_page

    root = _project_above(project)
    page = tools_page(shipped_tools() if root is None else run(_tools_of(root)))
    file = file or (DOCS_FILE if root is None else Path(os.path.relpath(root / PROJECT_DOCS_FILE)))
    found = file.read_bytes().decode(errors="replace") if file.exists() else ""
    if page == found:
        report(output, {"file": str(file), "current": True}, f"{file} is up to date.")
        return
    if check:
        changed = difflib.unified_diff(
            found.splitlines(), page.splitlines(), str(file), "as it should be", lineterm="", n=1
        )
        for line in list(changed)[:40]:
            say(line, stderr=True)
        say(f"{file} is out of date; run `brasstag tools docs`.", "red", stderr=True)
        raise typer.Exit(Exit.FAILED)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page, encoding="utf-8")
    report(output, {"file": str(file), "current": True}, f"Wrote {file}.")


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="The tool's id, such as word_count.")],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Create a tool of your own, with a test that passes."""
    from brasstag.settings import TOOLS_DIRECTORY, find_project
    from brasstag.toolkit import ToolRegistry, scaffold_tool, shipped_tools
    from brasstag.words.errors import Code, ToolError

    root = find_project(project)
    taken = ToolRegistry(shipped_tools()).get(name)
    if taken is not None:
        raise ToolError(
            Code.ALREADY_EXISTS,
            f"{name} already stands for the shipped tool {taken.name}; choose another name",
        )
    for path in scaffold_tool(root / TOOLS_DIRECTORY, root / "tests", name):
        shown = path.relative_to(root).as_posix()
        report(output, {"wrote": shown}, f"Wrote {shown}.")
    if not wants_json(output):
        say("Edit them, then run `brasstag trust`: new tools are loaded once you have accepted them.")


def _project_above(start: Path) -> Path | None:
    """Return the project that a directory belongs to; None where it is ours, and belongs to none."""
    from brasstag.settings import find_project
    from brasstag.words.errors import ConfigError

    try:
        return find_project(start)
    except ConfigError:
        if start != HERE:
            raise
        return None


async def _tools_of(project: Path) -> "list[Tool]":
    async with open_room(project, "tools docs") as room:
        return room.tools.list()


async def _list(project: Path, output: OutputName | None, role: str) -> None:
    from brasstag.words.errors import ConfigError, UntrustedError

    try:
        async with open_room(project, "tools") as room:
            found = room.tools.list(role)
    except (ConfigError, UntrustedError) as error:
        if role != "operator":
            raise
        found = _described(project, error).list()
    if wants_json(output):
        for tool in found:
            print_json(_summary(tool))
    else:
        for tool in found:
            brief((tool.name, "bold"), (f"  {_manner(tool)}", "dim"))
            say(f"  {tool.config.description}", at_words=True)
        say("`brasstag tools show TOOL` lists the arguments of one.", "dim")


async def _show(project: Path, name: str, output: OutputName | None) -> None:
    from brasstag.surfaces.cli.show.tool import print_tool
    from brasstag.words.errors import Code, ConfigError, ToolError, UntrustedError

    try:
        async with open_room(project, "tools show") as room:
            tool = room.tools.get(name)
            close = room.tools.closest(name)
    except (ConfigError, UntrustedError) as error:
        described = _described(project, error)
        tool, close = described.get(name), described.closest(name)
    if tool is None:
        meant = f"did you mean {close}? " if close else ""
        raise ToolError(
            Code.UNKNOWN_TOOL, f"there is no tool {name!r}; {meant}`brasstag tools` lists them all"
        )
    if wants_json(output):
        schemas = {
            "input_schema": tool.config.input_schema(),
            "output_schema": tool.config.output_schema(),
            "examples": [example.arguments for example in tool.config.examples],
        }
        print_json(_summary(tool) | schemas)
    else:
        print_tool(tool)


def _described(project: Path, error: Exception) -> "ToolRegistry":
    """Say why the room cannot be opened, and return the tools that are described all the same."""
    from brasstag.app import described_tools
    from brasstag.settings import find_project
    from brasstag.surfaces.cli.terminal.failures import paragraph

    root = find_project(project)
    say(paragraph(error), "red", stderr=True)
    say("Until then, these are the shipped tools and those that tools/ describes.", "yellow", stderr=True)
    return described_tools(root)


async def _schema(project: Path, form: Form, strict: bool, role: str, output: OutputName | None) -> None:
    async with open_room(project, "tools schema") as room:
        match form:
            case "openai":
                found = room.tools.for_openai(role, strict=strict)
            case "openai-flat":
                found = room.tools.for_openai(role, wrapped=False, strict=strict)
            case "anthropic":
                found = room.tools.for_anthropic(role)
            case "mcp":
                found = room.tools.for_mcp(role)
    if wants_json(output):
        print_json(found)
    else:
        say(json.dumps(found, indent=2, ensure_ascii=False))


def _manner(tool: "Tool") -> str:
    """Say in a few words what a tool may do, and who is asked."""
    effects = "changes nothing" if tool.config.effects == "none" else f"effects: {tool.config.effects}"
    return f"{effects} · approval: {tool.config.approval or 'by profile'}"


def _summary(tool: "Tool") -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.config.description,
        "type": tool.config.type.value,
        "effects": tool.config.effects,
        "approval": tool.config.approval,
        "aliases": list(tool.config.aliases),
    }
