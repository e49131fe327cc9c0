"""Expressions of patterns: how they are written down, and many of them as one automaton."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from brasstag.catalog.screen.automaton import compiled, options
from brasstag.catalog.screen.fold import fold
from brasstag.catalog.screen.views import Gaps

_GAP = r"[\s\"'*_~,:()\[\]#>|`\-]"
_BETWEEN: Mapping[Gaps, str] = {"needed": f"(?:{_GAP}+)", "optional": f"(?:{_GAP}*)", "none": "(?:)"}
_NAMED = re.compile(r"\{([a-z_]+)\}")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_BLANK_IN_SET = re.compile(r"(?<!\\)\[[^\]]* [^\]]*\]")


def spelled_out(expression: str, words: Mapping[str, str]) -> str:
    """Return an expression with its named lists of words put in, and folded as the text will be."""
    while _NAMED.search(expression):
        expression = _NAMED.sub(lambda found: words[found[1]], expression)
    return _FOREIGN.sub(_folded_letters, expression)


def _folded_letters(found: re.Match[str]) -> str:
    folded = fold(found[0])
    if folded != re.escape(folded):
        raise ValueError(
            f"{found[0]!r} becomes {folded!r}, which has a meaning in expressions; write it with escapes"
        )
    return folded


def with_gaps(expression: str, gaps: Gaps) -> str:
    """Return an expression in which each blank stands for the marks and blanks that may stand between two words."""
    if _BLANK_IN_SET.search(expression):
        raise ValueError("a blank stands for a gap and cannot be one of a set; write an alternative")
    return (expression.replace(r"\b", "") if gaps == "none" else expression).replace(" ", _BETWEEN[gaps])


def either(expressions: Sequence[str]) -> str:
    """Return one expression that matches where any of these does."""
    return "|".join(f"(?:{expression})" for expression in expressions)


@dataclass(frozen=True)
class ExpressionSet:
    """Several expressions, searched for together."""

    expressions: Sequence[str]

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield where one of them matches, from left to right, without overlaps."""
        for found in self._any.finditer(data) if self.expressions else ():
            if found.start() < found.end():
                yield found.start(), found.end()

    def which(self, piece: bytes) -> list[int]:
        """Return which of them match a whole piece."""
        # An automaton that runs out of memory matches nothing, so the slow way has the last word.
        together: list[int] | None = self._all.Match(piece)
        return (
            sorted(together) if together else [i for i, one in enumerate(self._each) if one.fullmatch(piece)]
        )

    @cached_property
    def _any(self) -> Any:
        return compiled(either(self.expressions))

    @cached_property
    def _each(self) -> list[Any]:
        return [compiled(expression) for expression in self.expressions]

    @cached_property
    def _all(self) -> Any:
        import re2  # noqa: PLC0415 - many commands never screen a text

        together = re2.Set.FullMatchSet(options())
        for expression in self.expressions:
            together.Add(expression)
        together.Compile()
        return together
