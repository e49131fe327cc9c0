"""Ranking for a role from which rules hide documents: hidden documents change nothing it sees.

BM25 weighs a word by how many documents hold it, and it counts hidden documents as well. So a role that chooses its
queries well could learn from the order what hidden documents say. Here each document is weighed by itself.
"""

from collections.abc import Callable, Sequence
from itertools import islice

from brasstag.documents.search.queries import parse
from brasstag.documents.search.search import Query
from brasstag.documents.search.snippets import Finder
from brasstag.sandbox.workspace.globs import matcher
from brasstag.store.database.base import View
from brasstag.store.documents.find import Ranked, body_of, matching
from brasstag.store.documents.rows import DocumentRow
from brasstag.store.fulltext.postgres_vectors import K1, LABEL_WEIGHT, B
from brasstag.store.fulltext.query import wanted_phrases

WEIGHED = 100
"""How many of the newest matches are weighed against each other; older ones come after them, the newest first."""

_USUAL_LENGTH = 6_000
"""Characters; BM25 takes the average of all documents, which would tell of hidden ones."""


class Discreet:
    """A ranker that never looks at documents that may not be shown."""

    def __init__(self, visible: Callable[[str], bool]) -> None:
        self._visible = visible

    def rank(self, view: View, query: Query, limit: int) -> Sequence[Ranked]:
        """Return the best, by how often each word stands in them and how long they are."""
        sought = parse(query.text).sought
        fits = matcher(query.globs)
        rows = (
            row for row in matching(view, sought, query.wanted) if fits(row.path) and self._visible(row.path)
        )
        finder = Finder(wanted_phrases(sought))
        weighed = [Ranked(row.id, _weight(view, row, finder)) for row in islice(rows, WEIGHED)]
        weighed.sort(key=lambda ranked: -ranked.score)
        older = (Ranked(row.id, 0.0) for row in islice(rows, max(limit - len(weighed), 0)))
        return [*weighed, *older][:limit]


def _weight(view: View, row: DocumentRow, finder: Finder) -> float:
    body = body_of(view, row.id)
    labels = finder.counts(f"{row.path}\n{row.words}")
    heaviness = K1 * (1 - B + B * len(body) / _USUAL_LENGTH)
    often = [LABEL_WEIGHT * label + text for label, text in zip(labels, finder.counts(body), strict=True)]
    return sum(count / (count + heaviness) for count in often)
