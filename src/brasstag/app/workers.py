"""Which processes work on a room's runs: each leaves a mark that counts while that process lives."""

from pathlib import Path

from brasstag.app.state import SERVING, RoomState
from brasstag.settings import STATE_DIRECTORY

EVERY_RUN = "all"


class WorkerMarks:
    """The marks of a room; a mark is an empty file named after what is served and the boot that serves it."""

    def __init__(self, room_state: RoomState) -> None:
        self._boot = room_state.boot
        self._folder = None if room_state.project is None else room_state.project / STATE_DIRECTORY / SERVING
        self._left: list[Path] = []

    def begin(self, tree: str = "") -> None:
        """Say that this process works on one run, or on every run."""
        if self._folder is not None:
            self._folder.mkdir(exist_ok=True)
            mark = self._folder / f"{tree or EVERY_RUN}.{self._boot.id}"
            mark.touch()
            self._left.append(mark)

    def end(self) -> None:
        """Take back what this process said."""
        for mark in self._left:
            mark.unlink(missing_ok=True)
        self._left.clear()

    def serves(self, tree: str = "") -> bool:
        """Say whether a process that lives works on every run, or at least on this one."""
        if self._folder is None:
            return False
        served = {EVERY_RUN, tree or EVERY_RUN}
        marks = (mark for mark in self._folder.glob("*.*") if mark.stem in served)
        return any(self._boot.is_alive(mark.suffix.removeprefix(".")) for mark in marks)
