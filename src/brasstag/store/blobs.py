"""Blobs: bytes kept under their own SHA-256, so a version once seen can always be given back."""

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from brasstag.words.canonical import sha256
from brasstag.words.errors import StoreError

_CHUNK = 1 << 20
ZEROS = bytes(_CHUNK)
"""A whole piece of nothing: files keep a hole in its place, so that sparse ones stay so."""


class Blobs:
    """A directory of immutable files named by their digest; everything put here is on disk when put returns."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, data: bytes) -> str:
        """Keep ``data`` and return its digest; known bytes cost one look."""
        digest = sha256(data)
        if not self.has(digest):
            temporary = self._temporary()
            with temporary.open("xb") as file:
                file.write(data)
                self._keep(file, temporary, digest)
        return digest

    def put_from(self, descriptor: int) -> str:
        """Keep what can be read from an open file, from its start, in bounded memory."""
        temporary = self._temporary()
        hasher = hashlib.sha256()
        offset = 0
        with temporary.open("xb") as file:
            while chunk := os.pread(descriptor, _CHUNK, offset):
                hasher.update(chunk)
                offset += len(chunk)
                if chunk == ZEROS:
                    file.seek(offset)
                else:
                    file.write(chunk)
            file.truncate(offset)
            digest = hasher.hexdigest()
            if self.has(digest):
                temporary.unlink()
            else:
                self._keep(file, temporary, digest)
        return digest

    def has(self, digest: str) -> bool:
        """Say whether these bytes are kept."""
        return self._path(digest).exists()

    def get(self, digest: str) -> bytes:
        """Return the bytes, checked against their name."""
        try:
            data = self._path(digest).read_bytes()
        except FileNotFoundError:
            raise StoreError(f"blob {digest[:12]}… is gone; it was collected or removed by hand") from None
        if sha256(data) != digest:
            raise StoreError(f"blob {digest[:12]}… was altered on disk; its bytes no longer match its name")
        return data

    def open(self, digest: str) -> BinaryIO:
        """Open the bytes for reading in pieces; the caller checks what it read."""
        try:
            return self._path(digest).open("rb")
        except FileNotFoundError:
            raise StoreError(f"blob {digest[:12]}… is gone; it was collected or removed by hand") from None

    def drop(self, digest: str) -> bool:
        """Remove one blob; say whether it was there."""
        try:
            self._path(digest).unlink()
        except FileNotFoundError:
            return False
        return True

    def collect(self, keep: frozenset[str], grace_seconds: float) -> tuple[int, int]:
        """Remove blobs nobody names that are older than the grace age; return how many and how many bytes."""
        oldest_kept = time.time() - grace_seconds
        count = size = 0
        for path in self._files():
            status = path.stat()
            if path.name not in keep and status.st_mtime < oldest_kept:
                path.unlink()
                count += 1
                size += status.st_size
        return count, size

    def _files(self) -> Iterator[Path]:
        for shard in [*sorted(self.root.glob("??")), self.root / "incoming"]:
            if shard.is_dir():
                yield from sorted(shard.iterdir())

    def _keep(self, file: BinaryIO, temporary: Path, digest: str) -> None:
        file.flush()
        os.fsync(file.fileno())
        final = self._path(digest)
        new_shard = not final.parent.exists()
        final.parent.mkdir(exist_ok=True)
        temporary.replace(final)
        _sync_directory(final.parent)
        if new_shard:
            _sync_directory(self.root)

    def _path(self, digest: str) -> Path:
        return self.root / digest[:2] / digest

    def _temporary(self) -> Path:
        incoming = self.root / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        return incoming / f"{os.getpid()}-{os.urandom(8).hex()}"


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
