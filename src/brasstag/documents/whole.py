"""A document whole: what is known of it, what it holds in blocks, and every version of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from brasstag.store.versions import Version
from brasstag.words.blocks import Blocks
from brasstag.words.documents import Document
from brasstag.words.errors import ToolError
from brasstag.words.previews import digest_in


@dataclass(frozen=True, slots=True)
class History:
    """Every version of what is, or was, at a path."""

    line: tuple[Version, ...]
    """The versions of what is there, followed through its moves, oldest first."""
    others: tuple[Version, ...]
    """What the path has held besides, oldest first."""
    moved_to: Mapping[tuple[str, int], str]
    """Where what was at a path went, by path and number of each version that says it has left."""
    kept: Collection[str]
    """The digests of contents that are still there."""
    tags: Mapping[str, str]
    """The tags of the calls that made versions, by the ids of those calls."""

    def is_kept(self, version: Version) -> bool | None:
        """Say whether what a version held is still there; None where it held nothing."""
        digest = digest_in(version.state)
        return None if digest is None else digest in self.kept

    def as_json(self) -> list[dict[str, Any]]:
        """Return every version as programs read it; those of the line come last, the newest at the end."""
        return [
            one.as_json()
            | {
                "tag": self.tags.get(one.call_id),
                "moved_to": self.moved_to.get((one.path, one.version)),
                "line": is_line,
                "kept": self.is_kept(one),
            }
            for versions, is_line in ((self.others, False), (self.line, True))
            for one in versions
        ]


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """Everything there is of one document, as it is now."""

    document: Document
    history: History
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
            "versions": self.history.as_json(),
        }
