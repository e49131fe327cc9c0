"""Patches: changes of code that did not land, kept as a diff a person may read or apply."""

import difflib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from brasstag.store.contents.blobs import Blobs
from brasstag.words.errors import StoreError
from brasstag.words.previews import ABSENT, DIRECTORY, Change, changed_modes, digest_in, is_link

MOST_BYTES = 1_000_000
"""A file larger than this on either side is named in a patch, not shown."""
MOST_LINES = 5_000
"""With more lines than this on both sides together, shared lines are not looked for: it could take minutes."""

_FILE, _LINK, _DEFAULT_MODE, _NO_FILE = 0o100000, 0o120000, 0o644, "/dev/null"
_KNOWN_MODES = {0o644, 0o755}
"""The modes that git distinguishes; other modes are named in a comment."""
_ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}


def keep_patch(folder: Path | None, call_id: str, changes: Sequence[Change], blobs: Blobs) -> str:
    """Write the patch of a call's changes and return its name; an empty one where nothing can be kept."""
    if folder is None:
        return ""
    folder.mkdir(mode=0o700, exist_ok=True)
    name = _name(call_id)
    with (folder / name).open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        for change in changes:
            file.writelines(patch_of(change, blobs))
    return f"{folder.parent.name}/{folder.name}/{name}"


def drop_patch(folder: Path | None, call_id: str) -> None:
    """Remove the patch of a call whose changes have landed."""
    if folder is not None:
        # A patch that cannot be removed does no harm: it only shows changes that were made.
        with suppress(OSError):
            (folder / _name(call_id)).unlink()


def _name(call_id: str) -> str:
    return f"{call_id.replace(':', '-')}.patch"


def patch_of(change: Change, blobs: Blobs) -> Iterator[str]:
    """Yield the lines of one change, as `git apply` reads them; what a diff cannot show is put in a comment."""
    if change.source:
        yield f"# {_quoted(change.source)} moves to {_quoted(change.path)}\n"
        return
    old, new = _text(change.before, change.before_size, blobs), _text(change.after, change.size, blobs)
    if old is None or new is None:
        yield f"# not shown here: {_quoted(change.path)}, {change.before} becomes {change.after}"
        yield "\n" if change.mode is None else f" with {changed_modes(change) or f'mode {change.mode:03o}'}\n"
        return
    mode = change.before_mode if change.mode is None else change.mode
    old_kind, new_kind = _kind(change.before, change.before_mode), _kind(change.after, mode)
    if changed_modes(change) and not {change.mode, change.before_mode} <= _KNOWN_MODES:
        yield f"# {_quoted(change.path)}: {changed_modes(change)}\n"
    if old_kind and new_kind and _is_link(old_kind) != _is_link(new_kind):
        # A path that becomes another kind (file, link) is deleted first, then created again.
        yield from _section(change.path, old_kind, 0, old, "")
        yield from _section(change.path, 0, new_kind, "", new)
    else:
        yield from _section(change.path, old_kind, new_kind, old, new)


def _section(path: str, old_kind: int, new_kind: int, old: str, new: str) -> Iterator[str]:
    here, there = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    yield f"diff --git {here} {there}\n"
    if not old_kind:
        yield f"new file mode {new_kind:06o}\n"
    elif not new_kind:
        yield f"deleted file mode {old_kind:06o}\n"
    elif old_kind != new_kind:
        yield f"old mode {old_kind:06o}\nnew mode {new_kind:06o}\n"
    yield from _hunks(
        _lines(old), _lines(new), here if old_kind else _NO_FILE, there if new_kind else _NO_FILE
    )


def _hunks(old: list[str], new: list[str], here: str, there: str) -> Iterator[str]:
    if old == new:
        return
    if len(old) + len(new) > MOST_LINES:
        starts = [f"{1 if lines else 0},{len(lines)}" for lines in (old, new)]
        yield f"--- {here}\n+++ {there}\n@@ -{starts[0]} +{starts[1]} @@\n"
        found = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    else:
        found = list(difflib.unified_diff(old, new, here, there))
    for line in found:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """Split as git does; to Python a form feed and others end a line, too."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def _kind(state: str, mode: int | None) -> int:
    """Return what git calls a thing's mode; 0 where there is nothing."""
    if state == ABSENT:
        return 0
    # Of the mode of a file, git keeps only whether it can be run.
    executable = 0o755 if mode is not None and mode & 0o100 else _DEFAULT_MODE
    return _LINK if is_link(state) else _FILE | executable


def _is_link(kind: int) -> bool:
    return kind == _LINK


def _quoted(path: str) -> str:
    """Return a path as git writes it: in quotes where it holds what would end a line, or a name."""
    escaped = path.translate(_ESCAPES)
    escaped = "".join(f"\\{ord(one):03o}" if ord(one) < ord(" ") else one for one in escaped)
    return path if escaped == path else f'"{escaped}"'


def _text(state: str, size: int, blobs: Blobs) -> str | None:
    """Return the text behind a state; None where it is none, is too large, or is not kept."""
    if state == ABSENT:
        return ""
    digest = digest_in(state)
    if digest is None or state == DIRECTORY or size > MOST_BYTES:
        return None
    try:
        text = blobs.get(digest).decode()
    except (StoreError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text
