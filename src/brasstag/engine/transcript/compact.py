"""Compaction: when the context window fills, old results are shown as a summary and their tag.

What is never shortened: the first message, what the agent said, its short-term memories, and, unless nothing else
would fit, its newest turns. Of the newest results, which the model has not read yet, as much is shown as fits.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from brasstag.engine.transcript.render import Transcript
from brasstag.engine.transcript.shorten import beginning_of, compacted, in_short_form, short_result
from brasstag.words.messages import Assistant, Message, Result
from brasstag.words.tokens import BYTES_PER_TOKEN, message_tokens

Payload = dict[str, Any]

TRIGGER = 0.7
"""How full a window has to be before anything is shortened."""
WORTH = 0.1
"""How much of the window a compaction has to free: each one costs a provider's whole cache."""
FILLED = 0.8
"""How full a window may become by newest results that are shown in part; the rest is for the answer."""
FRAME = 100
"""Tokens that stand around a part of a result: its fence, and how to read on."""
MOST_NEXT = 40_000
"""Characters; recall gives no more at once."""
LEAST_SHOWN = 200
"""Characters; less of a result tells no more than its summary."""
URGENT = 0.9
"""How full a window has to be for any gain to be worth it."""


@dataclass(frozen=True, slots=True)
class _Rung:
    """One way to compact, and how full a window it may leave to be enough."""

    goal: float
    keep_turns: int
    keep_share: float = 0.0
    """How much of the window the newest turns may fill and stay whole."""
    arguments: bool = True
    """Whether long arguments of old calls are shortened, too."""
    summaries: bool = True


_LADDER = (
    _Rung(0.6, keep_turns=2, keep_share=0.3, arguments=False),
    _Rung(0.6, keep_turns=2, keep_share=0.3),
    _Rung(0.85, keep_turns=2),
    _Rung(0.85, keep_turns=1),
    _Rung(0.85, keep_turns=0),
    _Rung(0.85, keep_turns=0, summaries=False),
)
"""From gentle to rough; the first that is enough is taken, the last rungs only where the task would end otherwise."""


def estimate_tokens(messages: Iterable[Message]) -> int:
    """Return about how many tokens messages are."""
    return sum(map(message_tokens, messages))


def fits(transcript: Transcript, limit_tokens: int) -> bool:
    """Say whether a model with a window of so many tokens can be shown all of it, as far as an estimate tells."""
    return transcript.tokens <= limit_tokens


def plan_compaction(transcript: Transcript, limit_tokens: int) -> Payload | None:
    """Return the payload of a COMPACTED entry, or None while there is room, or where nothing worth it can be shortened.

    The strongest possible is returned where none is enough: whether it was, ``fits`` says once it has been added.
    """
    before = transcript.tokens
    if before <= TRIGGER * limit_tokens:
        return None
    messages = transcript.messages()
    estimate = estimate_tokens(messages)
    best: Payload | None = None
    for rung in _LADDER:
        payload = _payload(transcript, messages, rung, limit_tokens * estimate / before)
        after = estimate_tokens(compacted(messages, payload, transcript.fence))
        # Tokens that the estimate misses are assumed to shrink in proportion to those it counts.
        after += round((before - estimate) * after / estimate)
        payload |= {"tokens_before": before, "tokens_after": after}
        if after < (best["tokens_after"] if best else before):
            best = payload
        if after <= rung.goal * limit_tokens:
            break
    return best if best and _is_worth(best, limit_tokens) else None


def _is_worth(payload: Payload, limit_tokens: int) -> bool:
    gain: int = payload["tokens_before"] - payload["tokens_after"]
    return gain >= WORTH * limit_tokens or payload["tokens_before"] > URGENT * limit_tokens


def _payload(transcript: Transcript, messages: Sequence[Message], rung: _Rung, window: float) -> Payload:
    turns = [index for index, message in enumerate(messages) if isinstance(message, Assistant)]
    old = len(turns) - _kept_turns(messages, turns, rung, window)
    end = turns[old] if old < len(turns) else len(messages)
    payload: Payload = {
        "type": "compaction",
        "turns": old,
        "results": list(_short_results(transcript, messages[:end], rung.summaries)),
    }
    payload |= {"arguments": True} if rung.arguments else {}
    if turns and end == len(messages):
        _show_newest(payload, messages, turns[-1], transcript, FILLED * window)
    return payload


def _show_newest(
    payload: Payload, messages: Sequence[Message], start: int, transcript: Transcript, goal: float
) -> None:
    """Have the newest results shown as far as they fit, the shortest first; each of the others gets its share."""
    newest = {message.call_id: message for message in messages[start:] if isinstance(message, Result)}
    short = [one for one in payload["results"] if one["call"] in newest]
    short.sort(key=lambda one: len(beginning_of(newest[one["call"]])))
    room = goal - estimate_tokens(compacted(messages, payload, transcript.fence))
    for place, one in enumerate(short):
        result, receipt = newest[one["call"]], transcript.receipts[one["call"]]
        shown = _fitting(beginning_of(result), room / (len(short) - place) - FRAME)
        if shown < LEAST_SHOWN:
            continue
        in_short = message_tokens(in_short_form(result, one, transcript.fence))
        one |= {
            "shown": shown,
            "characters": receipt.characters,
            "next": min(MOST_NEXT, max(LEAST_SHOWN, shown * 3 // 4)),
            "documents": receipt.documents,
        }
        room -= message_tokens(in_short_form(result, one, transcript.fence)) - in_short


def _fitting(text: str, tokens: float) -> int:
    """Return how many characters of a text are about so many tokens."""
    most = max(0, round(tokens)) * BYTES_PER_TOKEN
    return len(text.encode(errors="surrogatepass")[:most].decode(errors="ignore"))


def _kept_turns(messages: Sequence[Message], turns: list[int], rung: _Rung, window: float) -> int:
    """Return how many of the newest turns stay whole."""
    kept, room = 0, rung.keep_share * window
    end = len(messages)
    for start in reversed(turns):
        room -= estimate_tokens(messages[start:end])
        if kept >= rung.keep_turns and room < 0:
            break
        kept, end = kept + 1, start
    return kept


def _short_results(transcript: Transcript, messages: Sequence[Message], summaries: bool) -> Iterator[Payload]:
    """Yield what becomes of each result; one that is no longer than its short form stays as it is."""
    for message in messages:
        receipt = transcript.receipts.get(message.call_id) if isinstance(message, Result) else None
        if receipt is None or not isinstance(message, Result):
            continue
        summary = receipt.summary if summaries else ""
        short = short_result(message, receipt.tag, summary, transcript.fence)
        if message_tokens(short) < message_tokens(message):
            yield {"call": message.call_id, "tag": receipt.tag, "summary": summary}
