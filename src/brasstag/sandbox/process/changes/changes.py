"""What a job changed, and which of its changes cannot land."""

import os
import stat
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from brasstag.sandbox.process.changes.copy import LARGEST_COPY
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.links import climbs_late
from brasstag.sandbox.workspace.paths import LONGEST_PATH
from brasstag.words.errors import Code

DEEPEST = 256
"""How deep a run may nest directories: to judge a path takes looking at each name on it."""

MOST_CHANGES = 20_000
"""How many paths one run may change: no limit of time ends a landing."""

_SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path a run has left different from what it found."""

    path: str
    kind: Literal["file", "directory", "link", "gone"]
    mode: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """One path for which the whole set cannot land, and why."""

    path: str
    reason: str
    code: Code = Code.NOT_SUPPORTED


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Everything a run changed, parents before what is in them; it lands whole or not at all."""

    entries: tuple[PathChange, ...]
    refusals: tuple[Refusal, ...]
    source: Path
    """The directory that holds the new bytes, by the same paths."""
    notes: tuple[str, ...] = ()
    """What will not be on disk quite as the code saw it."""
    newer: Callable[[], Iterable[Refusal]] = tuple
    """Looks once more for what others have changed since the run began."""

    def __bool__(self) -> bool:
        return bool(self.entries or self.refusals)


@dataclass
class Findings:
    """What a walk through a layer has found so far."""

    is_control: Callable[[str], bool]
    entries: list[PathChange] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    targets: dict[str, str] = field(default_factory=dict)
    """Where each link leads."""
    _names: dict[tuple[int, int], str] = field(default_factory=dict)
    _copied: int = 0

    def add(self, entry: PathChange) -> None:
        """Note a change, or that it is one to a control file."""
        if self.is_control(entry.path):
            self.refuse(entry.path, "it is a control file, which no tool may change", Code.CONTROL_FILE)
        else:
            self.entries.append(entry)

    def refuse(self, path: str, reason: str, code: Code = Code.NOT_SUPPORTED) -> None:
        """Note that nothing can land because of this path."""
        self.refusals.append(Refusal(shown(path), reason, code))

    def take_out(self, paths: Collection[str]) -> None:
        """Leave paths out of what could have landed."""
        self.entries = [entry for entry in self.entries if entry.path not in paths]

    def file(self, path: str, status: os.stat_result, mode: int, beneath: os.stat_result | None) -> None:
        """Note a file, or something that is neither a file nor a link; ``beneath`` is what was there before."""
        if not stat.S_ISREG(status.st_mode):
            self.refuse(path, "it is a pipe, a socket or a device, which no tool may make; remove it")
        elif mode & _SPECIAL_BITS & ~special_bits(beneath):
            self.refuse(path, "it has the setuid, setgid or sticky bit, which no tool may set")
        elif not mode & stat.S_IRUSR and os.geteuid() != 0:
            self.refuse(path, f"its mode {mode:03o} does not even let its owner read it; choose another")
        elif status.st_nlink > 1 and not self._note_twin(path, status):
            self.refuse(path, "it is a hard link to a file too large to be copied for it; make fewer of them")
        else:
            if beneath is not None and stat.S_ISREG(beneath.st_mode) and beneath.st_nlink > 1:
                self.notes.append(f"{shown(path)} has other names (hard links); they keep what they hold")
            self.add(PathChange(path, "file", mode, status.st_size))

    def link(self, path: str, target: str) -> None:
        """Note a link."""
        reason = why_no_link(path, target, self.is_control)
        if reason:
            self.refuse(path, reason)
        else:
            self.targets[path] = target
            self.add(PathChange(path, "link"))

    def directory(self, path: str, mode: int, *, kept_bits: int) -> None:
        """Note a directory that is new, or has another mode; special bits it was given by others may stay."""
        if mode & _SPECIAL_BITS & ~kept_bits:
            self.refuse(path, "it has the setuid, setgid or sticky bit, which no tool may set")
        self.add(PathChange(path, "directory", mode))

    def _note_twin(self, path: str, status: os.stat_result) -> bool:
        """Say whether another name of a file may land as a file of its own."""
        twin = self._names.setdefault((status.st_dev, status.st_ino), path)
        if twin != path:
            self._copied += status.st_blocks * _BLOCK
            said = f"{shown(path)} and {shown(twin)} are one file (a hard link); they become two with the same bytes"
            self.notes.append(said)
        return self._copied <= LARGEST_COPY


def special_bits(status: os.stat_result | None) -> int:
    """Return the setuid, setgid and sticky bits of what is there."""
    return 0 if status is None else status.st_mode & _SPECIAL_BITS


def why_no_link(path: str, target: str, is_control: Callable[[str], bool]) -> str | None:
    """Say why a link may not land: where it leads on this machine is not where it led inside."""
    if target.startswith("/"):
        return "it is a link to an absolute path; make it relative"
    place = os.path.normpath(os.path.join(os.path.dirname(path), target))
    if place == ".." or place.startswith("../"):
        return "it is a link out of the workspace"
    if climbs_late(target):
        return "it is a link with `..` behind a name, which leads elsewhere once that name is a link; begin with `..`"
    if why_not_named(place):
        return "it is a link to a name that is not UTF-8"
    return "it is a link to a control file" if is_control(place) else None


def why_not_named(path: str) -> str | None:
    """Say why no tool can name a path."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return "its name is not UTF-8; give it another"
    if size > LONGEST_PATH:
        return f"its path is longer than {LONGEST_PATH} bytes; use shorter names"
    return f"it lies more than {DEEPEST} directories deep" if path.count("/") > DEEPEST else None
