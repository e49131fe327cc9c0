"""The tools of a room: list, schema, docs, new."""

import difflib
from pathlib import Path
from typing import Annotated, Literal

import typer

from brasstag.surfaces.cli.console import Output, print_json, say, table, wants_json
from brasstag.surfaces.cli.rooms import HERE, Project, open_room, run

app = typer.Typer(help="The tools of this room.", invoke_without_command=True)

DOCS_FILE = Path("docs/TOOLS.md")


@app.callback()
def tools(context: typer.Context, output: Output = None, project: Project = HERE) -> None:
    """List the tools, when no command is given."""
    if context.invoked_subcommand is None:
        run(_list(project, output, "operator"))


@app.command("list")
def list_(
    role: Annotated[
        str, typer.Option("--as", metavar="ROLE", help="Only what this role may use.")
    ] = "operator",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """List the tools."""
    run(_list(project, output, role))


@app.command()
def schema(
    form: Annotated[
        Literal["openai", "openai-flat", "anthropic", "mcp"], typer.Option("--format", help="Whose form.")
    ] = "openai",
    strict: Annotated[
        bool, typer.Option("--strict", help="OpenAI's strict mode, where a tool allows it.")
    ] = False,
    role: Annotated[
        str, typer.Option("--as", metavar="ROLE", help="Only what this role may use.")
    ] = "operator",
    project: Project = HERE,
) -> None:
    """Print the tools' definitions for a model provider, as JSON."""
    run(_schema(project, form, strict, role))


@app.command()
def docs(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when the page is out of date.")
    ] = False,
    file: Annotated[Path, typer.Option(help="The page.")] = DOCS_FILE,
) -> None:
    """Write docs/TOOLS.md from the shipped tools' configs."""
    from brasstag.toolkit.discovery import discover_package
    from brasstag.toolkit.docs import tools_page

    page = tools_page(discover_package("brasstag.tools"))
    found = file.read_text(encoding="utf-8") if file.exists() else ""
    if page == found:
        return
    if check:
        changed = difflib.unified_diff(
            found.splitlines(), page.splitlines(), str(file), "as it should be", lineterm="", n=1
        )
        for line in list(changed)[:40]:
            say(line, stderr=True)
        say(f"{file} is out of date; run `brasstag tools docs`.", "red", stderr=True)
        raise typer.Exit(1)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page, encoding="utf-8")
    say(f"Wrote {file}.")


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="The tool's id, such as word_count.")], project: Project = HERE
) -> None:
    """Scaffold a tool: tools/NAME.py, tools/NAME.json and a test that passes as it is."""
    from brasstag.settings import TOOLS_DIRECTORY, find_project
    from brasstag.toolkit.scaffold import scaffold

    root = find_project(project)
    for path in scaffold(root / TOOLS_DIRECTORY, root / "tests", name):
        say(f"Wrote {path.relative_to(root)}.")
    say("Edit them, then run `brasstag trust`: new tools are loaded once you have accepted them.")


async def _list(project: Path, output: str | None, role: str) -> None:
    async with open_room(project, "tools") as room:
        found = room.tools.list(role)
    if wants_json(output):  # type: ignore[arg-type]
        for tool in found:
            print_json(
                {"name": tool.name, "description": tool.config.description, "effects": tool.config.effects}
            )
    else:
        table(
            ("tool", "effects", "approval", "what it does"),
            (
                (
                    tool.name,
                    tool.config.effects,
                    tool.config.approval or "by profile",
                    tool.config.description,
                )
                for tool in found
            ),
            styles={0: "bold"},
        )


async def _schema(project: Path, form: str, strict: bool, role: str) -> None:
    async with open_room(project, "tools schema") as room:
        match form:
            case "openai":
                print_json(room.tools.for_openai(role, strict=strict))
            case "openai-flat":
                print_json(room.tools.for_openai(role, wrapped=False, strict=strict))
            case "anthropic":
                print_json(room.tools.for_anthropic(role))
            case _:
                print_json(room.tools.for_mcp(role))
