"""Run programs confined for a tool, and stage their changes in its draft."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from brasstag.sandbox.process.interpreters import Interpreter
from brasstag.sandbox.process.job import SCRIPT, Job, Ran
from brasstag.sandbox.process.output import OnOutput
from brasstag.sandbox.process.run.job_run import Stop
from brasstag.sandbox.process.sandbox import Sandbox, Work, stage
from brasstag.sandbox.process.web_door import Door
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.hidden_from_code import FoundPath, HiddenMoved
from brasstag.words.errors import Code, ToolError

Breaks = Callable[[Callable[[], None] | None], None]
"""Called with a function that stops what runs now, or with None where nothing runs."""

# How often to list what is hidden, where other programs move it before it is covered.
_TRIES = 5

_COMPILE = """
import sys, traceback
try:
    with open(sys.argv[1], "rb") as script:
        compile(script.read(), sys.argv[1], "exec", dont_inherit=True)
except (SyntaxError, ValueError) as error:
    traceback.print_exception(type(error), error, None)
    sys.exit(1)
"""


@dataclass(frozen=True, slots=True)
class Confined:
    """Runs programs for one call."""

    sandbox: Sandbox
    draft: Draft
    tell: OnOutput
    breaks: Breaks
    may_reach_out: bool = False
    """Whether it is written down that the call acts; to run one that only drafts must do nothing."""

    only_compiles: bool = False
    """Whether a script in Python is only compiled, with what is wrong with it as output; nothing of it runs."""

    def python(self) -> Interpreter:
        """Return the Python for code here."""
        return self.sandbox.python()

    def run(self, job: Job, door: Door | None = None) -> Ran:
        """Run a job to its end, with a door if it has a network; where no limit ended it, what it changed is staged.

        For the code, files that the policy hides from tools are empty. So are files that a rule asks about, unless the
        call named them and a person was asked: code may open any name without naming it here.
        """
        if door is not None and not self.may_reach_out:
            raise ToolError(
                Code.NOT_SUPPORTED, "this tool's preview does not say external, so its code has no network"
            )
        if self.only_compiles:
            # Isolated and without site: no file of the workspace is imported at the start.
            job = replace(job, argv=(self.python().program, "-I", "-S", "-c", _COMPILE, SCRIPT))
        with Stop() as stop:
            self.breaks(stop.pull)
            try:
                for _ in range(_TRIES - 1):
                    with suppress(HiddenMoved):
                        return self._run(job, stop, door)
                return self._run(job, stop, door)
            finally:
                self.breaks(None)

    def _run(self, job: Job, stop: Stop, door: Door | None) -> Ran:
        walked: list[FoundPath] = []
        job = replace(job, hidden=tuple(self.draft.hidden_paths(walked)), walked=tuple(walked))
        with self.sandbox.run(job, self.tell, stop, door) as work:
            return work.ran if work.ran.ended_by else self._staged(work)

    def _staged(self, work: Work) -> Ran:
        try:
            stage(work.changes, self.draft)
        except ToolError as error:
            if error.code is Code.CANCELLED:
                raise
            return replace(work.ran, refused=error)
        return replace(work.ran, notes=(*self._notes(), *work.changes.notes))

    def _notes(self) -> Iterator[str]:
        hidden = self.draft.asked_first
        if hidden:
            more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
            yield (
                f"the code saw {shown(hidden[0])}{more} as empty, because a rule asks before it is read; "
                "a shell command that names it needs approval, and then sees it"
            )
