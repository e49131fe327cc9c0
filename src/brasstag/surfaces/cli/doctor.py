"""What works here and what does not."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from brasstag.words.errors import BrasstagError

ENOUGH_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    what: str
    ok: bool
    found: str


def examine(project: Path) -> list[Check]:
    """Look at the machine, and at the project if there is one."""
    checks = [*_machine()]
    try:
        from brasstag.settings import find_project

        root = find_project(project)
    except BrasstagError as error:
        return [*checks, Check("project", False, str(error))]
    return [*checks, Check("project", True, str(root)), *_project(root)]


def _machine() -> Iterator[Check]:
    yield Check("python", sys.version_info >= (3, 11), platform.python_version())
    yield Check("system", sys.platform == "linux", f"{platform.system()} {platform.release()}")
    from brasstag.settings import user_directory
    from brasstag.store.database import OLDEST_SQLITE, sqlite_version

    version = sqlite_version()
    yield Check("sqlite", version >= OLDEST_SQLITE, ".".join(map(str, version)))

    folder = user_directory()
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    writable = os.access(existing, os.W_OK)
    yield Check("user directory", writable, f"{folder}" if writable else f"{folder} cannot be written")


def _project(root: Path) -> Iterator[Check]:
    free = shutil.disk_usage(root).free
    yield Check("disk", free > ENOUGH_BYTES, f"{free // 1_000_000} MB free")
    yield from _state(root)
    yield from _configuration(root)


def _state(root: Path) -> Iterator[Check]:
    from brasstag.app.trust import Trust
    from brasstag.app.vault import open_vault, require_same_room

    try:
        vault = open_vault(root)
    except (BrasstagError, OSError) as error:
        yield Check("state", False, str(error))
        return
    try:
        report = vault.verify()
        held = f"{report.entries} entries, {report.checkpoints} seals"
        yield Check(
            "timeline",
            report.ok,
            held if report.ok else f"{len(report.findings)} findings; run `timeline verify`",
        )
        changed = Trust(root, vault.folder).changes()
        names = ", ".join(f"{file.path} ({file.what})" for file in changed)
        yield Check(
            "control files", not changed, f"{names}; run `brasstag trust`" if changed else "as accepted"
        )
        require_same_room(root, vault)
    except BrasstagError as error:
        yield Check("room", False, str(error))
    finally:
        vault.close()


def _configuration(root: Path) -> Iterator[Check]:
    from brasstag.app.opening import check_configuration
    from brasstag.sandbox.workspace.workspace import kernel_support

    problems = check_configuration(root)
    if problems:
        for problem in problems:
            yield Check("configuration", False, str(problem))
        return
    from brasstag.settings import read_settings

    workspace = read_settings(root).workspace(root)
    yield Check("configuration", True, "settings, tools, rules and roles agree")
    yield Check("workspace", os.access(workspace, os.R_OK | os.W_OK), str(workspace))
    yield Check("paths", True, kernel_support(workspace))
