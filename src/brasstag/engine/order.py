"""Order: calls of one turn that overlap run one after the other, the others together, and a handoff last of all."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brasstag.engine.beside import BESIDE
from brasstag.engine.facts import foretold, only_drafts
from brasstag.engine.standing import RUNNABLE, OpenCall
from brasstag.policy.profiles import CODE_EFFECTS, EXTERNAL_EFFECTS
from brasstag.policy.subjects import names_path
from brasstag.toolkit.kinds import Action
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import Tool

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
    """Return where a call would work; one that names no path may work anywhere, and code does."""
    tool = registry.get(tool_name)
    if tool is None or isinstance(arguments, str):
        return Footprint()
    if tool.config.behaviour.action is Action.STOP:
        return Footprint(last=True)
    if tool.config.effects in (EXTERNAL_EFFECTS, CODE_EFFECTS):
        return _foretold_footprint(tool, arguments)
    paths = tuple(_paths(arguments))
    if not paths and tool.config.behaviour.executes_code:
        paths = (EVERYWHERE,)
    return Footprint(paths, tool.config.effects == "files" or tool.name in BESIDE)


def _foretold_footprint(tool: Tool, arguments: Mapping[str, Any]) -> Footprint:
    """Return where a call would work by its tool's own word; one that will be refused works nowhere."""
    try:
        foreseen = foretold(tool, tool.validate(arguments))
    except Exception:  # noqa: BLE001 - the code of a tool's author may raise anything
        return Footprint()
    drafts = only_drafts(tool, foreseen)
    if tool.config.effects == CODE_EFFECTS:
        return Footprint((EVERYWHERE,), drafts)
    return Footprint(tuple(map(_plain, foreseen.saves)), drafts)


def may_start(registry: ToolRegistry, calls: Iterable[OpenCall]) -> list[OpenCall]:
    """Return the runnable calls that no earlier open call of their turn stands in front of."""
    prints = [(call, footprint(registry, call.use.tool, call.use.arguments)) for call in calls]
    return [
        call
        for place, (call, mine) in enumerate(prints)
        if call.state in RUNNABLE and not _stands_in_front(prints, place, mine)
    ]


def is_second_handoff(registry: ToolRegistry, calls: Iterable[OpenCall], one: OpenCall) -> bool:
    """Say whether a call would hand off a task that an earlier call of the same turn hands off already."""
    last = [call for call in calls if footprint(registry, call.use.tool, call.use.arguments).last]
    return one in last and one is not last[0]


def _stands_in_front(prints: list[tuple[OpenCall, Footprint]], place: int, mine: Footprint) -> bool:
    earlier = [other for _, other in prints[:place]]
    if not mine.last:
        return any(mine.overlaps(other) for other in earlier)
    # The first handoff waits for everything else; a second one only has to be refused.
    return not any(other.last for other in earlier) and len(prints) > 1


def _paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        if names_path(name):
            for path in value if isinstance(value, list) else (value,):
                if isinstance(path, str):
                    yield _plain(path)


def _plain(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _meet(one: str, other: str) -> bool:
    if EVERYWHERE in (one, other):
        return True
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
