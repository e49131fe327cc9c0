"""Points of the compass: on which side something lies, where a window looks to, what is north of what."""

from collections.abc import Iterator, Mapping

from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.stated import StatedFact
from brasstag.tools.manuscript.language.lexicon import DIRECTIONS, STOP_WORDS, singular
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard

_LIES = word_set("lies position location stands note where place is")
_LOOKS = word_set("looks looked faces faced look face opens opened")
_VAGUE = word_set("side end part coast shore wind gale swell")


def _plain(direction: str) -> str:
    short = direction.removesuffix("ern")
    for first in ("north", "south"):
        for second in ("east", "west"):
            if short == first + second:
                return f"{first}-{second}"
    return short


def _said(sentence: Sentence) -> Iterator[tuple[str, str, int]]:
    """Yield each direction with the noun that it describes, and the word at which it stands."""
    words = sentence.words
    for at, word in enumerate(words):
        if word.lower not in DIRECTIONS:
            continue
        following = words[at + 1].lower if at + 1 < len(words) else ""
        close = at + 1 < len(words) and not sentence.text[word.end : words[at + 1].start].strip()
        if close and following not in STOP_WORDS:
            yield _plain(word.lower), singular(following), at
        elif at > 1 and words[at - 1].lower in _LOOKS:
            yield _plain(word.lower), singular(words[at - 2].lower), at


def directions_on(card: BibleCard) -> Iterator[StatedFact]:
    """Yield the directions that a card states."""
    for line in card.lines:
        for direction, noun, _ in _said(line.value_sentence):
            value = frozenset[str | int]({direction})
            attribute = line.key.split()[0]
            about = "" if attribute in _LIES else attribute
            if noun not in _VAGUE:
                yield StatedFact(("direction", noun), (card.name,), value, line.quote, "bible")
            else:
                yield StatedFact(("direction", noun, about), (card.name,), value, line.quote, "bible")


def directions_in(
    passage: StoryPassage, canon: Mapping[tuple[str, ...], frozenset[str]]
) -> Iterator[StatedFact]:
    """Yield the directions of a passage that speak of what a card places."""
    if passage.sentence.vocabulary.isdisjoint(DIRECTIONS):
        return
    words = passage.sentence.words
    for direction, noun, at in _said(passage.sentence):
        quote = passage.sentence.quote(words[at].start, words[at].end)
        value = frozenset[str | int]({direction})
        if noun not in _VAGUE:
            having = canon.get(("direction", noun), frozenset())
            if having:
                yield StatedFact(("direction", noun), tuple(having), value, quote, passage.origin)
            continue
        for key, names in canon.items():
            if key[:2] != ("direction", noun) or len(key) < 3:
                continue
            named = tuple(card.name for card in passage.cards if card.name in names)
            if (not key[2] and named) or (key[2] and key[2] in passage.sentence.vocabulary):
                yield StatedFact(key, named or tuple(names), value, quote, passage.origin)
