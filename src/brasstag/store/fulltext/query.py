"""A query of the index, and how each database is asked: with lexemes and nothing else that was typed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, cast, column, func, literal, not_, or_
from sqlalchemy.types import UserDefinedType

from brasstag.store.fulltext.postgres_vectors import LONGEST_KEY, key_of


class _Tsquery(UserDefinedType[str]):
    cache_ok = True

    def get_col_spec(self, **_options: Any) -> str:
        return "tsquery"


@dataclass(frozen=True, slots=True)
class Phrase:
    """Lexemes that follow one another; of the last one only the beginning, where it is a prefix."""

    lexemes: tuple[str, ...]
    is_prefix: bool = False

    def known_as(self) -> list[str]:
        """Return what the lexemes are known by on Postgres."""
        last = self.lexemes[-1]
        return [
            *map(key_of, self.lexemes[:-1]),
            last[:LONGEST_KEY] if self.is_prefix else key_of(last),
        ]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Every wanted phrase, and no unwanted one."""

    wanted: tuple[Phrase, ...]
    unwanted: tuple[Phrase, ...] = ()


Sought = tuple[Alternative, ...]
"""One of these alternatives, of which there is at least one."""


def wanted_phrases(sought: Sought) -> list[Phrase]:
    """Return every phrase that may be in what is found, once each."""
    return list(dict.fromkeys(phrase for alternative in sought for phrase in alternative.wanted))


def fts5_match(sought: Sought) -> str:
    """Return what FTS5 is asked."""
    asked: list[str] = []
    for alternative in sought:
        wanted = f"({' AND '.join(map(_fts5_phrase, alternative.wanted))})"
        unwanted = f" NOT ({' OR '.join(map(_fts5_phrase, alternative.unwanted))})"
        asked.append(f"({wanted}{unwanted if alternative.unwanted else ''})")
    return " OR ".join(asked)


def _fts5_phrase(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.lexemes)}"{" *" if phrase.is_prefix else ""}'


def postgres_match(sought: Sought) -> ColumnElement[bool]:
    """Return the condition on a row of the index on Postgres."""
    vector: ColumnElement[Any] = column("lexemes")
    in_order: ColumnElement[str] = column("in_order")
    told = vector.op("@@")(as_tsquery(tsquery(sought)))
    phrases = [phrase for alternative in sought for phrase in (*alternative.wanted, *alternative.unwanted)]
    if all(len(phrase.lexemes) == 1 for phrase in phrases):
        return told
    # The index narrows it down to rows with all the words; where they stand is looked up in the row.
    near = vector.op("@@")(as_tsquery(" | ".join(all_words(alternative.wanted) for alternative in sought)))
    spelled = or_(*(_spelled(alternative, in_order) for alternative in sought))
    return and_(near, or_(and_(in_order == "", told), and_(in_order != "", spelled)))


def as_tsquery(asked: str) -> ColumnElement[Any]:
    """Return a question that Postgres takes as it is written; no dictionary is asked."""
    return cast(literal(asked), _Tsquery())


def tsquery(sought: Sought) -> str:
    """Return what is sought as Postgres writes it."""
    asked: list[str] = []
    for alternative in sought:
        wanted = " & ".join(map(phrase_query, alternative.wanted))
        unwanted = "".join(f" & !{phrase_query(phrase)}" for phrase in alternative.unwanted)
        asked.append(f"({wanted}{unwanted})")
    return " | ".join(asked)


def phrase_query(phrase: Phrase) -> str:
    """Return one phrase as Postgres writes it."""
    return f"({' <-> '.join(_quoted(phrase))})"


def all_words(phrases: Sequence[Phrase]) -> str:
    """Return a question, as Postgres writes it, for every word of some phrases, wherever they stand."""
    return f"({' & '.join(word for phrase in phrases for word in _quoted(phrase))})"


def _quoted(phrase: Phrase) -> list[str]:
    words = [f"'{key}'" for key in phrase.known_as()]
    return [*words[:-1], f"{words[-1]}:*"] if phrase.is_prefix else words


def _spelled(alternative: Alternative, in_order: ColumnElement[str]) -> ColumnElement[bool]:
    def holds(phrase: Phrase) -> ColumnElement[bool]:
        spelling = f" {' '.join(phrase.known_as())}{'' if phrase.is_prefix else ' '}"
        return func.strpos(in_order, spelling) > 0

    return and_(
        *(holds(phrase) for phrase in alternative.wanted),
        *(not_(holds(phrase)) for phrase in alternative.unwanted),
    )
