"""Who and what is meant: names of cards in sentences, and the persons a pronoun may stand for."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from brasstag.tools.manuscript.language.lexicon import FEMALE_WORDS, MALE_WORDS, STOP_WORDS
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.language.text_words import TextWord
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard

_ARTICLES = frozenset({"the", "a", "an"})
_TITLES = word_set("mr mrs miss ms dr captain sir lady uncle aunt father sister brother")
HE = frozenset({"he", "him", "his", "himself"})
SHE = frozenset({"she", "her", "hers", "herself"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a sentence: whose it may be, and the words it takes."""

    cards: tuple[BibleCard, ...]
    """One card, or several that share the name."""
    first: int
    after: int
    possessive: bool


@dataclass
class NameIndex:
    """The names of all cards, and the gender of those that are persons."""

    cards: Sequence[BibleCard]
    _names: dict[str, list[tuple[tuple[str, ...], BibleCard]]] = field(default_factory=dict)
    genders: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take in every name; a first name or surname alone counts too."""
        for card in self.cards:
            for name in [*_forms(card), *_head(card, self.cards)]:
                known = self._names.setdefault(name[0], [])
                if (name, card) not in known:
                    known.append((name, card))
            gender = _gender_on(card) if card.kind == "character" else ""
            if gender:
                self.genders[card.name] = gender
        for known in self._names.values():
            known.sort(key=lambda one: -len(one[0]))

    def mentions(self, sentence: Sentence) -> list[Mention]:
        """Return the names in a sentence, in order; the longest name counts."""
        found, at = list[Mention](), 0
        words = sentence.words
        while at < len(words):
            mention = self._at(words, at)
            if mention is None:
                at += 1
            else:
                found.append(mention)
                at = mention.after
        return found

    def _at(self, words: Sequence[TextWord], at: int) -> Mention | None:
        plain = _without_possessive(words[at])[0]
        candidates = self._names.get(plain.lower())
        if not candidates:
            return None
        best: tuple[str, ...] = ()
        cards: list[BibleCard] = []
        for name, card in candidates:
            if len(name) < len(best) or not _fits(words, at, name):
                continue
            best = name
            cards.append(card)
        if not cards:
            return None
        owns = _without_possessive(words[at + len(best) - 1])[1]
        return Mention(tuple(dict.fromkeys(cards)), at, at + len(best), owns)

    def learn_genders(self, sentences: Iterable[Sentence]) -> None:
        """Find out who is he and who is she, where cards do not say, from sentences with one person only."""
        votes: dict[str, Counter[str]] = {}
        before: set[str] = set()
        for sentence in sentences:
            persons = {
                mention.cards[0].name
                for mention in self.mentions(sentence)
                if len(mention.cards) == 1 and mention.cards[0].kind == "character"
            }
            said = sentence.vocabulary
            he, she = bool(said & HE), bool(said & SHE)
            opens = sentence.words[0].lower if sentence.words else ""
            meant = persons or (before if opens in ("he", "she") else set())
            if len(meant) == 1 and he != she:
                votes.setdefault(next(iter(meant)), Counter())["he" if he else "she"] += 1
            before = persons
        for name, counted in votes.items():
            (first, most), *rest = counted.most_common()
            if name not in self.genders and most > 2 * (rest[0][1] if rest else 0):
                self.genders[name] = first


def _forms(card: BibleCard) -> list[tuple[str, ...]]:
    """Return the ways a card may be named, in lower case for things and with capitals kept out of persons' way."""
    found: list[tuple[str, ...]] = []
    for name in card.names:
        words = [word for word in name.replace("’", "'").split() if word]
        if words and words[0].lower() in _ARTICLES:
            words = words[1:]
        if not words:
            continue
        found.append(tuple(_key(word) for word in words))
        if card.kind == "character" and len(words) > 1 and words[0][0].isupper():
            if words[0].lower().strip(".") not in _TITLES:
                found.append((_key(words[0]),))
            elif len(words) == 2:
                continue
    return [name for name in found if name and not (len(name) == 1 and name[0] in STOP_WORDS)]


def _head(card: BibleCard, cards: Sequence[BibleCard]) -> list[tuple[str, ...]]:
    """Return the last word of an object's name, such as "watch", where no other card's name has it."""
    word = _key(card.name.split()[-1])
    same = [other for other in cards if any(word in map(_key, name.split()) for name in other.names)]
    return [(word,)] if card.kind == "object" and same == [card] else []


def _key(word: str) -> str:
    return word.lower().strip(".,;:()\"'").removesuffix("'s") or word.lower()


def _without_possessive(word: TextWord) -> tuple[str, bool]:
    text = word.text.replace("’", "'")
    return (text[:-2], True) if text.endswith("'s") else (text, False)


def _fits(words: Sequence[TextWord], at: int, name: tuple[str, ...]) -> bool:
    """Say whether a name stands here; a name of one word must have its capital, unless an article is before it."""
    if at + len(name) > len(words):
        return False
    for offset, part in enumerate(name):
        word = _without_possessive(words[at + offset])[0]
        if word.lower() != part:
            return False
    capital = words[at].text[0].isupper()
    if len(name) == 1 and not capital:
        return at > 0 and words[at - 1].lower in _ARTICLES | {"his", "her", "their", "my", "our", "your"}
    return True


def _gender_on(card: BibleCard) -> str:
    said = card.value("gender", "sex", "pronouns").lower()
    if said:
        if "she" in said or "female" in said or "woman" in said:
            return "she"
        return "he" if "he" in said.split("/")[0] or "male" in said or "man" in said else ""
    words = {word.strip(".,;:()").lower() for line in card.lines for word in line.value.split()}
    words |= {word.lower().strip(".") for name in card.names for word in name.split()}
    related = {line.key for line in card.lines}
    he = len(words & MALE_WORDS - _RELATED) + ("wife" in related)
    she = len(words & FEMALE_WORDS - _RELATED) + ("husband" in related)
    return "" if he == she else "he" if he > she else "she"


_RELATED = word_set(
    "father mother brother sister son daughter husband wife uncle aunt nephew niece grandfather grandmother"
)
