"""The draft a tool function holds: it reads the workspace and stages changes; the disk does not change."""

import errno
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager

from brasstag.sandbox.workspace.change.keep_bytes import keep_for
from brasstag.sandbox.workspace.change.restage import stage_again
from brasstag.sandbox.workspace.change.trees import make_parents, move_path, remove_path
from brasstag.sandbox.workspace.change.undo import stage_undo
from brasstag.sandbox.workspace.errors import at_path, shown
from brasstag.sandbox.workspace.links import OUT, climbing_links, why_not
from brasstag.sandbox.workspace.paths import ROOT, parse_path
from brasstag.sandbox.workspace.view.browse import Browser
from brasstag.sandbox.workspace.view.reader import PathStat
from brasstag.sandbox.workspace.view.stage import Node
from brasstag.sandbox.workspace.view.visibility import Visibility
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.contents.blobs import Batch
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, SecurityError, ToolError
from brasstag.words.previews import DIRECTORY, Change, Preview, Seen, file_state, link_state


class Draft(Browser):
    """One call's view of the workspace: reads are real, writes are staged, and the staged ones are read back.

    ``remove`` and ``move`` act on a link itself, everything else on what it leads to.
    """

    def __init__(self, workspace: Workspace, writable: bool, visibility: Visibility | None = None) -> None:
        super().__init__(workspace, visibility)
        self._writable = writable
        self._annotated: dict[str, None] = {}
        self._past: dict[Seen, None] = {}

    @property
    def in_use(self) -> str:
        """A directory that could not be removed or moved, because another call is at work in it; empty for none."""
        return self._view.in_use

    def write_bytes(
        self,
        path: str,
        data: bytes,
        create_dirs: bool = True,
        mode: int | None = None,
        media_type: str = "",
    ) -> str:
        """Stage a file's whole content, new or over what is there; return its canonical path.

        ``mode`` is None to keep the mode of what is there, or take the default for something new. ``media_type`` is
        what the caller says the bytes are, if anything.
        """
        where = self._to_write(path, follow_last=True)
        with at_path(where), self._view.stage.whole():
            look = self._view.look(where)
            if look is not None and look.kind == "directory":
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if look is not None and look.kind != "file":
                raise ToolError(Code.NOT_A_FILE, f"{shown(where)} is not a plain file; choose another path")
            make_parents(self._view, where, create_dirs)
            staged = self._view.stage.node(where)
            if mode is None and staged is not None:
                mode = staged.mode
            self._view.put(
                where, Node(file_state(sha256(data)), len(data), mode, bytes(data), media_type=media_type)
            )
        return where

    def write_text(self, path: str, text: str, create_dirs: bool = True, mode: int | None = None) -> str:
        """Stage a file's whole content as UTF-8, line ends as they are; return its canonical path."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise ToolError(
                Code.INVALID_ARGUMENTS, "the text holds half of a surrogate pair, which UTF-8 cannot store"
            ) from None
        return self.write_bytes(path, data, create_dirs, mode)

    def batch(self) -> AbstractContextManager[Batch]:
        """Take in the bytes of many files, for ``write_from``."""
        return self._workspace.blobs.batch()

    def write_from(
        self, path: str, descriptor: int, mode: int | None = None, batch: Batch | None = None
    ) -> str:
        """Stage a file with what an open one holds, kept in bounded memory, at once or with a batch; a link is replaced.

        The same bytes with the same mode are no change. Return the canonical path.
        """
        where = self._to_write(path, follow_last=False)
        with at_path(where), self._view.stage.whole():
            self._refuse_other_than_content(where)
            make_parents(self._view, where)
            digest = (batch or self._workspace.blobs).put_from(descriptor)
            self._view.put(where, Node(file_state(digest), os.fstat(descriptor).st_size, mode, kept=True))
        return where

    def make_link(self, path: str, target: str) -> str:
        """Stage a symbolic link, new or over a file or link; the same one again is no change."""
        where = self._to_write(path, follow_last=False)
        data = os.fsencode(target)
        with at_path(where), self._view.stage.whole():
            self._refuse_other_than_content(where)
            make_parents(self._view, where)
            digest = self._workspace.blobs.put(data)
            self._view.put(where, Node(link_state(digest), len(data), data=data, kept=True))
        return where

    def set_directory_mode(self, path: str, mode: int) -> str:
        """Stage other permission bits for a directory; return its canonical path."""
        where = self._to_write(path, follow_last=False)
        with at_path(where), self._view.stage.whole():
            if self._present(where).kind != "directory":
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            self._view.put(where, Node(DIRECTORY, mode=mode))
        return where

    def make_directory(self, path: str, mode: int | None = None) -> str:
        """Stage a directory with all that are missing above it; one that exists is left as it is."""
        where = self._to_write(path, follow_last=True)
        with at_path(where), self._view.stage.whole():
            look = self._view.look(where)
            if look is None:
                make_parents(self._view, where)
                self._view.put(where, Node(DIRECTORY, mode=mode))
            elif look.kind != "directory":
                raise ToolError(Code.ALREADY_EXISTS, f"{shown(where)} exists and is not a directory")
        return where

    def remove(self, path: str, recursive: bool = False) -> list[str]:
        """Stage the removal of a file, a link itself, or a directory; return every path that goes, in order."""
        where = self._to_write(path, follow_last=False)
        if where == ROOT:
            raise SecurityError("the workspace itself cannot be deleted; name something in it")
        with at_path(where), self._view.stage.whole():
            return remove_path(self._view, where, self._present(where), recursive)

    def move(self, source: str, target: str, overwrite: bool = False) -> tuple[str, str]:
        """Stage a move; missing directories above the target are made. Return both canonical paths.

        A file or link replaces a file or link with ``overwrite``; directories never replace nor are replaced.
        Moving something onto itself is refused. So is a move after which a link would lead out of the workspace.
        """
        old = self._to_write(source, follow_last=False)
        new = self._to_write(target, follow_last=False)
        if ROOT in (old, new):
            raise SecurityError("the workspace itself cannot be moved or replaced; name something in it")
        with at_path(old):
            look = self._present(old)
        with at_path(new), self._view.stage.whole():
            links = move_path(self._view, old, new, look, overwrite)
            self._refuse_links_out(links)
        return old, new

    def take_back(self, change: Change) -> list[str]:
        """Stage the reverse of a Change an earlier call made; return the paths that will be as they were."""
        self._to_write(change.path, follow_last=False)
        with at_path(change.path), self._view.stage.whole():
            return stage_undo(self._view, self._workspace.blobs, change)

    def annotate(self, path: str) -> str:
        """Say that this call annotates something that is there, which changes no file; return its canonical path."""
        where = self.canonical(path)
        self._annotated[where] = None
        return where

    def recall(self, path: str, state: str) -> None:
        """Say that this call shows what a path held earlier."""
        self._past[Seen(path, state)] = None

    def stage_again(self, changes: Sequence[Change]) -> None:
        """Stage what another draft of the same call has led to; its bytes have been kept since."""
        with self._view.stage.whole():
            stage_again(self._view, self._workspace.blobs, changes)

    def preview(self) -> Preview:
        """Return exactly what was read and what would be changed."""
        notes = []
        if self.hidden_count:
            notes.append(f"{self.hidden_count} paths are hidden by the policy and were left out")
        if self.skipped_count:
            notes.append(f"{self.skipped_count} paths could not be read or named and were left out")
        return Preview(
            reads=tuple(Seen(path, held.state) for path, held in tuple(self._view.seen.items())),
            changes=self._view.stage.changes(self._workspace.undo_limit) if self._view.stage else (),
            untracked_reads=self._walked,
            annotates=tuple(self._annotated),
            past=tuple(self._past),
            notes=tuple(notes),
        )

    def persist(self) -> None:
        """Keep what the changes need, new bytes and old ones, on disk; raise CHANGED if the old ones are not there."""
        keep_for(self._view, self._workspace)

    def _present(self, where: str) -> PathStat:
        look = self._view.look(where)
        if look is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if look.kind == "other":
            raise ToolError(
                Code.NOT_A_FILE, f"{shown(where)} is a pipe, socket or device; tools leave those alone"
            )
        return look

    def _refuse_links_out(self, moved: Sequence[str]) -> None:
        """Refuse a move of links after which one of them, or one that stays, leads out of the workspace."""
        then, now = self._view.link_at, self._view.reader.link_at
        for path in moved:
            if why_not(self._workspace, path, then) == OUT:
                raise SecurityError(
                    f"{shown(path)} would be a link out of the workspace; a person has to move it",
                    {"path": shown(path)},
                )
        staged = self._view.stage.node
        for path in climbing_links(self._workspace, lambda path: staged(path) is not None) if moved else ():
            if why_not(self._workspace, path, then) == OUT and why_not(self._workspace, path, now) is None:
                raise SecurityError(
                    f"{shown(path)} would lead out of the workspace through a link that is moved; a person has to do it",
                    {"path": shown(path)},
                )

    def _refuse_other_than_content(self, where: str) -> None:
        look = self._view.look(where)
        if look is not None and self._present(where).kind == "directory":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))

    def _to_write(self, path: str, follow_last: bool) -> str:
        self._still_open()
        if not self._writable:
            raise ToolError(
                Code.NOT_SUPPORTED,
                'this tool may only look: its config declares no effect on files. Set "effects" there to let it write',
            )
        parsed = parse_path(path)
        with at_path(parsed):
            return self._view.resolve(parsed, follow_last)
