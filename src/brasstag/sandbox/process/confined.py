"""What a tool that runs code holds: it runs programs confined, and the call's draft gets what they changed."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from brasstag.sandbox.process.booth import Booth, stage
from brasstag.sandbox.process.interpreters import Interpreter
from brasstag.sandbox.process.jobs import Job, Ran
from brasstag.sandbox.process.output import OnOutput
from brasstag.sandbox.process.running import Stop
from brasstag.sandbox.workspace.draft import Draft

Breaks = Callable[[Callable[[], None] | None], None]
"""Is told how to break off what runs now, and, with None, that nothing does."""


@dataclass(frozen=True, slots=True)
class Confined:
    """Runs programs for one call."""

    booth: Booth
    draft: Draft
    tell: OnOutput
    breaks: Breaks

    def python(self) -> Interpreter:
        """Return the Python for code here."""
        return self.booth.python()

    def run(self, job: Job) -> Ran:
        """Run a job to its end; where no limit ended it, what it changed is staged.

        What the policy hides from tools is empty to the code: it may open any name without naming it here.
        """
        job = replace(job, hidden=tuple(self.draft.hidden_paths()))
        with Stop() as stop:
            self.breaks(stop.pull)
            try:
                with self.booth.run(job, self.tell, stop) as work:
                    if work.ran.ended_by is None:
                        stage(work.changes, self.draft)
                    return work.ran
            finally:
                self.breaks(None)
