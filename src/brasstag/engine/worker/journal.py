"""Journal: a task's timeline as its worker follows it, with state and transcript."""

from collections.abc import Iterable

from brasstag.engine.graph.open import opened_with
from brasstag.engine.read_set import ReadSet
from brasstag.engine.runtime import Runtime
from brasstag.engine.transcript.refusals import Refusals
from brasstag.engine.transcript.render import Transcript, transcript_of
from brasstag.engine.transcript.state import TaskState
from brasstag.store.tasks.origins import differing
from brasstag.store.tasks.types import Held
from brasstag.words.budgets import TaskLimits
from brasstag.words.errors import StoreError
from brasstag.words.events import Entry


class Journal:
    """Everything a held task's next step depends on."""

    def __init__(self, runtime: Runtime, held: Held) -> None:
        """Read the timeline, every hash checked: models and tools act on what it says."""
        self._runtime = runtime
        self.held = held
        # Follow before the timeline is read: an entry added meanwhile may be in both, never in neither.
        self._feed = runtime.store.timeline.feeds.follow(held.id)
        entries = runtime.store.proven(held.id)
        self.opened = opened_with(held.id, entries[0] if entries else None)
        if wrong := differing(held.task, self.opened):
            raise StoreError(
                f"{held.id} was opened with another {', '.join(wrong)} than its row has now; nothing is done in it.",
                hint="`brasstag timeline verify` says what does not fit",
            )
        self._fence = runtime.fence
        self.context = self._context()
        self.state = TaskState(held.id)
        self.read_set = ReadSet()
        self.refusals = Refusals()
        self._transcript = Transcript(self._fence, self.context)
        self._unrendered: list[Entry] = []
        self._add(entries)
        self.seconds_left: float | None = None
        """How long its tools may take, when last looked; None where nothing limits it."""

    @property
    def limits(self) -> TaskLimits:
        """The task's limits, and its run's, as extended last: its timeline says so, not its row."""
        return self.state.limits

    def catch_up(self) -> bool:
        """Add what this process wrote since; False if that is nothing, or not all: then ``refresh`` reads the rest."""
        seen = self.state.seen
        written = [entry for entry in self._feed.take() if entry.seq >= seen]
        if not written or written[-1].seq != seen + len(written) - 1:
            return False
        self._add(written)
        return True

    def refresh(self) -> None:
        """Read what was written since: by this worker, by a person, by a task below."""
        self._add(self._runtime.store.entries_since(self.held.id, self.state.seen))

    def transcript(self) -> Transcript:
        """Return what a model is shown; rendered only now, as a long result takes its time."""
        unrendered, self._unrendered = self._unrendered, []
        for entry in unrendered:
            self._transcript.add(entry)
        if self._transcript.stale:
            entries = self._runtime.store.proven(self.held.id)[: self.state.seen]
            self._transcript = transcript_of(entries, self._fence, self.context)
        return self._transcript

    def _add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.state.add(entry)
            self.read_set.add(entry)
            self.refusals.add(entry)
            self._unrendered.append(entry)

    def _context(self) -> Transcript | None:
        asked_on = self.opened.get("context")
        if asked_on is None:
            return None
        return transcript_of(self._runtime.store.proven(asked_on["task"])[: asked_on["entries"]], self._fence)
