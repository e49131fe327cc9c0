"""Examine a file in bounded memory: its type, digest, size and beginning."""

import codecs
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

from brasstag.documents.formats.encodings import OLD
from brasstag.documents.formats.kinds import MARKDOWN, PICTURES, is_text_kind, kind_among
from brasstag.documents.formats.pictures import picture_size
from brasstag.documents.formats.text import BEGINNING, decoded_with_note, encoding_of, read_as
from brasstag.documents.study.tokens import ESTIMATE, TokenCount, count_tokens
from brasstag.sandbox.workspace.draft import Draft
from brasstag.words.blocks import Blocks
from brasstag.words.errors import Code, ToolError
from brasstag.words.tokens import IMAGE_TOKENS, tokens_of_bytes

READ_AT_ONCE = 5_000_000
"""Bytes; also the most a picture may have, as providers take no larger ones."""

HEAD = 16_384
"""How many bytes of a text are kept to quote from."""
MOST_HEADINGS = 60
LONGEST_HEADING = 100
MOST_COUNTED = 200_000
"""Characters of the longest text whose tokens are counted here; those of longer ones are estimated."""

_CHUNK = 1 << 20
_READ = frozenset({"utf-16", "utf-32", *OLD})
"""What is written so has to be read to find its lines, and to tell how long it is as UTF-8."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A file, but for its content."""

    path: str
    media_type: str
    size: int
    digest: str
    encoding: str = ""
    """What its text is written in; empty where it is none."""
    lines: int = 0
    head: str = ""
    is_head_all: bool = True
    headings: tuple[str, ...] = ()
    note: str = ""
    """What a reader should know of how the text was found out."""
    words: int = 0
    """Bytes of its text as UTF-8."""
    counted: TokenCount | None = None
    """How many tokens that is, where it was counted."""
    blocks: Blocks | None = None
    """What it was converted to, and that as Markdown."""
    markdown: str = ""
    failure: str = ""
    """Why it is not converted, in a sentence; empty where no conversion was tried."""
    is_waiting: bool = False
    """Whether it is only a matter of time that it was not."""

    @property
    def is_text(self) -> bool:
        """Whether it travels as the text it is."""
        return bool(self.encoding) and self.blocks is None

    @property
    def is_picture(self) -> bool:
        """Whether models that see can be shown it."""
        return self.media_type in PICTURES and self.size <= READ_AT_ONCE

    @property
    def is_readable(self) -> bool:
        """Whether there is anything of it that a model can be shown."""
        return self.is_text or self.is_picture or self.blocks is not None

    @property
    def weight(self) -> int:
        """About how many tokens of the room there is all of it would take; 0 where a model cannot be shown it at all."""
        if self.is_picture:
            return IMAGE_TOKENS
        return tokens_of_bytes(self.words) if self.is_readable else 0

    @property
    def tokens(self) -> TokenCount:
        """How many tokens all of it is."""
        return self.counted or TokenCount(self.weight, ESTIMATE)

    def converted(self, blocks: Blocks, markdown: str) -> "Examined":
        """Return it as what it was converted to."""
        words = len(markdown.encode(errors="replace"))
        return replace(
            self,
            blocks=blocks,
            markdown=markdown,
            words=words,
            note="as Markdown",
            counted=_counted(markdown),
        )


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
            f"{path} begins like {found.media_type}, but it cannot be read as a picture; save it again, or leave it out",
        )
    decoded = decoded_with_note(data) if found.is_text else None
    if decoded is None:
        return found
    text, note = decoded
    headings = tuple(islice(_headings(text), MOST_HEADINGS)) if found.media_type == MARKDOWN else ()
    words = len(text.encode(errors="replace"))
    return replace(found, headings=headings, note=note, words=words, counted=_counted(text))


def _counted(text: str) -> TokenCount | None:
    return count_tokens(text) if len(text) <= MOST_COUNTED else None


def _examine_large(draft: Draft, path: str) -> Examined:
    for _, file in draft.open_files(path):
        return _scan(path, file)
    raise ToolError(Code.CHANGED, f"{path} changed while it was being read; call again")


def _scan(path: str, file: BinaryIO) -> Examined:
    """Read a file through, keeping no more of it than its beginning."""
    digest = hashlib.sha256()
    first = file.read(_CHUNK)
    beginning = first[:BEGINNING]
    encoding = encoding_of(beginning)
    kind = kind_among(path, beginning, can_be_read=encoding is not None)
    if encoding is None or not is_text_kind(kind):
        encoding = ""
    lines = _LineCount(encoding)
    size = 0
    for chunk in _chunks(first, file):
        digest.update(chunk)
        size += len(chunk)
        lines.take(chunk)
    if not encoding:
        return Examined(path, kind, size, digest.hexdigest())
    text, note = read_as(beginning, encoding, is_whole=size <= BEGINNING)
    head = text.encode()[:HEAD]
    return Examined(
        path,
        kind,
        size,
        digest.hexdigest(),
        encoding,
        lines=lines.count,
        # Cut in the middle of a character, it may be.
        head=head.decode(errors="ignore"),
        is_head_all=size <= BEGINNING and len(text.encode()) <= HEAD,
        note=note,
        words=lines.words,
    )


def _chunks(first: bytes, file: BinaryIO) -> Iterator[bytes]:
    while first:
        yield first
        first = file.read(_CHUNK)


class _LineCount:
    """Counts the lines of a text, and its bytes as UTF-8, or about that."""

    def __init__(self, encoding: str) -> None:
        self.words = 0
        self._breaks = 0
        self._last = "\n"
        self._decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding in _READ else None
        self._is_text = bool(encoding)

    @property
    def count(self) -> int:
        return self._breaks + (self._last != "\n")

    def take(self, chunk: bytes) -> None:
        if self._decoder is not None:
            text = self._decoder.decode(chunk)
            chunk = text.encode(errors="replace")
        if self._is_text and chunk:
            self.words += len(chunk)
            self._breaks += chunk.count(b"\n")
            self._last = chr(chunk[-1])


def _headings(text: str) -> Iterator[str]:
    in_code = False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif line.startswith("#") and not in_code:
            yield f"line {number}: {line.strip()[:LONGEST_HEADING]}"
