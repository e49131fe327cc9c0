"""Sandbox: runs untrusted code; only its output and a change set come out."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brasstag.sandbox.process.backend import Backend
from brasstag.sandbox.process.changes.changes import ChangeSet
from brasstag.sandbox.process.changes.layers import empty_workspace, held_directory, open_layer, sweep_layers
from brasstag.sandbox.process.changes.stage import stage
from brasstag.sandbox.process.detect import Confinement, find_confinement
from brasstag.sandbox.process.interpreters import Interpreter, project_python
from brasstag.sandbox.process.job import Job, Ran
from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.sandbox.process.output import OnOutput
from brasstag.sandbox.process.programs import trusted_programs
from brasstag.sandbox.process.run.job_run import Stop, ignore_output, run_job
from brasstag.sandbox.process.web_door import Door
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import Code, ToolError

__all__ = ["Sandbox", "Stop", "Work", "stage"]


@dataclass(frozen=True, slots=True)
class Work:
    """What a run in the sandbox gave; the bytes of its change set are there as long as the block that ran it."""

    ran: Ran
    changes: ChangeSet


class Sandbox:
    """Runs jobs on layers over one workspace; ``scratch`` is a directory outside it, of this user alone."""

    def __init__(self, workspace: Workspace, root: Path, scratch: Path) -> None:
        if scratch.resolve().is_relative_to(root.resolve()):
            raise ValueError(f"{scratch} lies in the workspace; layers have to lie outside it")
        self._workspace = workspace
        self._root = root
        self._scratch = scratch

    def standing(self) -> Confinement:
        """Return what this machine can do; it is tried out once."""
        self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        return find_confinement(self._root, self._scratch)

    def python(self) -> Interpreter:
        """Return the Python for jobs here."""
        return project_python(self._root)

    def programs(self, name: str, directories: Iterable[str]) -> Iterator[Path]:
        """Find programs of the host that a person or program working in the workspace cannot have put there."""
        return trusted_programs(name, directories, self._root.resolve())

    @contextmanager
    def run(
        self, job: Job, tell: OnOutput = ignore_output, stop: Stop | None = None, door: Door | None = None
    ) -> Iterator[Work]:
        """Run a job to its end and show what it did; whatever of that was not staged is gone after the block.

        Blocks its thread. ``tell`` is told output as it comes, ``stop`` ends the run from another thread, and a job with
        a network reaches the web through its ``door``. Raises ToolError NOT_SUPPORTED when nothing here can confine code:
        then nothing was run.
        """
        backend = self._backend()
        with open_layer(self._workspace, self._scratch, job) as layer:
            ran = run_job(job, layer, backend, tell, stop, door)
            yield Work(ran, layer.changes())

    def run_module(self, module_job: ModuleJob, stop: Stop | None = None) -> Ran:
        """Run one of our own modules to its end, in an empty directory in place of the workspace.

        Blocks its thread; raises as ``run`` does.
        """
        backend = self._backend()
        job = module_job.job()
        with (
            held_directory(self._scratch) as place,
            empty_workspace(place) as nothing,
            open_layer(nothing, place, job) as layer,
        ):
            return run_job(job, layer, backend, stop=stop)

    def _backend(self) -> Backend:
        standing = self.standing()
        if standing.backend is None:
            raise ToolError(
                Code.NOT_SUPPORTED,
                f"the code was not run, because {standing.reason}",
                {"reason": standing.reason},
                hint=standing.mend,
            )
        return standing.backend

    def sweep(self) -> int:
        """Remove what runs have left whose process was killed; return how many there were."""
        return sweep_layers(self._scratch)
