"""Media types that a caller names: whether it is one, and whether the bytes allow it."""

import re

from brasstag.documents.formats.containers import ZIP
from brasstag.documents.formats.grammar import problem_of
from brasstag.documents.formats.kinds import BINARY, LINK, SIGNED, is_text_kind, kind_of
from brasstag.words.errors import Code, ToolError

_TYPES = "application|audio|font|haptics|image|message|model|multipart|text|video"
_MEDIA_TYPE = re.compile(rf"(?:{_TYPES})/[a-z0-9][a-z0-9!#$&^_.+-]{{0,126}}")
_ENCODING = re.compile(r"\s*;\s*charset\s*=\s*\"?utf-8\"?\s*")
"""The one parameter that says nothing new."""
_NEVER_TEXTS = (
    "application/epub+zip",
    "application/vnd.oasis.opendocument.",
    "application/x-tar",
    "application/vnd.openxmlformats-officedocument.",
    "audio/",
    "font/",
    "image/",
    "video/",
)
"""How the types begin whose files are no texts, unless they are XML."""
_MEDIA = {"audio": "video", "font": "font", "image": "image", "video": "video"}
"""What no file can be two of; sound and moving pictures have containers in common."""


def parse_media_type(said: str) -> str:
    """Return the media type that a caller names, in lower case; raise ToolError where it is none."""
    named = _ENCODING.sub("", said.strip().lower())
    if not _MEDIA_TYPE.fullmatch(named):
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"{said[:200]!r} is not a media type; name one such as text/csv, without parameters, or leave mime_type out",
        )
    return named


def require_fitting(mime_type: str, path: str, data: bytes) -> None:
    """Raise ToolError where bytes cannot be of the media type, or in the encoding, that a caller names."""
    said, found = parse_media_type(mime_type), kind_of(path, data)
    if not fits(said, found):
        raise _contradiction(f"the content is {found}, not {said}")
    if problem := problem_of(said, data):
        raise _contradiction(f"the content is not {said}: {problem}")
    if _ENCODING.search(mime_type.lower()) and not _is_utf8(data):
        raise _contradiction("the content is not in UTF-8")


def _contradiction(what: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, f"{what}; name what it is, or leave mime_type out")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


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
    if found == LINK or said in SIGNED or is_text_kind(said):
        return False
    medium, other = (_MEDIA.get(one.partition("/")[0]) for one in (said, found))
    if medium == other or found == BINARY:
        return True
    return not (medium and other) and medium != "image"
