"""What a tool that sends errands holds."""

from dataclasses import dataclass

from brasstag.sandbox.process.booth import Booth, Stop
from brasstag.sandbox.process.confined import Breaks
from brasstag.sandbox.process.errands import Errand
from brasstag.sandbox.process.jobs import Ran


@dataclass(frozen=True, slots=True)
class Errands:
    """Runs errands for one call, and ends them with it."""

    booth: Booth
    breaks: Breaks

    def run(self, errand: Errand) -> Ran:
        """Run an errand to its end; raises ToolError NOT_SUPPORTED where nothing here can confine it."""
        with Stop() as stop:
            self.breaks(stop.pull)
            try:
                return self.booth.run_errand(errand, stop)
            finally:
                self.breaks(None)
