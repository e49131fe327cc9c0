"""Summaries: the sentences of a text that say most of it."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

EXTRACTIVE = "extractive"
"""Marks a summary that was taken out of the document, sentence by sentence; others are marked with who wrote them."""

LONGEST = 600
"""Characters of a summary."""

_MOST_CHARACTERS = 300_000
"""How much of a text is looked at: what it is about is said before."""
_MOST_SENTENCES = 1_500
_MOST_CHOSEN = 3
_SHORTEST = 4
_LONGEST_SENTENCE = 400
_ALIKE = 0.6
_LETTERS = 0.85
"""The part of prose that is letters and spaces; code and rows of data have less."""
_LONGEST_LINE = 4_000
"""Characters of a line that are looked at; no line of prose is as long, and what is done with one may take its square."""
_FENCES = ("```", "~~~")
_NOT_SAID = ("#", "|", "![")
_RULED = frozenset("-=*_ \t")
_QUOTED = re.compile(r">[ \t]+")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_ENDS = tuple(".!?…。！？:;,\"'”’)]")
"""How a sentence ends that needs nothing between it and the next."""
_MARKS = re.compile(r"[*`]+|\\(?=[!-/:-@\[-`{-~])|\]\([^)\s\]]{0,200}\)|\[")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])")
_CODE = re.compile(r"[={}]|\(\)|\)[:;]|->")
# Scripts without spaces between words count every sign.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


def summarise(text: str) -> str:
    """Return one to three sentences of a text, or how it begins where there are none; the same text has one summary."""
    text = text[:_MOST_CHARACTERS]
    sentences = list(islice(_sentences(text), _MOST_SENTENCES))
    return shortened(_in_a_row(_chosen(sentences)) if sentences else _opening(text[: LONGEST * 2]))


def shortened(said: str, longest: int = LONGEST) -> str:
    """Return what was said, cut where it is too long."""
    return said if len(said) <= longest else said[: longest - 1].rstrip() + "…"


def _in_a_row(said: Sequence[str]) -> str:
    """Return sentences one behind the other, with something between those that do not end: items of lists."""
    *others, last = said
    return " ".join([*(one if one.endswith(_ENDS) else f"{one};" for one in others), last])


def _opening(text: str) -> str:
    """Return how a text begins, in one line, with something between a heading and what it is over, and between items."""
    said = ""
    between = ""
    for line in filter(None, map(str.strip, text.split("\n"))):
        heading, item = _HEADING.match(line), _ITEM.match(line)
        mark = heading or item
        rest = " ".join(line[mark.end() if mark else 0 :].split())
        if said and item and not said.endswith(_ENDS):
            between = between or ";"
        said = f"{said}{between if said else ''}{' ' if said else ''}{rest}"
        between = ":" if heading and not rest.endswith(_ENDS) else ""
    return said


def _sentences(text: str) -> Iterator[str]:
    for paragraph in _paragraphs(text):
        for one in _SENTENCE.split(_MARKS.sub("", paragraph)):
            sentence = " ".join(one.split())
            if _is_prose(sentence):
                yield sentence


def _paragraphs(text: str) -> Iterator[str]:
    """Yield what is said, a paragraph or an item of a list at a time: no headings, tables, rules, pictures or code."""
    lines: list[str] = []
    fence = ""
    for whole in text.split("\n"):
        line = whole[:_LONGEST_LINE].strip()
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith(_FENCES):
            fence = line[:3]
        elif line and not line.startswith(_NOT_SAID) and not (len(line) > 2 and _RULED.issuperset(line)):
            line = _QUOTED.sub("", line, count=1) if _QUOTED.match(line) else line
            if (item := _ITEM.match(line)) and lines:
                yield "\n".join(lines)
                lines = []
            lines.append(line[item.end() :] if item else line)
            continue
        if lines and not line:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def _is_prose(sentence: str) -> bool:
    if _CODE.search(sentence):
        return False
    letters = sum(sign.isalpha() or sign.isspace() for sign in sentence)
    return letters >= _LETTERS * len(sentence) and len(_WORD.findall(sentence)) >= _SHORTEST


def _chosen(sentences: Sequence[str]) -> list[str]:
    """Return the sentences nearest to the middle of all, none like another, in the order they stand in."""
    words = [Counter(_WORD.findall(sentence.lower())) for sentence in sentences]
    seen_in = Counter(word for one in words for word in one)
    weights = {word: math.log((len(sentences) + 1) / count) for word, count in seen_in.items()}
    vectors = [{word: count * weights[word] for word, count in one.items()} for one in words]
    centre: dict[str, float] = {}
    for vector in vectors:
        for word, weight in vector.items():
            centre[word] = centre.get(word, 0.0) + weight
    length = _length(centre)
    # What stands at the beginning is a little likelier to say what the rest is about.
    scores = [
        _product(vector, centre) / (_length(vector) * length or 1.0) * (1 + 0.5 / (place + 1))
        for place, vector in enumerate(vectors)
    ]
    found: list[int] = []
    for place in sorted(range(len(sentences)), key=lambda one: (-scores[one], one)):
        is_new = all(_likeness(vectors[place], vectors[other]) < _ALIKE for other in found)
        if is_new and len(sentences[place]) <= _LONGEST_SENTENCE:
            found.append(place)
        if len(found) == _MOST_CHOSEN:
            break
    return [sentences[place] for place in sorted(found)] or [sentences[0]]


def _likeness(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return _product(one, other) / (_length(one) * _length(other) or 1.0)


def _product(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(weight * other[word] for word, weight in one.items() if word in other)


def _length(vector: Mapping[str, float]) -> float:
    return math.sqrt(sum(weight * weight for weight in vector.values()))
