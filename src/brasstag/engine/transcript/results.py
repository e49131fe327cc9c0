"""What a model is shown of an entry: results, errors, documents and notes, whole or as a summary."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from brasstag.catalog.evidence.contract import refusal
from brasstag.catalog.evidence.items import EvidenceProblem
from brasstag.words.documents import Carried
from brasstag.words.events import EntryKind
from brasstag.words.messages import Block, Fences, Image, Text, on_one_line, quoted
from brasstag.words.previews import ABSENT

REMOVED = "[removed by a person]"

LONGEST_RESULT = 50_000
"""Characters up to which a result is shown whole."""
MOST_CHANGED = 20
"""How many documents are named that others have changed."""
TAIL = 10_000
"""Where a result is not shown whole: how many of the shown characters are its end."""

_FENCES = {EntryKind.ANSWERED: "answer"}
"""An answer comes from the person or agent that was asked, and counts; every other result is only data."""
UNTRUSTED = "untrusted"
"""The mark of a result that strangers wrote, and the name of the fence around it."""


def written(value: Any) -> str:
    """Return a value as a model reads it: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def ending_text(payload: Mapping[str, Any]) -> str:
    """Return what a call came to: its value, or ``CODE: message`` and details."""
    if payload["outcome"] == "done":
        return written(payload["result"])
    return error_text(payload["result"]["error"])


def error_text(error: Any) -> str:
    """Return an error as ``CODE: message``, with its details below."""
    if not isinstance(error, Mapping):
        return written(error)
    said = f"{error['code']}: {error['message']}"
    return f"{said}\n{written(error['details'])}" if error.get("details") else said


def ending_summary(payload: Mapping[str, Any]) -> str:
    """Return what a call came to in a few words, with the names of the documents that came with it."""
    done = payload["outcome"] == "done"
    said = summary_of(payload["result"] if done else ending_text(payload))
    names = carried_names(payload)
    return f"{said}\n{names}" if names else said


def carried_names(payload: Mapping[str, Any]) -> str:
    """Return the names of the documents that came with a result, nothing where none did."""
    paths = [one["path"] for one in payload.get("carried", ())]
    return f"with the documents {summary_of(', '.join(map(quoted, paths)))}" if paths else ""


def ending_blocks(kind: EntryKind, payload: Mapping[str, Any], tag: str, fence: Fences) -> tuple[Block, ...]:
    """Return all a model is shown of what a call came to."""
    return (
        *_edit(payload.get("meta", {}).get("edited"), fence),
        *_within_limit(_fence(kind, payload), ending_text(payload), tag, fence),
        *documents(payload.get("carried", ()), fence),
    )


def _fence(kind: EntryKind, payload: Mapping[str, Any]) -> str:
    return UNTRUSTED if is_untrusted(payload["result"]) else _FENCES.get(kind, "result")


def is_untrusted(result: Any) -> bool:
    """Say whether a result is marked as written by strangers, also one of a run that was ended or refused."""
    if not isinstance(result, Mapping):
        return False
    if result.get(UNTRUSTED) is True:
        return True
    # What such a run had printed is among the details of its error, by itself or as what ``ran``.
    return any(is_untrusted(result.get(name)) for name in ("error", "details", "ran"))


def documents(carried: Iterable[Mapping[str, Any]], fence: Fences) -> Iterator[Block]:
    """Yield the blocks of documents as they travelled."""
    for stored in carried:
        yield from _document(Carried.from_json(stored), fence)


def changed_documents(changes: Sequence[Mapping[str, Any]]) -> str:
    """Return what a model is told of documents it has seen that others have changed since."""
    lines = ["Changed since you read them; read them again before you rely on them:"]
    for change in changes[:MOST_CHANGED]:
        gone = "deleted, " if change["state"] == ABSENT else ""
        lines.append(f"- {quoted(change['path'])}: {gone}version {change['version']} by {change['by']}")
    if len(changes) > MOST_CHANGED:
        lines.append(f"- and {len(changes) - MOST_CHANGED} more")
    return "\n".join(lines)


def challenged(told: Mapping[str, Any]) -> str:
    """Return what a model is told of a reply whose evidence does not hold."""
    problems = map(EvidenceProblem.from_json, told["problems"])
    return refusal(problems, told["refused"], told["tries"])


def _document(one: Carried, fence: Fences) -> Iterator[Block]:
    path = quoted(one.path)
    facts = tuple(filter(None, (path, one.media_type, f"{one.size_bytes} bytes", one.note)))
    if one.image:
        yield Text(f"The picture {', '.join(facts)}:")
        yield Image(one.path, one.media_type, one.digest)
    elif one.complete:
        yield Text(fence("document", one.text, *facts))
    else:
        yield Text(
            f"{fence('document', one.text, *facts, 'in part')}\nFor the rest of {path}: {on_one_line(one.how)}"
        )


def _edit(edited: Mapping[str, Any] | None, fence: Fences) -> Iterator[Block]:
    if edited:
        arguments = fence("arguments", written(edited["arguments"]))
        yield Text(
            f"A person ({edited['by']}) changed the arguments before approving; it ran with these:\n{arguments}"
        )


def how_to_recall(tag: str, start: int, characters: int | None = None) -> str:
    """Say with which call a model reads on in a result."""
    given: dict[str, Any] = {"tag": tag, "start": start}
    if characters is not None:
        given["characters"] = characters
    return f"call recall with {json.dumps(given)}"


def _within_limit(name: str, text: str, tag: str, fence: Fences) -> Iterator[Block]:
    if len(text) <= LONGEST_RESULT:
        yield Text(fence(name, text, tag))
        return
    head = LONGEST_RESULT - TAIL
    yield Text(fence(name, text[:head], tag, "beginning"))
    left = f"{len(text) - LONGEST_RESULT} of its {len(text)} characters are not shown."
    yield Text(f"{left} To read them, {how_to_recall(tag, head)}. It ends:")
    yield Text(fence(name, text[-TAIL:], tag, "end"))


LONGEST = 300
"""Characters of a summary."""
LONGEST_PART = 100
"""Characters that one member of an object gets."""


def summary_of(value: Any) -> str:
    """Return how a value begins, and its shape and size, in a few lines at most."""
    if isinstance(value, Mapping):
        said = "{" + ", ".join(f"{name}: {_part(item)}" for name, item in sorted(value.items())) + "}"
    elif isinstance(value, str):
        said = _beginning(value, LONGEST)
    elif isinstance(value, Sequence):
        said = f"a list of {len(value)}" + (f", the first: {_part(value[0])}" if value else "")
    else:
        said = _written(value)
    return clipped(said, LONGEST)


def clipped(text: str, longest: int) -> str:
    """Return a text, or its beginning and a sign that there is more."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _part(value: Any) -> str:
    """Say what one member of a value is."""
    if isinstance(value, str):
        return json.dumps(_beginning(value, LONGEST_PART), ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"an object with {clipped(', '.join(sorted(value)), LONGEST_PART) or 'nothing in it'}"
    if isinstance(value, Sequence):
        return f"a list of {len(value)}"
    return _written(value)


def _beginning(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    lines = text.count("\n") + 1
    size = f"… ({len(text)} characters" + (f", {lines} lines)" if lines > 1 else ")")
    return text[: longest - len(size)] + size


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
