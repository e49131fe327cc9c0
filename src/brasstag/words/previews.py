"""Previews: what a call would do, found by looking only, and each change of a path as a sentence."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from brasstag.words.canonical import digest

ABSENT = "absent"
DIRECTORY = "directory"
"""A path's state is ABSENT, DIRECTORY, ``file:<sha256>`` or ``link:<sha256 of its target>``."""


def file_state(sha256: str) -> str:
    """Return the state of a regular file with these bytes."""
    return f"file:{sha256}"


def link_state(sha256: str) -> str:
    """Return the state of a symbolic link whose target hashes to this."""
    return f"link:{sha256}"


def is_file(state: str) -> bool:
    """Say whether this is the state of a regular file."""
    return state.startswith("file:")


def is_link(state: str) -> bool:
    """Say whether this is the state of a symbolic link."""
    return state.startswith("link:")


def digest_in(state: str) -> str | None:
    """Return the content digest a state carries, or None for absent paths and directories."""
    _, colon, value = state.partition(":")
    return value if colon else None


OPENED = file_state("")
"""The state, in a preview, of a file that was read without taking the digest of what it holds."""


class Fact(StrEnum):
    """What rules and profiles may ask of a preview."""

    READS = "reads"
    CREATES = "creates"
    OVERWRITES = "overwrites"
    DELETES = "deletes"
    MOVES = "moves"
    ANNOTATES = "annotates"
    RUNS = "runs"
    FETCHES = "fetches"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class Seen:
    """A path as a preview saw it."""

    path: str
    state: str


@dataclass(frozen=True, slots=True)
class Change:
    """One path's step from a state that was seen to a state that is wanted.

    A move is one Change: ``source`` is where the bytes are now, ``path`` where they go, ``before`` the state of ``path``.
    """

    path: str
    before: str
    after: str
    source: str = ""
    mode: int | None = None
    """Permission bits the path shall have; None keeps what is there, or the default for something new."""
    before_mode: int | None = None
    size: int = 0
    """Bytes after."""
    before_size: int = 0
    undoable: bool = True
    vacated: bool = False
    """A directory that goes because all it held was moved elsewhere."""
    media_type: str = ""
    """What the caller says the bytes are; empty where that is left to the bytes and the name."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path this change touches."""
        return (self.source, self.path) if self.source else (self.path,)

    @property
    def fact(self) -> Fact:
        """The one fact that names this change; a move onto something is an overwrite."""
        if self.after == ABSENT:
            return Fact.MOVES if self.vacated else Fact.DELETES
        if self.before not in (ABSENT, self.after) or (self.source and self.before != ABSENT):
            return Fact.OVERWRITES
        if self.source:
            return Fact.MOVES
        return Fact.CREATES if self.before == ABSENT else Fact.OVERWRITES

    def as_json(self) -> dict[str, Any]:
        """Return the form the timeline and the ledger store; a media type only where one is said."""
        told = {name: getattr(self, name) for name in self.__slots__}
        if not self.media_type:
            del told["media_type"]
        return told

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Change":
        """Read back what as_json wrote."""
        return cls(**stored)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that a call would replace although it is not what the call's task last saw there.

    The Change of the same path has the other two sides: ``before`` is theirs, ``after`` is ours.
    """

    path: str
    base: str
    """The state the task last saw, or gave it."""
    seen_at: str
    """When that was."""
    by: str
    """Who made what is there now."""

    def as_json(self) -> dict[str, str]:
        """Return every field."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would do; changes nothing."""

    reads: tuple[Seen, ...] = ()
    changes: tuple[Change, ...] = ()
    runs: tuple[str, ...] = ()
    fetches: tuple[str, ...] = ()
    external: bool = False
    """The tool acts outside the workspace in ways a preview cannot see."""
    untracked_reads: int = 0
    """How many files a walk looked into beyond those listed in ``reads``."""
    saves: tuple[str, ...] = ()
    """Files that get what the call fetches; that is known only after the call has run, which is safe to repeat."""
    conflicts: tuple[Conflict, ...] = ()
    """What among its changes would replace something newer than its task has seen."""
    annotates: tuple[str, ...] = ()
    """Documents it says something of, which every reader is shown beside them; their files stay as they are."""
    past: tuple[Seen, ...] = ()
    """Earlier states of paths that the call shows; the paths are not in these states now."""
    names: tuple[str, ...] = field(default=(), compare=False)
    """Paths that the code it runs names; a look reads those that are files, and only ``reads`` is kept."""
    notes: tuple[str, ...] = field(default=(), compare=False)

    def about(self, fact: Fact) -> tuple[str, ...]:
        """Return the paths, commands or addresses that make ``fact`` true; empty when it is not."""
        match fact:
            case Fact.READS:
                return tuple(dict.fromkeys(seen.path for seen in (*self.reads, *self.past)))
            case Fact.ANNOTATES:
                return self.annotates
            case Fact.RUNS:
                return self.runs
            case Fact.FETCHES:
                return self.fetches
            case Fact.EXTERNAL:
                return ("outside the workspace",) if self.external else ()
            case Fact.MOVES:
                return tuple(
                    change.source or change.path for change in self.changes if change.source or change.vacated
                )
            case _:
                return tuple(change.path for change in self.changes if change.fact is fact)

    @property
    def facts(self) -> frozenset[Fact]:
        """Every fact that is true of this preview."""
        return frozenset(fact for fact in Fact if self.about(fact))

    @property
    def undoable(self) -> bool:
        """Whether everything this call would do can be taken back."""
        return not self.external and all(change.undoable for change in self.changes)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every workspace path the call would read, change or annotate, in order, once each."""
        seen = [one.path for one in (*self.reads, *self.past)]
        changed = [path for change in self.changes for path in change.paths]
        return tuple(dict.fromkeys((*seen, *self.saves, *self.annotates, *changed)))

    @property
    def told_changes(self) -> list[dict[str, str]]:
        """Each path that would change, and how, as the result of code tells it."""
        return [{"path": change.path, "change": change.fact.value} for change in self.changes]

    def as_json(self) -> dict[str, Any]:
        """Return the form approvals and timelines store."""
        return {
            "reads": [[seen.path, seen.state] for seen in self.reads],
            "changes": [change.as_json() for change in self.changes],
            "runs": list(self.runs),
            "fetches": list(self.fetches),
            "external": self.external,
            "untracked_reads": self.untracked_reads,
            "saves": list(self.saves),
            "conflicts": [conflict.as_json() for conflict in self.conflicts],
            "annotates": list(self.annotates),
            "past": [[seen.path, seen.state] for seen in self.past],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Preview":
        """Read back what as_json wrote."""
        return cls(
            reads=tuple(Seen(path, state) for path, state in stored["reads"]),
            changes=tuple(Change.from_json(change) for change in stored["changes"]),
            runs=tuple(stored["runs"]),
            fetches=tuple(stored["fetches"]),
            external=stored["external"],
            untracked_reads=stored["untracked_reads"],
            saves=tuple(stored.get("saves", ())),
            conflicts=tuple(Conflict(**conflict) for conflict in stored.get("conflicts", ())),
            annotates=tuple(stored.get("annotates", ())),
            past=tuple(Seen(path, state) for path, state in stored.get("past", ())),
            notes=tuple(stored["notes"]),
        )

    @property
    def digest(self) -> str:
        """The fingerprint of what was seen and what would be done."""
        stored = self.as_json()
        del stored["notes"]
        for name in _SINCE_ADDED:
            if not stored[name]:
                del stored[name]
        return digest(stored)


_SINCE_ADDED = ("conflicts", "annotates", "past")
"""Fields that were added later; older approvals are bound to a digest without them."""


TargetOf = Callable[[str], str | None]
"""Gives where a link with this state leads; None where that is not known."""

_USUAL = {DIRECTORY: 0o755, "file": 0o644}
_EXECUTABLE = 0o111


def unknown(_state: str) -> str | None:
    """Return None: where the link leads is not known."""
    return None


def change_sentence(change: Change, target_of: TargetOf = unknown) -> str:
    """Say what becomes of one path."""
    if change.source:
        return f"moves {change.source} to {change.path}{' (replacing it)' if change.before != ABSENT else ''}"
    before, after = _kind(change.before), _kind(change.after)
    if after == ABSENT:
        return f"deletes {_deleted(change, before, target_of)}"
    if before == ABSENT:
        return _created(change, after, target_of) + _given(change, after)
    if before != after:
        new = _told(after, change.after, change.size, target_of)
        old = _told(before, change.before, change.before_size, target_of)
        return f"{change.path} becomes {new}; it was {old}{_given(change, after)}"
    return _same_kind(change, after, target_of)


def changed_modes(change: Change) -> str:
    """Return the old and the new mode of a path whose kind stays the same; empty where the mode stays, too."""
    is_known = change.mode is not None and change.before_mode is not None
    if not is_known or change.mode == change.before_mode or _kind(change.before) != _kind(change.after):
        return ""
    return f"mode {change.before_mode:03o} → {change.mode:03o}"


def _same_kind(change: Change, kind: str, target_of: TargetOf) -> str:
    modes = changed_modes(change)
    if kind == "link":
        new, old = (_led(state, target_of) for state in (change.after, change.before))
        return f"link {change.path} leads to {new}; it led to {old}"
    what = f"{'directory ' if kind == DIRECTORY else ''}{change.path}"
    if kind == DIRECTORY or (change.before == change.after and modes):
        return f"changes {what}: {modes}" if modes else f"leaves {what} as it is"
    if change.before == change.after:
        return f"overwrites {what} with the same bytes ({change.size})"
    said = f"overwrites {what} ({change.before_size} → {change.size} bytes)"
    return f"{said}, {modes}" if modes else said


def _deleted(change: Change, kind: str, target_of: TargetOf) -> str:
    if kind == DIRECTORY:
        return f"directory {change.path}"
    if kind == "link":
        return f"link {change.path}, which leads to {_led(change.before, target_of)}"
    return f"{change.path} ({change.before_size} bytes)"


def _created(change: Change, kind: str, target_of: TargetOf) -> str:
    if kind == DIRECTORY:
        return f"makes directory {change.path}"
    if kind == "link":
        return f"creates {change.path}, {_told(kind, change.after, 0, target_of)}"
    return f"creates {change.path} ({change.size} bytes)"


def _given(change: Change, kind: str) -> str:
    """Say the mode something new gets, where it is not the usual one."""
    if change.mode is None or change.mode == _USUAL.get(kind, change.mode):
        return ""
    executable = ", executable" if kind == "file" and change.mode & _EXECUTABLE else ""
    return f"{executable}, mode {change.mode:03o}"


def _told(kind: str, state: str, size: int, target_of: TargetOf) -> str:
    if kind == "link":
        return f"a link to {_led(state, target_of)}"
    return "a directory" if kind == DIRECTORY else f"a file of {size} bytes"


def _led(state: str, target_of: TargetOf) -> str:
    return target_of(state) or "a place that is not kept here"


def _kind(state: str) -> str:
    return state.partition(":")[0]
