"""PromptCatalog: the live catalog of one room, read when it is needed and again when a live file has changed."""

from collections.abc import Callable, Mapping
from threading import Lock

from brasstag.catalog.injection import DEFAULT_TOKENS, Injection, inject
from brasstag.catalog.merge import Catalog, CatalogEntry, SourceState, merge
from brasstag.catalog.prompt_files import PromptFiles
from brasstag.catalog.snapshots import Receipts, Snapshot
from brasstag.words.errors import Code, ToolError
from brasstag.words.messages import Fences
from brasstag.words.review.prompt_tools import Scope, Target

Approved = Callable[[], Mapping[tuple[str, str], tuple[str, str]]]
"""Returns, by target and tool, the snapshot and content digest of what this room's record says was approved last."""


class PromptCatalog:
    """Merges what is live, and renders it for agents; safe to use from several threads."""

    def __init__(
        self,
        project: PromptFiles,
        user: PromptFiles,
        receipts: Receipts,
        callable_tools: Callable[[], Mapping[str, str]],
        approved: Approved,
        fence: Fences,
    ) -> None:
        self.files: Mapping[Target, PromptFiles] = {"project": project, "user": user}
        self.receipts = receipts
        self.callable_tools = callable_tools
        """Returns where each callable tool's name or alias was declared."""
        self._approved = approved
        self._fence = fence
        self._lock = Lock()
        self._known: tuple[object, Catalog] | None = None
        self._injections: dict[tuple[str, str, int], tuple[Catalog | None, Injection]] = {}

    @property
    def now(self) -> Catalog:
        """The catalog as it is now."""
        callable_tools = self.callable_tools()
        stamp = (*(files.stamp() for files in self.files.values()), frozenset(callable_tools))
        with self._lock:
            if self._known is None or self._known[0] != stamp:
                approved = self._approved()
                states = [self._state(files, approved) for files in self.files.values()]
                self._known = (stamp, merge(states[0], states[1], callable_tools))
            return self._known[1]

    def forget(self) -> None:
        """Read everything again at the next look: a decision was made."""
        with self._lock:
            self._known = None

    def inject(self, archetype: str, scope: Scope, tokens: int = DEFAULT_TOKENS) -> Injection:
        """Return what an agent is told of the catalog; made once for each kind of role, until the catalog changes."""
        catalog, key = self.now, (archetype, scope, tokens)
        made, found = self._injections.get(key, (None, Injection()))
        if made is not catalog:
            # Kept with the catalog it was made of: another thread may have read a newer one meanwhile.
            found = inject(catalog, archetype, scope, self._fence, tokens)
            self._injections[key] = (catalog, found)
        return found

    def get(self, tool_id: str) -> CatalogEntry:
        """Return a live tool; raise ToolError where there is none of this id."""
        found = self.now.find(tool_id)
        if found is None:
            raise ToolError(
                Code.PROMPT_TOOL_NOT_FOUND,
                f"there is no prompt tool {tool_id!r}",
                hint="`brasstag prompts list` names them",
            )
        return found

    def accepted(self, target: Target, tool_id: str) -> Snapshot | None:
        """Return what this account approved last of a tool, as far as this room's record agrees."""
        return self._newest(self.files[target], tool_id, self._approved())[0]

    def _state(self, files: PromptFiles, approved: Mapping[tuple[str, str], tuple[str, str]]) -> SourceState:
        live = files.live()
        accepted, foreign = {}, {}
        for tool_id in files.tool_ids():
            ours, theirs = self._newest(files, tool_id, approved)
            if ours is not None:
                accepted[tool_id] = ours
            if theirs is not None:
                foreign[tool_id] = theirs
        return SourceState(files.target, files.shown, live.entries, live.problem, accepted, foreign)

    def _newest(
        self, files: PromptFiles, tool_id: str, approved: Mapping[tuple[str, str], tuple[str, str]]
    ) -> tuple[Snapshot | None, Snapshot | None]:
        """Return the newest snapshot that we approved, and the newest that a colleague did, where that is newer."""
        ours = theirs = None
        for snapshot in reversed(files.snapshots(tool_id)):
            if self.receipts.is_ours(snapshot, files.target):
                ours = snapshot
                break
            theirs = theirs or snapshot
        name, digest = approved.get((files.target, tool_id), ("", ""))
        # A snapshot that was taken away must not bring an older version back. Other rooms approve a user's tools, too.
        known = files.target == "project" or (ours is not None and name >= ours.name)
        if ours is not None and known and (name, digest) != (ours.name, ours.content_digest):
            ours = None
        return ours, theirs
