"""The policy: test its examples, explain a verdict, replay recorded calls under other rules."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.commands.call import Given, given_arguments, typed_arguments
from brasstag.surfaces.cli.commands.complete import tool_names
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import HERE, JsonText, Output, Pairs, Project, Role
from brasstag.surfaces.cli.session.rooms import open_room, run
from brasstag.surfaces.cli.terminal.console import (
    OutputName,
    print_json,
    quote,
    report,
    say,
    table,
    wants_json,
)

if TYPE_CHECKING:
    from brasstag.engine import Explained
    from brasstag.policy import Explanation, Replayed
    from brasstag.words.calls import Failed
    from brasstag.words.previews import Preview

app = CommandGroup(help="Test the rules, and explain what they decide.", no_args_is_help=True)

_STYLES = {"allow": "green", "ask": "yellow", "deny": "red"}
_SHIFTS = ("same", "stricter", "looser", "unseen")


@app.command("test")
def check_examples(output: Output = None, project: Project = HERE) -> None:
    """Check the rules against their own examples; exit 1 if one fails.

    It reads brasstag.toml as it is now, so you can test a change before you accept it with `brasstag trust`.
    """
    from brasstag.app import read_rules
    from brasstag.policy import shipped_rules
    from brasstag.settings import find_project, read_settings

    # Reading checks the examples; one that fails is a problem of the configuration like any other.
    own, policy = read_rules(find_project(project)), read_settings(find_project(project)).policy
    shipped = shipped_rules(policy.dangerous_commands, policy.switched_off)
    examples = sum(len(rule.match) + len(rule.not_match) for rule in (*shipped, *own))
    report(
        output,
        {"ok": True, "rules": len(own), "shipped_rules": len(shipped), "examples": examples},
        f"{len(own)} rules of this project and {len(shipped)} shipped ones hold, {examples} examples.",
        "green",
    )


@app.command()
def explain(
    tool: Annotated[str, typer.Argument(help="The tool's name or alias.", autocompletion=tool_names)],
    arguments: Pairs = None,
    json_text: JsonText = None,
    role: Role = "operator",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show how a call would be decided, and by which rule.

    The call is not made, and nothing is recorded.
    """
    given = given_arguments(tool, arguments or [], json_text, stdin=False)
    run(_explain(project, tool, given, role, output))


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A brasstag.toml with other rules or another profile.")],
    everything: Annotated[
        bool, typer.Option("--all", help="Also show calls with the same decision.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show what other rules would have decided about recorded calls."""
    run(_replay(project, file, everything, output))


async def _explain(project: Path, tool: str, given: Given, role: str, output: OutputName | None) -> None:
    from brasstag.policy import LANDING
    from brasstag.toolkit import read_arguments

    async with open_room(project, "policy explain") as room:
        arguments = read_arguments(given)[0] if isinstance(given, str) else typed_arguments(room, tool, given)
        found = await room.explain(tool, arguments, role=role)
    if wants_json(output):
        print_json(_as_json(found))
        return
    if found.explanation is not None:
        _print_voices(tool, found.explanation)
        _print_commands(found.explanation)
    if found.preview is not None:
        _print_deeds(found.preview)
        if found.lands:
            say(f"What it changes is judged once it has run, as {LANDING}.", "yellow")
    if found.refused is not None:
        _print_refusal(found.refused, is_judged=found.explanation is not None)


def _print_voices(tool: str, explanation: "Explanation") -> None:
    verdict = explanation.verdict
    say(f"{verdict.decision}: {verdict.because}", f"bold {_STYLES[verdict.decision]}")
    rows = []
    for line in explanation.lines:
        about = f", about {line.on}" if line.on not in ("", tool) else ""
        where = f" [{line.source}]" if line.source else ""
        mark = "→" if line.decided else ""
        rows.append((mark, line.verdict.decision, line.verdict.rule, f"{line.verdict.because}{about}{where}"))
    table(("", "says", "who", "because"), rows)


def _print_commands(explanation: "Explanation") -> None:
    """Show every command that was read, what it stands in, and what is said of it."""
    rows = [
        (
            line.verdict.decision if line.verdict else "",
            " ".join(line.words),
            " › ".join(line.place),
            line.verdict.because if line.verdict else "",
        )
        for line in explanation.commands
    ]
    if rows:
        table(("says", "command", "inside", "because"), rows)


def _print_deeds(preview: "Preview") -> None:
    from brasstag.surfaces.cli.show.diffs import deeds
    from brasstag.words.previews import change_sentence

    say("what it would do", "bold")
    lines = [f"reads {seen.path}" for seen in preview.reads]
    if preview.untracked_reads:
        lines.append(f"looks into {preview.untracked_reads} more files")
    lines += [*deeds(preview), *map(change_sentence, preview.changes)]
    for line in lines or ["reads and changes nothing"]:
        quote(line, indent="  ")


def _print_refusal(failed: "Failed", *, is_judged: bool) -> None:
    if is_judged:
        say(f"It would still fail: {failed.code.value}: {failed.message}", "yellow")
    else:
        say(f"It would be refused: {failed.code.value}: {failed.message}", "red")


async def _replay(project: Path, file: Path, everything: bool, output: OutputName | None) -> None:
    async with open_room(project, "policy replay") as room:
        replayed = await room.replay(file)
    shown = [one for one in replayed if everything or one.shift != "same"]
    if wants_json(output):
        for one in shown:
            print_json(_replayed_json(one))
        return
    if shown:
        table(
            ("tag", "tool", "was", "would be", "shift", "by"),
            [
                (
                    one.recorded.tag[-8:],
                    one.recorded.call.tool,
                    one.recorded.decision,
                    one.verdict.decision if one.verdict else "?",
                    one.shift,
                    one.verdict.rule if one.verdict else "refused before anything was seen",
                )
                for one in shown
            ],
        )
    counts = (f"{sum(one.shift == shift for one in replayed)} {shift}" for shift in _SHIFTS)
    say(f"{len(replayed)} calls: {', '.join(counts)}.")


def _replayed_json(one: "Replayed") -> dict[str, Any]:
    return {
        "tag": one.recorded.tag,
        "tool": one.recorded.call.tool,
        "was": one.recorded.decision,
        "would_be": one.verdict.decision if one.verdict else None,
        "shift": one.shift,
        "rule": one.verdict.rule if one.verdict else "",
    }


def _as_json(found: "Explained") -> dict[str, Any]:
    shown: dict[str, Any] = found.explanation.as_json() if found.explanation else {}
    if found.preview is not None:
        from brasstag.policy import LANDING

        shown["preview"] = found.preview.as_json()
        shown["then"] = LANDING if found.lands else None
    if found.refused is not None:
        shown["refused"] = {
            "code": found.refused.code.value,
            "message": found.refused.message,
            "details": dict(found.refused.details),
        }
    return shown
