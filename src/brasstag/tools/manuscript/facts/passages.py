"""One sentence with its context: the scene, its date, and which cards are in play there."""

from dataclasses import dataclass
from functools import cached_property

from brasstag.tools.manuscript.language.dates import PartialDate
from brasstag.tools.manuscript.language.mentions import HE, SHE, Mention
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.scenes import StoryScene

_OWNER_REACH = 7
"""So many words lie at most between an owner and what is owned."""


@dataclass(frozen=True)
class SceneSetting:
    """What all sentences of a scene, or of a beat, have in common."""

    scene: StoryScene | None
    """None for a beat."""
    when: PartialDate
    pov: BibleCard | None
    place: BibleCard | None
    genders: dict[str, str]
    people: tuple[BibleCard, ...]
    """The persons whom it names anywhere."""
    present: frozenset[str]
    """The persons who surely are there: the point of view, and those who speak."""
    told: frozenset[str]
    """The persons whom not only speech names."""


@dataclass(frozen=True)
class StoryPassage:
    """One sentence, and what is known where it stands."""

    sentence: Sentence
    mentions: list[Mention]
    earlier: tuple[tuple[Mention, ...], ...]
    """The names in the sentences before it, the nearest first."""
    setting: SceneSetting
    known: tuple[BibleCard, ...]
    """The cards named in the scene so far, in its beats, and its point of view."""
    before: tuple[Sentence, ...] = ()
    """The sentences before it, the nearest first."""

    @property
    def origin(self) -> str:
        """Where it is from: scene or outline."""
        return "outline" if self.setting.scene is None else "scene"

    @property
    def scene(self) -> StoryScene | None:
        """The scene it is from; None for a beat."""
        return self.setting.scene

    @property
    def when(self) -> PartialDate:
        """The date of the scene."""
        return self.setting.when

    @property
    def pov(self) -> BibleCard | None:
        """The person through whose eyes the scene is seen."""
        return self.setting.pov

    @property
    def genders(self) -> dict[str, str]:
        """Who is he, and who is she."""
        return self.setting.genders

    @property
    def previous(self) -> Sentence | None:
        """The sentence directly before it."""
        return self.before[0] if self.before else None

    @cached_property
    def cards(self) -> list[BibleCard]:
        """The cards named in the sentence itself."""
        return list({card.name: card for mention in self.mentions for card in mention.cards}.values())

    @cached_property
    def in_play(self) -> list[BibleCard]:
        """The cards named here or shortly before, the point of view, and the place of the scene."""
        found = {card.name: card for card in self.cards}
        for mentions in self.earlier:
            for mention in mentions:
                found.update((card.name, card) for card in mention.cards)
        for card in (self.setting.pov, self.setting.place):
            if card is not None:
                found.setdefault(card.name, card)
        return list(found.values())

    def persons(self, pronoun: str) -> list[BibleCard]:
        """Return the persons for whom a pronoun may stand: who is there, or was told of shortly before; else all."""
        gender = "he" if pronoun in HE else "she" if pronoun in SHE else ""
        setting = self.setting
        able = [
            card for card in setting.people if not gender or self.genders.get(card.name, gender) == gender
        ]
        near = {card.name for card in self._told_nearby()}
        there = setting.present | (near & setting.told)
        return [card for card in able if card.name in there] or able

    def _told_nearby(self) -> list[BibleCard]:
        """Return the cards that this sentence or one shortly before names outside of speech."""
        pairs = zip((self.sentence, *self.before), (self.mentions, *self.earlier), strict=True)
        return [
            card
            for sentence, mentions in pairs
            for one in mentions
            if not sentence.is_spoken(sentence.words[one.first].start)
            for card in one.cards
        ]

    def owners(self, at: int) -> list[BibleCard]:
        """Return to whom the words from a place on may belong: a name with 's, a pronoun, or the nearest person before."""
        words = self.sentence.words
        for back in range(at - 1, max(-1, at - _OWNER_REACH), -1):
            lower = words[back].lower
            mention = next((one for one in self.mentions if one.first <= back < one.after), None)
            if mention is not None and (mention.possessive or back < at - 1):
                persons = [card for card in mention.cards if card.kind == "character"]
                if persons:
                    return persons
            if lower in ("his", "her", "he", "she"):
                return self._preferred(lower, back)
        return []

    def _same_voice(self, one: int, other: int) -> bool:
        """Say whether two words are both spoken, or both told."""
        words, sentence = self.sentence.words, self.sentence
        return sentence.is_spoken(words[one].start) == sentence.is_spoken(words[other].start)

    def _preferred(self, pronoun: str, at: int) -> list[BibleCard]:
        """Return whom a pronoun means: a person of that gender named before it in the sentence, else all it may mean."""
        able = self.persons(pronoun)
        names = {card.name for card in able}
        before = [
            card
            for mention in self.mentions
            if mention.after <= at and self._same_voice(mention.first, at)
            for card in mention.cards
            if card.name in names
        ]
        return before[-1:] if len({card.name for card in before}) == 1 else able
