"""Hits: documents that answer a search, and the place of the answer."""

from dataclasses import dataclass
from typing import Any

from brasstag.documents.search.search import Spot
from brasstag.documents.search.snippets import Snippet
from brasstag.words.documents import WHOLE, Document

_NOWHERE = Spot()


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that answers."""

    document: Document
    """As far as it is known. ``get`` finds out the rest, such as the number of its tokens.

    Its ``indexed`` says where only a part of it is searched.
    """
    score: float
    """How well it answers; only comparable within one search."""
    snippet: Snippet
    spot: Spot | None
    """Where the match is that the snippet was cut around; None where only the path, the description or the tags match."""

    def as_json(self) -> dict[str, Any]:
        """Return it as programs read it, without its score: a score shows how often other documents say the same."""
        document, spot = self.document, self.spot or _NOWHERE
        return {
            "path": document.path,
            "mime_type": document.mime_type,
            "snippet": self.snippet.text,
            "matches": [list(match) for match in self.snippet.matches],
            "line": spot.line or None,
            "column": spot.column or None,
            "block": spot.block,
            "page": spot.page or None,
            "sheet": spot.sheet or None,
            "row": spot.row or None,
            "paragraph": spot.paragraph or None,
            "tags": list(document.tags),
            "description": document.description,
            "updated_at": document.updated_at,
            "note": "" if document.indexed == WHOLE else document.indexed,
        }
