"""A request on standard input and its answer on standard output, both as JSON."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from brasstag.words.errors import ToolError

Program = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Does what a request asks for; raises ToolError where that cannot be done."""


def reply(program: Program) -> None:
    """Run a program on the request that waits, and write ``{done}``, or ``{failed: {code, message, details}}``."""
    request = json.load(sys.stdin)
    try:
        said: dict[str, Any] = {"done": program(request)}
    except ToolError as error:
        said = {"failed": {"code": error.code, "message": error.message, "details": dict(error.details)}}
    json.dump(said, sys.stdout)
