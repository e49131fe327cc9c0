"""What a scan hands to the store: what it found at each path, and what is the same for all of its commits."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from brasstag.store.contents.versions import Version
from brasstag.store.documents.rows import Pending
from brasstag.words.previews import ABSENT, DIRECTORY


@dataclass(frozen=True, slots=True)
class TakenFile:
    """A file or link, as it was read."""

    state: str
    size: int
    mode: int | None
    fingerprint: str
    media_type: str
    text: str = ""
    pending: Pending = Pending.NOTHING
    note: str = ""
    small: bytes | None = None
    """All it holds, where that is kept in the commit that makes it known."""


@dataclass(frozen=True, slots=True)
class PathFinding:
    """What was found at one path."""

    path: str
    newest: Version | None
    """Its newest version, read before the disk was looked at."""
    taken: TakenFile | None
    """None where there is no file and no link."""
    is_directory: bool = False
    is_dropped: bool = False
    """Whether it is to be a document no longer, whatever the disk holds."""

    @property
    def state(self) -> str:
        """What the disk held."""
        if self.taken is not None:
            return self.taken.state
        return DIRECTORY if self.is_directory else ABSENT


@dataclass(frozen=True, slots=True)
class ScanContext:
    """What is the same for all commits of one scan."""

    is_gone: Callable[[str], bool]
    """Says of a path that it holds neither a file nor a link."""
    newest_id: int
    """The last row there was when the scan began; what it added itself cannot have been moved."""
    gone_since: str
    """From when on a path that was found empty may be where something was moved from."""
    fits: Callable[[str, str], bool]
    """Says whether what was found to be of the second type may be called by the first."""


def fingerprint_of(status: os.stat_result) -> str:
    """Return by what a file is known to be unchanged."""
    return f"{status.st_ctime_ns} {status.st_mtime_ns} {status.st_size} {status.st_ino} {status.st_mode & 0o7777:o}"


def inode_in(fingerprint: str) -> str:
    """Return the inode a fingerprint names."""
    parts = fingerprint.split(" ")
    return parts[3] if len(parts) > 3 else ""
