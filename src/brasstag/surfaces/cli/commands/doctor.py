"""What works on this machine and what does not."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from brasstag.app import (
    RoomState,
    Trust,
    approver_names,
    bootstraps,
    check_configuration,
    check_unloaded,
    open_state,
    was_replaced,
)
from brasstag.sandbox import find_confinement, kernel_support
from brasstag.settings import STATE_DIRECTORY, find_project, read_settings, user_directory
from brasstag.store import (
    DATABASE_VARIABLE,
    OLDEST_SQLITE,
    Address,
    count_missing,
    require_sound_index,
    sqlite_version,
)
from brasstag.surfaces.cli.follow.who_continues import is_served
from brasstag.surfaces.cli.terminal.failures import paragraph
from brasstag.words.errors import BrasstagError, IndexDamaged

ENOUGH_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    what: str
    ok: bool
    found: str


def examine(project: Path) -> Iterator[Check]:
    """Look at the machine, and at the project if there is one."""
    yield from _machine()
    try:
        root = find_project(project)
    except BrasstagError as error:
        yield Check("project", False, str(error))
        return
    yield Check("project", True, str(root))
    free = shutil.disk_usage(root).free
    yield Check("disk", free > ENOUGH_BYTES, f"{free // 1_000_000} MB free")
    yield from _project(root)


def _machine() -> Iterator[Check]:
    yield Check("python", sys.version_info >= (3, 11), platform.python_version())
    yield Check("system", sys.platform == "linux", f"{platform.system()} {platform.release()}")
    version = sqlite_version()
    yield Check("sqlite", version >= OLDEST_SQLITE, ".".join(map(str, version)))
    try:
        folder = user_directory()
    except RuntimeError as error:
        yield Check("user directory", False, paragraph(error))
        return
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    writable = os.access(existing, os.W_OK)
    yield Check("user directory", writable, f"{folder}" if writable else f"{folder} cannot be written")
    yield _approvers()


def _approvers() -> Check:
    """Say who may decide without a terminal, and every bootstrap that there was."""
    try:
        names = approver_names()
    except BrasstagError as error:
        return Check("approvers", False, paragraph(error))
    shown = [f"{name} (by {file})" if file else name for name, file in names.items()]
    return Check(
        "approvers", True, "; ".join([", ".join(shown) or "none has a token", *map(str, bootstraps())])
    )


def _project(root: Path) -> Iterator[Check]:
    try:
        room_state = open_state(root)
    except (BrasstagError, OSError, RuntimeError) as error:
        yield from _named_database(root)
        yield Check("state", False, paragraph(error))
        return
    try:
        yield Check("database", True, room_state.store.database.whereabouts())
        yield from _state(root, room_state)
        changed = Trust(root, room_state.folder).changes()
        if changed:
            names = ", ".join(f"{file.path} ({file.what})" for file in changed)
            yield Check("control files", False, f"{names}; run `brasstag trust`")
            # Loading them takes a person's yes; looking at what they say does not.
            yield from _unaccepted(root)
            return
        yield Check("control files", True, "as accepted")
    except (BrasstagError, OSError) as error:
        yield Check("state", False, paragraph(error))
        return
    finally:
        room_state.close()
    yield from _configuration(root)


def _named_database(root: Path) -> Iterator[Check]:
    """Name the database that could not be opened; the check of the state says why."""
    url = os.environ.get(DATABASE_VARIABLE, "")
    if not url:
        yield Check("database", False, f"SQLite, {root / STATE_DIRECTORY / 'state.db'}")
        return
    # Without the driver, or with something that is no address, there is nothing to name.
    with suppress(ImportError, BrasstagError):
        yield Check("database", False, f"Postgres at {Address(url).place}")


def _state(root: Path, room_state: RoomState) -> Iterator[Check]:
    if was_replaced(root, room_state):
        what = f"{STATE_DIRECTORY}/ belongs to another room than the one you accepted; `brasstag trust` accepts it"
        yield Check("room", False, what)
    found = room_state.verify()
    held = f"{found.entries} entries, {found.checkpoints} seals"
    wrong = f"{len(found.findings)} findings; run `brasstag timeline verify`"
    yield Check("timeline", found.ok, held if found.ok else wrong)
    yield _index(room_state)
    served = is_served(room_state, "")
    yield Check(
        "worker", True, "one serves every run" if served else "none; `brasstag worker` serves every run"
    )


def _index(room_state: RoomState) -> Check:
    try:
        missing = room_state.store.read(count_missing)
        require_sound_index(room_state.store.database)
    except IndexDamaged as error:
        return Check("index", False, paragraph(error))
    lacks = f"{missing} documents are missing from it; run `brasstag documents reindex`"
    return Check("index", not missing, lacks if missing else "it holds every document that was indexed")


def _unaccepted(root: Path) -> Iterator[Check]:
    problems = check_unloaded(root)
    for problem in problems:
        yield Check("configuration", False, str(problem))
    if not problems:
        what = "has no mistakes, but is not accepted yet, so the project's own tools were not loaded; run `brasstag trust`"
        yield Check("configuration", False, what)


def _configuration(root: Path) -> Iterator[Check]:
    problems = check_configuration(root)
    for problem in problems:
        yield Check("configuration", False, str(problem))
    if problems:
        return
    workspace = read_settings(root).workspace(root)
    yield Check("configuration", True, "settings, tools, rules and roles agree")
    yield Check("workspace", os.access(workspace, os.R_OK | os.W_OK), str(workspace))
    yield Check("paths", True, kernel_support(workspace))
    yield _confinement(workspace)


def _confinement(workspace: Path) -> Check:
    scratch = user_directory() / "layers"
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    standing = find_confinement(workspace, scratch)
    if standing.backend is None:
        return Check("running code", False, f"{standing.reason}. {standing.mend}")
    shown = ", ".join(f"{name} {standing.report[name]}" for name in ("net", "mem", "pids", "disk"))
    return Check("running code", True, f"{standing.backend.name}, {standing.report['overlay']}, {shown}")
