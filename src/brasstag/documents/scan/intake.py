"""Read one file or link for a scan: its digest, type and text, and keep its bytes."""

import os
import stat
from collections.abc import Callable

from brasstag.documents.formats.kinds import CONVERTED, LINK, is_text_kind, kind_among
from brasstag.documents.formats.limits import ONLY_A_LINK, Sizes
from brasstag.documents.formats.text import BEGINNING, decoded
from brasstag.documents.scan.walk import FileStat, kept_fingerprint, now_nanoseconds
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.paths import split_path
from brasstag.sandbox.workspace.view.reader import READ_FILE, digest_of
from brasstag.store.contents.blobs import Batch, Blobs
from brasstag.store.contents.small import LARGEST as LARGEST_SMALL
from brasstag.store.contents.versions import Version
from brasstag.store.documents.findings import Taken, inode_in
from brasstag.store.documents.rows import Pending
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import digest_in, file_state, link_state

_ATTEMPTS = 3


class Intake:
    """Reads the files of one batch."""

    def __init__(
        self, blobs: Blobs, batch: Batch, sizes: Sizes, look: Callable[[str], FileStat | None]
    ) -> None:
        self._blobs = blobs
        self._batch = batch
        self._sizes = sizes
        self._look = look

    def take(self, directory: int, file: FileStat, newest: Version | None) -> Taken | None:
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

    def _link(self, directory: int, file: FileStat) -> Taken | None:
        looked_at = now_nanoseconds()
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
        return Taken(state, len(target), None, fingerprint, LINK, note=ONLY_A_LINK, small=target)

    def _file(self, directory: int, file: FileStat, newest: Version | None) -> Taken | None:
        """Read a file; None where it was another one by then, or did not stay as it was."""
        looked_at = now_nanoseconds()
        descriptor = os.open(split_path(file.path)[1], READ_FILE, dir_fd=directory)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode) or str(before.st_ino) != inode_in(file.fingerprint):
                return None
            fingerprint = kept_fingerprint(before, looked_at)
            if before.st_size <= LARGEST_SMALL:
                taken = self._small(descriptor, file.path, before, fingerprint)
            else:
                taken = self._large(descriptor, file.path, before, fingerprint, newest)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
        return taken if is_same and taken.size == after.st_size else None

    def _small(self, descriptor: int, path: str, status: os.stat_result, fingerprint: str) -> Taken:
        data = os.read(descriptor, LARGEST_SMALL + 1)
        state, mode = file_state(sha256(data)), stat.S_IMODE(status.st_mode)
        media_type, text = described(path, data, is_whole=True)
        is_converted = media_type in CONVERTED
        return Taken(
            state,
            len(data),
            mode,
            fingerprint,
            media_type,
            text="" if is_converted else text or "",
            pending=Pending.CONVERT if is_converted else Pending.NOTHING,
            note=self._sizes.note(len(data), is_text=text is not None, is_converted=is_converted),
            small=data,
        )

    def _large(
        self,
        descriptor: int,
        path: str,
        status: os.stat_result,
        fingerprint: str,
        newest: Version | None,
    ) -> Taken:
        size = status.st_size
        digest = self._kept(descriptor, size, newest)
        beginning = os.pread(descriptor, BEGINNING, 0)
        media_type, text = described(path, beginning, is_whole=False)
        is_converted = media_type in CONVERTED
        if text is not None and not is_converted:
            wanted = min(size, self._sizes.indexed)
            _, text = described(path, _beginning(descriptor, wanted), is_whole=wanted == size)
        return Taken(
            file_state(digest),
            size,
            stat.S_IMODE(status.st_mode),
            fingerprint,
            media_type,
            text="" if is_converted else text or "",
            pending=Pending.CONVERT if is_converted else Pending.NOTHING,
            note=self._sizes.note(size, is_text=text is not None, is_converted=is_converted),
        )

    def _kept(self, descriptor: int, size: int, newest: Version | None) -> str:
        """Return the digest of a file that is kept by then, unless it is too large."""
        if newest is not None and newest.size == size:
            # Most probably it is what it was; a copy is made only where it is not.
            digest, _ = digest_of(descriptor)
            if digest == digest_in(newest.state) and self._blobs.has(digest):
                return digest
        return digest_of(descriptor)[0] if size > self._sizes.kept else self._batch.put_from(descriptor)


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
