"""One change as steps; each happens whole or not at all, and each can be undone.

Everything passes through a private name, which no other program uses. A step first moves what is there to such a name,
looks at it, and goes on only if it is what the preview saw. So nothing that another editor renamed into place is lost.
"""

import errno
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress

from brasstag.sandbox import syscalls
from brasstag.sandbox.workspace.change.change_site import Site
from brasstag.sandbox.workspace.change.closed_directories import opened, set_mode
from brasstag.sandbox.workspace.change.content_source import Moved, NewBytes, Supply
from brasstag.sandbox.workspace.change.renames import Role, exists, identity, state_at
from brasstag.sandbox.workspace.errors import at_path
from brasstag.sandbox.workspace.paths import split_path
from brasstag.sandbox.workspace.view.stage import DEFAULT_DIRECTORY_MODE
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY
from brasstag.words.errors import BrasstagError, ToolError
from brasstag.words.previews import ABSENT, DIRECTORY, Change

_TRIES = 1000


class Step(ABC):
    """One step towards a Change."""

    def __init__(self, site: Site, index: int, change: Change) -> None:
        self.site = site
        self.index = index
        self.change = change
        self.parent, self.name = split_path(change.path)

    @property
    def path(self) -> str:
        """The path this step changes."""
        return self.change.path

    @abstractmethod
    def run(self) -> None:
        """Do it; raises ToolError or OSError when nothing was done, Unsettled when that is not sure."""

    def prepare(self) -> Callable[[], None] | None:
        """Do ahead what others cannot see; return what waits until it is on disk, if there is anything to wait for."""
        return None

    @abstractmethod
    def undo(self) -> None:
        """Take it back; raises Unsettled when that cannot be done."""

    def adopt(self) -> bool:
        """Take over a step a dead process has done; say whether there is anything to take back."""
        return True

    def private(self, role: Role) -> str:
        """Return the private name of this change for a role."""
        return self.site.name(self.index, role)

    def at(self, what: str) -> None:
        """Tell the watcher of these changes how far this step is."""
        self.site.at(f"{self.index}: {what}")


class MakeDirectory(Step):
    """Nothing becomes a directory."""

    def run(self) -> None:
        """Make it."""
        with self.site.workspace.directory(self.parent) as here:
            make_directory(here, self.name, self.change.mode)
        self.at("made")

    def undo(self) -> None:
        """Remove it, unless another program has put something in it since: then it stays."""
        with self.site.restoring(self.path), self.site.workspace.directory(self.parent) as here:
            self.site.discard_written(self.path)
            _remove_if_empty(here, self.name)
        self.at("unmade")


class RemoveDirectory(Step):
    """An empty directory goes."""

    def run(self) -> None:
        """Remove it; the kernel refuses when something is in it."""
        with self.site.workspace.directory(self.parent) as here:
            os.rmdir(self.name, dir_fd=here)
        self.at("removed")

    def undo(self) -> None:
        """Make it again."""
        with (
            self.site.restoring(self.path),
            suppress(FileExistsError),
            self.site.workspace.directory(self.parent) as here,
        ):
            make_directory(here, self.name, self.change.before_mode)
        self.at("made again")


class SetMode(Step):
    """A directory gets other permission bits; rights its owner loses are taken away at the very end."""

    def run(self) -> None:
        """Set them, unless another program has set others meanwhile."""
        wanted = opened(self.change.mode)
        with self.site.workspace.directory(self.path) as here:
            if stat.S_IMODE(os.fstat(here).st_mode) not in (self.change.before_mode, wanted):
                raise self.site.changed(self.path)
            set_mode(here, wanted)
        self.at("mode set")

    def undo(self) -> None:
        """Set them as they were."""
        with self.site.restoring(self.path), self.site.workspace.directory(self.path) as here:
            set_mode(here, self.change.before_mode or 0)
        self.at("mode set back")


class Take(Step):
    """A file or link goes; it waits under a private name until everything else is done."""

    def run(self) -> None:
        """Take it, look at it, put it back if it is not what was seen."""
        workspace, old = self.site.workspace, self.private("old")
        with (
            workspace.directory(self.parent) as here,
            workspace.directory(self.site.shelter(self.path)) as there,
        ):
            self.site.renames.take(here, self.name, there, old)
            self.at("taken")
            if state_at(there, old) == self.change.before:
                return
            with self.site.restoring(self.path):
                self.site.put_back(there, old, here, self.path)
        raise self.site.changed(self.path)

    def undo(self) -> None:
        """Put it back."""
        workspace = self.site.workspace
        with (
            self.site.restoring(self.path),
            workspace.directory(self.parent) as here,
            workspace.directory(self.site.shelter(self.path)) as there,
        ):
            self.site.put_back(there, self.private("old"), here, self.path)

    def adopt(self) -> bool:
        """What was taken can be put back as long as it waits under its private name."""
        with self.site.workspace.directory(self.site.shelter(self.path)) as there:
            return exists(there, self.private("old"))


class Supplied(Step):
    """A step that puts content in place."""

    def __init__(self, site: Site, index: int, change: Change) -> None:
        super().__init__(site, index, change)
        self.supply = supply_for(site, index, change)
        self.ours: tuple[int, int, str] | None = None

    def prepare(self) -> Callable[[], None] | None:
        """Bring ahead what can be; where it goes may not be there yet."""
        self.site.stands()
        is_prepared = False
        with suppress(OSError, ToolError), self.site.workspace.directory(self.parent) as here:
            is_prepared = self.supply.prepare(here)
        return self._wait if is_prepared else None

    def _wait(self) -> None:
        with at_path(self.path), self.site.workspace.directory(self.parent) as here:
            self.supply.wait(here)


class PutInPlace(Supplied):
    """A file or link appears where nothing is."""

    def run(self) -> None:
        """Bring it and place it."""
        with self.site.workspace.directory(self.parent) as here:
            self.supply.fetch(here)
            self.put(here)

    def put(self, here: int) -> None:
        """Place what the supply has brought."""
        private = self.private(self.supply.role)
        try:
            self.site.stands()
            self.site.renames.place(here, private, here, self.name)
        except (OSError, BrasstagError):
            with self.site.restoring(self.path):
                self.supply.give_back(here, private)
            raise
        self.ours = identity(here, self.name)
        self.at("placed")

    def undo(self) -> None:
        """Take it away again, unless another program has replaced it since."""
        private = self.private(self.supply.role)
        with self.site.restoring(self.path), self.site.workspace.directory(self.parent) as here:
            try:
                self.site.renames.take(here, self.name, here, private)
            except FileNotFoundError:
                self.supply.lost()
                return
            self.at("taken away")
            if identity(here, private) == self.ours:
                self.supply.give_back(here, private)
            else:
                self.site.put_back(here, private, here, self.path)
                self.supply.lost()

    def adopt(self) -> bool:
        """Find what was put in place."""
        with self.site.workspace.directory(self.parent) as here:
            self.ours = identity(here, self.name)
        return True


class Swap(Supplied):
    """A file or link takes the place of another, in one step where the kernel can."""

    def run(self) -> None:
        """Exchange the two, look at what came out, and swap back if it is not what was seen."""
        old = self.private("old")
        with self.site.workspace.directory(self.parent) as here:
            self.supply.fetch(here)
            try:
                os.rename(self.private(self.supply.role), old, src_dir_fd=here, dst_dir_fd=here)
                self.ours = identity(here, old)
                self.at("ready")
                if state_at(here, self.name) != self.change.before:
                    # Seen in time: other programs do not have to see our file come and go.
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
                self.at("checked")
                self.site.stands()
                self.site.renames.exchange(here, old, self.name)
            except (OSError, BrasstagError) as error:
                if isinstance(error, OSError) and error.errno in syscalls.MISSING:
                    self._in_two_parts(here)
                    return
                with self.site.restoring(self.path):
                    self.supply.give_back(here, old)
                raise
            self.at("exchanged")
            if state_at(here, old) == self.change.before:
                return
            with self.site.restoring(self.path):
                self._swap_back(here)
        raise self.site.changed(self.path)

    def undo(self) -> None:
        """Swap back, or leave in place what another program has put there since."""
        with self.site.restoring(self.path), self.site.workspace.directory(self.parent) as here:
            try:
                self._swap_back(here)
            except OSError as error:
                if error.errno not in syscalls.MISSING:
                    raise
                take, place = self._parts()
                place.undo()
                take.undo()

    def adopt(self) -> bool:
        """Find what was put in place; what came out can be put back as long as it waits under its private name."""
        with self.site.workspace.directory(self.parent) as here:
            self.ours = identity(here, self.name)
            return exists(here, self.private("old"))

    def _swap_back(self, here: int) -> None:
        old = self.private("old")
        self._put_newest_on_top(here, old)
        if identity(here, old) == self.ours:
            self.supply.give_back(here, old)
        else:
            self.site.keep(here, old, self.path)
            self.supply.lost()

    def _put_newest_on_top(self, here: int, old: str) -> None:
        # What comes out of an exchange is either what we put there, or newer. If it is ours, no other program
        # wrote in between. So exchange until our own comes out; what is in place then is the newest there is.
        beneath = self.ours
        for _ in range(_TRIES):
            rising = identity(here, old)
            try:
                self.site.renames.exchange(here, old, self.name)
            except FileNotFoundError:
                # Another program removed what we had put there.
                with suppress(FileExistsError):
                    self.site.renames.place(here, old, here, self.name)
                    return
                continue
            self.at("swapped back")
            if identity(here, old) == beneath:
                return
            beneath = rising

    def _in_two_parts(self, here: int) -> None:
        """Without an exchange: take the old one away, look at it, then place ours.

        Nothing is lost this way either, but for a moment nothing is there, and a crash in that moment is mended only
        by recovery.
        """
        private = self.private(self.supply.role)
        os.rename(self.private("old"), private, src_dir_fd=here, dst_dir_fd=here)
        take, place = self._parts()
        try:
            take.run()
        except (OSError, BrasstagError):
            with self.site.restoring(self.path):
                self.supply.give_back(here, private)
            raise
        try:
            place.put(here)
        except (OSError, BrasstagError):
            take.undo()
            raise

    def _parts(self) -> tuple[Take, PutInPlace]:
        place = PutInPlace(self.site, self.index, self.change)
        place.ours = self.ours
        return Take(self.site, self.index, self.change), place


def steps_for(site: Site, index: int, change: Change) -> list[Step]:
    """Return the steps that make one change."""
    kinds = _STEPS[_sort(change.before), _sort(change.after)]
    return [kind(site, index, change) for kind in kinds]


def supply_for(site: Site, index: int, change: Change) -> Supply:
    """Return where the bytes of a change come from."""
    return Moved(site, index, change) if change.source else NewBytes(site, index, change)


def make_directory(here: int, name: str, mode: int | None) -> None:
    """Make a directory with the default mode, or this one; its owner can work in it until it is closed."""
    os.mkdir(name, DEFAULT_DIRECTORY_MODE, dir_fd=here)
    if mode is not None:
        descriptor = os.open(name, READ_DIRECTORY, dir_fd=here)
        try:
            os.fchmod(descriptor, opened(mode))
        finally:
            os.close(descriptor)


def _remove_if_empty(here: int, name: str) -> None:
    try:
        os.rmdir(name, dir_fd=here)
    except OSError:
        if state_at(here, name) not in (ABSENT, DIRECTORY):
            raise


def _sort(state: str) -> str:
    return state if state in (ABSENT, DIRECTORY) else "content"


_STEPS: dict[tuple[str, str], tuple[type[Step], ...]] = {
    (ABSENT, DIRECTORY): (MakeDirectory,),
    (DIRECTORY, ABSENT): (RemoveDirectory,),
    (DIRECTORY, DIRECTORY): (SetMode,),
    (ABSENT, "content"): (PutInPlace,),
    ("content", "content"): (Swap,),
    ("content", ABSENT): (Take,),
    ("content", DIRECTORY): (Take, MakeDirectory),
    (DIRECTORY, "content"): (RemoveDirectory, PutInPlace),
}
