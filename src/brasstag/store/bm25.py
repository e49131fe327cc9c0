"""BM25 on Postgres, which has no such ranking: its own ranking chooses candidates, and those are scored as FTS5 does.

Where as many rows match as there are candidates, or fewer, the order is the one that SQLite gives.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, column, desc, func, literal_column, table, text

from brasstag.store.prepared import Prepared
from brasstag.store.schema import documents
from brasstag.store.sought import (
    Phrase,
    Sought,
    any_word,
    as_tsquery,
    phrase_query,
    postgres_match,
    wanted_phrases,
)

CANDIDATES = 100
"""How many rows are scored at least."""

MOST_COUNTED = 5_000
"""How many rows with a word are counted; a word in more of them hardly tells anything."""

SAMPLE = 1_000
"""How many rows the usual length of a text is taken from; where there are more, the server estimates their number."""

_WEIGHTS = {"A": 4.0, "B": 4.0, "C": 1.0, "D": 1.0}
_RANK_WEIGHTS: ColumnElement[Any] = literal_column("'{0.25, 0.25, 1, 1}'::real[]")
_BY_LOGARITHM_OF_LENGTH = 1
_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6

_settings = Prepared(
    # The planner counts the pages of rows, but not those that hold their lexemes: a look at every row costs much more
    # than it thinks. What it then thinks very dear, it would compile first, for longer than it takes.
    text("SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)")
)
_index = table("fulltext", column("id"), column("lexemes"))
_counts = Prepared(
    text(
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM fulltext WHERE lexemes @@ CAST(asked AS tsquery) LIMIT :most) AS rows)"
        " FROM unnest(CAST(:phrases AS text[])) WITH ORDINALITY AS phrase(asked, number) ORDER BY number"
    )
)
_size = Prepared(
    text(
        "SELECT count(*), coalesce(avg(length), 1),"
        " (SELECT reltuples FROM pg_class WHERE oid = CAST('fulltext' AS regclass))"
        " FROM (SELECT length FROM fulltext LIMIT :most) AS rows"
    )
)
_places = Prepared(
    text(
        "SELECT id, length, lexeme, positions, weights FROM fulltext CROSS JOIN LATERAL unnest(lexemes)"
        " WHERE id = ANY(:ids) AND (lexeme = ANY(:whole) OR lexeme ^@ ANY(:beginnings))"
    )
)

Place = tuple[int, str]
"""A position in a text, and the part of it that this is in."""


class _Row(NamedTuple):
    length: int
    places: dict[str, list[Place]]


def best_on_postgres(
    view: Connection, sought: Sought, wanted: Select[Any], limit: int
) -> list[tuple[int, float]]:
    """Return the ids and scores of those wanted documents that answer best, best first."""
    phrases = wanted_phrases(sought)
    likely = func.ts_rank(
        _RANK_WEIGHTS, _index.c.lexemes, as_tsquery(any_word(phrases)), _BY_LOGARITHM_OF_LENGTH
    )
    query = (
        wanted.with_only_columns(_index.c.id, maintain_column_froms=False)
        .select_from(_index.join(documents, documents.c.id == _index.c.id))
        .where(postgres_match(sought))
        .order_by(desc(likely), _index.c.id)
        .limit(max(limit, CANDIDATES))
    )
    _settings.rows(view)
    candidates = view.execute(query).scalars().all()
    if not candidates:
        return []
    scores = _scores(view, phrases, candidates)
    return sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))[:limit]


def _scores(view: Connection, phrases: Sequence[Phrase], candidates: Sequence[int]) -> dict[int, float]:
    ((counted, average, estimated),) = _size.rows(view, most=SAMPLE)
    holders = _counts.rows(view, phrases=[phrase_query(phrase) for phrase in phrases], most=MOST_COUNTED)
    total = max(counted, *(count for (count,) in holders))
    if counted == SAMPLE:
        total = max(total, int(estimated))
    weights = [_idf(total, count) for (count,) in holders]
    scores = dict.fromkeys(candidates, 0.0)
    for number, row in _rows(view, phrases, candidates).items():
        heaviness = _K1 * (1 - _B + _B * row.length / float(average))
        for phrase, weight in zip(phrases, weights, strict=True):
            frequency = _frequency(phrase, row.places)
            scores[number] += weight * frequency * (_K1 + 1) / (frequency + heaviness)
    return scores


def _idf(total: int, holders: int) -> float:
    return max(math.log((total - holders + 0.5) / (holders + 0.5)), _LEAST_IDF)


def _rows(view: Connection, phrases: Sequence[Phrase], candidates: Sequence[int]) -> dict[int, _Row]:
    whole = {key for phrase in phrases for key in phrase.known_as()}
    beginnings = [phrase.known_as()[-1] for phrase in phrases if phrase.is_prefix]
    rows: dict[int, _Row] = {}
    found = _places.rows(view, ids=list(candidates), whole=list(whole), beginnings=beginnings)
    for number, length, lexeme, positions, weights in found:
        row = rows.setdefault(number, _Row(length, {}))
        row.places[lexeme] = list(zip(positions, weights, strict=True))
    return rows


def _frequency(phrase: Phrase, places: Mapping[str, Sequence[Place]]) -> float:
    """Return how often a phrase stands in a text, by what each part of it weighs."""
    *before, last = phrase.known_as()
    ends = _ends(last, places) if phrase.is_prefix else dict(places.get(last, ()))
    found = 0.0
    starts = [{position for position, _ in places.get(key, ())} for key in before]
    for position, part in ends.items():
        if all(position - back in held for back, held in enumerate(reversed(starts), start=1)):
            found += _WEIGHTS[part]
    return found


def _ends(beginning: str, places: Mapping[str, Sequence[Place]]) -> dict[int, str]:
    ends: dict[int, str] = defaultdict(str)
    for lexeme, held in places.items():
        if lexeme.startswith(beginning):
            ends.update(held)
    return ends
