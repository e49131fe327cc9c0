"""The vault: a room's books and the key that seals them, opened without reading any settings.

So approvals, ``stop`` and ``timeline verify`` work even when the settings or tools of a project are broken.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from brasstag.settings import STATE_DIRECTORY, user_directory
from brasstag.store.address import DATABASE_VARIABLE
from brasstag.store.blobs import Blobs
from brasstag.store.books import Books
from brasstag.store.boots import Boot
from brasstag.store.contents import Contents
from brasstag.store.opening import open_database, open_jobs
from brasstag.store.seals import Sealer, ephemeral_key, link_at, load_or_create_key, newest_witness
from brasstag.store.sqlite import SqliteDatabase
from brasstag.store.verify import Report, verify
from brasstag.words.canonical import sha256
from brasstag.words.errors import UntrustedError
from brasstag.words.times import Clock, utc_now


@dataclass(slots=True)
class Vault:
    """Books, boot and the room's own folder in the user's directory."""

    books: Books
    boot: Boot
    folder: Path
    project: Path | None = None
    """Whose room it is; None for a room in memory."""
    scratch: tempfile.TemporaryDirectory[str] | None = None
    """Where a room in memory keeps what must be files."""

    @property
    def places(self) -> tuple[Path, ...]:
        """Where on the host all this lies: nothing a caller should read about."""
        project = () if self.project is None else (self.project / STATE_DIRECTORY, self.project)
        return (self.folder, user_directory(), *project)

    def verify(self) -> Report:
        """Walk every chain of the room."""
        sealer = self.books.sealer
        return self.books.read(lambda view: verify(view, {sealer.key.id: sealer.key}, sealer.witness()))

    def close(self) -> None:
        """Let go of database and lock."""
        self.books.database.close()
        self.boot.end()
        if self.scratch is not None:
            self.scratch.cleanup()


def open_vault(project: Path, clock: Clock = utc_now) -> Vault:
    """Open, and where needed create or migrate, the state of a project: on Postgres where its address is set."""
    state = project / STATE_DIRECTORY
    state.mkdir(mode=0o700, exist_ok=True)
    database, identity = open_database(state, os.environ.get(DATABASE_VARIABLE, ""))
    folder = user_directory() / "rooms" / identity
    sealer = Sealer(load_or_create_key(folder), folder / "witness.json")
    boot = Boot(state / "boots")
    blobs = Blobs(state / "blobs", Contents(database))
    books = Books(database, blobs, sealer, boot.id, clock, open_jobs(database))
    return Vault(books, boot, folder, project)


def memory_vault(clock: Clock = utc_now) -> Vault:
    """Open a room that is gone when it closes."""
    scratch = tempfile.TemporaryDirectory(prefix="brasstag-")
    boot = Boot(None)
    database = SqliteDatabase(None)
    sealer = Sealer(ephemeral_key(), None)
    blobs = Blobs(Path(scratch.name) / "blobs", Contents(database))
    books = Books(database, blobs, sealer, boot.id, clock, open_jobs(database))
    return Vault(books, boot, Path(scratch.name), scratch=scratch)


def was_replaced(project: Path, vault: Vault) -> bool:
    """Say whether the state is not the one this user knew: another room's, or an older copy of this one."""
    known = _known_room(project)
    if known.exists() and known.read_text().strip() != vault.folder.name:
        return True
    return not vault.books.read(lambda view: vault.books.sealer.knows_chain(lambda at: link_at(view, at)))


def require_same_room(project: Path, vault: Vault, *, accept: bool = False) -> None:
    """Stop when the state of a known project was replaced; a person may accept the new one."""
    if not accept and was_replaced(project, vault):
        raise UntrustedError(
            [f"{STATE_DIRECTORY}/ (not the state this machine knew; the timeline was replaced or put back)"]
        )
    if accept:
        vault.books.sealer.accept(vault.books.read(newest_witness))
    known = _known_room(project)
    if accept or not known.exists():
        known.parent.mkdir(parents=True, exist_ok=True)
        known.write_text(vault.folder.name)


def _known_room(project: Path) -> Path:
    return user_directory() / "projects" / sha256(str(project.resolve()).encode())[:32]
