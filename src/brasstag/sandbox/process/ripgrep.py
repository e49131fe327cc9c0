"""Confined ripgrep: it says which files of the workspace hold a matching line, and nothing else.

What it names is only a hint where to look: the caller opens those files beneath the workspace, as for any other read.
"""

import os
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brasstag.sandbox.process.job import Job, JobLimits, Ran, System, processor_seconds
from brasstag.sandbox.process.programs import version_in
from brasstag.sandbox.process.sandbox import Sandbox, Stop
from brasstag.sandbox.process.tool_runner import Breaks
from brasstag.sandbox.workspace.paths import ancestors, join_path
from brasstag.words.errors import Code, ToolError

OLDEST = (13,)
"""The first ripgrep these options are known to mean the same in."""

_RAW = (
    "--no-config", "--no-ignore", "--no-unicode", "--text", "--encoding=none", "--no-mmap",
    "--files-with-matches", "--null", "--color=never",
)  # fmt: skip
"""Every file, as the bytes it is: no settings, no list of ignored files, no guess at what is text or how it is written."""
_NAMES_BYTES = 16 << 20
_TRIAL_SECONDS = 10.0
_LEAST_FIRST: tuple[System, ...] = ("none", "libraries")
_MATCHED, _NOT_MATCHED, _FAILED_SOMEWHERE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class FileSearch:
    """What to look for: an expression over bytes, below a directory."""

    expression: str
    directory: str
    hidden: bool
    suffixes: Sequence[str]
    """Only files whose names end like this, such as ``.py``; none means all."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """Which files below a directory are worth opening: all others have no match."""

    paths: frozenset[str]
    missed: frozenset[str]
    """Files and directories it could not read."""

    def covers(self, path: str) -> bool:
        """Say whether a file has to be opened to know what is in it."""
        return path in self.paths or bool(self.missed and self._may_have_missed(path))

    def _may_have_missed(self, path: str) -> bool:
        # It names what it missed line by line. So it is not known whether it missed a path of several lines.
        return "\n" in path or not self.missed.isdisjoint((path, *ancestors(path)))


@dataclass(frozen=True, slots=True)
class Program:
    """A ripgrep that was tried out here."""

    path: Path
    system: System
    """What it needs of the system: nothing, if it is whole by itself."""

    def job(self, arguments: Iterable[str], directory: str, limits: JobLimits) -> Job:
        """Return the job that runs it in a workspace to which it cannot write."""
        return Job(
            (str(self.path), *arguments),
            directory=directory,
            limits=limits,
            overlay=False,
            binds=(self.path,),
            system=self.system,
        )


@dataclass(frozen=True, slots=True)
class Ripgrep:
    """Searches a workspace for one call."""

    sandbox: Sandbox
    breaks: Breaks

    @contextmanager
    def started(self, file_search: FileSearch) -> Iterator["Future[Candidates | None]"]:
        """Look for something while the block does something else; None comes of it where that cannot be, or went wrong.

        The search ends with the block.
        """
        with Stop() as stop, ThreadPoolExecutor(1, "ripgrep") as aside:
            self.breaks(stop.pull)
            try:
                yield aside.submit(self._found, file_search, stop)
            finally:
                self.breaks(None)
                stop.pull()

    def _found(self, file_search: FileSearch, stop: Stop) -> Candidates | None:
        try:
            program = find_ripgrep(self.sandbox)
            if program is None:
                return None
            job = program.job(_arguments(file_search), file_search.directory, _limits(file_search))
            with self.sandbox.run(job, stop=stop) as work:
                return _reported(work.ran, file_search.directory)
        except (OSError, ToolError):
            return None


def find_ripgrep(sandbox: Sandbox) -> Program | None:
    """Return the ripgrep on the path, or the one that was installed with Brasstag; each is tried once in a process."""
    directories = [*os.environ.get("PATH", "").split(os.pathsep), sysconfig.get_path("scripts")]
    for path in sandbox.programs("rg", directories):
        if path not in _tried:
            _tried[path] = _try_out(sandbox, path)
        found = _tried[path]
        if found is not None:
            return found
    return None


_tried: dict[Path, Program | None] = {}


def _try_out(sandbox: Sandbox, path: Path) -> Program | None:
    for system in _LEAST_FIRST:
        program = Program(path, system)
        try:
            with sandbox.run(program.job(["--version"], ".", JobLimits(wall_seconds=_TRIAL_SECONDS))) as work:
                version = version_in(work.ran.stdout)
        except ToolError as error:
            if error.code is not Code.NOT_SUPPORTED:
                raise
            return None
        if work.ran.exit_code == 0 and version is not None:
            return program if version >= OLDEST else None
    return None


def _arguments(file_search: FileSearch) -> Iterator[str]:
    yield from _RAW
    if file_search.hidden:
        yield "--hidden"
    for suffix in file_search.suffixes:
        yield f"--glob=*{suffix}"
    yield from ("-e", file_search.expression, "--", ".")


def _limits(file_search: FileSearch) -> JobLimits:
    return JobLimits(
        wall_seconds=file_search.seconds,
        # Of all its threads together.
        cpu_seconds=processor_seconds(file_search.seconds),
        output_bytes=_NAMES_BYTES,
    )


def _reported(ran: Ran, directory: str) -> Candidates | None:
    if ran.exit_code not in (_MATCHED, _NOT_MATCHED, _FAILED_SOMEWHERE):
        return None
    missed = _missed(ran) if ran.exit_code == _FAILED_SOMEWHERE else []
    if missed is None or ran.stdout_truncated or ran.stderr_truncated:
        return None
    names = (os.fsdecode(name) for name in ran.stdout.split(b"\0")[:-1])
    return Candidates(
        frozenset(_canonical(directory, name) for name in names),
        frozenset(_canonical(directory, name) for name in missed),
    )


def _missed(ran: Ran) -> list[str] | None:
    """Return what ripgrep says it could not read; None where not every line says so."""
    names: list[str] = []
    for line in os.fsdecode(ran.stderr).rstrip("\n").split("\n"):
        name, separator, why = line.removeprefix("rg: ").rpartition(": ")
        if not separator or not name.startswith("./") or "(os error " not in why:
            return None
        names.append(name)
    return names


def _canonical(directory: str, name: str) -> str:
    return join_path(directory, name.removeprefix("./"))
