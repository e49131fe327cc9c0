"""What the commands about issues do, and how an issue looks at the terminal."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.catalog import IssueFilter
from brasstag.surfaces.cli.session.rooms import open_room
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, quote_all, report, say, wants_json
from brasstag.surfaces.cli.terminal.numbers import local_time
from brasstag.words.review.issues import Issue

if TYPE_CHECKING:
    from brasstag.app import RoomIssues

_DONE = {"commented": "commented on"}
"""Kinds of events that need more than their name before ``it``."""


async def list_issues(project: Path, output: OutputName | None, wanted: Mapping[str, str]) -> None:
    """List the issues that fit."""
    async with open_room(project, "issues") as room:
        found = await room.issues.search(IssueFilter(**wanted))
    for issue in found:
        if wants_json(output):
            print_json(issue.as_json())
        else:
            say(f"{issue.id}  {issue.status}  {issue.title}", "bold")
            who = issue.assignee or "no one"
            asks = "; waits for a decision" if issue.actions else ""
            say(f"  {issue.priority}, for {who}, {local_time(issue.updated_at)}{asks}", "dim")
    if not found and not wants_json(output):
        filtered = any(wanted.get(name) for name in ("query", "assignee", "tag"))
        none = "No issue is open." if wanted.get("status") else "There are no issues."
        say("No issue fits." if filtered else none, "dim")


async def show_issue(project: Path, output: OutputName | None, name: str) -> None:
    """Show one issue."""
    async with open_room(project, "issues show") as room:
        issue = await room.issues.get(name)
    if wants_json(output):
        print_json(issue.as_json())
    else:
        print_issue(issue)


async def act_on_issues(
    project: Path, output: OutputName | None, done: str, act: "Callable[[RoomIssues], Awaitable[Issue]]"
) -> None:
    """Do something with issues, and tell which issue it was."""
    async with open_room(project, "issues") as room:
        issue = await act(room.issues)
    report(output, issue.as_json(), f"{done} {issue.id}: {issue.title}")


def print_issue(issue: Issue) -> None:
    """Print all of an issue."""
    say(f"{issue.id} · {issue.status} · {issue.priority}", "bold")
    say(issue.title, "bold")
    said = f"for {issue.assignee or 'no one'}; opened {local_time(issue.opened_at)}"
    say(f"  {said}" + (f"; tags {', '.join(issue.tags)}" if issue.tags else ""), "dim")
    if issue.links:
        say(f"  links: {', '.join(issue.links)}", "dim")
    quote_all(issue.body.split("\n"), indent="  │ ")
    for event in issue.history[1:]:
        say(f"  {event.by} {_DONE.get(event.kind, event.kind)} it, {local_time(event.at)}", "dim")
        if event.text:
            quote_all(event.text.split("\n"), indent="    │ ")
    for action in issue.actions:
        name = action["action"].replace("_", "-")
        say(f"  brasstag prompts {name} {action['proposalId']}")
