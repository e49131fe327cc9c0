"""Plain text in paragraphs and source code as it is, with a note on how its encoding was found."""

from brasstag.documents.converters.writer import BlockWriter, clean
from brasstag.documents.formats.text import decoded_with_note, read_as


def plain(data: bytes, _media_type: str, writer: BlockWriter) -> None:
    """Write a text as paragraphs, which end at an empty line."""
    paragraphs(decoded(data, writer), writer)


def paragraphs(text: str, writer: BlockWriter) -> None:
    """Write text as paragraphs; lines keep what they are indented by."""
    held: list[str] = []
    number = 1
    for number, line in enumerate(clean_lines(text), start=1):
        if line.strip():
            held.append(line)
        elif held:
            _write(held, number - 1, writer)
            held = []
    if held:
        _write(held, number, writer)


def clean_lines(text: str) -> list[str]:
    """Return the lines of a text; only line feeds and carriage returns end one."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _write(lines: list[str], last: int, writer: BlockWriter) -> None:
    at = {"line": last - len(lines) + 1, "end_line": last}
    if said := clean("\n".join(lines)):
        writer.add("paragraph", at, text=said)


def code(data: bytes, media_type: str, writer: BlockWriter) -> None:
    """Write source code as one block."""
    text = decoded(data, writer)
    if text:
        lines = text.count("\n") + (not text.endswith("\n"))
        writer.code(text.removesuffix("\n"), LANGUAGES.get(media_type, ""), {"line": 1, "end_line": lines})


_ALIKE = (
    "c", "csharp", "dockerfile", "go", "ini", "java", "kotlin", "lua", "makefile", "perl", "php", "python",
    "r", "ruby", "rust", "scala", "swift", "typescript",
)  # fmt: skip
"""Languages whose media type has their name behind ``text/x-``."""
LANGUAGES = {
    **{f"text/x-{name}": name for name in _ALIKE},
    "application/javascript": "javascript",
    "application/json": "json",
    "application/sql": "sql",
    "application/toml": "toml",
    "application/x-sh": "bash",
    "application/xml": "xml",
    "application/yaml": "yaml",
    "image/svg+xml": "xml",
    "text/css": "css",
    "text/javascript": "javascript",
    "text/x-c++": "cpp",
    "text/x-tex": "latex",
}
"""What code of each type is written in, by the names fences use."""


def decoded(data: bytes, writer: BlockWriter) -> str:
    """Return the text that bytes are; how that was found out is noted where it is not UTF-8."""
    # The caller says that these bytes are a text.
    text, note = decoded_with_note(data) or read_as(data, "utf-8")
    if note:
        writer.note(note)
    return text
