"""Use a prompt tool: start a task with it on a selection, a file or the project."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from brasstag.app.runs import RunContext, Runs
from brasstag.catalog.injection import ANY, whole_text
from brasstag.catalog.merge import CatalogEntry
from brasstag.settings import Settings
from brasstag.words.budgets import NO_LIMITS, Budget
from brasstag.words.calls import Done, Failed, Outcome
from brasstag.words.errors import Code, ToolError
from brasstag.words.messages import Fences, quoted
from brasstag.words.review.prompt_tools import Scope


@dataclass(frozen=True, slots=True)
class UseRequest:
    """On what a prompt tool is used, and by which role and model."""

    words: str = ""
    file: str = ""
    """A workspace file; the whole project where none is given."""
    lines: tuple[int, int] | None = None
    """The first and the last line of a selection in the file."""
    role: str = ""
    """Which role takes it; where it is left out, one of the tool's archetype, else the crew's lead."""
    model: str = ""
    default_model: str = ""
    budget: Budget = NO_LIMITS
    serve: bool = True

    @property
    def scope(self) -> Scope:
        """What the use is about."""
        return "selection" if self.lines else "file" if self.file else "project"


class PromptUse:
    """Starts runs that use a prompt tool."""

    def __init__(self, call: Callable[..., Awaitable[Outcome]], runs: Runs, fence: Fences) -> None:
        self._call = call
        self._runs = runs
        self._fence = fence

    async def start(self, entry: CatalogEntry, asked: UseRequest, settings: Settings) -> str:
        """Begin a run with a prompt tool, and return its id."""
        if asked.lines is not None and not asked.file:
            raise ToolError(Code.INVALID_ARGUMENTS, "lines are lines of a file; name the file, too")
        tool = entry.tool
        place = f"lines {asked.lines[0]} to {asked.lines[1]} of {asked.file}" if asked.lines else asked.file
        request = [f"Use {tool.id} on {place or 'the whole project'}."]
        request += [asked.words] if asked.words.strip() else []
        request.append(whole_text(entry, self._fence))
        if asked.lines is not None:
            request.append(await self._selection(asked.file, asked.lines))
        context = RunContext(
            prompt_tool={"id": tool.id, "hash": tool.digest, "source": entry.source}, scope=asked.scope
        )
        return await self._runs.begin(
            "\n\n".join(request),
            asked.role or role_for(tool.archetype, settings),
            [asked.file] if asked.file and asked.lines is None else [],
            asked.model,
            asked.budget,
            serve=asked.serve,
            default_model=asked.default_model,
            context=context,
        )

    async def _selection(self, file: str, lines: tuple[int, int]) -> str:
        first, last = lines
        outcome = await self._call("read_file", {"path": file, "start_line": first, "end_line": last})
        if isinstance(outcome, Failed):
            raise outcome.as_error()
        if not isinstance(outcome, Done):
            raise ToolError(
                Code.NOT_SUPPORTED, f"{file} cannot be read without an approval; approve that first"
            )
        content: dict[str, Any] = outcome.value
        return self._fence("selection", content["content"], f"{quoted(file)}, lines {first} to {last}")


def role_for(archetype: str, settings: Settings) -> str:
    """Return the role that a prompt tool is for first; empty where the crew's lead takes it."""
    if archetype in ANY:
        return ""
    return next((name for name, role in settings.roles.items() if role.archetype == archetype), "")
