"""What is known of a workspace file, and what of it a receiving agent gets."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

WHOLE = "whole"
"""The value of ``indexed`` for a document that search finds completely."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A workspace file as it travelled with a task, a question or a result: its content as it was then."""

    path: str
    media_type: str
    size_bytes: int
    digest: str
    """SHA-256 of the whole file."""
    tokens: int
    """How many tokens the whole file is, as a model reads it; 0 where it cannot."""
    text: str = ""
    """The whole text, or its summary where ``complete`` is false."""
    complete: bool = True
    how: str = ""
    """Where it is not whole: how to load the rest."""
    image: bool = False
    """Whether it is a picture whose bytes lie among the blobs."""
    tokenizer: str = "estimate"
    """Who counted the tokens."""
    note: str = ""
    """How its text was found: ``as Markdown`` of what was converted, or an encoding that was guessed."""

    def as_json(self) -> dict[str, Any]:
        """Return every field."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Carried":
        """Read what ``as_json`` wrote."""
        return cls(**stored)


@dataclass(frozen=True, slots=True)
class Document:
    """A workspace file with everything that is known of it; what no caller has asked for yet is None."""

    path: str
    mime_type: str
    """What its writer said it is, where the bytes allow that; else sniffed, and the name only decides among texts."""
    size_bytes: int
    digest: str
    version: int
    created_by: str
    """The task that created it, or ``outside`` where no call did."""
    created_role: str
    """The role of that task; empty where no call did."""
    created_at: str
    updated_by: str
    """The task that made its newest version, or ``outside``."""
    updated_role: str
    updated_at: str
    description: str = ""
    tags: tuple[str, ...] = ()
    token_count: int | None = None
    tokenizer: str = ""
    """Who counted: ``o200k_base`` exactly, ``estimate`` about."""
    auto_summary: str | None = None
    summary_by: str = ""
    """``extractive``, or the model that wrote it."""
    indexed: str = WHOLE
    """How much of it search finds: ``whole``, ``pending``, or a sentence about what is missing."""

    def as_json(self) -> dict[str, Any]:
        """Return every field by the name tools, pages and exports know it by."""
        return asdict(self) | {"tags": list(self.tags)}


@dataclass(frozen=True, slots=True)
class WholeDocument(Document):
    """A document with its content in blocks and all its versions."""

    content_json: Mapping[str, Any] | None = None
    """``{"blocks": …}``, as ``Blocks`` writes itself; None where it cannot be read in blocks."""
    content_problem: Mapping[str, str] | None = None
    """Code and message of why it cannot."""
    versions: tuple[Mapping[str, Any], ...] = ()
    """Every version as programs read it; those of the document itself come last, the newest at the end."""

    def as_json(self) -> dict[str, Any]:
        """Return every field by the name programs know it by."""
        # Not super(): a dataclass with slots is another class than the one this is written in.
        return Document.as_json(self) | {"versions": list(self.versions)}


@dataclass(frozen=True, slots=True)
class Content:
    """What one version of a document holds."""

    path: str
    """Where the document is now."""
    version: int
    digest: str
    media_type: str
    data: bytes

    @property
    def label(self) -> str:
        """How people and models call it."""
        return f"{self.path}@{self.version}"
