"""Making a project: its settings, its workspace, and the state of its room."""

from pathlib import Path

from brasstag.app.trust import Trust
from brasstag.app.vault import open_vault, require_same_room
from brasstag.settings import SETTINGS_FILE, STATE_DIRECTORY, ProfileName, read_settings, template
from brasstag.words.errors import Code, ToolError


def create_project(project: Path, workspace: str = "data", profile: ProfileName = "careful") -> None:
    """Make a project in a directory that has none; what lies there already is left as it is."""
    project = project.absolute()
    file = project / SETTINGS_FILE
    project.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(template(workspace, profile))
    except FileExistsError:
        raise ToolError(
            Code.ALREADY_EXISTS, f"{file} is there already; edit it, or choose another directory"
        ) from None
    try:
        read_settings(project).workspace(project).mkdir(parents=True, exist_ok=True)
        _open_first(project)
    except BaseException:
        # Half a project would keep the next try from making a whole one.
        file.unlink()
        raise


def _open_first(project: Path) -> None:
    vault = open_vault(project)
    try:
        (project / STATE_DIRECTORY / ".gitignore").write_text("*\n")
        trust = Trust(project, vault.folder)
        # Whoever makes the project has just made this file; tools that lay here before are shown like any change.
        trust.accept([change for change in trust.changes() if change.path == SETTINGS_FILE])
        require_same_room(project, vault, accept=True)
    finally:
        vault.close()
