"""Blobs: bytes kept under their own SHA-256, many of them synced to disk together.

Each content is a file, but for small ones that came many at once: those are in the database.
"""

import hashlib
import io
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import BinaryIO

from brasstag.store.contents.small import Contents
from brasstag.words.canonical import sha256
from brasstag.words.errors import StoreError
from brasstag.words.times import stamp, utc_now

_CHUNK = 1 << 20
ZEROS = bytes(_CHUNK)
"""A piece of zero bytes: a hole is written in its place, so that sparse files stay sparse."""


class Blobs:
    """A directory of immutable files named by their digest; everything put here is on disk when put returns."""

    def __init__(self, root: Path, contents: Contents | None = None, owner: str = "") -> None:
        """Keep files below ``root``; those that are still being written have their ``owner`` in their name."""
        self.root = root
        self.incoming = root / "incoming"
        """Where files are written first; what is left here belongs to nothing once its owner is dead."""
        self._contents = contents
        self._owner = owner or str(os.getpid())

    def put(self, data: bytes) -> str:
        """Keep ``data`` and return its digest; known bytes cost one look."""
        digest = sha256(data)
        if not self.has(digest):
            temporary = self._temporary()
            with _removed_unless_kept(temporary):
                with temporary.open("xb") as file:
                    file.write(data)
                self.keep({digest: temporary})
        return digest

    def put_from(self, descriptor: int) -> str:
        """Keep what can be read from an open file, from its start, in bounded memory."""
        with self.batch() as batch:
            return batch.put_from(descriptor)

    @contextmanager
    def batch(self) -> Iterator["Batch"]:
        """Take in many files; all are kept when the block ends, and none of them before."""
        batch = Batch(self)
        try:
            yield batch
            batch.keep()
        finally:
            batch.clear()

    def receive(self, descriptor: int) -> tuple[str, Path]:
        """Write what an open file holds under a name of its own; return its digest, and that name."""
        temporary = self._temporary()
        hasher = hashlib.sha256()
        offset = 0
        with _removed_unless_kept(temporary), temporary.open("xb") as file:
            while chunk := os.pread(descriptor, _CHUNK, offset):
                hasher.update(chunk)
                offset += len(chunk)
                if chunk == ZEROS:
                    file.seek(offset)
                else:
                    file.write(chunk)
            file.truncate(offset)
        return hasher.hexdigest(), temporary

    def has(self, digest: str) -> bool:
        """Say whether these bytes are kept."""
        return self._path(digest).exists() or (self._contents is not None and self._contents.has(digest))

    def size(self, digest: str) -> int | None:
        """Return the size of the file that holds these bytes; None where there is no such file."""
        try:
            return self._path(digest).stat().st_size
        except FileNotFoundError:
            return None

    def altered(self) -> Iterator[str]:
        """Read every file, and yield the names of those whose bytes have another digest."""
        for path in self._files():
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != path.name:
                    yield path.name

    def file(self, digest: str) -> Path | None:
        """Return the file that holds these bytes; None where they are kept in the database, or not at all."""
        path = self._path(digest)
        return path if path.exists() else None

    def file_of(self, digest: str) -> Path | None:
        """Return the file that holds these bytes and nothing else; None where they are not in one of their own."""
        path = self._path(digest)
        return path if path.exists() else None

    def get(self, digest: str) -> bytes:
        """Return the bytes, checked against their name."""
        try:
            data = self._path(digest).read_bytes()
        except FileNotFoundError:
            data = self._small(digest)
        if sha256(data) != digest:
            raise StoreError(f"blob {digest[:12]}… was altered on disk; its bytes no longer match its name")
        return data

    def open(self, digest: str) -> BinaryIO:
        """Open the bytes for reading in pieces; the caller checks what it read."""
        try:
            return self._path(digest).open("rb")
        except FileNotFoundError:
            return io.BytesIO(self._small(digest))

    def drop(self, digest: str) -> bool:
        """Remove one blob; say whether it was there."""
        is_small = self._contents is not None and self._contents.drop(digest)
        try:
            self._path(digest).unlink()
        except FileNotFoundError:
            return is_small
        return True

    def collect(self, keep: frozenset[str], grace_seconds: float) -> tuple[int, int]:
        """Remove blobs not in ``keep`` that are older than the grace age; return how many and how many bytes."""
        oldest_kept = time.time() - grace_seconds
        count = size = 0
        if self._contents is not None:
            oldest = stamp(utc_now() - timedelta(seconds=grace_seconds))
            count, size = self._contents.collect(keep, oldest)
        for path in self._files():
            status = path.stat()
            if path.name not in keep and status.st_mtime < oldest_kept:
                path.unlink()
                count += 1
                size += status.st_size
        return count, size

    def _files(self) -> Iterator[Path]:
        for shard in sorted(self.root.glob("??")):
            yield from sorted(shard.iterdir())

    def keep(self, received: Mapping[str, Path]) -> None:
        """Give files that were received the names of their digests, once their bytes are on disk."""
        at_once([partial(_sync, temporary) for temporary in received.values()])
        shards = {self._path(digest).parent for digest in received}
        new = [shard for shard in shards if not shard.exists()]
        for shard in new:
            shard.mkdir(exist_ok=True)
        for digest, temporary in received.items():
            temporary.replace(self._path(digest))
        at_once([partial(_sync, place) for place in [*shards, *([self.root] if new else [])]])

    def _small(self, digest: str) -> bytes:
        data = self._contents.get(digest) if self._contents is not None else None
        if data is None:
            raise StoreError(f"blob {digest[:12]}… is gone; it was pruned or collected")
        return data

    def _path(self, digest: str) -> Path:
        return self.root / digest[:2] / digest

    def _temporary(self) -> Path:
        self.incoming.mkdir(parents=True, exist_ok=True)
        return self.incoming / f"{self._owner}-{os.urandom(8).hex()}"


class Batch:
    """Files that are taken in together, at hardly more disk cost than one file."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._received: dict[str, Path] = {}

    def put_from(self, descriptor: int) -> str:
        """Take in what can be read from an open file, and return its digest; it is kept when the batch is."""
        digest, temporary = self._blobs.receive(descriptor)
        if digest in self._received or self._blobs.has(digest):
            temporary.unlink()
        else:
            self._received[digest] = temporary
        return digest

    def keep(self) -> None:
        """Keep all that was taken in; it is on disk when this returns."""
        self._blobs.keep(self._received)

    def clear(self) -> None:
        """Remove what was not kept."""
        for temporary in self._received.values():
            temporary.unlink(missing_ok=True)


@contextmanager
def _removed_unless_kept(temporary: Path) -> Iterator[None]:
    """Remove a file that could not be written or kept: a full disk has no room for it."""
    try:
        yield
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_AT_ONCE = 16


def at_once(waits: Sequence[Callable[[], None]]) -> None:
    """Run jobs that only wait for the disk; raise the first error, once all jobs have ended."""
    if len(waits) < 2:
        for wait in waits:
            wait()
        return
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(lambda wait: wait(), waits):
            pass
