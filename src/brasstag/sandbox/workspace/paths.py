"""What a workspace path may look like, and how links on it are followed.

A canonical path is relative to the workspace, has no ``.``, ``..`` or empty part, and no symbolic link on it; the
workspace itself is ``.``. Calls are judged on canonical paths, and only canonical paths are opened, with links
refused: what was judged is what is opened.
"""

from collections.abc import Callable
from functools import lru_cache

from brasstag.sandbox.workspace.errors import shown
from brasstag.words.errors import SecurityError

ROOT = "."
LONGEST_PATH = 4095
LONGEST_NAME = 255
MOST_LINKS = 40


class Circle(SecurityError):
    """A path that leads through so many links that no program follows it to its end."""


@lru_cache(maxsize=1024)
def parse_path(text: str) -> str:
    """Return ``text`` without ``.``, ``..`` and doubled slashes; refuse what cannot name a workspace file.

    ``a/../b`` is ``b`` whatever ``a`` is. A backslash is an ordinary character.
    """
    if "\0" in text:
        raise SecurityError(f"{shown(text)}: a path cannot hold a NUL character; remove it")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise SecurityError(
            f"{shown(text)}: a path must be valid Unicode; half a surrogate pair is not"
        ) from None
    if size > LONGEST_PATH:
        raise SecurityError(f"the path is {size} bytes long; {LONGEST_PATH} is the most. Use a shorter one")
    if text.startswith("/"):
        raise SecurityError(
            f"{shown(text)}: paths start at the workspace; write it without the leading slash"
        )
    parts: list[str] = []
    for part in text.split("/"):
        _walk_lexically(parts, part, text)
    return "/".join(parts) or ROOT


def _walk_lexically(parts: list[str], part: str, text: str) -> None:
    if part in ("", "."):
        return
    if part == "..":
        if not parts:
            raise SecurityError(f"{shown(text)} leads out of the workspace; stay inside it")
        parts.pop()
        return
    if len(part.encode()) > LONGEST_NAME:
        raise SecurityError(
            f"{shown(part)}: one name is at most {LONGEST_NAME} bytes long; use a shorter one"
        )
    parts.append(part)


def splice(
    path: str, link_at: Callable[[str], str | None], refuse: Callable[[str], None], follow_last: bool
) -> str:
    """Return the canonical form of a parsed path by following every link on it inside the workspace.

    ``link_at`` gives a link's target, or None where there is no link. ``refuse`` is asked about every place the
    walk comes to, before anything there is looked at.
    """
    done: list[str] = []
    ahead = path.split("/")[::-1] if path != ROOT else []
    links = 0
    while ahead:
        part = ahead.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not done:
                raise SecurityError(f"{shown(path)} is a link out of the workspace; tools cannot follow it")
            done.pop()
            continue
        place = "/".join([*done, part])
        refuse(place)
        target = link_at(place) if ahead or follow_last else None
        if target is None:
            done.append(part)
            continue
        links += 1
        _refuse_target(path, target, links)
        ahead += target.split("/")[::-1]
    return parse_path("/".join(done))


def _refuse_target(path: str, target: str, links: int) -> None:
    if links > MOST_LINKS:
        raise Circle(f"{shown(path)} leads through more than {MOST_LINKS} links, perhaps in a circle")
    if target.startswith("/"):
        raise SecurityError(f"{shown(path)} is a link to an absolute path; tools follow only relative links")
    try:
        target.encode()
    except UnicodeEncodeError:
        raise SecurityError(
            f"{shown(path)} is a link to a name that is not UTF-8; tools cannot follow it"
        ) from None


def split_path(path: str) -> tuple[str, str]:
    """Return the directory a canonical path is in, and its name there."""
    parent, _, name = path.rpartition("/")
    return parent or ROOT, name


def join_path(directory: str, name: str) -> str:
    """Return the path of ``name`` in a directory."""
    return name if directory == ROOT else f"{directory}/{name}"


def ancestors(path: str) -> list[str]:
    """Return every directory above a canonical path, outermost first, the workspace itself left out."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
