"""The policy: test its examples, explain a verdict, replay the past under other rules."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.call import Role, given_arguments, typed_arguments
from brasstag.surfaces.cli.console import Output, print_json, say, table, wants_json
from brasstag.surfaces.cli.rooms import HERE, Project, open_room, run

if TYPE_CHECKING:
    from brasstag.engine.judging import Explained

app = typer.Typer(help="What is allowed, what is asked, what is denied, and why.", no_args_is_help=True)

_STYLES = {"allow": "green", "ask": "yellow", "deny": "red"}


@app.command("test")
def test_examples(project: Project = HERE) -> None:
    """Check that every rule says of its examples what they promise; exit 1 and name each that does not."""
    from brasstag.policy.loading import rules_from
    from brasstag.policy.shipped import shipped_rules
    from brasstag.settings import find_project, read_settings

    # Loading checks the examples; one that fails is a problem of the configuration like any other.
    own = rules_from(read_settings(find_project(project)).rules)
    examples = sum(len(rule.match) + len(rule.not_match) for rule in (*shipped_rules(), *own))
    say(
        f"{len(own)} rules of this project and {len(shipped_rules())} shipped ones hold, {examples} examples.",
        "green",
    )


@app.command()
def explain(
    tool: Annotated[str, typer.Argument(help="The tool's name or alias.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[key=value]...", help="Its arguments.", show_default=False)
    ] = None,
    json_text: Annotated[str | None, typer.Option("--json", help="All arguments as one JSON object.")] = None,
    role: Role = "operator",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Say what would be decided about a call, and who said so; nothing is done or recorded."""
    given = given_arguments(tool, arguments or [], json_text, stdin=False)
    run(_explain(project, tool, given, role, output))


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A brasstag.toml with other rules or another profile.")],
    everything: Annotated[
        bool, typer.Option("--all", help="Also calls that would be decided alike.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Say what other rules would have decided about every call on the timeline."""
    run(_replay(project, file, everything, output))


async def _explain(project: Path, tool: str, given: dict[str, str] | str, role: str, output: Any) -> None:
    from brasstag.toolkit.repair import read_arguments

    async with open_room(project, "policy explain") as room:
        arguments = read_arguments(given)[0] if isinstance(given, str) else typed_arguments(room, tool, given)
        found = await room.explain(tool, arguments, role=role)
    if wants_json(output):
        print_json(_as_json(found))
        return
    if found.explanation is None:
        assert found.refused is not None  # noqa: S101 - one of the two is always there
        say(f"It would be refused: {found.refused.code.value}: {found.refused.message}", "red")
        return
    verdict = found.explanation.verdict
    say(f"{verdict.decision}: {verdict.because}", _STYLES[verdict.decision])
    for line in found.explanation.lines:
        mark = "→" if line.decided else " "
        about = f" (about {line.on})" if line.on else ""
        where = f" [{line.source}]" if line.source else ""
        say(f"  {mark} {line.verdict.decision:<5} {line.verdict.rule}: {line.verdict.because}{about}{where}")
    if found.preview is not None:
        for fact in sorted(found.preview.facts):
            say(f"    {fact}: {', '.join(found.preview.about(fact)[:8])}", "dim")
    if found.refused is not None:
        say(f"  It would fail all the same: {found.refused.code.value}: {found.refused.message}", "yellow")


async def _replay(project: Path, file: Path, everything: bool, output: Any) -> None:
    async with open_room(project, "policy replay") as room:
        replayed = await room.replay(file)
    shown = [one for one in replayed if everything or one.shift != "same"]
    if wants_json(output):
        for one in shown:
            print_json(
                {
                    "tag": one.recorded.tag,
                    "tool": one.recorded.call.tool,
                    "was": one.recorded.decision,
                    "would_be": one.verdict.decision if one.verdict else None,
                    "shift": one.shift,
                    "rule": one.verdict.rule if one.verdict else "",
                }
            )
        return
    rows = (
        (
            one.recorded.tag[-8:],
            one.recorded.call.tool,
            one.recorded.decision,
            one.verdict.decision if one.verdict else "?",
            one.shift,
            one.verdict.rule if one.verdict else "refused before anything was seen",
        )
        for one in shown
    )
    if shown:
        table(("tag", "tool", "was", "would be", "shift", "by"), rows)
    counts = {
        shift: sum(one.shift == shift for one in replayed)
        for shift in ("same", "stricter", "looser", "unseen")
    }
    say(f"{len(replayed)} calls: " + ", ".join(f"{count} {shift}" for shift, count in counts.items()) + ".")


def _as_json(found: "Explained") -> dict[str, Any]:
    shown: dict[str, Any] = found.explanation.as_json() if found.explanation else {}
    if found.preview is not None:
        shown["preview"] = found.preview.as_json()
    if found.refused is not None:
        shown["refused"] = {"code": found.refused.code.value, "message": found.refused.message}
    return shown
