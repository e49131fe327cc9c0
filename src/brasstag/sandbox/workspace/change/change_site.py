"""The place where one call's changes are made: its private names, what it keeps, and its observers."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from brasstag.sandbox.workspace.change.renames import Renames, Role, discard, exists, private_name, state_at
from brasstag.sandbox.workspace.errors import Unsettled, shown
from brasstag.sandbox.workspace.paths import ROOT, join_path, split_path
from brasstag.sandbox.workspace.view.reader import READ_FILE
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.store.contents.blobs import Blobs
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import DIRECTORY, Change, is_link

ROLES: tuple[Role, ...] = ("tmp", "old", "src")

_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def always() -> None:
    """Nothing stands against the next step."""


class Site:
    """One call's place of work in the workspace.

    ``at`` is told every step by name, before and after which the process may die; tests use it to make it die.
    """

    def __init__(
        self,
        workspace: Workspace,
        call_id: str,
        changes: Sequence[Change],
        at: Callable[[str], None],
        stands: Callable[[], None] = always,
    ) -> None:
        self.stands = stands
        """Asked before anything is put where others see it; raises where that must not happen any more."""
        self.workspace = workspace
        self.changes = changes
        self.renames = Renames(native=not workspace.portable)
        self.kept: list[dict[str, str]] = []
        """What another program had put in place and could not be put back there; its bytes are in the blobs."""
        self.at = at
        self._call_id = call_id
        self._in_directory: dict[str, list[int]] = {}
        for index, change in enumerate(changes):
            self._in_directory.setdefault(split_path(change.path)[0], []).append(index)
        self._going = {
            change.path for change in changes if change.before == DIRECTORY and change.after != DIRECTORY
        }

    def name(self, index: int, role: Role) -> str:
        """Return the private name a change uses for a role."""
        return private_name(self._call_id, index, role)

    def shelter(self, path: str) -> str:
        """Return the nearest directory above a path that stays: what is taken waits there until all is done."""
        place = split_path(path)[0]
        while place != ROOT and place in self._going:
            place = split_path(place)[0]
        return place

    def keep(self, directory: int, private: str, path: str) -> None:
        """Keep the bytes of something foreign that cannot be put back, and say so."""
        if exists(directory, private):
            digest = keep_bytes(self.workspace.blobs, directory, private)
            self.kept.append({"path": shown(path), "sha256": digest})

    def keep_all(self) -> None:
        """Keep whatever has been taken and not given back."""
        for index, directory in self._places():
            self.keep(directory, self.name(index, "old"), self.changes[index].path)

    def put_back(self, there: int, private: str, here: int, path: str) -> None:
        """Put what is at a private name back where it was; if something newer is there, keep its bytes."""
        try:
            self.renames.place(there, private, here, split_path(path)[1])
        except FileExistsError:
            self.keep(there, private, path)
            discard(there, private)
        self.at("put back")

    def changed(self, path: str) -> ToolError:
        """Return the error for a path that is not as the preview saw it."""
        details: dict[str, object] = {"path": shown(path)}
        if self.kept:
            details["kept"] = list(self.kept)
        return ToolError(
            Code.CHANGED, f"another program changed {shown(path)} meanwhile; read it again", details
        )

    @contextmanager
    def restoring(self, path: str) -> Iterator[None]:
        """Mark a block that takes something back: if that fails, only a person can say what holds."""
        try:
            yield
        except (OSError, ToolError) as error:
            why = os.strerror(error.errno or 0) if isinstance(error, OSError) else error.message
            raise Unsettled(
                f"{shown(path)} could not be put back as it was; look at it and decide",
                {"path": shown(path), "why": why, "kept": list(self.kept)},
            ) from None

    def begin(self) -> None:
        """Leave a mark that changes are being made; a single change needs none, as its own traces are enough."""
        if len(self.changes) > 1:
            with self.workspace.directory(ROOT) as root:
                os.close(
                    os.open(self.name(0, "run"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=root)
                )
            self.at("begun")

    def is_begun(self) -> bool:
        """Say whether a process left that mark and did not finish its changes."""
        with self.workspace.directory(ROOT) as root:
            return exists(root, self.name(0, "run"))

    def end(self) -> None:
        """Remove that mark: every change is made, or none."""
        with self.workspace.directory(ROOT) as root:
            discard(root, self.name(0, "run"))
        self.at("ended")

    def refuse_leftovers(self) -> None:
        """Raise if an earlier run of this call was cut short here; recovery comes first."""
        if self.leftovers():
            raise ToolError(
                Code.BUSY, "an earlier run of this call was cut short; it has to be recovered first"
            )

    def leftovers(self) -> list[str]:
        """Return every private name of this call that is there; one of them may hold the only copy of a user's file."""
        found = [self.name(0, "run")] if self.is_begun() else []
        for index, directory in self._places():
            names = [self.name(index, role) for role in ROLES]
            shelter = self.shelter(self.changes[index].path)
            found += [join_path(shelter, name) for name in names if exists(directory, name)]
        return found

    def discard_written(self, directory: str) -> None:
        """Throw away what was written in a directory but not put in place, so that the directory can go."""
        with suppress(FileNotFoundError), self.workspace.directory(directory) as here:
            for index in self._in_directory.get(directory, ()):
                discard(here, self.name(index, "tmp"))

    def sync(self) -> None:
        """Wait until every directory that was changed is on disk as it is now."""
        touched = {split_path(path)[0] for change in self.changes for path in change.paths}
        touched |= {self.shelter(change.path) for change in self.changes}
        touched |= {change.path for change in self.changes if change.after == DIRECTORY}
        for path in sorted(touched):
            try:
                with self.workspace.directory(path, READ_DIRECTORY) as directory:
                    os.fsync(directory)
            except OSError as error:
                # Some file systems cannot sync a directory (EINVAL); one that went has nothing to sync.
                if error.errno not in (*_NOT_THERE, errno.EINVAL):
                    raise
        self.at("synced")

    def clear(self) -> None:
        """Throw away what is left under private names; what cannot be thrown away now is swept later."""
        for index, directory in self._places():
            for role in ROLES:
                with suppress(OSError):
                    discard(directory, self.name(index, role))
            self.at(f"{index}: cleared")

    def _places(self) -> Iterator[tuple[int, int]]:
        for index, change in enumerate(self.changes):
            try:
                descriptor = self.workspace.open_directory(self.shelter(change.path))
            except OSError as error:
                if error.errno not in _NOT_THERE:
                    raise
                continue
            try:
                yield index, descriptor
            finally:
                os.close(descriptor)


def keep_bytes(blobs: Blobs, directory: int, name: str) -> str:
    """Put what a file holds, or where a link points, into the blobs; raise OSError for anything else."""
    if is_link(state_at(directory, name)):
        return blobs.put(os.readlink(os.fsencode(name), dir_fd=directory))
    descriptor = os.open(name, READ_FILE, dir_fd=directory)
    try:
        return blobs.put_from(descriptor)
    finally:
        os.close(descriptor)
