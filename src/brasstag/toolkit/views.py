"""The three exact forms of an outcome, for three kinds of agent loop.

status_view        {status, data, meta}                              S0; data is the text of a result that is one
result_view        {ok, value} or {ok, error{code, message, details}}   S2; names are camelCase
tool_result_view   ToolResult(tool_call_id, output, error, success)  S3; output is the text of a result that is one
"""

from collections.abc import Mapping, Sequence
from typing import Any

from brasstag.words.calls import Done, Outcome, ToolResult, Waiting, error_of, said_by

_NOTHING: Mapping[str, Any] = {}
_PRINTED = ("stdout", "stderr", "exit_code", "untrusted")
"""The fields of a program's result that its text is made of."""


def status_view(outcome: Outcome) -> dict[str, Any]:
    """Return ``{status, data, meta{bytes_written, execution_time}}``: data is the result or the error message.

    Where data is the text of a result, ``meta`` has the whole ``value``. Work that was given to another agent is a
    success: data says to whom, what and about which file.
    """
    meta = {} if isinstance(outcome, Waiting) else outcome.meta
    shown: dict[str, Any] = {
        "bytes_written": meta.get("bytes_written", 0),
        "execution_time": meta.get("execution_time", 0.0),
        **_edited(outcome),
    }
    if isinstance(outcome, Done):
        return {"status": "success", "data": _text(outcome), "meta": shown | _whole(outcome)}
    if isinstance(outcome, Waiting) and outcome.confirmation:
        return {"status": "success", "data": dict(outcome.confirmation), "meta": shown}
    return {"status": "error", "data": said_by(outcome), "meta": shown}


def result_view(outcome: Outcome) -> dict[str, Any]:
    """Return ``{ok: true, value}`` or ``{ok: false, error: {code, message, details?}}``, with names in camelCase."""
    if isinstance(outcome, Done):
        schema = outcome.form.schema if outcome.form is not None else None
        return {"ok": True, "value": camel_cased(outcome.value, schema or _NOTHING)}
    return {"ok": False, "error": camel_cased(error_of(outcome))}


def tool_result_view(outcome: Outcome, tool_call_id: str) -> ToolResult:
    """Return ``ToolResult(tool_call_id, output, error, success)``; ``meta`` has the whole value of a text.

    The output of a program that failed is what it printed; then ``meta`` has the ``details`` of the error.
    """
    if isinstance(outcome, Done):
        return ToolResult(tool_call_id, _text(outcome), meta=_edited(outcome) | _whole(outcome))
    error = error_of(outcome)
    details = error.get("details", {})
    ran = details.get("ran", details)
    printed = isinstance(ran, Mapping) and "stdout" in ran
    return ToolResult(
        tool_call_id,
        _joined(ran, [name for name in _PRINTED if name in ran]) if printed else "",
        f"{error['code']}: {error['message']}",
        success=False,
        meta=_edited(outcome) | ({"details": details} if printed else {}),
    )


def camel_cased(value: Any, schema: Mapping[str, Any] = _NOTHING) -> Any:
    """Return a value whose names are camelCase; keys that are data, as the schema says of a map, stay as they are."""
    if isinstance(value, list):
        return [camel_cased(item, _part(schema, "items")) for item in value]
    if not isinstance(value, dict):
        return value
    known = _part(schema, "properties")
    values = _part(schema, "additionalProperties")
    if values or (schema.get("additionalProperties") is True and not known):
        return {key: camel_cased(item, values) for key, item in value.items()}
    return {_camel(key): camel_cased(item, _part(known, key)) for key, item in value.items()}


def _part(schema: Mapping[str, Any], word: str) -> Mapping[str, Any]:
    found = schema.get(word)
    return found if isinstance(found, Mapping) else _NOTHING


def _camel(name: str) -> str:
    first, *others = name.split("_")
    # A name that begins or ends with _ has no camelCase.
    return first + "".join(word.capitalize() for word in others) if first and all(others) else name


def _text(done: Done) -> Any:
    """Return the text of a result, where its tool names the fields that are it; else the whole result."""
    fields = _fields(done)
    if not fields:
        return done.value
    if len(fields) == 1:
        return done.value[fields[0]]
    return _joined(done.value, fields)


def _joined(value: Mapping[str, Any], fields: Sequence[str]) -> str:
    text = ""
    for name in fields:
        part = value[name]
        if part:
            line = part if isinstance(part, str) else f"{name}: {str(part).lower()}"
            text += f"\n{line}" if text and not text.endswith("\n") else line
    return text


def _fields(done: Done) -> list[str]:
    """Return the fields of its text that a result has; of a result without the first of them there is no text."""
    named = done.form.text if done.form is not None and isinstance(done.value, Mapping) else ()
    return [name for name in named if name in done.value] if named and named[0] in done.value else []


def _whole(done: Done) -> dict[str, Any]:
    return {"value": done.value} if _fields(done) else {}


def _edited(outcome: Outcome) -> dict[str, Any]:
    """Return who changed the arguments of a call, and how: an agent has to know that another call than its own was made."""
    meta = _NOTHING if isinstance(outcome, Waiting) else outcome.meta
    return {"edited": meta["edited"]} if "edited" in meta else {}
