"""Merge the three sources of prompt tools: core, project and user; what no approval accounts for stays out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from brasstag.catalog.sealed_core import CORE_FILE, core_tools
from brasstag.catalog.snapshots import Snapshot
from brasstag.words.review.prompt_tools import PromptTool, Source, Target, problems_in


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A live prompt tool, and where it comes from."""

    tool: PromptTool
    source: Source

    @property
    def is_locked(self) -> bool:
        """Whether it is a core tool."""
        return self.source == "core"


@dataclass(frozen=True, slots=True)
class Quarantined:
    """An entry of a file that is left out of the catalog."""

    source: Target
    tool_id: str
    why: str


@dataclass(frozen=True, slots=True)
class Unaccounted:
    """A live entry that no approval of this room or account accounts for."""

    target: Target
    tool_id: str
    tool: PromptTool | None
    """What the live file holds; None where the entry was removed from it."""
    accepted: Snapshot | None
    """What was approved last."""
    origin: Literal["hand edit", "colleague"]
    snapshot: Snapshot | None = None
    """The colleague's snapshot that holds the same content."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """What one source holds: the live entries, and what was approved."""

    target: Target
    file: str
    entries: Sequence[Any] = ()
    problem: str = ""
    accepted: Mapping[str, Snapshot] = field(default_factory=dict)
    """By id, the newest snapshot that this account approved."""
    foreign: Mapping[str, Snapshot] = field(default_factory=dict)
    """By id, the newest snapshot that a colleague approved, where it is newer than ours."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """All live prompt tools in a fixed order, and what was left out."""

    entries: tuple[CatalogEntry, ...]
    quarantined: tuple[Quarantined, ...] = ()
    unaccounted: tuple[Unaccounted, ...] = ()

    def find(self, tool_id: str) -> CatalogEntry | None:
        """Return the live tool with this id."""
        return next((entry for entry in self.entries if entry.tool.id == tool_id), None)


def merge(project: SourceState, user: SourceState, callable_tools: Mapping[str, str]) -> Catalog:
    """Return the catalog; ``callable_tools`` says where each callable tool's name or alias was declared.

    A project's tool wins over a user's of the same id. Nothing can stand in the place of a core tool.
    """
    quarantined: list[Quarantined] = []
    unaccounted: list[Unaccounted] = []
    found: dict[str, CatalogEntry] = {}
    for state in (project, user):
        for tool in _accounted(state, callable_tools, quarantined, unaccounted):
            found.setdefault(tool.id, CatalogEntry(tool, state.target))
    own = sorted(found.values(), key=lambda entry: (entry.source, entry.tool.id))
    core = (CatalogEntry(tool, "core") for tool in core_tools())
    return Catalog((*core, *own), tuple(quarantined), tuple(unaccounted))


def _accounted(
    state: SourceState,
    callable_tools: Mapping[str, str],
    quarantined: list[Quarantined],
    unaccounted: list[Unaccounted],
) -> list[PromptTool]:
    """Return what was approved last of each tool; whatever else the live file holds, or lacks, is only told."""
    core = {tool.id: CORE_FILE for tool in core_tools()}
    if state.problem:
        quarantined.append(Quarantined(state.target, "", state.problem))
    else:
        _compare(state, core, callable_tools, quarantined, unaccounted)
    return [
        ours.tool
        for name, ours in state.accepted.items()
        if ours.tool is not None and ours.content_digest and name not in core and name not in callable_tools
    ]


def _compare(
    state: SourceState,
    core: Mapping[str, str],
    callable_tools: Mapping[str, str],
    quarantined: list[Quarantined],
    unaccounted: list[Unaccounted],
) -> None:
    """Compare the live file with what was approved."""
    listed: dict[str, PromptTool] = {}
    held = set()
    for place, raw in enumerate(state.entries):
        name = raw.get("id") if isinstance(raw, Mapping) else None
        shown = name if isinstance(name, str) and name else f"entry {place + 1}"
        held.add(shown)
        why = _why_quarantined(raw, shown, state.file, core, callable_tools, listed)
        if why:
            quarantined.append(Quarantined(state.target, shown, why))
        else:
            listed[shown] = PromptTool.from_json(raw)
    for name, tool in listed.items():
        ours = state.accepted.get(name)
        if ours is None or ours.content_digest != tool.digest:
            unaccounted.append(_unaccounted(state, name, tool))
    for name, ours in state.accepted.items():
        # What is quarantined is told as such: no person asked to retire it.
        if name not in held and ours.content_digest and name not in callable_tools:
            unaccounted.append(_removed(state, name, ours))


def _why_quarantined(
    raw: Any,
    shown: str,
    file: str,
    core: Mapping[str, str],
    callable_tools: Mapping[str, str],
    listed: Mapping[str, PromptTool],
) -> str:
    if shown in core:
        return f"{file} claims the id {shown}, which is a core tool ({core[shown]}); core tools cannot be replaced"
    if shown in callable_tools:
        return f"{file} claims the id {shown}, which is the name of a callable tool ({callable_tools[shown]})"
    if shown in listed:
        return f"{file} holds {shown} twice; the first entry counts"
    wrong = "; ".join(problems_in(raw))
    return f"{file}: {shown}: {wrong}" if wrong else ""


def _unaccounted(state: SourceState, name: str, tool: PromptTool) -> Unaccounted:
    foreign = state.foreign.get(name)
    ours = state.accepted.get(name)
    if foreign is not None and foreign.content_digest == tool.digest:
        return Unaccounted(state.target, name, tool, ours, "colleague", foreign)
    return Unaccounted(state.target, name, tool, ours, "hand edit")


def _removed(state: SourceState, name: str, ours: Snapshot) -> Unaccounted:
    foreign = state.foreign.get(name)
    if foreign is not None and foreign.is_retirement:
        return Unaccounted(state.target, name, None, ours, "colleague", foreign)
    return Unaccounted(state.target, name, None, ours, "hand edit")
