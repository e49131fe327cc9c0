"""What other rules would have decided about recorded calls."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from brasstag.policy.profiles import EXTERNAL_EFFECTS, ToolFacts
from brasstag.policy.verdict import Rules
from brasstag.words.calls import Call
from brasstag.words.errors import Code
from brasstag.words.events import Entry
from brasstag.words.previews import Preview
from brasstag.words.verdicts import STRICTNESS, Decision, Verdict

Shift = Literal["same", "stricter", "looser", "unseen"]
"""How the new verdict compares with the old one; ``unseen`` where the call was refused before any look."""

FactsOf = Callable[[Call], ToolFacts | None]
"""Says what a tool says of itself today; None for a tool that is gone."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as it was judged once."""

    call: Call
    preview: Preview | None
    """What was seen; None where the arguments alone were refused."""
    tool: ToolFacts
    decision: Decision
    rule: str
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recorded call and the verdict of other rules."""

    recorded: RecordedCall
    verdict: Verdict | None
    """None where nothing was seen, so nothing can be said."""
    shift: Shift


def replay(recorded: Iterable[RecordedCall], rules: Rules) -> Iterator[Replayed]:
    """Yield what these rules say about each recorded call."""
    for one in recorded:
        verdict = rules.denies_unseen(one.call)
        if verdict is None and one.preview is not None:
            verdict = rules.judge(one.call, one.preview, one.tool)
        yield Replayed(one, verdict, _shift(one.decision, verdict))


def recorded_calls(entries: Iterable[Entry], facts_of: FactsOf) -> Iterator[RecordedCall]:
    """Yield each judged call on a timeline once, by the verdict it met first; redacted entries are passed over."""
    known: set[str] = set()
    for entry in entries:
        if entry.payload is None or entry.call_id in known:
            continue
        judged = _judged(entry.payload)
        if judged is None:
            continue
        known.add(entry.call_id)
        preview, decision, rule = judged
        call = _call(entry, entry.payload)
        gone = ToolFacts(call.tool, effects=entry.payload.get("effects", EXTERNAL_EFFECTS))
        yield RecordedCall(call, preview, facts_of(call) or gone, decision, rule, entry.tag)


def _shift(before: Decision, verdict: Verdict | None) -> Shift:
    if verdict is None:
        return "unseen"
    change = verdict.strictness - STRICTNESS[before]
    return "same" if change == 0 else "stricter" if change > 0 else "looser"


def _judged(payload: Mapping[str, Any]) -> tuple[Preview | None, Decision, str] | None:
    # The changes of a call are judged under another name; the call itself was judged before it ran.
    payload = payload.get("ran") or payload
    verdict = payload.get("verdict")
    if verdict is not None:
        # Timelines leave out what is empty.
        preview = Preview.from_json(Preview().as_json() | payload["preview"])
        # Without the timed permission that allowed it, a person would have been asked.
        decision: Decision = "ask" if "permission" in verdict else verdict["decision"]
        return preview, decision, verdict["rule"]
    result = payload.get("result")
    error = result.get("error") if isinstance(result, Mapping) else None
    if isinstance(error, Mapping) and error.get("code") == Code.BLOCKED_BY_RULE:
        return None, "deny", error.get("details", {}).get("rule", "")
    return None


def _call(entry: Entry, payload: Mapping[str, Any]) -> Call:
    return Call(
        id=entry.call_id,
        tool=payload["tool"],
        arguments=payload["input"],
        actor=payload["actor"],
        role=payload["role"],
        task_id=entry.task_id,
    )
