"""Order: calls of one turn that overlap run one after the other, the others together, and a handoff last of all."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brasstag.engine.standing import RUNNABLE, OpenCall
from brasstag.policy.subjects import names_path
from brasstag.toolkit.kinds import Action
from brasstag.toolkit.registry import ToolRegistry

EVERYWHERE = ""


@dataclass(frozen=True, slots=True)
class Footprint:
    """Where a call would work, as far as its arguments tell, and whether it changes anything there."""

    paths: tuple[str, ...] = ()
    changes: bool = False
    last: bool = False
    """Whether it ends the task, and so waits for every sibling."""

    def overlaps(self, other: "Footprint") -> bool:
        """Say whether the order of the two can matter."""
        if not (self.changes or other.changes):
            return False
        return any(_meet(one, two) for one in self.paths for two in other.paths)


def footprint(registry: ToolRegistry, tool_name: str, arguments: Mapping[str, Any] | str) -> Footprint:
    """Return where a call would work; one that names no path may work anywhere."""
    tool = registry.get(tool_name)
    if tool is None or isinstance(arguments, str):
        return Footprint()
    if tool.config.behaviour.action is Action.STOP:
        return Footprint(last=True)
    if tool.config.effects == "external":
        return Footprint()
    paths = tuple(_paths(arguments))
    if not paths and tool.config.behaviour.executes_code:
        paths = (EVERYWHERE,)
    return Footprint(paths, tool.config.effects == "files")


def may_start(registry: ToolRegistry, calls: Iterable[OpenCall]) -> list[OpenCall]:
    """Return the runnable calls that no earlier open call of their turn stands in front of."""
    earlier: list[Footprint] = []
    found = []
    calls = list(calls)
    for call in calls:
        mine = footprint(registry, call.use.tool, call.use.arguments)
        alone = not mine.last or len(calls) == 1
        if call.state in RUNNABLE and alone and not any(mine.overlaps(other) for other in earlier):
            found.append(call)
        earlier.append(mine)
    return found


def _paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        if names_path(name):
            for path in value if isinstance(value, list) else (value,):
                if isinstance(path, str):
                    yield "/".join(part for part in path.split("/") if part not in ("", "."))


def _meet(one: str, other: str) -> bool:
    if EVERYWHERE in (one, other):
        return True
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
