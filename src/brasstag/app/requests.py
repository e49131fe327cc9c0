"""What a caller passes with a call: names that may be stored, and arguments as a model wrote them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brasstag.toolkit.arguments.repair import read_arguments
from brasstag.words.calls import Call, Failed
from brasstag.words.errors import Code, ToolError

_CALL_ID = re.compile(r"[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,63}")
_LONGEST_NAME = 1000
_LONGEST_UNREADABLE = 2000


def why_not_named(tool: object, role: object, call_id: object) -> Failed | None:
    """Say why a call cannot have these names; None where it can."""
    if not all(isinstance(name, str) for name in (tool, role, "" if call_id is None else call_id)):
        return Failed(Code.INVALID_ARGUMENTS, "the names of tools, roles and calls are texts")
    if any(len(str(name)) > _LONGEST_NAME for name in (tool, role)):
        return Failed(
            Code.INVALID_ARGUMENTS, f"the names of tools and roles have at most {_LONGEST_NAME} characters"
        )
    if isinstance(call_id, str) and not _CALL_ID.fullmatch(call_id):
        return Failed(Code.INVALID_ARGUMENTS, "a call id is up to 64 letters, digits and the signs . _ : -")
    return None


def with_arguments(call: Call, arguments: Mapping[str, Any] | str) -> tuple[Call, Failed | None]:
    """Return a call with its arguments, also from JSON text that a model wrote, and why they cannot be read."""
    if not isinstance(arguments, str):
        return call.as_taken(call.tool, arguments), None
    try:
        given, repaired = read_arguments(arguments)
    except ToolError as error:
        unread = replace(call, arguments={"unreadable": arguments[:_LONGEST_UNREADABLE]})
        return unread, Failed.by(error)
    return replace(call, arguments=given, repaired=repaired), None
