"""Search documents: rankers order the answers, and each answer shows the piece that matches.

A ranker is anything that orders documents by how well they answer. The full-text index is one; where several are asked,
their orders are joined by reciprocal rank, which needs no scores that can be compared.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from brasstag.documents.search.queries import parse
from brasstag.documents.search.snippets import Finder, Snippet
from brasstag.sandbox.workspace.globs import matcher
from brasstag.store.database.base import View
from brasstag.store.database.statements import in_parts
from brasstag.store.documents.find import Ranked, best, body_of, pending_of, rows_wanted
from brasstag.store.documents.rows import DocumentRow
from brasstag.store.documents.select import Selection
from brasstag.store.fulltext.query import wanted_phrases
from brasstag.words.errors import Code, ToolError

MOST_HITS = 100
"""Hits in one answer."""

FURTHEST = 10_000
"""How many hits may be skipped."""

MOST_PENDING = 1_000
"""How far documents that are not in the index yet are counted."""

_RANK_OFFSET = 60
"""How little the first of one order outweighs those after it, where orders are joined; the usual choice."""

_DEEPER = 8

_ANY = Selection()

Visible = Callable[[str], bool]
"""Says whether a path may be shown."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for, and among which documents."""

    text: str
    wanted: Selection = _ANY
    globs: tuple[str, ...] = ()
    """Which paths, as in a search of files."""
    limit: int = 10
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in its source a match is; what that source does not have is 0, empty or None."""

    line: int = 0
    column: int = 0
    block: int | None = None
    """The number of the block, in a document that was converted."""
    page: int = 0
    sheet: str = ""
    row: int = 0
    """The row of the sheet."""
    paragraph: int = 0


@dataclass(frozen=True, slots=True)
class RowHit:
    """A row whose document answers."""

    document: DocumentRow
    """Its ``note`` says where only a part of it is indexed."""
    score: float
    snippet: Snippet
    spot: Spot | None
    """Where the match is that the snippet was cut around; None where only the path, the description or the tags match."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found."""

    hits: tuple[RowHit, ...]
    has_more: bool
    pending: int
    """How many documents that could be among the hits are not in the index yet, counted to ``MOST_PENDING``."""
    ignored: tuple[str, ...] = ()
    """Parts of the query without letters or digits, which nothing was searched for."""


class Ranker(Protocol):
    """Orders documents by how well they answer."""

    def rank(self, view: View, query: Query, limit: int) -> Sequence[Ranked]:
        """Return the best, best first, ``limit`` of them where there are as many."""


class FullText:
    """The full-text index as a ranker."""

    def rank(self, view: View, query: Query, limit: int) -> Sequence[Ranked]:
        """Return the best by BM25."""
        return best(view, parse(query.text).sought, query.wanted, limit)


def search(
    view: View,
    query: Query,
    *,
    visible: Visible = lambda _path: True,
    rankers: Sequence[Ranker] = (FullText(),),
) -> SearchResult:
    """Return the documents that answer a query best; raise ToolError where nothing can be searched for."""
    parsed = parse(query.text)
    query = _checked(query)
    matches = matcher(query.globs)

    def shows(row: DocumentRow) -> bool:
        return _is_wanted(row, query.wanted) and matches(row.path) and visible(row.path)

    end = query.offset + query.limit
    # One more than is shown tells whether there is more.
    found = _best_shown(view, query, shows, rankers, end + 1)
    finder = Finder(wanted_phrases(parsed.sought))
    return SearchResult(
        tuple(_hit(view, row, score, finder) for row, score in found[query.offset : end]),
        len(found) > end,
        sum(1 for _ in islice(filter(shows, pending_of(view, query.wanted)), MOST_PENDING)),
        parsed.ignored,
    )


def fuse(orders: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """Join several orders by reciprocal rank; a single one stays as it is."""
    if len(orders) == 1:
        return list(orders[0])
    scores: dict[int, float] = defaultdict(float)
    for order in orders:
        for place, ranked in enumerate(order, start=1):
            scores[ranked.id] += 1 / (_RANK_OFFSET + place)
    return sorted(
        (Ranked(*scored) for scored in scores.items()), key=lambda ranked: (-ranked.score, ranked.id)
    )


def _checked(query: Query) -> Query:
    if not 1 <= query.limit <= MOST_HITS:
        raise ToolError(Code.INVALID_ARGUMENTS, f"limit is {query.limit}; ask for 1 to {MOST_HITS} hits")
    if not 0 <= query.offset <= FURTHEST:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"offset is {query.offset}; skip {FURTHEST:,} hits at most, or ask for something narrower",
        )
    prefix = query.wanted.prefix or _prefix(query.globs)
    return replace(query, wanted=replace(query.wanted, prefix=prefix))


def _prefix(globs: Sequence[str]) -> str:
    """Return what every path that globs want begins with, as far as that is plain to see."""
    if len(globs) != 1 or "/" not in globs[0] or globs[0].startswith("!"):
        return ""
    directory = globs[0].removeprefix("/").rpartition("/")[0]
    plain: list[str] = []
    for name in directory.split("/") if directory else ():
        if set(name) & set("*?[{\\,"):
            break
        plain.append(name)
    return "".join(f"{name}/" for name in plain)


def _is_wanted(row: DocumentRow, wanted: Selection) -> bool:
    return set(wanted.tags) <= set(row.tags) and row.path.startswith(wanted.prefix)


def _best_shown(
    view: View, query: Query, shows: Callable[[DocumentRow], bool], rankers: Sequence[Ranker], most: int
) -> list[tuple[DocumentRow, float]]:
    """Return the best documents that may be shown; the number of the others is never given."""
    depth = most
    while True:
        orders = [ranker.rank(view, query, depth) for ranker in rankers]
        found = list(islice(_shown(view, fuse(orders), query.wanted, shows), most))
        if len(found) == most or all(len(order) < depth for order in orders):
            return found
        depth *= _DEEPER


def _shown(
    view: View, order: Sequence[Ranked], wanted: Selection, shows: Callable[[DocumentRow], bool]
) -> Iterator[tuple[DocumentRow, float]]:
    for some in in_parts(order):
        rows = rows_wanted(view, [ranked.id for ranked in some], wanted)
        for ranked in some:
            row = rows.get(ranked.id)
            if row is not None and shows(row):
                yield row, ranked.score


def _hit(view: View, row: DocumentRow, score: float, finder: Finder) -> RowHit:
    body = body_of(view, row.id)
    snippet = finder.snippet(body)
    if snippet.offset is None:
        return RowHit(row, score, snippet, None)
    return RowHit(row, score, snippet, _spot(body, snippet.offset))


def _spot(body: str, offset: int) -> Spot:
    line_start = body.rfind("\n", 0, offset) + 1
    return Spot(body.count("\n", 0, line_start) + 1, offset - line_start + 1)
