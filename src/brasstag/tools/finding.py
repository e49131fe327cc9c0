"""Finding documents: by what is known of them, and by what they say."""

from typing import TYPE_CHECKING, Any, Protocol

from brasstag.documents.searching import Hit, Query
from brasstag.store.catalogue import Order, Wanted
from brasstag.toolkit.config import Limits
from brasstag.toolkit.declare import tool
from brasstag.words.errors import Code, ToolError
from brasstag.words.times import read_moment

if TYPE_CHECKING:
    from brasstag.documents.library import Found, Listed

WAITING_SHARE = 0.5
"""How much of the time there is may go by until files are looked at and converted that nobody has looked at before."""


class Catalogue(Protocol):
    """What finding needs to know of documents; the engine hands it in."""

    def listing(
        self, wanted: Wanted, glob: str, order: Order, limit: int, offset: int, *, seconds: float
    ) -> "Listed":
        """Return the documents that fit."""
        ...

    def search(self, query: Query, seconds: float) -> "Found":
        """Return the documents that say what is asked for, the best first."""
        ...


@tool(execution_type="function")
def list_documents(
    library: Catalogue,
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
    wanted = _wanted(tags, mime_type, creator, task, changed_after, changed_before)
    listed = library.listing(wanted, glob, order, limit, offset, seconds=_patience(limits))
    return {
        "documents": [document.as_json() for document in listed.documents],
        "more": listed.more,
        "incomplete": listed.incomplete,
    }


@tool(execution_type="function")
def search_documents(
    library: Catalogue,
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
    wanted = _wanted(tags, mime_type, creator, task, changed_after, changed_before)
    asked = Query(query, wanted, (glob,) if glob else (), limit, offset)
    found = library.search(asked, _patience(limits))
    return {
        "hits": [told(hit) for hit in found.answer.hits],
        "more": found.answer.has_more,
        "incomplete": found.incomplete,
    }


def _wanted(
    tags: list[str] | None, mime_type: str, creator: str, task: str, changed_after: str, changed_before: str
) -> Wanted:
    return Wanted(
        media_type=mime_type,
        tags=tuple(tags or ()),
        by=creator,
        task=task,
        since=_moment("changed_after", changed_after),
        until=_moment("changed_before", changed_before),
    )


def _moment(name: str, given: str) -> str:
    if not given:
        return ""
    try:
        return read_moment(given)
    except ValueError as error:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{name}: {error}") from None


def _patience(limits: Limits) -> float:
    return limits.working_seconds * WAITING_SHARE


def told(hit: Hit) -> dict[str, Any]:
    """Return a hit as programs read it; its score is left out, for it tells how often others say the same."""
    spot = hit.spot
    row = hit.document
    return {
        "path": row.path,
        "mime_type": row.media_type,
        "snippet": hit.snippet.text,
        "matches": [list(match) for match in hit.snippet.matches],
        "line": (spot.line or None) if spot else None,
        "column": (spot.column or None) if spot else None,
        "block": spot.block if spot else None,
        "page": (spot.page or None) if spot else None,
        "sheet": (spot.sheet or None) if spot else None,
        "row": (spot.row or None) if spot else None,
        "paragraph": (spot.paragraph or None) if spot else None,
        "tags": list(row.tags),
        "description": row.description,
        "updated_at": row.updated_at,
        "note": row.note,
    }
