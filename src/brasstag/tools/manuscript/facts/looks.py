"""Colours and materials: of eyes and hair, and of things that a card describes."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.stated import StatedFact
from brasstag.tools.manuscript.language.lexicon import COLOURS, LENGTHS, MATERIALS, STOP_WORDS, singular
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.language.text_words import TextWord
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.headers import HeaderLine

TABLES: Mapping[str, Mapping[str, str]] = {"colour": COLOURS, "material": MATERIALS, "length": LENGTHS}
_COPULAS = word_set("was were is are had been has turned looked")
_ADVERBS = word_set("very quite still almost nearly all now already once so dark light pale bright deep")
_OF_BODY = {
    "eye": "eyes", "hair": "hair", "plait": "hair", "braid": "hair", "curl": "hair", "beard": "beard",
    "moustache": "moustache", "eyebrow": "eyebrows",
}  # fmt: skip
_MADE = frozenset({"made of", "material", "made from", "metal"})
_COLOURED = frozenset({"colour", "color", "colours", "painted"})


def head_nouns(card: BibleCard) -> list[str]:
    """Return the nouns that stand for a thing: the last word of each of its names."""
    return [singular(name.split()[-1].lower().strip(".'\"")) for name in card.names if name.split()]


def looks_on(card: BibleCard) -> Iterator[StatedFact]:
    """Yield the colours and materials that a card states, its headings and other names included."""
    for kind, table in TABLES.items():
        for line in card.lines:
            yield from _on_line(card, line, kind, table)
        for name in card.names if card.kind != "character" else ():
            words = name.lower().split()
            for value, noun in itertools.pairwise(words):
                if value in table:
                    key = (kind, singular(noun))
                    yield StatedFact(key, (card.name,), frozenset({table[value]}), card.quote, "bible")


def _on_line(card: BibleCard, line: HeaderLine, kind: str, table: Mapping[str, str]) -> Iterator[StatedFact]:
    if line.key in ("also called", "type", "note") or line.key.startswith("wants"):
        return
    sentence = line.value_sentence
    words = sentence.words
    at = [number for number, word in enumerate(words) if word.lower in table]
    if not at:
        return
    values = frozenset(table[words[number].lower] for number in at)
    nouns = {_body(singular(line.key.split()[-1]))}
    if line.key in _MADE | _COLOURED:
        nouns |= set(head_nouns(card))
    for number in at:
        nouns |= {_body(singular(word.lower)) for word in words[number + 1 : number + 2]}
    for noun in nouns - STOP_WORDS:
        yield StatedFact((kind, noun), (card.name,), values, line.quote, "bible")


def looks_in(passage: StoryPassage, canon: Mapping[tuple[str, ...], frozenset[str]]) -> Iterator[StatedFact]:
    """Yield what a passage says of looks; ``canon`` says which cards have a line about which key."""
    words = passage.sentence.words
    for kind, table in TABLES.items():
        if passage.sentence.vocabulary.isdisjoint(table):
            continue
        for at, word in enumerate(words):
            if word.lower in table:
                yield from _one_look(passage, at, kind, table[word.lower], canon)


def _one_look(
    passage: StoryPassage, at: int, kind: str, value: str, canon: Mapping[tuple[str, ...], frozenset[str]]
) -> Iterator[StatedFact]:
    words = passage.sentence.words
    quote = passage.sentence.quote(words[at].start, words[at].end)
    apart = _set_apart(passage.sentence, words, at)
    for noun, place in [] if apart else _nouns(passage.sentence, words, at):
        body = _OF_BODY.get(noun)
        key = (kind, body or noun)
        subjects = (
            tuple(card.name for card in passage.owners(place)) if body else _things(passage, key, canon)
        )
        if subjects:
            yield StatedFact(key, subjects, frozenset({value}), quote, passage.origin)
            return
    if apart:
        thing = _last_thing(passage, at)
        for noun in head_nouns(thing) if thing is not None else ():
            if thing is not None and thing.name in canon.get((kind, noun), ()):
                yield StatedFact((kind, noun), (thing.name,), frozenset({value}), quote, passage.origin)
                return


def _nouns(sentence: Sentence, words: Sequence[TextWord], at: int) -> Iterator[tuple[str, int]]:
    """Yield the nouns that a word may describe, with the place from which their owner is looked for."""
    for after in range(at + 1, min(at + 4, len(words))):
        if sentence.text[words[after - 1].end : words[after].start].strip(" -"):
            break
        if words[after].lower in STOP_WORDS:
            break
        yield singular(words[after].lower), at
    back = at - 1
    while back > 0 and words[back].lower in _ADVERBS:
        back -= 1
    if back > 0 and words[back].lower in _COPULAS:
        while back > 0 and words[back].lower in _COPULAS | _ADVERBS:
            back -= 1
        yield singular(words[back].lower), back


def _set_apart(sentence: Sentence, words: Sequence[TextWord], at: int) -> bool:
    """Say whether a word stands between commas, as in "She put it down, silver, as flat as a biscuit"."""
    before = sentence.text[words[at - 1].end : words[at].start].strip() if at else ""
    behind = sentence.text[words[at].end : words[at].end + 1]
    return before == "," and behind in (",", ".", ";")


def _things(
    passage: StoryPassage, key: tuple[str, ...], canon: Mapping[tuple[str, ...], frozenset[str]]
) -> tuple[str, ...]:
    """Return the cards that have a line about a key, and are named in the scene or in its beats."""
    having = canon.get(key, frozenset())
    return tuple(card.name for card in passage.known if card.name in having) if having else ()


def _last_thing(passage: StoryPassage, at: int) -> BibleCard | None:
    before = [mention for mention in passage.mentions if mention.after <= at]
    for mentions in (before, *passage.earlier[:2]):
        for mention in reversed(mentions):
            if len(mention.cards) == 1 and mention.cards[0].kind == "object":
                return mention.cards[0]
    return None


def _body(noun: str) -> str:
    return _OF_BODY.get(noun, noun)
