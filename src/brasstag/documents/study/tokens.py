"""Count tokens: exactly for models that use o200k_base, without a network; else as a marked estimate."""

import base64
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from brasstag.words.canonical import sha256
from brasstag.words.tokens import estimated_tokens

if TYPE_CHECKING:
    from tiktoken import Encoding

EXACT = "o200k_base"
ESTIMATE = "estimate"

MOST_CHARACTERS = 8_000_000
"""Longer texts are estimated: to count takes a second for so many."""
MOST_IN_ONE = 1_000_000
"""What has no place to be cut for so long is estimated: some such texts take a tokenizer very long."""

_PIECE = 65_536
# No token reaches across a line feed into a word, so the counts of what lies between such places add up.
_CUT = re.compile(r"\n(?=[^\W_])")
_DATA = "o200k_base.tiktoken.gz"
_DIGEST = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_SPECIAL = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
# Part of what o200k_base is: where text is cut before tokens are looked for.
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_WORD_START, _WORD_END = r"[^\r\n\p{L}\p{N}]?", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN = "|".join(
    [
        f"{_WORD_START}{_UPPER}*{_LOWER}+{_WORD_END}",
        f"{_WORD_START}{_UPPER}+{_LOWER}*{_WORD_END}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


@dataclass(frozen=True, slots=True)
class TokenCount:
    """How many tokens a text has, and what counted them."""

    tokens: int
    tokenizer: str
    """``o200k_base`` where it is exact for models that use that; ``estimate`` where the tokens were not counted."""


def count_tokens(text: str) -> TokenCount:
    """Return how many tokens a text is; the first call in a process takes about a second."""
    encoding = _encoding() if len(text) <= MOST_CHARACTERS else None
    if encoding is None:
        return TokenCount(estimated_tokens(text), ESTIMATE)
    tokens = 0
    for piece in _pieces(text):
        counted = _counted(piece, encoding)
        if counted is None:
            return TokenCount(estimated_tokens(text), ESTIMATE)
        tokens += counted
    return TokenCount(tokens, EXACT)


def _counted(piece: str, encoding: "Encoding") -> int | None:
    if len(piece) > MOST_IN_ONE:
        return None
    try:
        # What looks like a sign of the tokenizer's own is only text here.
        return len(encoding.encode(piece, disallowed_special=()))
    except ValueError:
        # A very long run of white space is too much for its patterns.
        return None


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        found = _CUT.search(text, start + _PIECE)
        end = found.end() if found else len(text)
        yield text[start:end]
        start = end


@cache
def _encoding() -> "Encoding | None":
    try:
        from tiktoken import Encoding  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        return None
    data = gzip.decompress(files("brasstag.documents.tokens").joinpath(_DATA).read_bytes())
    if sha256(data) != _DIGEST:
        return None
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, data.splitlines())}
    return Encoding(EXACT, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=_SPECIAL)
