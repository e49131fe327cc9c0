"""Run module jobs for a tool."""

from dataclasses import dataclass

from brasstag.sandbox.process.job import Ran
from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.sandbox.process.sandbox import Sandbox, Stop
from brasstag.sandbox.process.tool_runner import Breaks
from brasstag.words.errors import Code, ToolError


@dataclass(frozen=True, slots=True)
class ModuleJobs:
    """Runs module jobs for one call, and ends them with it."""

    sandbox: Sandbox | None
    breaks: Breaks

    def run(self, module_job: ModuleJob) -> Ran:
        """Run a module job to its end; raises ToolError NOT_SUPPORTED where nothing here can confine it."""
        if self.sandbox is None:
            raise ToolError(Code.NOT_SUPPORTED, "this room has no place where code could run confined")
        with Stop() as stop:
            self.breaks(stop.pull)
            try:
                return self.sandbox.run_module(module_job, stop)
            finally:
                self.breaks(None)
