"""What a call would do, for the decision page: each change with its whole diff, each command and address, each conflict."""

import asyncio
from collections.abc import Mapping

from brasstag.app import Room
from brasstag.surfaces.web.routes import WebModel
from brasstag.surfaces.web.show.diff_rows import FileDiff, file_diff
from brasstag.words.previews import Change, Conflict, Preview, change_sentence, digest_in, is_file, is_link


class ChangeView(WebModel):
    """What becomes of one path."""

    path: str
    sentence: str
    fact: str
    diff: FileDiff | None
    undoable: bool


class ConflictView(WebModel):
    """A path that others changed since the task saw it: what it saw, what is there, what the call makes of it."""

    path: str
    by: str
    seen_at: str
    base_to_theirs: FileDiff | None
    """None where what the task saw is not kept."""


class PreviewView(WebModel):
    """Everything a call would do."""

    changes: list[ChangeView]
    conflicts: list[ConflictView]
    runs: list[str]
    fetches: list[str]
    saves: list[str]
    annotates: list[str]
    reads: int
    external: bool
    undoable: bool
    notes: list[str]
    digest: str
    """What a decision has to carry as ``seen``."""


async def preview_view(room: Room, preview: Preview) -> PreviewView:
    """Return a preview as people see it; diffs are made on a thread."""
    return await asyncio.to_thread(_view, room, preview)


def _view(room: Room, preview: Preview) -> PreviewView:
    by_path = {change.path: change for change in preview.changes}
    return PreviewView(
        changes=[_change(room, change) for change in preview.changes],
        conflicts=[_conflict(room, one, by_path) for one in preview.conflicts],
        runs=list(preview.runs),
        fetches=list(preview.fetches),
        saves=list(preview.saves),
        annotates=list(preview.annotates),
        reads=len(preview.reads) + preview.untracked_reads,
        external=preview.external,
        undoable=preview.undoable,
        notes=list(preview.notes),
        digest=preview.digest,
    )


def _change(room: Room, change: Change) -> ChangeView:
    has_text = is_file(change.after) or is_file(change.before)
    diff = None
    if has_text and not (change.source and change.before == "absent"):
        diff = file_diff(_bytes(room, change.before), _bytes(room, change.after))
    return ChangeView(
        path=change.path,
        sentence=change_sentence(change, lambda state: _target(room, state)),
        fact=change.fact.value,
        diff=diff,
        undoable=change.undoable,
    )


def _conflict(room: Room, conflict: Conflict, changes: Mapping[str, Change]) -> ConflictView:
    base, theirs = _bytes(room, conflict.base), _bytes(room, changes[conflict.path].before)
    return ConflictView(
        path=conflict.path,
        by=conflict.by,
        seen_at=conflict.seen_at,
        base_to_theirs=None if base is None else file_diff(base, theirs),
    )


def _bytes(room: Room, state: str) -> bytes | None:
    """Return the bytes of a file, empty for anything else; None where they are not kept."""
    if not is_file(state):
        return b""
    digest = digest_in(state) or ""
    return room.store.blobs.get(digest) if room.store.blobs.has(digest) else None


def _target(room: Room, state: str) -> str | None:
    digest = digest_in(state) or ""
    known = is_link(state) and room.store.blobs.has(digest)
    return room.store.blobs.get(digest).decode(errors="replace") if known else None
