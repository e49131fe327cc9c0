"""What a file is: a text by its name, anything else by its first bytes where they tell."""

from types import MappingProxyType

PLAIN = "text/plain"
BINARY = "application/octet-stream"
MARKDOWN = "text/markdown"
TABLES = frozenset({"text/csv", "text/tab-separated-values"})
"""Texts whose first line names columns."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models that see can be shown."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)

_TEXTS = MappingProxyType(
    {
        "css": "text/css",
        "csv": "text/csv",
        "htm": "text/html",
        "html": "text/html",
        "js": "text/javascript",
        "json": "application/json",
        "jsonl": "application/jsonl",
        "md": MARKDOWN,
        "markdown": MARKDOWN,
        "py": "text/x-python",
        "svg": "image/svg+xml",
        "toml": "application/toml",
        "tsv": "text/tab-separated-values",
        "xml": "application/xml",
        "yaml": "application/yaml",
        "yml": "application/yaml",
    }
)


def kind_of_bytes(beginning: bytes) -> str | None:
    """Return the media type that the first bytes of a file that is not text tell, or None where they tell nothing."""
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for mark, kind in _BEGINNINGS if beginning.startswith(mark)), None)


def kind_of_text(path: str) -> str:
    """Return the media type that the name of a text tells."""
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return _TEXTS.get(ending.lower(), PLAIN) if dot else PLAIN
