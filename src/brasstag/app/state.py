"""RoomState: a room's store and the key that seals it, opened without reading any settings.

So approvals, ``stop`` and ``timeline verify`` work even when the settings or tools of a project are broken.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from brasstag.catalog.file_differences import file_differences, unapproved_tools
from brasstag.catalog.prompt_files import LIVE, PromptFiles
from brasstag.catalog.snapshots import Receipts
from brasstag.engine.tracebacks import Tracebacks
from brasstag.settings import STATE_DIRECTORY, user_directory
from brasstag.store.catalog.proposals import list_proposals
from brasstag.store.contents.blobs import Blobs
from brasstag.store.contents.small import Contents
from brasstag.store.database.postgres_address import DATABASE_VARIABLE
from brasstag.store.database.sqlite import SqliteDatabase
from brasstag.store.maintenance.verify import Finding, Report, verify
from brasstag.store.open import open_database, open_jobs
from brasstag.store.store import Store
from brasstag.store.tasks.processes import ProcessLock
from brasstag.store.timeline.seals import Sealer, ephemeral_key, link_at, load_or_create_key, newest_witness
from brasstag.words.canonical import sha256
from brasstag.words.errors import UntrustedError
from brasstag.words.review.proposals import ProposalState
from brasstag.words.times import Clock, utc_now


@dataclass(slots=True)
class RoomState:
    """Store, boot and the room's own folder in the user's directory."""

    store: Store
    boot: ProcessLock
    folder: Path
    project: Path | None = None
    """The project of the room; None for a room in memory."""
    scratch: tempfile.TemporaryDirectory[str] | None = None
    """Where a room in memory keeps what must be files."""

    @property
    def places(self) -> tuple[Path, ...]:
        """The host's paths of all this; callers should not read them."""
        project = () if self.project is None else (self.project / STATE_DIRECTORY, self.project)
        return (self.folder, user_directory(), *project)

    def verify(self, *, contents: bool = False) -> Report:
        """Check every chain of the room, and the tables beside; with ``contents``, read every content that is kept."""
        store, sealer = self.store, self.store.sealer
        keys, witness = {sealer.key.id: sealer.key}, sealer.witness()
        report = store.read(lambda view: verify(view, keys, witness, store.blobs, contents=contents))
        if contents:
            self._compare_types(report)
        self._compare_prompts(report)
        return report

    @property
    def prompt_files(self) -> tuple[PromptFiles, PromptFiles]:
        """The files of the project's prompt tools and of the user's; those of a room in memory go with it."""
        if self.project is None:
            places = (self.folder / "prompts", self.folder / "user-prompts")
        else:
            places = (self.project / STATE_DIRECTORY / "prompts", user_directory() / "prompts")
        return (
            PromptFiles(places[0], "project", f"{STATE_DIRECTORY}/prompts/{LIVE}"),
            PromptFiles(places[1], "user", f"prompts/{LIVE} of the user directory"),
        )

    @property
    def tracebacks(self) -> Tracebacks:
        """Where the tracebacks of tools are kept; a room in memory keeps none."""
        return Tracebacks(None if self.project is None else self.project / STATE_DIRECTORY / "logs")

    @property
    def receipts(self) -> Receipts:
        """What signs the snapshots of this account in this room."""
        if self.project is None:
            return Receipts(lambda: self.store.sealer.key, "memory")
        return Receipts(lambda: load_or_create_key(user_directory()), self.folder.name)

    def _compare_types(self, report: Report) -> None:
        from brasstag.documents.scan.verify_types import wrong_types  # noqa: PLC0415 - most commands do without

        found = self.store.read(lambda view: list(wrong_types(view, self.store.blobs)))
        report.findings += [Finding(path, what) for path, what in found]

    def _compare_prompts(self, report: Report) -> None:
        """Compare live files and history with the approved proposals."""
        approved = self.store.read(lambda view: list_proposals(view, [ProposalState.APPROVED]))
        project, user = self.prompt_files
        for files in (project, user):
            if approved or files.folder.exists():
                found = [Finding(*each) for each in file_differences(approved, files, self.receipts)]
                report.findings += found
                report.about_files += len(found)
        if unapproved := unapproved_tools(approved, project):
            report.unseen.append(
                f"{project.shown} holds {', '.join(unapproved)}, which no person has approved here; they are not used"
            )

    def close(self) -> None:
        """Close the database and release the lock."""
        self.store.database.close()
        self.boot.end()
        if self.scratch is not None:
            self.scratch.cleanup()


SERVING = "serving"
"""Where processes say which runs they work on, in the state."""


def open_state(project: Path, clock: Clock = utc_now) -> RoomState:
    """Open, and where needed create or migrate, the state of a project: on Postgres where its address is set."""
    state = project / STATE_DIRECTORY
    state.mkdir(mode=0o700, exist_ok=True)
    _keep_out_of_git(state)
    database, identity = open_database(state, os.environ.get(DATABASE_VARIABLE, ""))
    folder = user_directory() / "rooms" / identity
    sealer = Sealer(load_or_create_key(folder), folder / "witness.json")
    boot = ProcessLock(state / "boots")
    blobs = Blobs(state / "blobs", Contents(database), boot.id)
    boot.look_after(blobs.incoming, state / SERVING)
    store = Store(database, blobs, sealer, boot.id, clock, open_jobs(database))
    return RoomState(store, boot, folder, project)


_NOT_COMMITTED = "*\n"
_COMMITTED = "*\n!.gitignore\n!prompts/\n!prompts/**\n.*.tmp\n"
"""What git leaves out of the state: all but prompt tools and their history, which people share."""


def _keep_out_of_git(state: Path) -> None:
    file = state / ".gitignore"
    try:
        known = file.read_text()
    except FileNotFoundError:
        known = _NOT_COMMITTED
    if known == _NOT_COMMITTED:
        file.write_text(_COMMITTED)


def memory_state(clock: Clock = utc_now) -> RoomState:
    """Open the state of a room that exists only until it closes."""
    scratch = tempfile.TemporaryDirectory(prefix="brasstag-")
    boot = ProcessLock(None)
    database = SqliteDatabase(None)
    sealer = Sealer(ephemeral_key(), None)
    blobs = Blobs(Path(scratch.name) / "blobs", Contents(database))
    store = Store(database, blobs, sealer, boot.id, clock, open_jobs(database))
    return RoomState(store, boot, Path(scratch.name), scratch=scratch)


def was_replaced(project: Path, room_state: RoomState) -> bool:
    """Say whether the state is not the one this user knew: another room's, or an older copy of this one."""
    known = _known_room(project)
    if known.exists() and known.read_text().strip() != room_state.folder.name:
        return True
    return not room_state.store.read(
        lambda view: room_state.store.sealer.knows_chain(lambda at: link_at(view, at))
    )


def require_same_room(project: Path, room_state: RoomState, *, accept: bool = False) -> None:
    """Stop when the state of a known project was replaced; a person may accept the new one."""
    if not accept and was_replaced(project, room_state):
        raise UntrustedError(
            [f"{STATE_DIRECTORY}/ (not the state this machine knew; the timeline was replaced or put back)"]
        )
    if accept:
        room_state.store.sealer.accept(room_state.store.read(newest_witness))
    known = _known_room(project)
    if accept or not known.exists():
        known.parent.mkdir(parents=True, exist_ok=True)
        known.write_text(room_state.folder.name)


def _known_room(project: Path) -> Path:
    return user_directory() / "projects" / sha256(str(project.resolve()).encode())[:32]
