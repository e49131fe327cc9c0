"""Names that are spelled in two ways: near a name of a card, or near a name that other places use more often."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.language.lexicon import OFTEN_CAPITAL, STOP_WORDS
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.text import TextFinding, TextQuote

_TITLES = ("Miss", "Mrs", "Ms")
_SHORTEST = 3
_SHORT = 4
_RARE = 3
_SOUNDS = (
    ("ph", "f"), ("th", "t"), ("ck", "k"), ("x", "ks"), ("c", "k"), ("q", "k"), ("w", "v"), ("y", "i"), ("z", "s"),
    ("æ", "e"), ("ae", "e"), ("ä", "e"), ("ø", "o"), ("ö", "o"), ("oe", "o"), ("å", "a"), ("aa", "a"), ("é", "e"),
    ("ie", "i"), ("ei", "i"), ("ee", "i"), ("h", ""),
)  # fmt: skip


@dataclass
class CapitalWord:
    """A word that stands with a capital inside a sentence, where it does so first, and how often."""

    text: str
    quote: TextQuote
    inside: bool
    """Whether the first place is not the beginning of a sentence, where any word has a capital."""


def sound(name: str) -> str:
    """Return a name without differences that are not heard."""
    text = name.lower()
    for letters, heard in _SOUNDS:
        text = text.replace(letters, heard)
    return "".join(letter for at, letter in enumerate(text) if not at or letter != text[at - 1])


def distance_is_one(one: str, other: str) -> bool:
    """Say whether one letter more, less or other, or two letters swapped, makes one word the other."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    rest, others = one[at:], other[at:]
    swapped = len(rest) > 1 and rest[:2] == others[1::-1] and rest[2:] == others[2:]
    return rest[1:] == others[1:] or rest[1:] == others or rest == others[1:] or swapped


def capital_words(sentences: Iterator[Sentence]) -> dict[str, CapitalWord]:
    """Return the words that always have a capital, by their text."""
    found: dict[str, CapitalWord] = {}
    small: set[str] = set()
    for sentence in sentences:
        for at, word in enumerate(sentence.words):
            text = word.text.replace("’", "'").removesuffix("'s")
            if not text[0].isupper():
                small.add(text)
                continue
            if text in found:
                found[text].inside = found[text].inside or _is_inside(sentence, at, word.start)
            elif not text.isupper() and text.isalpha():
                inside = _is_inside(sentence, at, word.start)
                found[text] = CapitalWord(text, sentence.quote(word.start, word.end), inside)
    return {text: one for text, one in found.items() if text.lower() not in small}


def _is_inside(sentence: Sentence, at: int, start: int) -> bool:
    """Say whether a capital is not just that of a sentence or of speech that begins."""
    before = sentence.text[:start].rstrip(" ")
    return at > 0 and bool(before) and before[-1] not in "\"“‘'*_:(—–.!?…"


def misspelled_names(context: StoryContext) -> Iterator[TextFinding]:
    """Yield words that look or sound like a name of a card, but are spelled otherwise."""
    known: dict[str, BibleCard] = {}
    for card in context.story.cards:
        for name in card.names if card.kind else ():
            for part in name.replace("’", "'").split():
                plain = part.removesuffix("'s").strip(".,")
                if (
                    plain[:1].isupper()
                    and len(plain) >= _SHORTEST
                    and plain.lower() not in OFTEN_CAPITAL | STOP_WORDS
                ):
                    known.setdefault(plain, card)
    prose = [passage.sentence for passage in context.passages]
    words = capital_words(iter(prose))
    total = Counter(word.text.replace("’", "'").removesuffix("'s") for one in prose for word in one.words)
    near = _near_index(known)
    for text, found in words.items():
        if text in known or text.lower() in OFTEN_CAPITAL or len(text) < _SHORTEST:
            continue
        plain = text.removesuffix("s")
        match = next((name for name in near.get(sound(text), ()) if name not in (text, plain)), None)
        match = match or next(
            (name for name in known if len(name) > _SHORT and distance_is_one(text, name) and name != plain),
            None,
        )
        if not found.inside and match is not None and sound(match) != sound(text):
            continue  # a sentence begins with it: it may be any word
        if match is not None and total[text] <= max(_RARE, total[match]):
            card = known[match]
            message = f"{text} is spelled {match} on the card {card.name}."
            yield TextFinding("consistency_name", message, "likely", (found.quote, _where(card, match)))
    yield from _two_spellings(words, known, total)


def _near_index(known: dict[str, BibleCard]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in known:
        found.setdefault(sound(name), []).append(name)
    return found


def _where(card: BibleCard, name: str) -> TextQuote:
    if name in card.name:
        return card.quote
    return next((line.quote for line in card.lines if name in line.value), card.quote)


def _two_spellings(
    words: dict[str, CapitalWord], known: dict[str, BibleCard], total: Counter[str]
) -> Iterator[TextFinding]:
    """Yield names without a card that sound alike and are spelled in two ways; the rarer one is reported."""
    by_sound: dict[str, list[str]] = {}
    for text, word in words.items():
        if word.inside and text not in known and len(text) > _SHORTEST and text.lower() not in OFTEN_CAPITAL:
            by_sound.setdefault(sound(text), []).append(text)
    for same in by_sound.values():
        ordered = sorted(same, key=lambda text: (-total[text], text))
        for text in ordered[1:]:
            if text.removesuffix("s") != ordered[0].removesuffix("s"):
                quotes = (words[text].quote, words[ordered[0]].quote)
                message = f"{text} and {ordered[0]} may be the same name."
                yield TextFinding("consistency_name", message, "likely", quotes)


def wrong_titles(context: StoryContext) -> Iterator[TextFinding]:
    """Yield "Mrs Aune" where the only woman with that surname has another title on her card."""
    titles: dict[str, dict[str, BibleCard]] = {}
    women = Counter(
        card.name.split()[-1]
        for card in context.story.cards
        if card.kind == "character" and context.names.genders.get(card.name) != "he"
    )
    for card in context.story.cards:
        for name in card.names if card.kind == "character" else ():
            words = name.split()
            if len(words) == 2 and words[0].strip(".") in _TITLES:
                titles.setdefault(words[1], {})[words[0].strip(".")] = card
    for passage in context.passages if titles else ():
        for first, second in pairwise(passage.sentence.words):
            surname = second.text.replace("’", "'").removesuffix("'s")
            known = titles.get(surname, {})
            if first.text in _TITLES and known and first.text not in known and women[surname] <= 1:
                card = next(iter(known.values()))
                quote = passage.sentence.quote(first.start, second.end)
                message = f"{first.text} {surname} is called {next(iter(known))} on the card {card.name}."
                yield TextFinding("consistency_name", message, "likely", (quote, card.quote))


def mixed_names(context: StoryContext) -> Iterator[TextFinding]:
    """Yield a first name of a card with another surname, and a surname with a first name near that of its card."""
    persons = [
        card for card in context.story.cards if card.kind == "character" and len(card.name.split()) == 2
    ]
    persons = [card for card in persons if card.name.split()[0].lower() not in OFTEN_CAPITAL]
    firsts: dict[str, list[BibleCard]] = {}
    lasts: dict[str, list[BibleCard]] = {}
    for card in persons:
        firsts.setdefault(card.name.split()[0], []).append(card)
        lasts.setdefault(card.name.split()[1], []).append(card)
    others = {part for card in context.story.cards for name in card.names for part in name.split()}
    for passage in context.passages if firsts else ():
        words = passage.sentence.words
        for first, second in pairwise(words):
            surname = second.text.replace("’", "'").removesuffix("'s")
            if not surname[0].isupper() or passage.sentence.text[first.end : second.start] != " ":
                continue
            meant = _other_surname(first.text, surname, firsts, others - lasts.keys())
            if meant is None:
                meant = _other_first(first.text, surname, firsts, lasts)
            if meant is not None:
                quote = passage.sentence.quote(first.start, second.end)
                message = f"{first.text} {surname} is called {meant.name} on the card."
                yield TextFinding("consistency_name", message, "likely", (quote, meant.quote))


def _other_surname(
    first: str, surname: str, firsts: dict[str, list[BibleCard]], others: set[str]
) -> BibleCard | None:
    """Return the person with this first name, where the surname is not theirs."""
    cards = firsts.get(first, [])
    if not cards or surname in others or surname.lower() in OFTEN_CAPITAL | STOP_WORDS:
        return None
    return None if any(card.name.split()[1] == surname for card in cards) else cards[0]


def _other_first(
    first: str, surname: str, firsts: dict[str, list[BibleCard]], lasts: dict[str, list[BibleCard]]
) -> BibleCard | None:
    """Return the person with this surname whose first name is nearly the one that is written."""
    if first in firsts or not first[0].isupper() or first.lower() in OFTEN_CAPITAL:
        return None
    for card in lasts.get(surname, ()):
        name = card.name.split()[0]
        if sound(name) == sound(first) or distance_is_one(name, first) or first.startswith(name):
            return card
    return None
