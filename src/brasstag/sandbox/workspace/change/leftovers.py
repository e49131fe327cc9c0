"""What a dead process left of one change, read from its private names.

old holds `before`   the path was taken or exchanged: our change is in place, or was about to be
old holds `after`    ours was never exchanged, or has been swapped back
old holds neither    another program had changed the path; its content is put back
src                  the source of a move was taken and not yet put in place
tmp                  ours was being written; nothing had happened
"""

import os
import stat
from enum import Enum

from brasstag.sandbox.workspace.change.change_site import Site
from brasstag.sandbox.workspace.change.closed_directories import opened
from brasstag.sandbox.workspace.change.renames import Role, discard, exists, state_at
from brasstag.sandbox.workspace.change.steps import make_directory, steps_for
from brasstag.sandbox.workspace.paths import split_path
from brasstag.words.previews import ABSENT, DIRECTORY, Change, digest_in


class ChangeProgress(Enum):
    """How far one change came."""

    DONE = "in place"
    PENDING = "as before; it can still be made"
    CONFLICT = "another program changed the path, and our change is not in place"
    LOST = "neither before nor after, and it is not known why"


class Scene:
    """One change of a call that was cut short."""

    def __init__(self, site: Site, index: int, change: Change) -> None:
        self._site = site
        self._index = index
        self._change = change

    def settle(self) -> ChangeProgress:
        """Give back what is not ours, and say how far the change came; can be repeated after a crash of its own."""
        try:
            there = self._site.workspace.open_directory(self._site.shelter(self._change.path))
        except (FileNotFoundError, NotADirectoryError):
            return self._by_states(begun=False)
        try:
            return self._by_traces(there)
        finally:
            os.close(there)

    def _by_traces(self, there: int) -> ChangeProgress:
        begun = exists(there, self._private("tmp"))
        discard(there, self._private("tmp"))
        self._drop_twins(there)
        source = state_at(there, self._private("src"))
        if source != ABSENT:
            begun = True
            self._put_back(there, "src", self._change.source)
        old = state_at(there, self._private("old"))
        finding = self._by_states(begun) if old == ABSENT else self._by_old(there, old, begun)
        return finding if source in (ABSENT, self._change.after) else ChangeProgress.CONFLICT

    def _by_old(self, there: int, old: str, begun: bool) -> ChangeProgress:
        before, after = self._change.before, self._change.after
        if old not in (before, after):
            return self._give_back(there)
        now = self._state(self._change.path)
        if old != before:
            # Ours, not exchanged or swapped back.
            if self._change.source:
                self._put_back(there, "old", self._change.source)
            discard(there, self._private("old"))
            return ChangeProgress.PENDING if now == before else ChangeProgress.CONFLICT
        if self._is_made(now):
            return ChangeProgress.DONE
        if now == ABSENT:
            self._put_back(there, "old", self._change.path)
            return ChangeProgress.PENDING
        if now == before:
            discard(there, self._private("old"))
            return ChangeProgress.PENDING
        # Another program has put something there since: before our change came, or over it.
        return ChangeProgress.CONFLICT if begun else ChangeProgress.DONE

    def _give_back(self, there: int) -> ChangeProgress:
        now = self._state(self._change.path)
        if now == self._change.after and now != ABSENT:
            for step in reversed(steps_for(self._site, self._index, self._change)):
                step.adopt()
                step.undo()
        else:
            self._put_back(there, "old", self._change.path)
        return ChangeProgress.CONFLICT

    def _by_states(self, begun: bool) -> ChangeProgress:
        before, after = self._change.before, self._change.after
        now = self._state(self._change.path)
        if self._change.source:
            return self._of_move(now)
        if self._is_made(now):
            return ChangeProgress.DONE
        if now == before:
            return ChangeProgress.PENDING
        if before == DIRECTORY and now == ABSENT and digest_in(after):
            # Between two steps of one change: the directory went, the file had not come.
            self._make_again()
            return ChangeProgress.PENDING
        return ChangeProgress.CONFLICT if begun else ChangeProgress.LOST

    def _is_made(self, now: str) -> bool:
        """Say whether a path is as it should be; where only the mode was to change, only the mode can show it."""
        change = self._change
        if now != change.after:
            return False
        if now != change.before or change.mode is None:
            return True
        # Before recovery looks, it opens every directory that a change is to close.
        wanted = opened(change.mode) if now == DIRECTORY else change.mode
        return self._mode(change.path) == wanted

    def _of_move(self, now: str) -> ChangeProgress:
        source = self._state(self._change.source)
        # Where both files held the same bytes, the target does not show whether the move was made.
        if now == self._change.after and (source == ABSENT or now not in (self._change.before, source)):
            return ChangeProgress.DONE
        if now == self._change.before and source == self._change.after:
            return ChangeProgress.PENDING
        if now == self._change.before or source == self._change.after:
            return ChangeProgress.CONFLICT
        return ChangeProgress.LOST

    def _drop_twins(self, there: int) -> None:
        # Where place is a link and an unlink, a crash between the two leaves one file under two names.
        seen = [_inode(self._site, path) for path in self._change.paths]
        for private in (self._private("old"), self._private("src")):
            if exists(there, private) and _inode_at(there, private) in seen:
                discard(there, private)

    def _put_back(self, there: int, role: Role, path: str) -> None:
        parent, _ = split_path(path)
        with self._site.restoring(path), self._site.workspace.directory(parent) as here:
            self._site.put_back(there, self._private(role), here, path)

    def _make_again(self) -> None:
        parent, name = split_path(self._change.path)
        with self._site.restoring(self._change.path), self._site.workspace.directory(parent) as here:
            make_directory(here, name, self._change.before_mode)

    def _state(self, path: str) -> str:
        parent, name = split_path(path)
        try:
            with self._site.workspace.directory(parent) as here:
                return state_at(here, name)
        except (FileNotFoundError, NotADirectoryError):
            return ABSENT

    def _mode(self, path: str) -> int | None:
        parent, name = split_path(path)
        with self._site.workspace.directory(parent) as here:
            return stat.S_IMODE(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)

    def _private(self, role: Role) -> str:
        return self._site.name(self._index, role)


def _inode(site: Site, path: str) -> tuple[int, int] | None:
    parent, name = split_path(path)
    try:
        with site.workspace.directory(parent) as here:
            return _inode_at(here, name)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _inode_at(directory: int, name: str) -> tuple[int, int]:
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    return status.st_dev, status.st_ino
