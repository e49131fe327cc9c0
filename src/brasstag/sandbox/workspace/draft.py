"""The draft: what a tool function holds. It looks at the workspace and says what it wants changed; nothing is."""

import errno
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, NamedTuple

from brasstag.sandbox.workspace.again import stage_again
from brasstag.sandbox.workspace.errors import at_path, shown, tool_error
from brasstag.sandbox.workspace.globs import matcher
from brasstag.sandbox.workspace.keeping import keep_for
from brasstag.sandbox.workspace.paths import ROOT, join_path, parse_path
from brasstag.sandbox.workspace.reader import NOTHING, Held, Kind, Look
from brasstag.sandbox.workspace.staging import Node
from brasstag.sandbox.workspace.trees import make_parents, move_path, remove_path
from brasstag.sandbox.workspace.undo import stage_undo
from brasstag.sandbox.workspace.view import View
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, SecurityError, ToolError
from brasstag.words.previews import DIRECTORY, Change, Preview, Seen, file_state, link_state


class Entry(NamedTuple):
    """One line of a listing."""

    path: str
    """From the workspace, fit for every other method."""
    name: str
    """From the listed directory."""
    type: Kind
    size: int
    modified: datetime


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was read."""

    path: str
    data: bytes
    look: Look

    @property
    def text(self) -> str:
        """The content as text: strict UTF-8, with byte order mark and line ends as they are."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            raise ToolError(
                Code.NOT_TEXT,
                f"{shown(self.path)} is not UTF-8 text (byte {error.start} fits no character); "
                "read it as base64 instead",
                {"offset": error.start},
            ) from None


class Draft:
    """One call's view of the workspace: reads are real, writes are staged, and the staged ones are read back.

    Paths are relative to the workspace. Links are followed inside it, except by ``remove`` and ``move``, which
    act on a link itself. ``hidden`` says which paths the policy keeps out of listings and searches, ``minded`` which
    ones a rule speaks about: a search that opens one names it in its preview, where the rule is heard. ``unspoken`` says of
    many paths at once that neither can be.
    """

    def __init__(
        self,
        workspace: Workspace,
        writable: bool,
        hidden: Callable[[str], bool] | None = None,
        minded: Callable[[str], bool] | None = None,
        unspoken: Callable[[Sequence[str]], bool] | None = None,
    ) -> None:
        self.hidden_count = 0
        """How many paths listings and searches left out because the policy hides them."""
        self.skipped_count = 0
        """How many they left out because their names are not UTF-8 or they could not be read."""
        self._workspace = workspace
        self._writable = writable
        self._is_hidden = hidden or (lambda _path: False)
        self._is_minded = minded or (lambda _path: False)
        self._are_unspoken = unspoken or (lambda _paths: False)
        self._unspoken: set[str] = set()
        self._view = View(workspace)
        self._walked = 0
        self._closed = False

    def look(self, path: str, follow: bool = True) -> Look:
        """Return kind, size, time and mode of a path; ``follow`` looks through a link at the end of it."""
        return self._found(path, follow)[1]

    def canonical(self, path: str) -> str:
        """Return the one name of something that is there: without ``..``, and without links on it."""
        return self._found(path)[0]

    def exists(self, path: str) -> bool:
        """Say whether something is there; a link that leads nowhere is not."""
        return self._look(path, follow=True)[1] is not None

    def read(self, path: str, limit: int | None = None) -> Content:
        """Return what a file holds and what it is; one over ``limit`` bytes is refused before it is read."""
        self._still_open()
        parsed = parse_path(path)
        try:
            return Content(parsed, *self._view.read(parsed, limit))
        except OSError as error:
            raise tool_error(error, parsed) from None

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """Return what a file holds."""
        return self.read(path, limit).data

    def read_text(self, path: str, limit: int | None = None) -> str:
        """Return what a file holds as text."""
        return self.read(path, limit).text

    def entries(
        self, directory: str = ROOT, recursive: bool = False, hidden: bool = False
    ) -> Iterator[Entry]:
        """List a directory in order, parents before what is in them; links are listed, never followed.

        ``hidden`` includes names that begin with a dot. Control files are not there; names that are not UTF-8 are
        left out and counted in ``skipped_count``.
        """
        where, look = self._found(directory)
        if look.kind != "directory":
            raise ToolError(
                Code.NOT_A_DIRECTORY, f"{shown(directory)} is not a directory; list the one it is in"
            )
        start = 0 if where == ROOT else len(where) + 1
        return (
            Entry(path, path[start:], look.kind, look.size, look.modified)
            for path, look in self._walk(where, recursive, hidden)
        )

    def hidden_paths(self) -> Iterator[tuple[str, bool]]:
        """Yield every path the policy hides, and whether it is a directory; what lies in one is not named again."""
        pending = [ROOT]
        while pending:
            directory = pending.pop()
            for name, look in self._listed(directory).items():
                path = join_path(directory, name)
                if self._is_hidden(path):
                    yield path, look.kind == "directory"
                elif look.kind == "directory":
                    pending.append(path)

    def open_files(
        self, directory: str = ROOT, globs: Sequence[str] = (), hidden: bool = False
    ) -> Iterator[tuple[str, BinaryIO]]:
        """Open every file that ``files`` names, one after the other, as (path, file); each is closed before the next."""
        return self.open_each(path for path, _ in self.files(directory, globs, hidden))

    def files(
        self, directory: str = ROOT, globs: Sequence[str] = (), hidden: bool = False
    ) -> Iterator[tuple[str, int]]:
        """Name every file below a directory in order, as (path, size); nothing is opened, so no rule is heard yet.

        ``directory`` may also name one file. Globs are matched below the directory; see the module ``globs``.
        """
        where, look = self._found(directory)
        wants = matcher(globs)
        if look.kind == "file":
            return iter([(where, look.size)])
        start = 0 if where == ROOT else len(where) + 1
        found = self._walk(where, recursive=True, hidden=hidden)
        return ((path, look.size) for path, look in found if look.kind == "file" and wants(path[start:]))

    def open_each(self, paths: Iterable[str]) -> Iterator[tuple[str, BinaryIO]]:
        """Open files named by ``files``; what cannot be read any more is counted in ``skipped_count``."""
        for path in paths:
            self._still_open()
            try:
                file = self._open_one(path)
            except (OSError, ToolError):
                self.skipped_count += 1
                continue
            self.count_as_read(path)
            with file:
                yield path, file

    def count_as_read(self, path: str) -> None:
        """Note that a file of ``files`` was read for this call; what a rule speaks about is named in the preview."""
        if path not in self._unspoken and self._is_minded(path):
            self._view.remember(path, Held("file"))
        else:
            self._walked += 1

    def write_bytes(self, path: str, data: bytes, create_dirs: bool = True, mode: int | None = None) -> str:
        """Stage a file's whole content, new or over what is there; return its canonical path.

        ``mode`` is None to keep the mode of what is there, or take the default for something new.
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
            self._view.put(where, Node(file_state(sha256(data)), len(data), mode, bytes(data)))
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

    def write_from(self, path: str, descriptor: int, mode: int | None = None) -> str:
        """Stage a file with what an open one holds, which is kept at once and in bounded memory; a link is replaced.

        The same bytes with the same mode are no change. Return the canonical path.
        """
        where = self._to_write(path, follow_last=False)
        with at_path(where), self._view.stage.whole():
            self._refuse_other_than_content(where)
            make_parents(self._view, where)
            digest = self._workspace.blobs.put_from(descriptor)
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
        Moving something onto itself is refused.
        """
        old = self._to_write(source, follow_last=False)
        new = self._to_write(target, follow_last=False)
        if ROOT in (old, new):
            raise SecurityError("the workspace itself cannot be moved or replaced; name something in it")
        with at_path(old):
            look = self._present(old)
        with at_path(new), self._view.stage.whole():
            move_path(self._view, old, new, look, overwrite)
        return old, new

    def take_back(self, change: Change) -> list[str]:
        """Stage the reverse of a Change an earlier call made; return the paths that will be as they were."""
        self._to_write(change.path, follow_last=False)
        with at_path(change.path), self._view.stage.whole():
            return stage_undo(self._view, self._workspace.blobs, change)

    def stage_again(self, changes: Sequence[Change]) -> None:
        """Stage what another draft of the same call has led to; its bytes have been kept since."""
        with self._view.stage.whole():
            stage_again(self._view, self._workspace.blobs, changes)

    def close(self) -> None:
        """End the tool's use of this draft: whatever it still tries raises. Preview and persist go on working."""
        self._closed = True

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
            notes=tuple(notes),
        )

    def persist(self) -> None:
        """Keep what the changes need, new bytes and old ones, on disk; raise CHANGED if the old ones are not there."""
        keep_for(self._view, self._workspace)

    def _look(self, path: str, follow: bool) -> tuple[str, Look | None]:
        self._still_open()
        parsed = parse_path(path)
        with at_path(parsed):
            where = self._view.resolve(parsed, follow)
            found = self._view.look(where)
            if self._view.stage.node(where) is None:
                self._view.remember(where, NOTHING if found is None else Held(found.kind))
        return where, found

    def _found(self, path: str, follow: bool = True) -> tuple[str, Look]:
        where, look = self._look(path, follow)
        if look is None:
            raise tool_error(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)), path)
        return where, look

    def _present(self, where: str) -> Look:
        look = self._view.look(where)
        if look is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if look.kind == "other":
            raise ToolError(
                Code.NOT_A_FILE, f"{shown(where)} is a pipe, socket or device; tools leave those alone"
            )
        return look

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

    def _still_open(self) -> None:
        if self._closed:
            raise ToolError(Code.CANCELLED, "this call has ended; its view of the workspace is closed")

    def _walk(self, directory: str, recursive: bool, hidden: bool) -> Iterator[tuple[str, Look]]:
        levels = [self._level(directory, hidden)]
        while levels:
            for path, look in levels[-1]:
                self._still_open()
                yield path, look
                if recursive and look.kind == "directory":
                    levels.append(self._level(path, hidden))
                    break
            else:
                levels.pop()

    def _level(self, directory: str, hidden: bool) -> Iterator[tuple[str, Look]]:
        self._still_open()
        above = join_path(directory, "")
        found = {
            f"{above}{name}": look
            for name, look in self._listed(directory).items()
            if hidden or not name.startswith(".")
        }
        if self._are_unspoken(list(found)):
            self._unspoken.update(found)
            yield from found.items()
            return
        for path, look in found.items():
            if self._is_hidden(path):
                self.hidden_count += 1
            else:
                yield path, look

    def _listed(self, directory: str) -> dict[str, Look]:
        try:
            listing = self._view.listing(directory)
        except (OSError, ToolError):
            # Gone, swapped for something else, or not readable: the rest of the walk still holds.
            self.skipped_count += 1
            return {}
        self.skipped_count += listing.unnamed
        return listing.children

    def _open_one(self, path: str) -> BinaryIO:
        if self._view.stage.node(path) is not None:
            return io.BytesIO(self._view.read(path, None)[0])
        descriptor, _ = self._view.reader.open(path)
        return os.fdopen(descriptor, "rb")
