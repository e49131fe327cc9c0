"""Loading a document into the context: as text, whatever it was written with, as much of it as is wanted."""

from typing import Any, Protocol

from brasstag.documents.counting import count_tokens
from brasstag.documents.decoding import decoded
from brasstag.documents.kinds import CONVERTED, PICTURES
from brasstag.documents.loading import Part, Pieces, part_of
from brasstag.documents.rendering import as_markdown, plain
from brasstag.toolkit.config import Limits
from brasstag.toolkit.declare import tool
from brasstag.words.blocks import Blocks
from brasstag.words.documents import Content
from brasstag.words.errors import Code, ToolError

_GAP = "\n\n"


class Reading(Protocol):
    """What loading needs to know of documents; the engine hands it in."""

    def open(self, path: str, version: str, most_bytes: int) -> Content:
        """Return what a document holds, or held."""
        ...

    def blocks(self, content: Content) -> Blocks:
        """Return a content in blocks."""
        ...


@tool(execution_type="function")
def load_to_context(
    library: Reading,
    limits: Limits,
    path: str,
    version: str = "",
    form: str = "auto",
    start_line: int | None = None,
    end_line: int | None = None,
    start_block: int | None = None,
    end_block: int | None = None,
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
    text = None if by_blocks else _own_text(content)
    if text is not None:
        part = part_of(_lines(text), start_line, end_line, max_tokens, _count)
        return _told(content, part, limits, "text", part.content, [])
    if by_lines:
        raise ToolError(
            Code.NOT_TEXT, f"{path} is {content.media_type}, which has no lines; ask for blocks of it"
        )
    blocks = library.blocks(content)
    written = form if form in ("text", "json") else "markdown"
    pieces = Pieces("block", [_piece(blocks, number, written) for number in range(len(blocks.blocks))], _GAP)
    part = part_of(pieces, start_block, end_block, max_tokens, _count)
    shown: Any = part.content
    if written == "json":
        shown = [block.as_json() for block in blocks.blocks[part.first : part.last + 1]]
    return _told(content, part, limits, written, shown, list(blocks.notes))


def _own_text(content: Content) -> str | None:
    if content.media_type in CONVERTED or content.media_type in PICTURES:
        return None
    return decoded(content.data)


def _lines(text: str) -> Pieces:
    return Pieces("line", text.splitlines(keepends=True) if "\n" not in text else _broken(text))


def _broken(text: str) -> list[str]:
    # At line feeds only, so that lines are counted as read_file and search count them.
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _piece(blocks: Blocks, number: int, written: str) -> str:
    block = blocks.blocks[number]
    return plain(block) if written == "text" else as_markdown(Blocks((block,))).rstrip("\n")


def _count(text: str) -> int:
    return count_tokens(text).tokens


def _told(
    content: Content, part: Part, limits: Limits, form: str, shown: Any, notes: list[str]
) -> dict[str, Any]:
    most = limits.numbers["max_bytes"]
    if len(part.content.encode(errors="replace")) > most:
        raise ToolError(
            Code.TOO_LARGE,
            f"what was asked for of {content.path} is more than {most} bytes; give max_tokens, or a smaller range",
            {"total": part.total},
        )
    if part.is_cut:
        notes.append(f"not even one whole piece fits; this is only the beginning of {part.first}")
    counted = count_tokens(part.content)
    return {
        "path": content.path,
        "version": content.version,
        "digest": content.digest,
        "mime_type": content.media_type,
        "form": form,
        "content": shown,
        "unit": "line" if form == "text" and content.media_type not in CONVERTED else "block",
        "first": part.first,
        "last": part.last,
        "total": part.total,
        "next": part.next,
        "tokens": counted.tokens,
        "tokenizer": counted.tokenizer,
        "notes": notes,
    }
