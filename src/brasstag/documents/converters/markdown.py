"""Markdown: every block with its line numbers."""

import html
import re
from collections.abc import Callable, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from brasstag.documents.converters.text import clean_lines, decoded, paragraphs
from brasstag.documents.converters.writer import BlockWriter, ListEntry

MOST_BYTES = 4_000_000
"""A longer file is read as plain text: no person writes so much by hand, and parsing it would take seconds."""
_DEEPEST = 40
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<[^<>]*>", re.DOTALL)
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
"""A tag that ends a line."""
_FENCES = ("---", "+++")
_LANGUAGES = {"---": "yaml", "+++": "toml"}

Words = Callable[[Token | None], str]
"""Returns the words of a line of Markdown."""


def markdown(data: bytes, _media_type: str, writer: BlockWriter, words: Words | None = None) -> None:
    """Write the blocks of a Markdown document; ``words`` reads its lines, ``inline_text`` if it is left out."""
    text = decoded(data, writer)
    if len(data) > MOST_BYTES:
        writer.note("it is too long to be read as Markdown, and stands as plain text")
        paragraphs(text, writer)
        return
    lines = clean_lines(text)
    skipped = _front_matter(lines, writer)
    _MarkdownWriter(writer, skipped, words or inline_text).write("\n".join(lines[skipped:]))


def _front_matter(lines: Sequence[str], writer: BlockWriter) -> int:
    """Write the settings at the top as code; return how many lines they take."""
    mark = lines[0].rstrip() if lines else ""
    if mark not in _FENCES:
        return 0
    for number, line in enumerate(lines[1:200], start=1):
        if line.rstrip() == mark:
            writer.code("\n".join(lines[1:number]), _LANGUAGES[mark], {"line": 1, "end_line": number + 1})
            return number + 1
    return 0


class _MarkdownWriter:
    """Walks the tokens of a document; what it stands in is on stacks."""

    def __init__(self, writer: BlockWriter, skipped: int, words: Words) -> None:
        self._writer = writer
        self._skipped = skipped
        self._words = words
        self._quoted = 0
        self._lists: list[int | None] = []
        """The next number of each list that is open; None where it has bullets."""
        self._is_new = False
        self._rows: list[list[str]] = []
        self._table_at: dict[str, Any] = {}
        self._does: dict[str, Callable[[Token, Token | None], None]] = {
            "heading_open": self._heading,
            "paragraph_open": self._text,
            "fence": self._code,
            "code_block": self._code,
            "html_block": self._tags,
            "hr": self._rule,
            "blockquote_open": self._open_quote,
            "blockquote_close": self._close_quote,
            "bullet_list_open": self._open_list,
            "ordered_list_open": self._open_list,
            "bullet_list_close": self._close_list,
            "ordered_list_close": self._close_list,
            "list_item_open": self._open_item,
            "list_item_close": self._close_item,
            "table_open": self._open_table,
            "tr_open": self._row,
            "th_open": self._cell,
            "td_open": self._cell,
            "table_close": self._table,
        }

    def write(self, text: str) -> None:
        parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
        tokens = parser.parse(text)
        if any(token.level >= _DEEPEST - 1 for token in tokens):
            self._writer.leave_out("what lies deeper than 40 levels in lists and quotes is left out")
        for token, following in zip(tokens, [*tokens, None][1:], strict=True):
            act = self._does.get(token.type)
            if act is not None:
                act(token, following)

    def _place(self, token: Token) -> dict[str, Any]:
        first, last = token.map or (0, 0)
        return {"line": first + 1 + self._skipped, "end_line": last + self._skipped} if token.map else {}

    def _heading(self, token: Token, following: Token | None) -> None:
        self._writer.end_list()
        self._writer.heading(self._words(following), int(token.tag[1:]), self._place(token))

    def _text(self, token: Token, following: Token | None) -> None:
        picture = _only_picture(following)
        if picture is not None:
            self._writer.end_list()
            self._writer.add("image", self._place(token), text=picture[0], target=picture[1])
        elif self._lists and not self._quoted:
            self._item_text(self._words(following), token)
        else:
            self._writer.end_list()
            self._writer.paragraph(self._words(following), self._place(token), self._quoted)

    def _item_text(self, text: str, token: Token) -> None:
        item = ListEntry(text, len(self._lists) - 1, self._lists[-1], self._place(token))
        self._writer.gather_item(item, is_new=self._is_new)
        self._is_new = False

    def _code(self, token: Token, _following: Token | None) -> None:
        self._writer.end_list()
        language = token.info.split()[0] if token.info.strip() else ""
        self._writer.code(token.content.removesuffix("\n"), language, self._place(token))

    def _tags(self, token: Token, _following: Token | None) -> None:
        self._writer.end_list()
        self._writer.paragraph(_without_tags(token.content), self._place(token), self._quoted)

    def _rule(self, token: Token, _following: Token | None) -> None:
        self._writer.end_list()
        self._writer.add("rule", self._place(token))

    def _open_quote(self, _token: Token, _following: Token | None) -> None:
        self._writer.end_list()
        self._quoted += 1

    def _close_quote(self, _token: Token, _following: Token | None) -> None:
        self._writer.end_list()
        self._quoted -= 1

    def _open_list(self, token: Token, _following: Token | None) -> None:
        if not self._lists:
            self._writer.end_list()
        self._lists.append(int(token.attrs.get("start", 1)) if token.type.startswith("ordered") else None)

    def _close_list(self, _token: Token, _following: Token | None) -> None:
        self._lists.pop()
        if not self._lists:
            self._writer.end_list()

    def _open_item(self, _token: Token, _following: Token | None) -> None:
        self._is_new = True

    def _close_item(self, _token: Token, _following: Token | None) -> None:
        if self._lists[-1] is not None:
            self._lists[-1] += 1

    def _open_table(self, token: Token, _following: Token | None) -> None:
        self._writer.end_list()
        self._rows = []
        self._table_at = self._place(token)

    def _row(self, _token: Token, _following: Token | None) -> None:
        self._rows.append([])

    def _cell(self, _token: Token, following: Token | None) -> None:
        self._rows[-1].append(self._words(following))

    def _table(self, _token: Token, _following: Token | None) -> None:
        header, *rows = self._rows
        self._writer.table(header, rows, self._table_at)


def inline_text(token: Token | None) -> str:
    """Return the plain words of a line of Markdown, addresses of links behind them in brackets."""
    parts: list[str] = []
    links: list[tuple[int, str]] = []
    for one in (token.children or ()) if token is not None else ():
        if one.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif one.type == "image":
            parts.append(inline_text(one))
        elif one.type == "html_inline":
            parts.append("\n" if BREAK.fullmatch(one.content) else "")
        elif one.type == "link_open":
            links.append((len(parts), str(one.attrs.get("href", ""))))
        elif one.type == "link_close" and links:
            start, target = links.pop()
            parts.append(_address(target, "".join(parts[start:])))
        else:
            parts.append(one.content)
    return "".join(parts)


def _address(target: str, words: str) -> str:
    is_said = not target or target.startswith("#") or target.removeprefix("mailto:") == words.strip()
    return "" if is_said else f" ({target})"


def _only_picture(token: Token | None) -> tuple[str, str] | None:
    """Return text and address of the picture that a paragraph consists of."""
    children = (token.children or []) if token is not None else []
    pictures = [one for one in children if one.type == "image"]
    if len(pictures) != 1 or inline_text(token).strip() != inline_text(pictures[0]).strip():
        return None
    return " ".join(inline_text(pictures[0]).split()), str(pictures[0].attrs.get("src", ""))


def _without_tags(text: str) -> str:
    return html.unescape(_TAG.sub("", BREAK.sub("\n", text)))
