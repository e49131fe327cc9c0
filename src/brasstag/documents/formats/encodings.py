"""Guess the encoding of a text older than Unicode, by the characters its language uses most.

In the wrong encoding hardly any of them are left, so that a text of some length gives itself away. Whatever does not is left
undecided: too short a text, or one in a language that is not in the table.
"""

import codecs
import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

SAMPLE = 8_192
"""How many bytes are looked at, from the first line on that is not ASCII."""
LEAST = 100
"""How many signs other than ASCII it takes to be sure."""

_MOST_ALIKE = 0.25
"""How many of them one sign may be: more of one are a pattern, and no text."""
_LEAST_TOGETHER = 2.0
"""How many of them stand together on average; letters with accents among others stand alone."""
_AHEAD = 1.5
"""How much more likely than any other an encoding has to be."""

_FOREIGN_BYTE = re.compile(rb"[\x80-\xff]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")


class _Tongue(NamedTuple):
    signs: frozenset[str]
    share: float
    """How much of a text they are, at least."""


_RUSSIAN = _Tongue(frozenset("оеаинтсрвл"), 0.55)
_JAPANESE = _Tongue(frozenset(map(chr, range(0x3041, 0x3094))), 0.25)
_CHINESE = _Tongue(
    frozenset(
        "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
        "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日"
    ),
    0.15,
)
_TRADITIONAL = _Tongue(
    frozenset(
        "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡"
        "用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日"
    ),
    0.15,
)
_KOREAN = _Tongue(frozenset("이다는에의가을를은하지고도로한사리나아자서대기인들어그수있해것으라시"), 0.2)

OLD: Mapping[str, _Tongue] = {
    "cp1251": _RUSSIAN,
    "koi8_r": _RUSSIAN,
    "cp932": _JAPANESE,
    "euc_jp": _JAPANESE,
    "gb18030": _CHINESE,
    "cp950": _TRADITIONAL,
    "cp949": _KOREAN,
}
"""Encodings by what Python calls the widest of each family: Shift-JIS is cp932, Big5 cp950, EUC-KR cp949."""


def old_encoding(beginning: bytes) -> str | None:
    """Return the encoding of a text that is not Unicode; None where the encoding is not certain."""
    first = _FOREIGN_BYTE.search(beginning)
    if first is None:
        return None
    # From the beginning of a line: a later place may be in the middle of a character.
    start = beginning.rfind(b"\n", 0, first.start()) + 1
    sample = beginning[start : start + SAMPLE]
    likely = sorted(((_likeness(sample, name), name) for name in OLD), reverse=True)
    (best, name), (second, _) = likely[:2]
    return name if best >= 1 and best >= _AHEAD * second and _text(beginning, name) is not None else None


def _likeness(sample: bytes, encoding: str) -> float:
    """Return how much bytes look like a text in this encoding's language; from 1 on, they count as one."""
    text = _text(sample, encoding)
    found = _FOREIGN.findall(text) if text else []
    counts = Counter("".join(found))
    total = counts.total()
    if total < max(LEAST, _LEAST_TOGETHER * len(found)) or max(counts.values()) > _MOST_ALIKE * total:
        return 0.0
    tongue = OLD[encoding]
    return sum(counts[sign] for sign in tongue.signs) / total / tongue.share


def _text(data: bytes, encoding: str) -> str | None:
    """Return bytes, which may end amid a character, as a text; None where they are none in this encoding."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return None
