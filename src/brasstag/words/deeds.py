"""What becomes of one path, as a sentence: kinds and modes are said wherever they change."""

from collections.abc import Callable

from brasstag.words.previews import ABSENT, DIRECTORY, Change

TargetOf = Callable[[str], str | None]
"""Gives where a link with this state leads; None where that is not known."""

_USUAL = {DIRECTORY: 0o755, "file": 0o644}
_EXECUTABLE = 0o111


def unknown(_state: str) -> str | None:
    """Know of no link where it leads."""
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
    """Return the old and the new mode of what stays what it is; empty where it keeps its mode."""
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
