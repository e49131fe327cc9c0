"""Headers of a request: what a caller may set, and what only the client sets."""

import re
from collections.abc import Mapping

from brasstag.words.errors import Code, ToolError

Headers = list[tuple[bytes, bytes]]

MOST_BYTES = 32_000

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_OURS = frozenset(
    {
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
        "trailer", "expect", "accept-encoding", "via", "forwarded", "http2-settings",
    }
)  # fmt: skip
_OUR_BEGINNINGS = ("proxy-", "x-forwarded-", ":")


def checked_headers(given: Mapping[str, str]) -> Headers:
    """Return a caller's headers as they are sent, or raise INVALID_ARGUMENTS for one that is not theirs to set."""
    checked: Headers = []
    seen: set[str] = set()
    for name, value in given.items():
        lower = name.lower()
        if lower in _OURS or lower.startswith(_OUR_BEGINNINGS):
            raise _refusal(name, "is set by the client itself; leave it out")
        if lower in seen:
            raise _refusal(name, "is given twice")
        if not _NAME.fullmatch(name):
            raise _refusal(name, "is not a name of a header")
        if not _VALUE.fullmatch(value):
            raise _refusal(name, "has a value with line breaks, control characters or letters beyond Latin-1")
        seen.add(lower)
        checked.append((name.encode(), value.strip(" \t").encode("latin-1")))
    if sum(len(name) + len(value) for name, value in checked) > MOST_BYTES:
        raise ToolError(Code.INVALID_ARGUMENTS, f"the headers weigh more than {MOST_BYTES} bytes; send less")
    return checked


def _refusal(name: str, why: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, f"the header {name[:100]!r} {why}")
