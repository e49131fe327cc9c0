"""What the shell offers on Tab; it looks at names only, so it is quick and loads nothing of the project."""

import os
import re
import tomllib
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from brasstag.surfaces.cli.show.task_tree import TAIL

if TYPE_CHECKING:
    from brasstag.store import Task, View

Finder = Callable[[Path], Iterable[str]]
Completion = Callable[[typer.Context, str], list[str]]

_Found = TypeVar("_Found")

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
"""Only such names are offered: some shells evaluate what they are offered, and agents or commits may choose names."""

_ID = re.compile(r"[a-z]+_[0-9a-f]{32}")


SERVER_SECONDS = 2
"""How long a user who pressed Tab waits for a database server."""


def _offering(find: Finder) -> Completion:
    """Turn a finder into what the shell asks; where nothing can be found, nothing is said."""

    def offer(context: typer.Context, incomplete: str) -> list[str]:
        from brasstag.settings import find_project

        try:
            project = find_project(context.params.get("project") or Path())
            words = [word for word in find(project) if _PLAIN.fullmatch(word)]
            return [word for word in words if word.startswith(incomplete)] or [
                word[-TAIL:] for word in words if _ID.fullmatch(word) and word[-TAIL:].startswith(incomplete)
            ]
        except Exception:  # noqa: BLE001 - a person is typing; whatever is wrong here will be said when they press Enter
            return []

    return offer


@_offering
def tool_names(project: Path) -> Iterable[str]:
    """Offer the shipped tools and those of the project."""
    from brasstag.settings import TOOLS_DIRECTORY

    shipped = [file.name for file in (files("brasstag.tools") / "configs").iterdir()]
    own = [file.name for file in (project / TOOLS_DIRECTORY).glob("*.json")]
    return sorted(name.removesuffix(".json") for name in shipped + own)


@_offering
def role_names(project: Path) -> Iterable[str]:
    """Offer the operator and the roles of the crew."""
    return ["operator", *_roles(project)]


@_offering
def approval_ids(project: Path) -> Iterable[str]:
    """Offer what waits."""
    from brasstag.store import list_approvals
    from brasstag.words.approvals import WAITING_STATES

    return [approval.id for approval in _look(project, lambda view: list_approvals(view, WAITING_STATES))]


@_offering
def permission_ids(project: Path) -> Iterable[str]:
    """Offer the permissions that were not taken back."""
    from brasstag.store import list_permissions

    return [one.id for one in _look(project, list_permissions) if one.revoked_at is None]


@_offering
def task_ids(project: Path) -> Iterable[str]:
    """Offer the tasks that have not ended."""
    return [task.id for task in _live(project)]


@_offering
def logged_tags(project: Path) -> Iterable[str]:
    """Offer the calls whose traceback is kept."""
    from brasstag.settings import STATE_DIRECTORY

    return [file.stem for file in (project / STATE_DIRECTORY / "logs").glob("*.log")]


@_offering
def question_ids(project: Path) -> Iterable[str]:
    """Offer the questions that wait for people."""
    from brasstag.app import is_question_to_people

    return [task.id for task in _live(project) if is_question_to_people(task)]


@_offering
def run_ids(project: Path) -> Iterable[str]:
    """Offer every run."""
    from brasstag.store import read_tasks

    return [task.id for task in _look(project, read_tasks) if task.kind == "agent" and task.id == task.tree]


@_offering
def memory_ids(project: Path) -> Iterable[str]:
    """Offer what agents remember."""
    from brasstag.store import all_memories

    return [memory.id for memory in _look(project, all_memories)]


@_offering
def proposal_ids(project: Path) -> Iterable[str]:
    """Offer the proposals that are not final."""
    from brasstag.store import open_proposals

    return [proposal.id for proposal in _look(project, open_proposals)]


@_offering
def issue_ids(project: Path) -> Iterable[str]:
    """Offer the open issues."""
    from brasstag.store import list_issues

    return [issue.id for issue in _look(project, lambda view: list_issues(view, ["open"]))]


@_offering
def prompt_tool_ids(project: Path) -> Iterable[str]:
    """Offer the core tools and those in the files of the project and the user."""
    import json

    from brasstag.catalog import core_tools
    from brasstag.settings import STATE_DIRECTORY, user_directory

    found = [tool.id for tool in core_tools()]
    for folder in (project / STATE_DIRECTORY, user_directory()):
        file = folder / "prompts" / "prompts.json"
        if file.exists():
            found += [str(entry["id"]) for entry in json.loads(file.read_bytes())]
    return sorted(set(found))


@_offering
def crew_roles(project: Path) -> Iterable[str]:
    """Offer the roles of the crew."""
    return _roles(project)


def _roles(project: Path) -> list[str]:
    from brasstag.settings import SETTINGS_FILE

    return list(tomllib.loads((project / SETTINGS_FILE).read_text()).get("roles", {}))


def _live(project: Path) -> list["Task"]:
    from brasstag.store import read_tasks

    return _look(project, lambda view: read_tasks(view, ("ready", "running", "blocked")))


def _look(project: Path, look: Callable[["View"], list[_Found]]) -> list[_Found]:
    from brasstag.settings import STATE_DIRECTORY
    from brasstag.store import DATABASE_VARIABLE, open_existing

    url = os.environ.get(DATABASE_VARIABLE, "")
    database = open_existing(project / STATE_DIRECTORY, url, SERVER_SECONDS)
    try:
        with database.read() as view:
            return look(view)
    finally:
        database.close()
