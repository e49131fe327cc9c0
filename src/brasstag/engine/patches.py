"""Patches: what code changed and nobody let land, kept as a diff that a person may read or apply."""

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from brasstag.store.blobs import Blobs
from brasstag.words.errors import StoreError
from brasstag.words.previews import ABSENT, Change, digest_in

MOST_BYTES = 1_000_000
"""A file larger than this on either side is named in a patch, not shown."""

_NEW_FILE, _NO_FILE = 0o644, "/dev/null"


def keep_patch(folder: Path | None, call_id: str, changes: Sequence[Change], blobs: Blobs) -> str:
    """Write the patch of a call's changes and return its name; an empty one where nothing can be kept."""
    if folder is None:
        return ""
    folder.mkdir(mode=0o700, exist_ok=True)
    name = f"{call_id.replace(':', '-')}.patch"
    text = "".join(line for change in changes for line in patch_of(change, blobs))
    (folder / name).write_text(text, "utf-8", "surrogateescape", newline="")
    return f"{folder.parent.name}/{folder.name}/{name}"


def patch_of(change: Change, blobs: Blobs) -> Iterator[str]:
    """Yield the lines of one change, as `git apply` reads them; what is not text is told in a comment."""
    old, new = _text(change.before, change.before_size, blobs), _text(change.after, change.size, blobs)
    yield f"diff --git a/{change.path} b/{change.path}\n"
    if change.before == ABSENT:
        yield f"new file mode 100{change.mode if change.mode is not None else _NEW_FILE:03o}\n"
    elif change.after == ABSENT:
        yield f"deleted file mode 100{change.before_mode if change.before_mode is not None else _NEW_FILE:03o}\n"
    elif change.mode is not None and change.mode != change.before_mode:
        yield f"old mode 100{change.before_mode or _NEW_FILE:03o}\nnew mode 100{change.mode:03o}\n"
    if old is None or new is None:
        yield f"# not shown here: {change.before} becomes {change.after}\n"
        return
    here = f"a/{change.path}" if change.before != ABSENT else _NO_FILE
    there = f"b/{change.path}" if change.after != ABSENT else _NO_FILE
    for line in difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), here, there
    ):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _text(state: str, size: int, blobs: Blobs) -> str | None:
    """Return the text behind a state; None where it is none, is too large, or is not kept."""
    if state == ABSENT:
        return ""
    digest = digest_in(state)
    if digest is None or not state.startswith("file:") or size > MOST_BYTES:
        return None
    try:
        return blobs.get(digest).decode()
    except (StoreError, UnicodeDecodeError):
        return None
