"""Media types that a caller names: whether it is one, and whether the bytes allow it."""

import re

from brasstag.documents.formats.containers import ZIP
from brasstag.documents.formats.kinds import BINARY, LINK, SIGNED, is_text_kind, kind_of
from brasstag.words.errors import Code, ToolError

_TYPES = "application|audio|font|haptics|image|message|model|multipart|text|video"
_MEDIA_TYPE = re.compile(rf"(?:{_TYPES})/[a-z0-9][a-z0-9!#$&^_.+-]{{0,126}}")
_ENCODING = re.compile(r"\s*;\s*charset\s*=\s*\"?utf-8\"?\s*")
"""The one parameter that says nothing new."""
_NEVER_TEXTS = (
    "application/epub+zip",
    "application/vnd.oasis.opendocument.",
    "application/vnd.openxmlformats-officedocument.",
    "audio/",
    "font/",
    "image/",
    "video/",
)
"""How the types begin whose files are no texts, unless they are XML."""


def parse_media_type(said: str) -> str:
    """Return the media type that a caller names, in lower case; raise ToolError where it is none."""
    named = _ENCODING.sub("", said.strip().lower())
    if not _MEDIA_TYPE.fullmatch(named):
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"{said[:200]!r} is not a media type; name one such as text/csv, without parameters, or leave mime_type out",
        )
    return named


def require_fitting(said: str, path: str, data: bytes) -> None:
    """Raise ToolError where bytes cannot be of the media type that a caller names."""
    if not fits(said, kind_of(path, data)):
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"the content is {kind_of(path, data)}, not {said}; name what it is, or leave mime_type out",
        )


def fits(said: str, found: str) -> bool:
    """Say whether bytes that were found to be of one type may be called by another."""
    if said == found or (said == BINARY and found != LINK):
        return True
    if is_text_kind(found):
        return (
            is_text_kind(said)
            or said.endswith("xml")
            or not (said in SIGNED or said.startswith(_NEVER_TEXTS))
        )
    if found in SIGNED:
        # Many formats are zip containers, and not every one of them is known here.
        return found == ZIP and said not in SIGNED and not is_text_kind(said)
    return found != LINK and said not in SIGNED and not is_text_kind(said)
