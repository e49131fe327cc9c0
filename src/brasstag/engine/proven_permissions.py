"""What proven timelines say of timed permissions: each timeline is read once, after that only what was added to it."""

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from brasstag.store.store import Store
from brasstag.store.tasks.permissions import permission_digest
from brasstag.store.timeline.lines import START, Position
from brasstag.store.timeline.seals import sealed_head
from brasstag.words.approvals import Permission
from brasstag.words.errors import Unproven
from brasstag.words.events import Entry, EntryKind

log = logging.getLogger("brasstag")


@dataclass(slots=True)
class _ReadTimeline:
    """How far a timeline was read, and the permissions that it grants."""

    position: Position = START
    granted: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By id: the digest of what was granted, and the call whose approval it was made from."""

    def add(self, entries: Iterable[Entry]) -> None:
        """Take new entries into account."""
        for entry in entries:
            payload = entry.payload
            match entry.kind:
                case EntryKind.PERMITTED if payload is not None:
                    self.granted[str(payload["permission"])] = str(payload["row"]), entry.call_id
                case EntryKind.REVOKED if payload is not None:
                    self.granted.pop(str(payload["permission"]), None)
                case EntryKind.REVOKED | EntryKind.REDACTED:
                    # Which permission it was is not told any more, or soon will not be.
                    self.granted = {
                        name: told for name, told in self.granted.items() if told[1] != entry.call_id
                    }
                case _:
                    pass
            self.position = Position(entry.seq + 1, entry.hash)


class ProvenPermissions:
    """The permissions that timelines grant and do not revoke; the table alone is no proof."""

    def __init__(self) -> None:
        self._read: dict[str, _ReadTimeline] = {}
        self._lock = threading.Lock()

    def hold(self, store: Store, permission: Permission) -> bool:
        """Say whether the timeline of its task grants exactly this permission, and does not take it back."""
        with self._lock:
            read = self._read.get(permission.task_id) or _ReadTimeline()
            try:
                self._read_on(store, permission.task_id, read)
            except Unproven as error:
                self._read.pop(permission.task_id, None)
                log.warning("%s lets no call through: %s", permission.id, error)
                return False
            self._read[permission.task_id] = read
            told, _ = read.granted.get(permission.id, ("", ""))
        return told == permission_digest(permission)

    def _read_on(self, store: Store, task_id: str, read: _ReadTimeline) -> None:
        is_new = read.position == START
        entries = store.proven(task_id, read.position)
        if is_new:
            # An older copy of a timeline is signed, too; but where it was taken back, that is sealed.
            sealed = store.read(lambda view: sealed_head(view, task_id))
            if sealed is not None and sealed not in [(entry.seq, entry.hash) for entry in entries]:
                raise Unproven(f"the end of the timeline of {task_id} was cut off")
        read.add(entries)
