"""The disk and the stage as one: the workspace as one call would leave it."""

import errno
import os
import stat
from dataclasses import replace

from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.paths import splice
from brasstag.sandbox.workspace.view.reader import (
    NOTHING,
    DiskState,
    Kind,
    Listing,
    PathStat,
    Reader,
    digest_of,
    look_at,
    read_all,
    too_large,
)
from brasstag.sandbox.workspace.view.stage import GONE, Node, StagedPaths
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT, DIRECTORY, digest_in, file_state, is_file


class View:
    """What one call sees: its own staged changes over what is on disk, and a memory of what it saw there."""

    def __init__(self, workspace: Workspace) -> None:
        self.reader = Reader(workspace)
        self.stage = StagedPaths()
        self.seen: dict[str, DiskState] = {}
        self.in_use = ""
        """A directory that this call could not have, because another call is at work in it."""
        self._control = workspace.control
        self._blobs = workspace.blobs
        self.is_at_work = workspace.is_at_work

    def resolve(self, path: str, follow_last: bool = True) -> str:
        """Return the canonical path for a parsed one."""
        if not self.stage:
            return self.reader.resolve(path, follow_last)
        return splice(path, self.link_at, self._control.refuse, follow_last)

    def look(self, path: str) -> PathStat | None:
        """Return what a canonical path is, or None where nothing is."""
        node = self.stage.node(path)
        if node is None:
            return self.reader.look(path)
        return None if node.state == ABSENT else node.look()

    def listing(self, path: str) -> Listing[PathStat]:
        """Return what a directory holds, by name in order."""
        staged = self.stage.children(path)
        before = self.stage.before(path)
        is_new = before is not None and before.state != DIRECTORY
        found: Listing[PathStat] = Listing({}) if is_new else self.reader.listing(path)
        if not staged:
            return found
        children = dict(found.children)
        for name, node in staged.items():
            if node.state == ABSENT:
                children.pop(name, None)
            else:
                children[name] = node.look()
        return replace(found, children=dict(sorted(children.items())))

    def kinds(self, path: str) -> Listing[Kind]:
        """Return what a directory holds by its names alone, in order; quicker than a listing."""
        if not self.stage:
            return self.reader.kinds(path)
        found = self.listing(path)
        kinds = {name: look.kind for name, look in found.children.items()}
        return Listing(kinds, found.controls, unnamed=found.unnamed)

    def read(self, path: str, limit: int | None) -> tuple[bytes, PathStat]:
        """Return content and facts of the file at a parsed path, and remember what was seen."""
        self._control.refuse(path)
        if self.stage:
            path = self.resolve(path)
            node = self.stage.node(path)
            if node is not None:
                return self._staged(path, node, limit), node.look()
        path, descriptor, status = self._open(path)
        try:
            if limit is not None and status.st_size > limit:
                self.remember(path, DiskState("file"))
                raise too_large(path, status.st_size, limit)
            data = read_all(descriptor, path, status.st_size, limit)
        finally:
            os.close(descriptor)
        self.remember(path, DiskState(file_state(sha256(data)), len(data), stat.S_IMODE(status.st_mode)))
        return data, look_at(status)

    def keep(self, path: str, limit: int | None) -> tuple[str, DiskState]:
        """Keep the bytes of the file at a parsed path, in bounded memory; return its canonical path and what it holds."""
        self._control.refuse(path)
        path = self.resolve(path)
        node = self.stage.node(path)
        if node is not None:
            data = self._staged(path, node, limit)
            return path, DiskState(file_state(self._blobs.put(data)), len(data))
        path, descriptor, status = self._open(path)
        try:
            if limit is not None and status.st_size > limit:
                self.remember(path, DiskState("file"))
                raise too_large(path, status.st_size, limit)
            digest, size = digest_of(descriptor)
            if not self._blobs.has(digest):
                digest = self._blobs.put_from(descriptor)
        finally:
            os.close(descriptor)
        held = DiskState(file_state(digest), size, stat.S_IMODE(status.st_mode))
        self.remember(path, held)
        return path, held

    def remember(self, path: str, held: DiskState) -> None:
        """Note what the disk held at a path; what a call saw must stay true while it looks again."""
        earlier = self.seen.get(path)
        if earlier is not None and not _agree(earlier.state, held.state):
            raise ToolError(Code.CHANGED, f"{shown(path)} changed while it was being read; call again")
        if earlier is None or (digest_in(held.state) is not None and not digest_in(earlier.state)):
            self.seen[path] = held

    def before(self, path: str) -> DiskState:
        """Return what the disk holds at a path, or held when this call first read it.

        What was read counts: a write that builds on it must not overwrite something newer.
        """
        staged = self.stage.before(path)
        if staged is not None:
            return staged
        if self.stage.is_in_new_directory(path):
            return NOTHING
        seen = self.seen.get(path)
        if seen is not None and (seen.state == ABSENT or digest_in(seen.state)):
            return seen
        return self.reader.held(path)

    def put(self, path: str, node: Node) -> None:
        """Stage what a path shall be."""
        self.stage.put(path, self.before(path), node)

    def carry(self, source: str, target: str) -> None:
        """Stage the move of one file or link."""
        node = self.stage.node(source)
        if node is None:
            held, look = self.before(source), self.reader.look(source)
            if look is not None:
                node = Node(held.state, held.size, held.mode, origin=source, modified=look.modified)
        elif node.data is not None and node.mode is None:
            # Rewritten first, then moved: the file it replaces had a mode to keep.
            before = self.before(source)
            node = replace(node, mode=before.mode if is_file(before.state) else None)
        if node is None or digest_in(node.state) is None:
            raise ToolError(Code.CHANGED, f"{shown(source)} changed while it was being moved; call again")
        self.put(target, node)
        self.put(source, GONE)

    def target(self, node: Node) -> bytes:
        """Return where a staged link points."""
        return node.data if node.data is not None else self.reader.target(node.origin)

    def link_at(self, path: str) -> str | None:
        """Return where a link points, or None where there is no link."""
        node = self.stage.node(path)
        if node is None:
            return self.reader.link_at(path)
        if node.state == ABSENT or node.kind != "symlink":
            return None
        return os.fsdecode(self.target(node))

    def _staged(self, path: str, node: Node, limit: int | None) -> bytes:
        if node.state == ABSENT:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if node.kind != "file":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if limit is not None and node.size > limit:
            raise too_large(path, node.size, limit)
        if node.data is not None:
            return node.data
        if node.kept:
            return self._blobs.get(digest_in(node.state) or "")
        descriptor, status = self.reader.open(node.origin)
        try:
            data = read_all(descriptor, path, status.st_size, limit)
        finally:
            os.close(descriptor)
        if file_state(sha256(data)) != node.state:
            raise ToolError(Code.CHANGED, f"{shown(path)} changed while it was being read; call again")
        return data

    def _open(self, path: str) -> tuple[str, int, os.stat_result]:
        try:
            return (path, *self.reader.open(path))
        except FileNotFoundError:
            self.remember(path, NOTHING)
            raise
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
        resolved = self.reader.resolve(path)
        try:
            return (resolved, *self.reader.open(resolved))
        except FileNotFoundError:
            self.remember(resolved, NOTHING)
            raise


def _agree(earlier: str, later: str) -> bool:
    # A look saw only the kind; a read saw the bytes too. They agree when one is the other's first word.
    if digest_in(earlier) and digest_in(later):
        return earlier == later
    return _KIND_OF[earlier.partition(":")[0]] == _KIND_OF[later.partition(":")[0]]


_KIND_OF = {kind: kind for kind in (ABSENT, DIRECTORY, "file", "symlink", "other")} | {"link": "symlink"}
