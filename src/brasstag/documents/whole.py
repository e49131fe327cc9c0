"""A document whole: what is known of it, what it holds in blocks, and every version of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brasstag.store.versions import Version
from brasstag.words.blocks import Blocks
from brasstag.words.documents import Document
from brasstag.words.errors import ToolError


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """Everything there is of one document, as it is now."""

    document: Document
    versions: tuple[Version, ...]
    """Through its moves, oldest first."""
    tags: Mapping[str, str]
    """The tags of the calls that made them, by the ids of those calls."""
    content: Blocks | None
    """What it holds; None where that cannot be read in blocks."""
    problem: ToolError | None = None
    """Why it cannot."""

    def as_json(self) -> dict[str, Any]:
        """Return every field by the name programs know it by; the content as ``content_json``."""
        problem = self.problem and {"code": self.problem.code, "message": self.problem.message}
        return self.document.as_json() | {
            "content_json": self.content and self.content.as_json(),
            "content_problem": problem,
            "versions": [
                version.as_json() | {"tag": self.tags.get(version.call_id)} for version in self.versions
            ],
        }
