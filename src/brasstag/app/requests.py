"""What a caller passes with a call: names that may be stored, and arguments as a model wrote them.

A caller's own type of text may raise anything. So its class is asked, and never the object, until it is a plain text.
"""

import re
from dataclasses import replace
from typing import Any

from brasstag.toolkit.arguments.arguments import MOST_BYTES
from brasstag.toolkit.arguments.repair import read_arguments
from brasstag.words.calls import Call, Failed
from brasstag.words.errors import Code, ToolError

_CALL_ID = re.compile(r"[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,63}")
_LONGEST_NAME = 1000
_LONGEST_UNREADABLE = 2000


def why_not_named(tool: Any, role: Any, call_id: Any) -> Failed | None:
    """Say why a call cannot have these names; None where it can."""
    if not all(issubclass(type(name), str) for name in (tool, role, "" if call_id is None else call_id)):
        return Failed(Code.INVALID_ARGUMENTS, "the names of tools, roles and calls are texts")
    if any(str.__len__(name) > _LONGEST_NAME for name in (tool, role)):
        return Failed(
            Code.INVALID_ARGUMENTS, f"the names of tools and roles have at most {_LONGEST_NAME} characters"
        )
    if call_id is not None and not _CALL_ID.fullmatch(call_id):
        return Failed(Code.INVALID_ARGUMENTS, "a call id is up to 64 letters, digits and the signs . _ : -")
    return None


def as_text(name: str) -> str:
    """Return a text as a plain one."""
    return name if type(name) is str else str.__str__(name)


def with_arguments(call: Call, arguments: Any) -> tuple[Call, Failed | None]:
    """Return a call with its arguments, also from JSON text that a model wrote, and why they cannot be read."""
    if not issubclass(type(arguments), str):
        return call.as_taken(call.tool, arguments), None
    if type(arguments) is not str:
        # One character more than may be read shows that it is too long, and the rest is not copied.
        arguments = str.__getitem__(arguments, slice(MOST_BYTES + 1))
    try:
        given, repaired = read_arguments(arguments)
    except ToolError as error:
        unread = replace(call, arguments={"unreadable": arguments[:_LONGEST_UNREADABLE]})
        return unread, Failed.by(error)
    return replace(call, arguments=given, repaired=repaired), None
