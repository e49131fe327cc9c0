"""What a run changed: a sentence and a diff for each path, or all of it as one patch."""

from typing import TYPE_CHECKING, Any

import typer

from brasstag.app import changes_of
from brasstag.surfaces.cli.show.diffs import print_preview
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, quote, say, wants_json
from brasstag.words.previews import Preview

if TYPE_CHECKING:
    from brasstag.app import ChangesOfRun
    from brasstag.store import Store


def show_changes(store: "Store", run: str, output: OutputName | None, *, patch: bool) -> None:
    """Print what a run changed, for people, as a patch, or as JSON."""
    found = changes_of(store, run)
    if wants_json(output):
        print_json(_as_json(found))
    elif patch:
        typer.echo(found.diff, nl=False)
    else:
        _print(found, store)


def _print(found: "ChangesOfRun", store: "Store") -> None:
    if not found.changes:
        say(f"{found.run} left every file as it was.", "dim")
    for one in found.changes:
        print_preview(Preview(changes=(one.change,)), store.blobs)
        if one.meanwhile:
            quote(f"{one.meanwhile} changed it during the run, too", "yellow")
        if one.since:
            quote(f"{one.since} has changed it since", "yellow")
    for effect in found.outside:
        quote(
            f"reached outside of the workspace: {effect.tool} ({effect.outcome}, {effect.tag})",
            "yellow",
            indent="  ",
        )


def _as_json(found: "ChangesOfRun") -> dict[str, Any]:
    return {
        "run": found.run,
        "changes": [
            {
                "path": one.change.path,
                "change": one.change.fact.value,
                "before": one.change.before,
                "after": one.change.after,
                "calls": list(one.calls),
                "changedMeanwhileBy": one.meanwhile or None,
                "changedSinceBy": one.since or None,
            }
            for one in found.changes
        ],
        "outside": [
            {"tool": one.tool, "tag": one.tag, "task": one.task_id, "outcome": one.outcome}
            for one in found.outside
        ],
        "diff": found.diff,
    }
