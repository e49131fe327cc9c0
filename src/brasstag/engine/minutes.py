"""The minutes of a task: its timeline as the worker that holds it follows it, standing and transcript together."""

from collections.abc import Iterable, Mapping
from typing import Any

from brasstag.engine.agents import Limits
from brasstag.engine.render import Transcript, transcript_of
from brasstag.engine.shop import Shop
from brasstag.engine.standing import Standing
from brasstag.store.graph import Held
from brasstag.words.errors import StoreError
from brasstag.words.events import Entry, EntryKind


class Minutes:
    """Everything a held task's next step depends on."""

    def __init__(self, shop: Shop, held: Held) -> None:
        """Read the timeline, every hash checked: models and tools act on what it says."""
        self._shop = shop
        self.held = held
        entries = shop.books.proven(held.id)
        self.opened = _opened(held, entries)
        if self.opened["input"]["role"] != held.task.role:
            raise StoreError(
                f"{held.id} is said to be of {held.task.role}, but was opened for {self.opened['input']['role']}; "
                "nothing is done in it. Run `brasstag timeline verify`"
            )
        self.context = self._context()
        self.standing = Standing(held.id)
        self.transcript = Transcript(self.context)
        self._add(entries)

    @property
    def limits(self) -> Limits:
        """The task's limits, as extended last."""
        return Limits.from_text(self.held.task.budget)

    def refresh(self) -> None:
        """Take in what was written since: by this worker, by a person, by a task below."""
        seen = self.standing.seen
        self._add(self._shop.books.entries_since(self.held.id, seen))
        if self.transcript.stale:
            entries = self._shop.books.proven(self.held.id)
            self.transcript = transcript_of(entries, self.context)

    def _add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.standing.add(entry)
            self.transcript.add(entry)

    def _context(self) -> Transcript | None:
        asked_on = self.opened.get("context")
        if asked_on is None:
            return None
        return transcript_of(self._shop.books.proven(asked_on["task"])[: asked_on["entries"]])


def _opened(held: Held, entries: list[Entry]) -> Mapping[str, Any]:
    first = entries[0] if entries else None
    if first is None or first.kind is not EntryKind.OPENED or first.payload is None:
        raise StoreError(f"the first entry of {held.id} is gone or was redacted, so it cannot go on")
    return first.payload
