"""Run programs confined for a tool, and stage their changes in its draft."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from brasstag.sandbox.process.interpreters import Interpreter
from brasstag.sandbox.process.job import Job, Ran
from brasstag.sandbox.process.output import OnOutput
from brasstag.sandbox.process.run.job_run import Stop
from brasstag.sandbox.process.sandbox import Sandbox, Work, stage
from brasstag.sandbox.process.web_door import Door
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.errors import shown
from brasstag.words.errors import Code, ToolError

Breaks = Callable[[Callable[[], None] | None], None]
"""Called with a function that stops what runs now, or with None where nothing runs."""


@dataclass(frozen=True, slots=True)
class Confined:
    """Runs programs for one call."""

    sandbox: Sandbox
    draft: Draft
    tell: OnOutput
    breaks: Breaks
    may_reach_out: bool = False
    """Whether it is written down that the call acts; to run one that only drafts must do nothing."""

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
        job = replace(job, hidden=tuple(self.draft.hidden_paths()))
        with Stop() as stop:
            self.breaks(stop.pull)
            try:
                with self.sandbox.run(job, self.tell, stop, door) as work:
                    return work.ran if work.ran.ended_by else self._staged(work)
            finally:
                self.breaks(None)

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
