"""list_documents and search_documents: find documents by their metadata, and by their text."""

from typing import TYPE_CHECKING, Any, Protocol

from brasstag.documents.filters import Filter
from brasstag.documents.search.search import Query
from brasstag.store.contents.versions import Version
from brasstag.store.documents.select import Order
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.words.blocks import Blocks
from brasstag.words.documents import Content, Document

if TYPE_CHECKING:
    from brasstag.documents.library import Found, Listed

WAITING_SHARE = 0.5
"""How much of the available time may be used to look at and convert new files, not looked at before."""


class DocumentLookup(Protocol):
    """What a tool may know of documents; the engine hands it in, and rules hide from it what they hide elsewhere."""

    def named(self, path: str, seconds: float) -> Document:
        """Return a document that is there."""

    def listing(self, asked: Filter, order: Order, limit: int, offset: int, *, seconds: float) -> "Listed":
        """Return the documents that fit."""

    def search(self, query: Query, seconds: float) -> "Found":
        """Return the documents whose text matches the query, the best first."""

    def open(self, path: str, version: str, most_bytes: int) -> Content:
        """Return what a document holds, or held."""

    def before(self, path: str, most_bytes: int) -> Content:
        """Return what the version before the present one held."""

    def blocks(self, content: Content) -> Blocks:
        """Return a content in blocks."""

    def text(self, content: Content) -> str:
        """Return a content as a model reads it."""

    def version(self, path: str, name: str) -> Version:
        """Return the version a name stands for; without one, the version before the present state."""

    def kept(self, version: Version) -> bytes:
        """Return what a version held."""


@tool(execution_type="function")
def list_documents(
    library: DocumentLookup,
    limits: Limits,
    glob: str = "",
    tags: list[str] | None = None,
    mime_type: str = "",
    creator: str = "",
    task: str = "",
    changed_after: str = "",
    changed_before: str = "",
    order: Order = "path",
    limit: int = 50,
    offset: int = 0,
) -> dict[str, Any]:
    """list_documents"""
    asked = Filter(glob, tuple(tags or ()), mime_type, creator, task, changed_after, changed_before)
    listed = library.listing(asked, order, limit, offset, seconds=_patience(limits))
    return {
        "documents": [document.as_json() for document in listed.documents],
        "more": listed.more,
        "incomplete": listed.incomplete,
    }


@tool(execution_type="function")
def search_documents(
    library: DocumentLookup,
    limits: Limits,
    query: str,
    glob: str = "",
    tags: list[str] | None = None,
    mime_type: str = "",
    creator: str = "",
    task: str = "",
    changed_after: str = "",
    changed_before: str = "",
    limit: int = 10,
    offset: int = 0,
) -> dict[str, Any]:
    """search_documents"""
    asked = Filter(glob, tuple(tags or ()), mime_type, creator, task, changed_after, changed_before)
    found = library.search(Query(query, asked.wanted(), asked.globs, limit, offset), _patience(limits))
    return {
        "hits": [hit.as_json() for hit in found.hits],
        "more": found.more,
        "incomplete": found.incomplete,
    }


def _patience(limits: Limits) -> float:
    return limits.working_seconds * WAITING_SHARE
