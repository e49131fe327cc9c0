"""BM25 on Postgres, which has no such ranking, scored as FTS5 does.

Where few rows match, all of them are scored. Their order is the one that SQLite gives, except where a sample is not
exact. Where very many rows match, only a limited number are read and scored: those in which a sought word stands
out most.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, Select, column, table, text

from brasstag.store.database.schema import documents
from brasstag.store.database.statements import Prepared
from brasstag.store.fulltext.postgres_vectors import K1, LABEL_WEIGHT, B, tiers
from brasstag.store.fulltext.query import (
    Phrase,
    Sought,
    all_words,
    phrase_query,
    postgres_match,
    tsquery,
    wanted_phrases,
)

MOST_RANKED = 1_000
"""Up to how many matches all are scored; more where more are asked for."""

MOST_OUTSTANDING = 300
"""How many rows are scored for each word that stands out in them; more where more are asked for."""

ENOUGH = 100
"""How many rows in which a word stands out have to match, for others to be left out; more where more are asked for."""

MOST_LOOKED_AT = 3_000
"""How many rows in which a word stands out are checked for a match."""

MOST_COUNTED = 1_000
"""How many rows with the words of a phrase are counted, where a sample holds too few of them to tell."""

SAMPLE = 500
"""How many rows are sampled for the usual length of a text and frequency of a phrase; exact if there are fewer."""

_LEAST_IDF = 1e-6
_MOST_WORDS = 4
_LITTLE = 0.1
_FEW = 10

_settings = Prepared(
    # The planner counts the pages of rows, but not the pages of their lexemes: a scan of all rows costs much
    # more than it estimates. A query that it takes for very costly it would compile first, which takes longer
    # than the query. The order of rows must not depend on how often the query ran, which of several workers
    # was faster, or which table the plan begins with.
    text(
        "SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),"
        " set_config('plan_cache_mode', 'force_custom_plan', true),"
        " set_config('max_parallel_workers_per_gather', '0', true),"
        " set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)"
    )
)
_index = table("fulltext", column("id"))
# All rows if they are few; else every n-th id, so that the sample is always the same, whatever the server
# estimates.
_sample = Prepared(
    text(
        "WITH first AS (SELECT id FROM fulltext ORDER BY id LIMIT :most),"
        " size AS (SELECT (SELECT count(*) FROM first) < :most AS is_small, min(id) AS low, max(id) AS high FROM fulltext),"
        " sampled AS (SELECT id FROM first WHERE (SELECT is_small FROM size) UNION ALL"
        " SELECT generate_series(low, high, greatest((high - low) / :most, 1)) FROM size WHERE NOT is_small)"
        " SELECT count(*), count(*) FILTER (WHERE lexemes @@ CAST(asked AS tsquery)), greatest(avg(length), 1),"
        " (SELECT CASE WHEN is_small THEN 1 ELSE greatest((high - low) / :most, 1) END FROM size)"
        " FROM sampled JOIN fulltext USING (id)"
        " CROSS JOIN unnest(CAST(:asked AS text[])) WITH ORDINALITY AS every(asked, number)"
        " GROUP BY number ORDER BY number"
    )
)
_count = Prepared(
    text(
        "SELECT count(*), count(*) FILTER (WHERE lexemes @@ CAST(:phrase AS tsquery))"
        " FROM (SELECT lexemes FROM fulltext WHERE lexemes @@ CAST(:together AS tsquery) LIMIT :most) AS rows"
    )
)
_outstanding = (
    # The limit also keeps the planner from looking for all that match first.
    text(
        "SELECT id, lexemes, in_order FROM unnest(CAST(:tiers AS text[])) AS tier CROSS JOIN LATERAL"
        " (SELECT id, lexemes, in_order FROM fulltext WHERE standing && string_to_array(tier, ',')) AS those"
        " LIMIT :looked_at"
    )
    .columns(column("id"), column("lexemes"), column("in_order"))
    .subquery("fulltext")
)
_HEAVINESS = f"{K1} * ({1 - B} + {B} * length / CAST(:average AS float8))"
# Of one word or phrase, the cover density is the sum of what its places weigh; the server takes weights up to 1.
_WEIGHTS = f"'{{{1 / LABEL_WEIGHT}, {1 / LABEL_WEIGHT}, 1, 1}}'"
_FREQUENCY = f"{LABEL_WEIGHT} * CAST(ts_rank_cd({_WEIGHTS}, lexemes, CAST(asked AS tsquery)) AS float8)"
_scores = Prepared(
    text(
        f"SELECT id, sum(idf * frequency * {K1 + 1} / (frequency + {_HEAVINESS})) AS score FROM fulltext"  # noqa: S608
        " CROSS JOIN unnest(CAST(:phrases AS text[]), CAST(:idfs AS float8[])) AS phrase(asked, idf)"
        f" CROSS JOIN LATERAL (SELECT {_FREQUENCY} AS frequency) AS found"
        " WHERE id = ANY(:ids) GROUP BY id ORDER BY score DESC, id LIMIT :most"
    )
)


class _Weighed(NamedTuple):
    """What is sought, and how much each phrase of it counts."""

    phrases: list[Phrase]
    idfs: list[float]
    average: float
    """The average number of words in a text."""
    matches: float
    """About how many rows match."""
    held: Mapping[str, int]
    """In how many rows of the sample each whole word is; word beginnings are not counted."""

    def telling_words(self) -> list[str]:
        """Return the rarest whole word of each of the phrases that count most."""
        ordered = sorted(zip(self.idfs, self.phrases, strict=True), key=lambda one: -one[0])
        least = ordered[0][0] * _LITTLE
        telling = [_whole_words(phrase) for idf, phrase in ordered[:_MOST_WORDS] if idf >= least]
        return list(dict.fromkeys(min(words, key=self.held.__getitem__) for words in telling if words))


def best_on_postgres(
    view: Connection, sought: Sought, wanted: Select[Any], limit: int, *, are_all_wanted: bool
) -> list[tuple[int, float]]:
    """Return the ids and scores of those wanted documents that answer best, best first.

    ``are_all_wanted`` says that nearly every document is.
    """
    _settings.rows(view)
    weighed = _weighed(view, sought)
    if weighed is None:
        return []
    ids = _candidates(view, sought, wanted, weighed, limit, are_all_wanted)
    scored = _scores.rows(
        view,
        phrases=list(map(phrase_query, weighed.phrases)),
        idfs=weighed.idfs,
        average=weighed.average,
        ids=list(ids),
        most=limit,
    )
    return [(number, score) for number, score in scored]


def _candidates(
    view: Connection,
    sought: Sought,
    wanted: Select[Any],
    weighed: _Weighed,
    limit: int,
    are_all_wanted: bool,
) -> set[int]:
    """Return the rows to be scored: every match, or those where a word stands out."""
    most = max(limit, MOST_RANKED)
    outstanding = _narrowed(_outstanding, sought, wanted).limit(max(limit, MOST_OUTSTANDING))
    ids: set[int] = set()
    is_looked_for = are_all_wanted and weighed.matches > most
    if is_looked_for:
        ids = _standing_out(view, outstanding, weighed, limit)
    if len(ids) < max(limit, ENOUGH):
        matching = view.execute(_narrowed(_index, sought, wanted).limit(most + 1)).scalars().all()
        if len(matching) > most and not is_looked_for:
            ids = _standing_out(view, outstanding, weighed, limit)
        if len(ids) < max(limit, ENOUGH):
            ids.update(matching)
    return ids


def _narrowed(rows: FromClause, sought: Sought, wanted: Select[Any]) -> Select[Any]:
    return (
        wanted.with_only_columns(rows.c.id, maintain_column_froms=False)
        .select_from(rows.join(documents, documents.c.id == rows.c.id))
        .where(postgres_match(sought))
    )


def _standing_out(view: Connection, found: Select[Any], weighed: _Weighed, limit: int) -> set[int]:
    """Return rows that match and in which a word stands out most, some for each word."""
    ids: set[int] = set()
    for word in weighed.telling_words():
        asked = {
            "tiers": [",".join(tier) for tier in tiers(word, weighed.average)],
            "looked_at": max(limit, MOST_LOOKED_AT),
        }
        ids.update(view.execute(found, asked).scalars())
    return ids


def _weighed(view: Connection, sought: Sought) -> _Weighed | None:
    """Weigh what is sought; None where the index is empty."""
    phrases = wanted_phrases(sought)
    together = [all_words([phrase]) for phrase in phrases]
    asked = list(map(phrase_query, phrases))
    words = list(dict.fromkeys(word for phrase in phrases for word in _whole_words(phrase)))
    every = [tsquery(sought), *asked, *together, *(phrase_query(Phrase((word,))) for word in words)]
    sampled = _sample.rows(view, asked=every, most=SAMPLE)
    if not sampled:
        return None
    count, matching, average, share = sampled[0]
    total = count * share
    held = iter([holding for _, holding, _, _ in sampled[1:]])
    holding_phrase, holding_words = list(islice(held, len(asked))), list(islice(held, len(asked)))
    idfs: list[float] = []
    for phrase, near, holding, holding_near in zip(
        asked, together, holding_phrase, holding_words, strict=True
    ):
        holders = holding * share
        if share > 1 and holding < _FEW:
            # Too few rows of the sample hold the phrase for a reliable estimate.
            ((counted, of_them),) = _count.rows(view, phrase=phrase, together=near, most=MOST_COUNTED)
            holders = (
                of_them if counted < MOST_COUNTED else max(holding_near * share, counted) * of_them / counted
            )
        idfs.append(_idf(max(total, holders), holders))
    return _Weighed(phrases, idfs, float(average), matching * share, dict(zip(words, held, strict=True)))


def _idf(total: float, holders: float) -> float:
    return max(math.log((total - holders + 0.5) / (holders + 0.5)), _LEAST_IDF)


def _whole_words(phrase: Phrase) -> Sequence[str]:
    """Return the words of a phrase, but not the beginning of one."""
    words = phrase.known_as()
    return words[:-1] if phrase.is_prefix else words
