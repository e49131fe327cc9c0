"""Where the content of a change comes from: the blobs, or another path."""

import hashlib
import os
import stat
from contextlib import suppress
from typing import Protocol

from brasstag.sandbox.workspace.change.change_site import Site
from brasstag.sandbox.workspace.change.renames import Role, discard, state_at
from brasstag.sandbox.workspace.errors import Unsettled, shown
from brasstag.sandbox.workspace.paths import split_path
from brasstag.sandbox.workspace.view.reader import CHUNK, READ_FILE
from brasstag.sandbox.workspace.view.stage import DEFAULT_FILE_MODE
from brasstag.store.contents.blobs import ZEROS
from brasstag.words.errors import StoreError
from brasstag.words.previews import Change, digest_in, is_link

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Supply(Protocol):
    """Brings content to a private name beside the target, and takes it back if it is not used."""

    role: Role

    def prepare(self, here: int) -> bool:
        """Do ahead what others cannot see; say whether there is something to wait for. ``fetch`` does the rest."""

    def wait(self, here: int) -> None:
        """Wait until what was prepared is on disk."""

    def fetch(self, here: int) -> None:
        """Bring the content to the private name of this role; raises when nothing was done."""

    def give_back(self, here: int, private: str) -> None:
        """Return content that was brought but not used."""

    def lost(self) -> None:
        """Say what it means that another program replaced the content after it was put in place."""


class NewBytes:
    """New bytes: written beside the target, on disk before anything is renamed."""

    role: Role = "tmp"

    def __init__(self, site: Site, index: int, change: Change) -> None:
        self._site = site
        self._index = index
        self._change = change
        self._private = site.name(index, self.role)
        self._name = split_path(change.path)[1]
        self._is_written = self._is_on_disk = False

    def prepare(self, here: int) -> bool:
        """Write the bytes; where that fails, ``fetch`` tries again, and tells why it fails."""
        try:
            self._write(here)
        except (OSError, StoreError):
            with suppress(OSError):
                discard(here, self._private)
        return self._is_written

    def wait(self, here: int) -> None:
        """Wait for the bytes; a link has none."""
        if not is_link(self._change.after):
            descriptor = os.open(self._private, READ_FILE, dir_fd=here)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        self._is_on_disk = True

    def fetch(self, here: int) -> None:
        """Write the bytes, if they are not yet, and wait for them."""
        if not self._is_written:
            self._write(here)
        if not self._is_on_disk:
            self.wait(here)
        self._site.at(f"{self._index}: written")

    def _write(self, here: int) -> None:
        """Write the bytes with the mode and owner they shall have."""
        digest = digest_in(self._change.after) or ""
        if is_link(self._change.after):
            os.symlink(self._site.workspace.blobs.get(digest), self._private, dir_fd=here)
            self._is_written = True
            return
        replaced = _file_at(here, self._name)
        mode = self._change.mode
        if mode is None and replaced is not None:
            mode = stat.S_IMODE(replaced.st_mode)
        # No other user may read it before it has its mode.
        descriptor = os.open(self._private, _WRITE, DEFAULT_FILE_MODE if mode is None else 0o600, dir_fd=here)
        try:
            self._copy(digest, descriptor)
            if replaced is not None:
                _give_owner(descriptor, replaced)
            if mode is not None:
                os.fchmod(descriptor, mode & 0o777)
        finally:
            os.close(descriptor)
        self._is_written = True

    def give_back(self, here: int, private: str) -> None:
        """Leave it: what we wrote ourselves is thrown away with the other private names."""

    def lost(self) -> None:
        """Nothing: the blobs still have it."""

    def _copy(self, digest: str, descriptor: int) -> None:
        hasher = hashlib.sha256()
        size = 0
        with self._site.workspace.blobs.open(digest) as blob:
            while chunk := blob.read(CHUNK):
                hasher.update(chunk)
                size += len(chunk)
                if chunk == ZEROS:
                    os.lseek(descriptor, size, os.SEEK_SET)
                else:
                    _write_all(descriptor, chunk)
        os.ftruncate(descriptor, size)
        if hasher.hexdigest() != digest:
            raise StoreError(f"blob {digest[:12]}… was altered on disk; its bytes no longer match its name")


class Moved:
    """Bytes that are in the workspace already: taken from their place and looked at before they go on."""

    role: Role = "src"

    def __init__(self, site: Site, index: int, change: Change) -> None:
        self._site = site
        self._index = index
        self._change = change
        self._private = site.name(index, self.role)
        self._parent, self._name = split_path(change.source)

    def prepare(self, _here: int) -> bool:
        """Do nothing: what moves is on disk, and stays in its place until the last moment."""
        return False

    def wait(self, here: int) -> None:
        """Nothing."""

    def fetch(self, here: int) -> None:
        """Take the source; put it back if it is not what was seen."""
        with self._site.workspace.directory(self._parent) as there:
            self._site.renames.take(there, self._name, here, self._private)
            self._site.at(f"{self._index}: source taken")
            if state_at(here, self._private) == self._change.after:
                return
            with self._site.restoring(self._change.source):
                self._site.put_back(here, self._private, there, self._change.source)
        raise self._site.changed(self._change.source)

    def give_back(self, here: int, private: str) -> None:
        """Put it back where it was taken from."""
        with self._site.workspace.directory(self._parent) as there:
            self._site.put_back(here, private, there, self._change.source)

    def lost(self) -> None:
        """Raise: what was moved is gone, and no copy of it was made."""
        raise Unsettled(
            f"{shown(self._change.source)} was moved to {shown(self._change.path)}, where another program replaced it",
            {"path": shown(self._change.path), "source": shown(self._change.source), "kept": self._site.kept},
        )


def _file_at(directory: int, name: str) -> os.stat_result | None:
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _give_owner(descriptor: int, replaced: os.stat_result) -> None:
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (replaced.st_uid, replaced.st_gid):
        try:
            os.fchown(descriptor, replaced.st_uid, replaced.st_gid)
        except PermissionError:
            # Only root may give files to another user. So the file belongs to the user that changed it, as
            # with most editors.
            return


def _write_all(descriptor: int, chunk: bytes) -> None:
    left = memoryview(chunk)
    while left:
        left = left[os.write(descriptor, left) :]
