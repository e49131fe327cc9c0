"""Globs: which files a search looks into.

``*`` and ``?`` stay within one name, ``**`` crosses directories, ``[a-z]`` and ``[!a-z]`` are sets, ``{a,b}`` is
either. A glob with a slash is matched against the whole path below the searched directory, one without against
the name alone. A leading ``!`` leaves files out.
"""

import re
from collections.abc import Callable, Sequence

from brasstag.sandbox.workspace.errors import shown
from brasstag.words.errors import Code, ToolError

_PART = re.compile(r"\*\*/|\*\*|\[!?\]?[^\]/]*\]|\\.|.", re.DOTALL)
_MEANING: dict[str, str] = {
    "**/": "(?:.*/)?",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
    "{": "(?:",
    "}": ")",
}
_IN_A_SET = re.compile(r"([\\\[\]^])")


def matcher(globs: Sequence[str]) -> Callable[[str], bool]:
    """Return whether a path is wanted: matched by one of the globs, if there are any, and left out by none."""
    wanted = [_compile(glob) for glob in globs if not glob.startswith("!")]
    unwanted = [_compile(glob[1:]) for glob in globs if glob.startswith("!")]

    if not globs:
        return lambda _path: True

    def wants(path: str) -> bool:
        if wanted and not any(matches(path) for matches in wanted):
            return False
        return not any(matches(path) for matches in unwanted)

    return wants


def _compile(glob: str) -> Callable[[str], bool]:
    # RE2 takes linear time, and the glob may come from a model. Imported late: most calls never search.
    import re2  # noqa: PLC0415

    options = re2.Options()
    options.log_errors = False
    try:
        pattern = re2.compile(f"(?s:{_translated(glob.removeprefix('/'))})", options)
    except (re2.error, UnicodeEncodeError):
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"{shown(glob)} is not a glob; check that every set and brace is closed"
        ) from None
    if "/" in glob:
        return lambda path: pattern.fullmatch(path) is not None
    return lambda path: pattern.fullmatch(path.rpartition("/")[2]) is not None


def _translated(glob: str) -> str:
    depth = 0
    pieces: list[str] = []
    for part in _PART.findall(glob):
        depth += {"{": 1, "}": -1}.get(part, 0)
        pieces.append("|" if part == "," and depth else _piece(part))
    return "".join(pieces)


def _piece(part: str) -> str:
    if part in _MEANING:
        return _MEANING[part]
    if part.startswith("[") and part.endswith("]"):
        inside = part[1:-1]
        negated = inside.startswith("!")
        members = _IN_A_SET.sub(r"\\\1", inside[negated:])
        return f"[^{members}]" if negated else f"[{members}]"
    return re.escape(part[-1])
