"""Run module jobs for a tool."""

from dataclasses import dataclass

from brasstag.sandbox.process.job import Ran
from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.sandbox.process.sandbox import Sandbox, Stop
from brasstag.sandbox.process.tool_runner import Breaks


@dataclass(frozen=True, slots=True)
class ModuleJobs:
    """Runs module jobs for one call, and ends them with it."""

    sandbox: Sandbox
    breaks: Breaks

    def run(self, module_job: ModuleJob) -> Ran:
        """Run a module job to its end; raises ToolError NOT_SUPPORTED where nothing here can confine it."""
        with Stop() as stop:
            self.breaks(stop.pull)
            try:
                return self.sandbox.run_module(module_job, stop)
            finally:
                self.breaks(None)
