"""Browse the workspace for one call; nothing changes, and what is read is noted for the preview."""

import errno
import io
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from brasstag.sandbox.workspace.errors import at_path, shown, tool_error
from brasstag.sandbox.workspace.globs import matcher
from brasstag.sandbox.workspace.hidden_from_code import FoundPath, hidden_in
from brasstag.sandbox.workspace.paths import ROOT, join_path, parse_path
from brasstag.sandbox.workspace.view.reader import NOTHING, DiskState, Kind, Known, Listing, PathStat
from brasstag.sandbox.workspace.view.view import View
from brasstag.sandbox.workspace.view.visibility import EverythingVisible, Visibility
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import OPENED, digest_in


class ListedPath(NamedTuple):
    """One line of a listing."""

    path: str
    """From the workspace, fit for every other method."""
    name: str
    """From the listed directory."""
    type: Kind
    size: int
    modified: datetime


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it was read."""

    path: str
    data: bytes
    look: PathStat

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


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file whose bytes are kept, under their digest, whatever becomes of it."""

    path: str
    digest: str
    size: int
    file: Path | None
    """The file of the host that holds them; None where they are too few for one of their own."""
    content: bytes
    """Those few bytes; empty where there is a file."""


class Browser:
    """Reads, lists and walks the workspace for one call.

    Paths are relative to the workspace, and links are followed inside it. ``visibility`` says what the policy hides.
    """

    def __init__(self, workspace: Workspace, visibility: Visibility | None = None) -> None:
        self.hidden_count = 0
        """How many paths listings and searches left out because the policy hides them."""
        self.skipped_count = 0
        """How many they left out because their names are not UTF-8 or they could not be read."""
        self.disguised_count = 0
        """How many files that were to be opened are control files under another name."""
        self.asked_first: list[str] = []
        """What ``hidden_paths`` has hidden from code because a rule asks before it is read."""
        self._workspace = workspace
        self._visibility = visibility or EverythingVisible()
        self._without_rules: set[str] = set()
        self._view = View(workspace)
        self._walked = 0
        self._closed = False

    def look(self, path: str, follow: bool = True) -> PathStat:
        """Return kind, size, time and mode of a path; ``follow`` looks through a link at the end of it."""
        return self._found(path, follow)[1]

    def canonical(self, path: str) -> str:
        """Return the one name of something that is there: without ``..``, and without links on it."""
        return self._found(path)[0]

    def leads_to(self, path: str) -> str:
        """Return where a path leads, whether or not anything is there."""
        self._still_open()
        parsed = parse_path(path)
        with at_path(parsed):
            return self._view.resolve(parsed)

    def require_shown(self, path: str) -> str:
        """Return where a path leads; raise ToolError where the policy hides that, whether or not anything is there."""
        where = self.leads_to(path)
        for one in (parse_path(path), where):
            if self._visibility.hides(one):
                # It counts as read, so that the rule which hides it is applied; its content is not read.
                self._view.remember(one, DiskState(OPENED))
                raise ToolError(Code.BLOCKED_BY_RULE, f"{shown(path)} is hidden by the policy")
        return where

    def exists(self, path: str) -> bool:
        """Say whether something is there; a link that leads nowhere is not."""
        return self._look(path, follow=True)[1] is not None

    def read(self, path: str, limit: int | None = None) -> FileContent:
        """Return what a file holds and what it is; one over ``limit`` bytes is refused before it is read."""
        self._still_open()
        parsed = parse_path(path)
        try:
            return FileContent(parsed, *self._view.read(parsed, limit))
        except OSError as error:
            raise tool_error(error, parsed) from None

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """Return what a file holds."""
        return self.read(path, limit).data

    def read_text(self, path: str, limit: int | None = None) -> str:
        """Return what a file holds as text."""
        return self.read(path, limit).text

    def keep(self, path: str, limit: int | None = None) -> KeptFile:
        """Keep the bytes of a file, in bounded memory, for a receiver that gets them instead of the workspace."""
        where = self.require_shown(path)
        with at_path(where):
            where, held = self._view.keep(where, limit)
        digest = digest_in(held.state) or ""
        file = self._workspace.blobs.file_of(digest)
        content = self._workspace.blobs.get(digest) if file is None else b""
        return KeptFile(where, digest, held.size, file, content)

    def entries(
        self, directory: str = ROOT, recursive: bool = False, hidden: bool = False
    ) -> Iterator[ListedPath]:
        """List a directory in order, parents before what is in them; links are listed, never followed.

        ``hidden`` includes names that begin with a dot. Control files are not there; names that are not UTF-8 are
        left out and counted in ``skipped_count``.
        """
        where, look = self._found(directory)
        if look.kind != "directory":
            raise ToolError(
                Code.NOT_A_DIRECTORY, f"{shown(directory)} is not a directory; list the one it is in"
            )
        start = _below(where)
        return (
            ListedPath(path, path[start:], look.kind, look.size, look.modified)
            for path, look in self._walk(where, recursive, hidden, self._looks, lambda look: look.kind)
        )

    def hidden_paths(self, walked: list[FoundPath]) -> Iterator[FoundPath]:
        """Yield every path that code must not see; what lies in a directory among them is not named again.

        Code sees what tools cannot even name, so the disk itself is walked; ``walked`` gets the directories it went through.
        """
        self.asked_first.clear()
        with self._workspace.directory(ROOT, READ_DIRECTORY) as root:
            yield from hidden_in(root, self._visibility.says_nothing_about, self._is_hidden_from_code, walked)

    def open_files(
        self, directory: str = ROOT, globs: Sequence[str] = (), hidden: bool = False
    ) -> Iterator[tuple[str, BinaryIO]]:
        """Open every file that ``files`` names, one after the other, as (path, file); each is closed before the next."""
        return self.open_each(self.files(directory, globs, hidden))

    def files(self, directory: str = ROOT, globs: Sequence[str] = (), hidden: bool = False) -> Iterator[str]:
        """Name every file below a directory in order; nothing is opened, so no rule is applied yet.

        ``directory`` may also name one file. Globs are matched below the directory; see the module ``globs``.
        """
        where, look = self._found(directory)
        wants = matcher(globs)
        if look.kind == "file":
            return iter([where])
        start = _below(where)
        found = self._walk(
            where, recursive=True, hidden=hidden, listed=self._kinds, kind_of=lambda kind: kind
        )
        return (path for path, kind in found if kind == "file" and wants(path[start:]))

    def open_each(self, paths: Iterable[str]) -> Iterator[tuple[str, BinaryIO]]:
        """Open files named by ``files``; what cannot be read any more is counted in ``skipped_count``."""
        for path in paths:
            self._still_open()
            try:
                file = self._open_one(path)
            except (OSError, ToolError) as error:
                if getattr(error, "code", None) is Code.CONTROL_FILE:
                    self.disguised_count += 1
                    self.count_as_read((path,))
                else:
                    self.skipped_count += 1
                continue
            self.count_as_read((path,))
            with file:
                yield path, file

    def count_anew(self) -> None:
        """Forget what was left out so far: the same files are gone through once more."""
        self.hidden_count = self.skipped_count = self.disguised_count = 0

    def count_as_read(self, paths: Collection[str]) -> None:
        """Note that files were read for this call; those that a rule may deny or ask about are listed in the preview."""
        listed = [
            path
            for path in paths
            if path not in self._without_rules and self._visibility.must_be_listed(path)
        ]
        for path in listed:
            self._view.remember(path, DiskState(OPENED))
        self._walked += len(paths) - len(listed)

    def close(self) -> None:
        """End the tool's use of this draft: whatever it still tries raises. Preview and persist go on working."""
        self._closed = True

    def _is_hidden_from_code(self, path: str) -> bool:
        if self._visibility.hides(path):
            return True
        asks_first = self._visibility.asks_first(path)
        if asks_first:
            self.asked_first.append(path)
        return asks_first

    def _look(self, path: str, follow: bool) -> tuple[str, PathStat | None]:
        self._still_open()
        parsed = parse_path(path)
        with at_path(parsed):
            where = self._view.resolve(parsed, follow)
            found = self._view.look(where)
            if self._view.stage.node(where) is None:
                self._view.remember(where, NOTHING if found is None else DiskState(found.kind))
        return where, found

    def _found(self, path: str, follow: bool = True) -> tuple[str, PathStat]:
        where, look = self._look(path, follow)
        if look is None:
            raise tool_error(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)), path)
        return where, look

    def _still_open(self) -> None:
        if self._closed:
            raise ToolError(Code.CANCELLED, "this call has ended; its view of the workspace is closed")

    def _walk(
        self,
        directory: str,
        recursive: bool,
        hidden: bool,
        listed: Callable[[str], Mapping[str, Known]],
        kind_of: Callable[[Known], Kind],
    ) -> Iterator[tuple[str, Known]]:
        levels = [self._level(directory, hidden, listed)]
        while levels:
            for path, found in levels[-1]:
                self._still_open()
                yield path, found
                if recursive and kind_of(found) == "directory":
                    levels.append(self._level(path, hidden, listed))
                    break
            else:
                levels.pop()

    def _level(
        self, directory: str, hidden: bool, listed: Callable[[str], Mapping[str, Known]]
    ) -> Iterator[tuple[str, Known]]:
        self._still_open()
        above = join_path(directory, "")
        found = {
            f"{above}{name}": one
            for name, one in listed(directory).items()
            if hidden or not name.startswith(".")
        }
        if self._visibility.says_nothing_about(list(found)):
            self._without_rules.update(found)
            yield from found.items()
            return
        for path, one in found.items():
            if self._visibility.hides(path):
                self.hidden_count += 1
            else:
                yield path, one

    def _looks(self, directory: str) -> Mapping[str, PathStat]:
        return self._counted(self._view.listing, directory)

    def _kinds(self, directory: str) -> Mapping[str, Kind]:
        return self._counted(self._view.kinds, directory)

    def _counted(self, listing: Callable[[str], Listing[Known]], directory: str) -> Mapping[str, Known]:
        try:
            found = listing(directory)
        except (OSError, ToolError):
            # Gone, swapped for something else, or not readable: the rest of the walk still holds.
            self.skipped_count += 1
            return {}
        self.skipped_count += found.unnamed
        return found.children

    def _open_one(self, path: str) -> BinaryIO:
        if self._view.stage.node(path) is not None:
            return io.BytesIO(self._view.read(path, None)[0])
        descriptor, _ = self._view.reader.open(path)
        return os.fdopen(descriptor, "rb")


def _below(directory: str) -> int:
    """Return where, in the path of something below a directory, its path from there begins."""
    return 0 if directory == ROOT else len(directory) + 1
