"""Examining a file: what it is and how it begins, in bounded memory however large it is."""

import codecs
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

from brasstag.documents.kinds import BEGINNING, BINARY, MARKDOWN, PICTURES, kind_of_bytes, kind_of_text
from brasstag.documents.pictures import picture_size
from brasstag.sandbox.workspace.draft import Draft
from brasstag.words.errors import Code, ToolError
from brasstag.words.tokens import IMAGE_TOKENS, tokens_of_bytes

READ_AT_ONCE = 5_000_000
"""Bytes; also the most a picture may have, as providers take no larger ones."""

HEAD = 16_384
"""How many bytes of a text are kept to quote from."""
MOST_HEADINGS = 60
LONGEST_HEADING = 100

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Examined:
    """A file, but for its content."""

    path: str
    media_type: str
    size: int
    digest: str
    is_text: bool
    lines: int = 0
    head: str = ""
    headings: tuple[str, ...] = ()

    @property
    def is_picture(self) -> bool:
        """Whether models that see can be shown it."""
        return self.media_type in PICTURES and self.size <= READ_AT_ONCE

    @property
    def tokens(self) -> int:
        """About how many tokens all of it would be; 0 where a model cannot be shown it at all."""
        if self.is_picture:
            return IMAGE_TOKENS
        return tokens_of_bytes(self.size) if self.is_text else 0


def examine(draft: Draft, path: str) -> Examined:
    """Return what a file is; raise ToolError where it is missing, no file, or not readable."""
    try:
        data = draft.read_bytes(path, READ_AT_ONCE)
    except ToolError as error:
        if error.code is not Code.TOO_LARGE:
            raise
        return _examine_large(draft, path)
    found = _scan(path, io.BytesIO(data))
    if found.is_picture and picture_size(data, found.media_type) is None:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"{path} begins like {found.media_type}, but is no picture that can be read; save it anew, or leave it out",
        )
    if found.media_type != MARKDOWN:
        return found
    return replace(found, headings=tuple(islice(_headings(data.decode("utf-8-sig")), MOST_HEADINGS)))


def _examine_large(draft: Draft, path: str) -> Examined:
    for _, file in draft.open_files(path):
        return _scan(path, file)
    raise ToolError(Code.CHANGED, f"{path} changed while it was being read; call again")


def _scan(path: str, file: BinaryIO) -> Examined:
    """Read a file through, keeping no more of it than its beginning."""
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    beginning, last = b"", b""
    size = breaks = 0
    is_text = True
    for chunk in _chunks(file):
        digest.update(chunk)
        is_text = is_text and b"\0" not in chunk and _decodes(decoder, chunk)
        breaks += chunk.count(b"\n")
        size += len(chunk)
        beginning, last = beginning or chunk[:BEGINNING], chunk[-1:]
    is_text = is_text and _decodes(decoder, b"", final=True)
    if not is_text:
        return Examined(
            path, kind_of_bytes(beginning, path) or BINARY, size, digest.hexdigest(), is_text=False
        )
    return Examined(
        path,
        kind_of_text(path),
        size,
        digest.hexdigest(),
        is_text=True,
        lines=breaks + (last not in (b"", b"\n")),
        # Cut in the middle of a character, it may be.
        head=beginning[:HEAD].decode("utf-8-sig", "ignore"),
    )


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def _headings(text: str) -> Iterator[str]:
    in_code = False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif line.startswith("#") and not in_code:
            yield f"line {number}: {line.strip()[:LONGEST_HEADING]}"
