"""Queries as typed: words, "phrases", prefixes*, -exclusions and OR."""

import re
from dataclasses import dataclass

from brasstag.store.fulltext.lexemes import lexemes_of
from brasstag.store.fulltext.query import Alternative, Phrase, Sought
from brasstag.words.errors import Code, ToolError

LONGEST = 2_000
"""Characters of a query."""

MOST_TERMS = 64

_TERM = re.compile(r'(?P<minus>-?)(?:"(?P<quoted>[^"]*)"?(?P<star>\*?)|(?P<word>[^\s"]+))')


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query as the index is asked it."""

    sought: Sought
    ignored: tuple[str, ...] = ()
    """What was typed and has no letter or digit, so that the index cannot know it."""


def parse(text: str) -> Parsed:
    """Read a query: every word must be there, unless OR stands between; raise ToolError where nothing is asked for."""
    if len(text) > LONGEST:
        raise _refusal(f"the query has {len(text):,} characters; ask in {LONGEST:,} or fewer")
    terms = list(_TERM.finditer(text))
    if len(terms) > MOST_TERMS:
        raise _refusal(f"the query has {len(terms)} words and phrases; ask with {MOST_TERMS} or fewer")
    ignored: list[str] = []
    drafts = [_PartialAlternative()]
    for term in terms:
        if term[0] == "OR":
            drafts.append(_PartialAlternative())
        elif not drafts[-1].add(term):
            ignored.append(term[0])
    asked = [draft for draft in drafts if not draft.is_empty()]
    if not asked:
        raise _refusal(
            "the query has no word to search for; name at least one, with letters or digits, "
            "or list documents to filter them without words"
        )
    return Parsed(tuple(draft.alternative() for draft in asked), tuple(ignored))


class _PartialAlternative:
    """An alternative as far as it was read."""

    def __init__(self) -> None:
        # As keys: a term that stands twice in the query is searched for once.
        self._wanted: dict[Phrase, None] = {}
        self._unwanted: dict[Phrase, None] = {}

    def is_empty(self) -> bool:
        """Say whether nothing was taken in."""
        return not (self._wanted or self._unwanted)

    def add(self, term: re.Match[str]) -> bool:
        """Take a term in; say whether it has a word."""
        said = term["word"] if term["quoted"] is None else term["quoted"]
        is_prefix = bool(term["star"]) or (term["quoted"] is None and said.endswith("*"))
        lexemes = lexemes_of(said)
        if lexemes:
            kept = self._unwanted if term["minus"] else self._wanted
            kept[Phrase(tuple(lexemes), is_prefix)] = None
        return bool(lexemes)

    def alternative(self) -> Alternative:
        """Return what was read."""
        if not self._wanted:
            raise _refusal("only exclusions are asked for; name a word that should be there, too")
        return Alternative(tuple(self._wanted), tuple(self._unwanted))


def _refusal(message: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, message)
