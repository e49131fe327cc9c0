"""What the shell offers on Tab: found by looking at names only, so that it is quick and loads nothing of the project."""

import tomllib
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from brasstag.store.database import View

Offers = list[tuple[str, str]]
"""Each word, and a hint beside it where the shell shows hints."""

_Found = TypeVar("_Found")


def _offering(find: Callable[[Path], Iterable[tuple[str, str]]]) -> Callable[[typer.Context, str], Offers]:
    """Turn a finder into what the shell asks; where nothing can be found, nothing is said."""

    def offer(context: typer.Context, incomplete: str) -> Offers:
        from brasstag.settings import find_project

        try:
            project = find_project(context.params.get("project") or Path())
            return [(word, hint) for word, hint in find(project) if word.startswith(incomplete)]
        except Exception:  # noqa: BLE001 - a person is typing; whatever is wrong here will be said when they press Enter
            return []

    return offer


@_offering
def tool_names(project: Path) -> Iterable[tuple[str, str]]:
    """Offer the shipped tools and those of the project."""
    from brasstag.settings import TOOLS_DIRECTORY

    shipped = [file.name for file in (files("brasstag.tools") / "configs").iterdir()]
    own = [file.name for file in (project / TOOLS_DIRECTORY).glob("*.json")]
    for name in sorted(shipped + own):
        yield name.removesuffix(".json"), ""


@_offering
def role_names(project: Path) -> Iterable[tuple[str, str]]:
    """Offer the roles the settings name."""
    from brasstag.settings import SETTINGS_FILE

    yield "operator", "You, at the counter"
    for name, role in tomllib.loads((project / SETTINGS_FILE).read_text()).get("roles", {}).items():
        yield name, str(role.get("description", ""))


@_offering
def approval_ids(project: Path) -> Iterable[tuple[str, str]]:
    """Offer what waits."""
    from brasstag.store.approvals import list_approvals
    from brasstag.words.approvals import ApprovalState

    waiting = (ApprovalState.OPEN, ApprovalState.APPROVED)
    for approval in _look(project, lambda view: list_approvals(view, waiting)):
        yield approval.id, f"{approval.tool}: {approval.reason}"


@_offering
def task_ids(project: Path) -> Iterable[tuple[str, str]]:
    """Offer the tasks that have not ended."""
    from brasstag.store.tasks import read_tasks

    for task in _look(project, lambda view: read_tasks(view, ("running", "blocked"))):
        yield task.id, f"{task.status}, of {task.actor}"


def _look(project: Path, look: Callable[["View"], list[_Found]]) -> list[_Found]:
    from brasstag.settings import STATE_DIRECTORY
    from brasstag.store.database import Database

    file = project / STATE_DIRECTORY / "state.db"
    if not file.exists():
        return []
    database = Database(file)
    try:
        with database.read() as view:
            return look(view)
    finally:
        database.close()
