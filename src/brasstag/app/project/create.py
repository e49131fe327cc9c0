"""Create a project: its settings, its workspace, the state of its room and, if wanted, a crew."""

from dataclasses import dataclass, field
from pathlib import Path

from brasstag.app.crews import Crew, shipped_crew
from brasstag.app.project.trust import Trust
from brasstag.app.state import open_state, require_same_room
from brasstag.settings import SETTINGS_FILE, ProfileName, Settings, read_settings, template
from brasstag.words.errors import Code, ToolError


@dataclass(frozen=True, slots=True)
class Created:
    """A project that was just made."""

    settings: Settings
    workspace: Path
    crew: Crew | None
    made: list[Path] = field(default_factory=list)
    """The files that were written."""
    kept: list[Path] = field(default_factory=list)
    """Files a crew begins with that were there already, and stay as they are."""


def create_project(
    project: Path,
    workspace: str | None = None,
    profile: ProfileName | None = None,
    crew: str | None = None,
) -> Created:
    """Make a project in a directory that has none; what lies there already is left as it is."""
    project = project.absolute()
    chosen = None if crew is None else shipped_crew(crew)
    if chosen is None:
        text = template("data" if workspace is None else workspace, profile or "careful")
    else:
        text = chosen.settings_with(workspace, profile)
    made: list[Path] = []
    try:
        return _create(project, text.encode(), chosen, made)
    except BaseException:
        # An incomplete project would prevent the next try from making a complete one.
        for path in made:
            path.unlink(missing_ok=True)
        raise


def _create(project: Path, written: bytes, crew: Crew | None, made: list[Path]) -> Created:
    project.mkdir(parents=True, exist_ok=True)
    _write(project / SETTINGS_FILE, written, made)
    settings = read_settings(project)
    workspace = settings.workspace(project)
    workspace.mkdir(parents=True, exist_ok=True)
    created = Created(settings, workspace, crew, made)
    for name, data in (crew.seeds if crew else {}).items():
        try:
            _write(workspace / name, data, made)
        except ToolError:
            created.kept.append(workspace / name)
    _open_first(project, written)
    return created


def _write(path: Path, data: bytes, made: list[Path]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        stream = path.open("xb")
    except FileExistsError:
        raise _is_there(path) from None
    made.append(path)
    with stream:
        stream.write(data)


def _is_there(path: Path) -> ToolError:
    return ToolError(
        Code.ALREADY_EXISTS, f"{path} is there already; edit it or move it away, or choose another directory"
    )


def _open_first(project: Path, written: bytes) -> None:
    room_state = open_state(project)
    try:
        trust = Trust(project, room_state.folder)
        # The user has just made this file; tools that were here before are shown like any change.
        ours = [change for change in trust.changes() if change.path == SETTINGS_FILE]
        trust.accept([change for change in ours if change.found == written])
        require_same_room(project, room_state, accept=True)
    finally:
        room_state.close()
