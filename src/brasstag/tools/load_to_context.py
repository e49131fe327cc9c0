"""load_to_context: a document as text, as much of it as is wanted."""

from collections.abc import Mapping
from typing import Any

from brasstag.documents.blocks.pieces import BlockPieces, Form, TextLines, Unit, own_text
from brasstag.documents.reading.load import Part, Share, part_of
from brasstag.documents.study.tokens import count_tokens
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.tools.documents import DocumentLookup
from brasstag.words.documents import Content
from brasstag.words.errors import Code, ToolError

_LONGEST_TOKEN = 128
"""Bytes; no token is longer."""


@tool(execution_type="function")
def load_to_context(
    library: DocumentLookup,
    limits: Limits,
    path: str,
    version: str = "",
    form: str = "auto",
    start_line: int | None = None,
    end_line: int | None = None,
    start_block: int | None = None,
    end_block: int | None = None,
    offset: int = 0,
    max_tokens: int | None = None,
) -> dict[str, Any]:
    """load_to_context"""
    by_lines = start_line is not None or end_line is not None
    if by_lines and (form not in ("auto", "text") or start_block is not None or end_block is not None):
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            "lines are those of the text itself; ask for lines or for blocks, not both",
        )
    content = library.open(path, version, limits.numbers["max_read_bytes"])
    by_blocks = form in ("markdown", "json") or start_block is not None or end_block is not None
    own = None if by_blocks else own_text(content.data, content.media_type)
    share_of = None if max_tokens is None else _shares(max_tokens, limits.numbers["max_bytes"])
    if own is not None:
        text, note = own
        part = part_of(TextLines.of(text), start_line, end_line, offset, share_of)
        return _told(content, part, limits, "line", "text", [note] if note else [])
    if by_lines:
        raise ToolError(
            Code.NOT_TEXT, f"{path} is {content.media_type}, which has no lines; ask for blocks of it"
        )
    blocks = library.blocks(content)
    written = _WRITTEN[form]
    part = part_of(BlockPieces(blocks.blocks, written), start_block, end_block, offset, share_of)
    return _told(content, part, limits, "block", written, list(blocks.notes))


_WRITTEN: Mapping[str, Form] = {"auto": "markdown", "markdown": "markdown", "text": "text", "json": "json"}


def _shares(most_tokens: int, most_bytes: int) -> Share:
    """Return how much of the allowed size a text takes."""

    def share_of(text: str) -> float:
        weight = _weight(text)
        share = max(weight / most_bytes, weight / _LONGEST_TOKEN / most_tokens)
        # A text that is far too long is not counted, because that would take long.
        return share if share > 1 else max(share, count_tokens(text).tokens / most_tokens)

    return share_of


def _weight(text: str) -> int:
    return len(text.encode(errors="replace"))


def _told(
    content: Content, part: Part, limits: Limits, unit: Unit, form: Form, notes: list[str]
) -> dict[str, Any]:
    most = limits.numbers["max_bytes"]
    if _weight(part.shown.text) > most:
        raise ToolError(
            Code.TOO_LARGE,
            f"what was asked for of {content.path} is more than {most} bytes; give max_tokens, and as much comes as fits: "
            f"read on with start_{unit} = next and offset = next_offset of the answer",
            {"total": part.total},
        )
    counted = count_tokens(part.shown.text)
    return {
        "path": content.path,
        "version": content.version,
        "digest": content.digest,
        "mime_type": content.media_type,
        "form": form,
        "content": part.shown.value,
        "unit": unit,
        "first": part.first,
        "last": part.last,
        "total": part.total,
        "next": part.next,
        "next_offset": part.next_offset,
        "tokens": counted.tokens,
        "tokenizer": counted.tokenizer,
        "notes": [*notes, *part.notes],
    }
