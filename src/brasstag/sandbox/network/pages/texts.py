"""The text of an answer's bytes, by its header, its own marks, or its look."""

import codecs
import re
from dataclasses import dataclass

_SNIFFED_BYTES = 2048
_BINARY_BYTES = 8000
_UNTYPED = "application/octet-stream"

_TEXTUAL = re.compile(
    r"text/.+|.+\+(?:json|xml|yaml)|application/(?:json|xml|xhtml\+xml|javascript|ecmascript|x-javascript|x-ndjson|"
    r"json-seq|jsonl|yaml|x-yaml|toml|sql|graphql|x-sh|x-www-form-urlencoded|x-tex|rtf)"
)
_MEDIA_TYPE = re.compile(r"\s*([\w!#$&^.+-]+/[\w!#$&^.+-]+)", re.ASCII)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE | re.ASCII)
_IN_HTML = re.compile(rb"<meta\s[^>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_IN_XML = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_KNOWN = re.compile(
    r"utf-8|utf-16(?:-le|-be)?|ascii|iso8859-\d+|cp125\d|cp866|cp874|koi8-[rut]|mac-.+|tis-620|"
    r"shift_jis|cp932|euc_jp|iso2022_jp|euc_kr|cp949|gb2312|gbk|gb18030|big5|big5hkscs"
)
"""Encodings of text; Python knows others that are not."""
_AS_BROWSERS_DO = {"ascii": "cp1252", "iso8859-1": "cp1252"}


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """What a body is."""

    media_type: str
    text: str | None
    """None for what is not text."""
    encoding: str | None = None
    replaced: int = 0
    """How many characters could not be read, and stand as U+FFFD."""

    @property
    def is_html(self) -> bool:
        """Whether it is a web page."""
        return self.text is not None and self.media_type in ("text/html", "application/xhtml+xml")


def read_body(content_type: str, body: bytes) -> DecodedBody:
    """Say what a body is, and read it where it is text."""
    media_type = _media_type(content_type)
    if media_type != _UNTYPED and not _TEXTUAL.fullmatch(media_type):
        return DecodedBody(media_type, None)
    encoding, marked = _encoding(content_type, body, media_type)
    if not encoding.startswith("utf-16") and b"\0" in body[:_BINARY_BYTES]:
        return DecodedBody(media_type, None)
    if media_type == _UNTYPED:
        if not _is_utf8(body):
            return DecodedBody(media_type, None)
        media_type = "text/plain"
    text = body[marked:].decode(encoding, errors="replace")
    # What the author wrote as U+FFFD counts too; in UTF-8 that can be told apart.
    own = body.count("\ufffd".encode()) if encoding == "utf-8" else 0
    return DecodedBody(media_type, text, encoding, max(0, text.count("\ufffd") - own))


def _media_type(content_type: str) -> str:
    found = _MEDIA_TYPE.match(content_type)
    return found[1].lower() if found else _UNTYPED


def _encoding(content_type: str, body: bytes, media_type: str) -> tuple[str, int]:
    """Return the encoding, and how many bytes mark it at the beginning."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name, len(mark)
    said = _CHARSET.search(content_type)
    if said and (known := _known(said[1])):
        return known, 0
    head = body[:_SNIFFED_BYTES]
    within = _IN_HTML.search(head) if "html" in media_type else _IN_XML.search(head)
    if within and (known := _known(within[1].decode("latin-1"))):
        # Marks that could be read as ASCII do not stand in UTF-16.
        return ("utf-8" if known.startswith("utf-16") else known), 0
    return ("utf-8" if _is_utf8(body) or media_type.endswith("json") else "cp1252"), 0


def _known(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    return _AS_BROWSERS_DO.get(name, name) if _KNOWN.fullmatch(name) else None


def _is_utf8(body: bytes) -> bool:
    """Say whether the bytes are UTF-8, but for a character that the limit may have cut in two at the end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True
