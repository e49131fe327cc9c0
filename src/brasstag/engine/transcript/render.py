"""Render the entries of a timeline as the messages a model is shown.

The messages of a turn are the beginning, byte for byte, of those of the next, so that what a provider has cached holds.
Only a compaction begins anew. What was rendered is kept: a turn costs what it adds, however long the task has become.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

from brasstag.engine.transcript.exchange import Exchange, answer_of
from brasstag.engine.transcript.results import (
    REMOVED,
    challenged,
    changed_documents,
    documents,
    error_text,
    written,
)
from brasstag.engine.transcript.shorten import compacted
from brasstag.engine.transcript.state import CLOSING, is_doubt
from brasstag.words.events import ABOUT_PERMISSIONS, ABOUT_PROPOSALS, Entry, EntryKind
from brasstag.words.ids import TurnCall
from brasstag.words.messages import Assistant, Block, Fences, Message, Result, System, Text, User
from brasstag.words.tokens import message_tokens

CONTEXT_MARK = "m"
"""Begins the names of calls in a context, so that they are not those of the task itself."""


def render(entries: Iterable[Entry], fence: Fences, context: Iterable[Entry] = ()) -> tuple[Message, ...]:
    """Return the messages of a whole timeline at once; ``context`` are the entries a question is asked on top of."""
    before = list(context)
    return transcript_of(entries, fence, transcript_of(before, fence) if before else None).messages()


def transcript_of(
    entries: Iterable[Entry], fence: Fences, context: "Transcript | None" = None
) -> "Transcript":
    """Return the transcript of a timeline."""
    transcript = Transcript(fence, context)
    for entry in entries:
        transcript.add(entry)
    return transcript


def shown_name(call_id: str) -> str:
    """Return the name a model knows a call by: ``task_…:3.0`` is ``c3_0``."""
    place = TurnCall.of(call_id)
    return f"c{place.turn}_{place.index}" if place else call_id


@dataclass(frozen=True, slots=True)
class Receipt:
    """Where the whole result of a call is, and what it was in a few words."""

    tag: str
    summary: str
    removed: bool = False
    characters: int = 0
    """How long the whole of it is."""
    documents: str = ""
    """The names of the documents that came with it."""


class Transcript:
    """The messages of one task, grown entry by entry; entries come in order, as they are read from the timeline.

    A task that answers a question begins with what the agent it answers for was shown: its ``context``.
    """

    def __init__(self, fence: Fences, context: "Transcript | None" = None) -> None:
        self.fence = fence
        self.stale = False
        """Whether a person removed something shown here since; build the transcript anew from the timeline."""
        self.receipts: dict[str, Receipt] = {}
        """The receipt of every answered call, by the name of the call."""
        self._messages: list[Message] = []
        self._exchange: Exchange | None = None
        self._removed: set[int] = set()
        self._ending = ""
        self._estimate = 0
        # Tokens that the last turn took beyond the estimate: for the offered tools, and for dense text.
        self._unseen = 0
        if context is not None:
            for message in context.as_context():
                self._append(message)
            self.receipts |= {f"{CONTEXT_MARK}{name}": one for name, one in context.receipts.items()}

    @property
    def tokens(self) -> int:
        """About how many tokens the messages are, corrected by what the last turn really took; an estimate."""
        self._settle()
        return self._estimate + self._unseen

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The calls of the last turn that have no result yet, by the names a model knows."""
        return self._exchange.unanswered if self._exchange else ()

    def add(self, entry: Entry) -> None:
        """Take one entry into account."""
        if entry.payload is None:
            self._removed.add(entry.seq)
        self._ADDS[entry.kind](self, entry)

    def messages(self) -> tuple[Message, ...]:
        """Return what a model is shown next; only once every call of its last turn has a result."""
        self._settle()
        if self._exchange:
            raise ValueError(f"{', '.join(self.open_calls)} have no result yet; ask when they have")
        return tuple(self._messages)

    def as_context(self) -> tuple[Message, ...]:
        """Return what a question is asked on top of: all so far, with a note on what each open call waits for."""
        unended = self._exchange.messages(unended=True) if self._exchange else ()
        return tuple(map(_renamed, (*self._messages, *unended)))

    def _open(self, entry: Entry) -> None:
        payload = entry.payload
        if payload is None:
            said: tuple[Block, ...] = (Text(REMOVED),)
            system = REMOVED
        else:
            said, system = _request(payload, self.fence), payload["system"]
        if self._messages:
            # The context begins with who the agent is; new here is only that it has to answer.
            said = (Text(system), *said)
        else:
            self._append(System(system))
        self._append(User(said))

    def _begin_turn(self, entry: Entry) -> None:
        self._finish()
        usage = (entry.payload or {}).get("usage", {})
        if usage.get("input_tokens"):
            self._unseen = max(0, usage["input_tokens"] - self._estimate)
        self._exchange = Exchange.of_turn(entry.payload, self.fence)

    def _wait(self, entry: Entry) -> None:
        if self._exchange:
            self._exchange.wait(shown_name(entry.call_id), entry)

    def _decide(self, entry: Entry) -> None:
        if entry.payload is None or "outcome" in entry.payload:
            self._close(entry)

    def _close(self, entry: Entry) -> None:
        name = shown_name(entry.call_id)
        if self._exchange and self._exchange.close(name, entry):
            return
        if entry.payload is not None and not is_doubt(entry.payload):
            self._tell(Text(f"What came of {name} is known only now:"), *answer_of(entry, self.fence).blocks)

    def _consult(self, entry: Entry) -> None:
        if entry.payload is None:
            return self._tell(Text(REMOVED))
        question = self.fence("question", written(entry.payload["question"]))
        answer = self.fence("answer", written(entry.payload["answer"]))
        asker = entry.payload["from"]
        return self._tell(Text(f"While you waited, {asker} asked you:\n{question}\nYou answered:\n{answer}"))

    def _notice(self, entry: Entry) -> None:
        self._tell(Text(REMOVED if entry.payload is None else changed_documents(entry.payload["changes"])))

    def _challenge(self, entry: Entry) -> None:
        told = entry.payload
        self._tell(Text(REMOVED if told is None else challenged(told)))

    def _end(self, entry: Entry) -> None:
        payload = entry.payload or {}
        result = payload.get("result")
        if isinstance(result, Mapping) and "error" in result and payload["status"] != "done":
            self._ending = error_text(result["error"])
        else:
            self._ending = payload.get("status", "")

    def _resume(self, entry: Entry) -> None:
        payload = entry.payload or {"by": "unnamed", "note": REMOVED}
        ended = f"This task had ended:\n{self.fence('ending', self._ending)}\n" if self._ending else ""
        if "request" in payload:
            ended = "" if self._ending == "done" else ended
            request = f"{ended}A person ({payload['by']}) asks for more:\n{payload['request']}"
            self._tell(Text(request), *documents(payload["carried"], self.fence))
            return
        said = f"{ended}A person ({payload['by']}) lets it go on."
        self._tell(Text(f"{said} They say:\n{payload['note']}" if payload["note"] else said))

    def _compact(self, entry: Entry) -> None:
        if entry.payload is None:
            return
        self._finish()
        shown = [one for one in entry.payload["results"] if not self._is_removed(one["call"])]
        messages, before = self._messages, self._estimate
        self._messages, self._estimate = [], 0
        for message in compacted(messages, entry.payload | {"results": shown}, self.fence):
            self._append(message)
        self._unseen = round(self._unseen * self._estimate / before) if before else 0

    def _redact(self, entry: Entry) -> None:
        gone = (entry.payload or {}).get("redacted_seqs", ())
        self.stale = self.stale or not self._removed.issuperset(gone)

    def _pass_over(self, _entry: Entry) -> None:
        """A call's own entry says what its model has to know of a proposal."""

    def _is_removed(self, name: str) -> bool:
        return name in self.receipts and self.receipts[name].removed

    def _tell(self, *blocks: Block) -> None:
        if self._exchange:
            self._exchange.notes.append(User(blocks))
        else:
            self._append(User(blocks))

    def _settle(self) -> None:
        """Make the last turn final if all its calls are answered."""
        if self._exchange and not self._exchange.unanswered:
            self._finish()

    def _finish(self) -> None:
        if self._exchange:
            exchange, self._exchange = self._exchange, None
            for message in exchange.messages():
                self._append(message)
            for name, answer in exchange.answers.items():
                self.receipts[name] = Receipt(
                    answer.tag, answer.summary, answer.removed, answer.characters, answer.documents
                )

    def _append(self, message: Message) -> None:
        self._messages.append(message)
        self._estimate += message_tokens(message)

    _ADDS: ClassVar[Mapping[EntryKind, Callable[["Transcript", Entry], None]]] = MappingProxyType(
        {
            EntryKind.OPENED: _open,
            EntryKind.TURN: _begin_turn,
            EntryKind.ASKED: _wait,
            EntryKind.CLAIMED: _wait,
            EntryKind.DELEGATED: _wait,
            EntryKind.QUESTIONED: _wait,
            EntryKind.DECIDED: _decide,
            **dict.fromkeys(CLOSING, _close),
            EntryKind.CONSULTED: _consult,
            EntryKind.CLOSED: _end,
            EntryKind.RESUMED: _resume,
            EntryKind.COMPACTED: _compact,
            EntryKind.NOTICED: _notice,
            EntryKind.CHALLENGED: _challenge,
            EntryKind.REDACTED: _redact,
            **dict.fromkeys(ABOUT_PROPOSALS | ABOUT_PERMISSIONS, _pass_over),
        }
    )
    """What each kind of entry adds; a kind without a row here raises an error at once."""


def _request(payload: Mapping[str, Any], fence: Fences) -> tuple[Block, ...]:
    request = payload["input"]["request"]
    if payload["type"] == "ask_master":
        asker = (payload.get("parent") or {}).get("role", "An agent")
        request = f"{asker} asks you:\n{fence('question', request)}\nAnswer it, and do nothing else."
    return (Text(request), *documents(payload.get("carried", ()), fence))


def _renamed(message: Message) -> Message:
    if isinstance(message, Assistant):
        return replace(
            message, calls=tuple(replace(call, id=f"{CONTEXT_MARK}{call.id}") for call in message.calls)
        )
    if isinstance(message, Result):
        return replace(message, call_id=f"{CONTEXT_MARK}{message.call_id}")
    return message
