"""The pictures of a text: the blocks that name one, and the size at which it is set."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from brasstag.documents.formats.kinds import kind_of_bytes
from brasstag.documents.formats.pictures import picture_size
from brasstag.words.errors import Code, ToolError

SET: Mapping[str, str] = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif"}
"""What both kinds of file can show, and how such a file ends."""
_POINTS = 0.75
"""Of one pixel."""
_WIDEST, _HIGHEST = 450.0, 600.0
"""Points of a page that a picture may take."""


@dataclass(frozen=True, slots=True)
class SetPicture:
    """A picture that is set, and its width in points."""

    data: bytes
    ending: str
    width: float


def pictures_of(blocks: Iterable[Mapping[str, Any]], given: Mapping[str, bytes]) -> dict[str, SetPicture]:
    """Return the given pictures that blocks name, by their targets; any other is only named in the file."""
    targets = dict.fromkeys(block.get("target", "") for block in blocks if block["kind"] == "image")
    found = {target: _measured(given[unquote(target)]) for target in targets if unquote(target) in given}
    return {target: picture for target, picture in found.items() if picture is not None}


def _measured(data: bytes) -> SetPicture | None:
    kind = kind_of_bytes(data) or ""
    size = picture_size(data, kind) if kind in SET else None
    if size is None:
        return None
    width, height = (side * _POINTS for side in size)
    return SetPicture(data, SET[kind], width * min(1.0, _WIDEST / width, _HIGHEST / height))


def unreadable(error: Exception) -> ToolError:
    """Return the error of a picture whose bytes are damaged."""
    said = " ".join(str(error).split())[:200] or "its bytes are damaged"
    return ToolError(
        Code.CANNOT_CONVERT, f"a picture that the text shows cannot be read: {said}; leave it out"
    )
