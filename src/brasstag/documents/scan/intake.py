"""Read one file or link for a scan: its digest, type and text, and keep its bytes."""

import os
import stat
import time
from collections.abc import Callable
from typing import NamedTuple

from brasstag.documents.formats.kinds import CONVERTED, LINK, is_text_kind, kind_among
from brasstag.documents.formats.limits import ONLY_A_LINK, Sizes
from brasstag.documents.formats.text import BEGINNING, decoded
from brasstag.documents.scan.walk import FileStat, kept_fingerprint
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.paths import split_path
from brasstag.sandbox.workspace.view.reader import READ_FILE, digest_of
from brasstag.store.contents.blobs import Batch, Blobs
from brasstag.store.contents.small import LARGEST as LARGEST_SMALL
from brasstag.store.contents.versions import Version
from brasstag.store.documents.findings import TakenFile, inode_in
from brasstag.store.documents.rows import Pending
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import digest_in, file_state, link_state

_ATTEMPTS = 3


class _HeldContent(NamedTuple):
    """What an open file holds."""

    digest: str
    size: int
    media_type: str
    text: str | None
    data: bytes | None = None
    """All of it, where it is small."""


class Intake:
    """Reads the files of one batch."""

    def __init__(
        self, blobs: Blobs, batch: Batch, sizes: Sizes, look: Callable[[str], FileStat | None]
    ) -> None:
        self._blobs = blobs
        self._batch = batch
        self._sizes = sizes
        self._look = look

    def take(self, directory: int, file: FileStat, newest: Version | None) -> TakenFile | None:
        """Read what was seen in an open directory; None where it is gone.

        Raises OSError where it cannot be read, ToolError where it will not stand still.
        """
        seen: FileStat | None = file
        for _ in range(_ATTEMPTS):
            if seen is None:
                return None
            try:
                taken = self._link(directory, seen) if seen.is_link else self._file(directory, seen, newest)
            except FileNotFoundError:
                return None
            if taken is not None:
                return taken
            seen = self._look(file.path)
        raise ToolError(Code.CHANGED, f"{shown(file.path)} kept changing while it was being read")

    def _link(self, directory: int, file: FileStat) -> TakenFile | None:
        looked_at = time.time_ns()
        name = split_path(file.path)[1]
        try:
            target = os.readlink(name.encode(), dir_fd=directory)
        except OSError:
            return None
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISLNK(status.st_mode) or str(status.st_ino) != inode_in(file.fingerprint):
            return None
        fingerprint = kept_fingerprint(status, looked_at)
        state = link_state(sha256(target))
        return TakenFile(state, len(target), None, fingerprint, LINK, note=ONLY_A_LINK, small=target)

    def _file(self, directory: int, file: FileStat, newest: Version | None) -> TakenFile | None:
        """Read a file; None where it was another one by then, or did not stay as it was."""
        looked_at = time.time_ns()
        descriptor = os.open(split_path(file.path)[1], READ_FILE, dir_fd=directory)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode) or str(before.st_ino) != inode_in(file.fingerprint):
                return None
            if before.st_size <= LARGEST_SMALL:
                held = _small(descriptor, file.path)
            else:
                held = self._large(descriptor, file.path, before.st_size, newest)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
        if not is_same or held.size != after.st_size:
            return None
        is_converted = held.media_type in CONVERTED
        return TakenFile(
            file_state(held.digest),
            held.size,
            stat.S_IMODE(before.st_mode),
            kept_fingerprint(before, looked_at),
            held.media_type,
            text="" if is_converted else held.text or "",
            pending=Pending.CONVERT if is_converted else Pending.NOTHING,
            note=self._sizes.note(held.size, is_text=held.text is not None, is_converted=is_converted),
            small=held.data,
        )

    def _large(self, descriptor: int, path: str, size: int, newest: Version | None) -> _HeldContent:
        digest = self._kept(descriptor, size, newest)
        media_type, text = described(path, os.pread(descriptor, BEGINNING, 0), is_whole=False)
        if text is not None and media_type not in CONVERTED:
            wanted = min(size, self._sizes.indexed)
            _, text = described(path, _beginning(descriptor, wanted), is_whole=wanted == size)
        return _HeldContent(digest, size, media_type, text)

    def _kept(self, descriptor: int, size: int, newest: Version | None) -> str:
        """Return the digest of a file that is kept by then, unless it is too large."""
        if newest is not None and newest.size == size:
            # Most probably it is what it was; a copy is made only where it is not.
            digest, _ = digest_of(descriptor)
            if digest == digest_in(newest.state) and self._blobs.has(digest):
                return digest
        return digest_of(descriptor)[0] if size > self._sizes.kept else self._batch.put_from(descriptor)


def _small(descriptor: int, path: str) -> _HeldContent:
    data = os.read(descriptor, LARGEST_SMALL + 1)
    return _HeldContent(sha256(data), len(data), *described(path, data, is_whole=True), data)


def described(path: str, data: bytes, *, is_whole: bool) -> tuple[str, str | None]:
    """Return the media type of what bytes begin, and their text where they are one."""
    text = decoded(data, is_whole=is_whole)
    kind = kind_among(path, data, can_be_read=text is not None)
    return kind, text if is_text_kind(kind) else None


def _beginning(descriptor: int, size: int) -> bytes:
    pieces: list[bytes] = []
    at = 0
    while at < size and (piece := os.pread(descriptor, size - at, at)):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)
