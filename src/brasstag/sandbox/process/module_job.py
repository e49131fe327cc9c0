"""ModuleJob: one of Brasstag's own modules, run as a program that sees only what it was given.

It is for work on bytes that are not trusted. The libraries that do the work need no trust either: an error or an attack
in there ends only that module job.
"""

from dataclasses import dataclass, field
from pathlib import Path

from brasstag.sandbox.process.interpreters import running_python
from brasstag.sandbox.process.job import Job, JobLimits

_PACKAGE = Path(__file__).resolve().parents[2]
# Of its own variables, and of the directory it starts in, it takes nothing: only what it needs to find us.
_PYTHON = ("-s", "-P", "-B")


@dataclass(frozen=True, slots=True)
class ModuleJob:
    """One module of Brasstag to run as a program, with the packages that are installed beside it."""

    module: str
    """Such as ``brasstag.documents.converters.convert``; it should import little, as every job waits for that."""
    request: bytes
    """Its standard input."""
    files: tuple[tuple[str, Path], ...] = ()
    """Kept contents it may read, each under a name of its own in FILES."""
    limits: JobLimits = field(default_factory=JobLimits)

    def __post_init__(self) -> None:
        if not self.module.startswith(f"{_PACKAGE.name}."):
            raise ValueError(f"{self.module} is no module of Brasstag, and only those run as module jobs")

    def job(self) -> Job:
        """Return the job that runs it, wherever that stands."""
        python = running_python()
        is_bound = any(_PACKAGE.is_relative_to(place) for place in python.binds)
        return Job(
            (python.program, *_PYTHON, "-m", self.module),
            # An installation that can be edited has the package elsewhere.
            environment={} if is_bound else {"PYTHONPATH": str(_PACKAGE.parent)},
            stdin=self.request,
            limits=self.limits,
            overlay=False,
            binds=python.binds if is_bound else (*python.binds, _PACKAGE),
            files=self.files,
        )
