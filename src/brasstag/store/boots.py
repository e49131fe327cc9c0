"""Boots: each opening of a room holds a lock for as long as its process lives; the kernel lets go when it dies."""

from pathlib import Path

from filelock import FileLock, Timeout

from brasstag.words.ids import new_id


class Boot:
    """One opening of a room."""

    def __init__(self, folder: Path | None) -> None:
        """Take the lock; a room in memory (``folder`` is None) needs none, as nobody else can see it."""
        self.id = new_id("boot")
        self._folder = folder
        self._lock: FileLock | None = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(folder / f"{self.id}.lock")
            self._lock.acquire()

    def is_alive(self, boot_id: str) -> bool:
        """Say whether the process behind a boot still runs."""
        if boot_id == self.id:
            return True
        if self._folder is None:
            return False
        file = self._folder / f"{boot_id}.lock"
        if not file.exists():
            return False
        try:
            with FileLock(file, timeout=0):
                return False
        except Timeout:
            return True

    def sweep(self, keep: frozenset[str]) -> None:
        """Remove lock files of dead boots that own nothing any more."""
        if self._folder is None:
            return
        for file in self._folder.glob("boot_*.lock"):
            if file.stem not in keep and not self.is_alive(file.stem):
                file.unlink(missing_ok=True)

    def end(self) -> None:
        """Let go of the lock."""
        if self._lock is not None:
            self._lock.release()
            Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock = None
