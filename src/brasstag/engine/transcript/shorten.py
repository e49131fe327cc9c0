"""Messages in the short form they have after a compaction."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from brasstag.engine.transcript.results import UNTRUSTED, clipped, how_to_recall
from brasstag.words.messages import Assistant, Fences, Message, Result, Text, ToolUse

MEMORY = "save_to_short_term_memory"
"""What an agent notes with it stays in view however long its task becomes."""

_FENCED = ("<result ", "<answer ", f"<{UNTRUSTED} ")
_SHORT = "[shortened; whole result: "

LONG_ARGUMENT = 500
"""Characters from which an argument of an old call may be shortened."""
ARGUMENT_KEPT = 200


def compacted(messages: Sequence[Message], payload: Mapping[str, Any], fence: Fences) -> Iterator[Message]:
    """Yield messages as the payload of a compaction says they are shown from then on.

    The newest turn is left as it is even where its results are not: providers want to see its thinking again.
    """
    short = {stored["call"]: stored for stored in payload["results"]}
    turns = sum(isinstance(message, Assistant) for message in messages)
    old = min(payload["turns"], turns - 1)
    for message in messages:
        if isinstance(message, Assistant):
            yield _lighter(message, payload.get("arguments", False)) if old > 0 else message
            old -= 1
        elif isinstance(message, Result) and message.call_id in short:
            yield in_short_form(message, short[message.call_id], fence)
        else:
            yield message


def in_short_form(result: Result, stored: Mapping[str, Any], fence: Fences) -> Result:
    """Return a result as a compaction has it: its summary, or, of the newest, as much of its beginning as fits."""
    found = _fence_in(result)
    if "shown" not in stored or found is None:
        return short_result(result, stored["tag"], stored["summary"], fence)
    place, (name, text) = found.place, _unfenced(found.block)
    tag, shown, characters = stored["tag"], stored["shown"], stored["characters"]
    blocks = [*result.blocks[:place], Text(fence(name, text[:shown], tag, "beginning"))]
    if shown < characters:
        left = f"{characters - shown} of its {characters} characters are not shown, as they do not fit."
        blocks.append(Text(f"{left} To read on, {how_to_recall(tag, shown, stored['next'])}."))
    if stored["documents"]:
        blocks.append(Text(f"It came {stored['documents']}; read_file reads them."))
    return replace(result, blocks=tuple(blocks))


def beginning_of(result: Result) -> str:
    """Return what is shown of a result's own words, from their beginning; nothing where it is shown in short form."""
    fence = _fence_in(result)
    return "" if fence is None else _unfenced(fence.block)[1]


class _Fence(NamedTuple):
    """Where the first fenced text of a result stands."""

    place: int
    block: Text


def _fence_in(result: Result) -> _Fence | None:
    for place, block in enumerate(result.blocks):
        if isinstance(block, Text) and block.text.startswith(_FENCED):
            return _Fence(place, block)
    return None


def _unfenced(block: Text) -> tuple[str, str]:
    """Return the name of a fence, and what stands inside."""
    head, _, rest = block.text.partition("\n")
    return head[1:].partition(" ")[0], rest.rpartition("\n")[0]


def short_result(result: Result, tag: str, summary: str, fence: Fences) -> Result:
    """Return a result that names its tag and says no more than the summary."""
    said = f"{_SHORT}{tag}]"
    # What strangers wrote is theirs in short form, too.
    name, *facts = (UNTRUSTED, "summary") if _is_untrusted(result) else ("summary",)
    return replace(result, blocks=(Text(f"{said}\n{fence(name, summary, *facts)}" if summary else said),))


def _is_untrusted(result: Result) -> bool:
    """Say whether a result, whole or in short form, stands in the fence for what strangers wrote."""
    texts = [block.text for block in result.blocks if isinstance(block, Text)]
    fences = (text.partition("\n")[2] if text.startswith(_SHORT) else text for text in texts)
    return any(one.startswith(f"<{UNTRUSTED} ") for one in fences)


def _lighter(turn: Assistant, arguments: bool) -> Assistant:
    """Return an old turn without its thinking, which providers no longer ask for, and without long arguments."""
    calls = tuple(map(_lighter_call, turn.calls)) if arguments else turn.calls
    return replace(turn, calls=calls, thinking=())


def _lighter_call(call: ToolUse) -> ToolUse:
    return call if call.tool == MEMORY else replace(call, arguments=_shortened(call.arguments))


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONG_ARGUMENT:
        return f"{clipped(value, ARGUMENT_KEPT)} [shortened; {len(value)} characters in all]"
    if isinstance(value, Mapping):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return value
