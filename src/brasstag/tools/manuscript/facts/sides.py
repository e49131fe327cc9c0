"""Left and right: the hand a person writes with, a limp, a scar, an injury."""

from collections.abc import Iterator, Mapping

from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.stated import StatedFact
from brasstag.tools.manuscript.language.lexicon import MARK_OF, PART_OF, SIDES, WRITES
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard

_HANDED = {"left-handed": "left", "right-handed": "right", "left-hander": "left", "right-hander": "right"}
_HABIT = frozenset(["way", "always", "usual", "habit"])
_STIFF = word_set("stiff stiffly dragged dragging drags stretched straight bad")


def sides_on(card: BibleCard) -> Iterator[StatedFact]:
    """Yield the sides that a card states."""
    for line in card.lines:
        sentence = line.sentence()
        said = {_HANDED[word] for word in sentence.vocabulary if word in _HANDED}
        sides = sentence.vocabulary & SIDES
        if line.key in ("hand", "hands", "handed", "handedness", "writing hand") and len(sides) == 1:
            said |= sides
        if said:
            yield StatedFact(("hand",), (card.name,), frozenset(said), line.quote, "bible", "certain")
        elif len(sides) == 1:
            for mark, part in _marked(sentence, sentence.vocabulary):
                yield StatedFact(("side", mark, part), (card.name,), frozenset(sides), line.quote, "bible")


def sides_in(passage: StoryPassage, canon: Mapping[tuple[str, ...], frozenset[str]]) -> Iterator[StatedFact]:
    """Yield what a passage says of the sides of a person."""
    vocabulary = passage.sentence.vocabulary
    sides = {word.lower for word in passage.sentence.words} & SIDES
    for at, word in enumerate(passage.sentence.words):
        if word.lower in _HANDED:
            yield from _fact(passage, ("hand",), _HANDED[word.lower], at, canon)
    if len(sides) != 1:
        return
    at = next(number for number, word in enumerate(passage.sentence.words) if word.lower in SIDES)
    part = _part_at(passage, at)
    if not part:
        return
    side = passage.sentence.words[at].lower
    marks = set(_marked(passage.sentence, _marks_words(passage)))
    if part == "hand" and vocabulary & (WRITES | _HABIT) and not any(mark == "injury" for mark, _ in marks):
        yield from _fact(passage, ("hand",), side, at, canon)
        return
    for mark, _ in marks:
        yield from _fact(passage, ("side", mark, part), side, at, canon)
    if part == "hand" and not marks and _works_with(passage, at):
        for fact in _fact(passage, ("hand",), side, at, canon):
            if set(fact.subjects) <= canon.get(("side", "injury", "hand"), frozenset()):
                yield fact


def _works_with(passage: StoryPassage, at: int) -> bool:
    """Say whether a hand is the one that does the work: "with her right hand"."""
    words = [word.lower for word in passage.sentence.words]
    return words[max(0, at - 2) : at] in (["with", "her"], ["with", "his"]) and words[at + 1] == "hand"


def _part_at(passage: StoryPassage, at: int) -> str:
    """Return the part of the body that a side belongs to: the next word, or for "the right one" the part named before."""
    words = passage.sentence.words
    following = words[at + 1].lower if at + 1 < len(words) else ""
    if following in PART_OF:
        return PART_OF[following]
    if following == "one" and passage.previous is not None:
        before = [*passage.previous.words, *words[:at]]
        return next((PART_OF[word.lower] for word in reversed(before) if word.lower in PART_OF), "")
    return ""


def _marks_words(passage: StoryPassage) -> frozenset[str]:
    """Return the words among which a mark is looked for; "It …" still speaks of what the sentence before named."""
    vocabulary = passage.sentence.vocabulary
    starts = passage.sentence.words[0].lower
    if starts in ("it", "they") and passage.previous is not None:
        return vocabulary | passage.previous.vocabulary
    return vocabulary


def _marked(sentence: Sentence, vocabulary: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the marks that a sentence names, each with the part of the body."""
    part = next((PART_OF[word.lower] for word in sentence.words if word.lower in PART_OF), "")
    marks = {MARK_OF[word] for word in vocabulary if word in MARK_OF}
    if vocabulary & _STIFF and part in ("leg", ""):
        marks.add("limp")
    for mark in marks:
        yield mark, part or ("leg" if mark == "limp" else "")


def _fact(
    passage: StoryPassage,
    key: tuple[str, ...],
    side: str,
    at: int,
    canon: Mapping[tuple[str, ...], frozenset[str]],
) -> Iterator[StatedFact]:
    word = passage.sentence.words[at]
    having = canon.get(key, frozenset())
    owners = passage.owners(at) or [card for card in passage.persons("") if card.name in having]
    if key[0] == "side" and having & {card.name for card in owners}:
        owners = [card for card in owners if card.name in having]  # who has such a mark is meant
    if owners:
        quote = passage.sentence.quote(word.start, word.end)
        yield StatedFact(key, tuple(card.name for card in owners), frozenset({side}), quote, passage.origin)
