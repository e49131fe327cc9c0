"""Every sentence of a story with its context: the scene, its date, and which cards are in play there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from brasstag.tools.manuscript.language.dates import PartialDate, dates_in
from brasstag.tools.manuscript.language.mentions import HE, SHE, Mention, NameIndex
from brasstag.tools.manuscript.language.sentences import Sentence, sentences_in
from brasstag.tools.manuscript.parts.beats import StoryBeat
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.parts.scenes import StoryScene
from brasstag.tools.manuscript.parts.story import Story

_REACH = 4
"""So many sentences back a name is still in play."""


@dataclass(frozen=True)
class Passage:
    """One sentence, and what is known where it stands."""

    sentence: Sentence
    mentions: list[Mention]
    earlier: tuple[tuple[Mention, ...], ...]
    """The names in the sentences before it, the nearest first."""
    scene: StoryScene | None
    when: PartialDate
    pov: BibleCard | None
    place: BibleCard | None
    genders: dict[str, str]
    people: tuple[BibleCard, ...]
    """The persons whom the scene names anywhere."""
    known: tuple[BibleCard, ...]
    """The cards named in the scene so far, in its beats, and its point of view."""
    origin: str
    """Where it is from: scene or outline."""
    before: tuple[Sentence, ...] = ()
    """The sentences before it, the nearest first."""

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
        for card in (self.pov, self.place):
            if card is not None:
                found.setdefault(card.name, card)
        return list(found.values())

    def persons(self, pronoun: str) -> list[BibleCard]:
        """Return the persons for whom a pronoun may stand here."""
        gender = "he" if pronoun in HE else "she" if pronoun in SHE else ""
        return [card for card in self.people if not gender or self.genders.get(card.name, gender) == gender]

    def owners(self, at: int) -> list[BibleCard]:
        """Return to whom the words from a place on may belong: a name with 's, a pronoun, or the nearest person before."""
        words = self.sentence.words
        for back in range(at - 1, max(-1, at - 7), -1):
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


@dataclass(frozen=True)
class StoryContext:
    """A story, the names in it, and its passages; made once for all checks of a call."""

    story: Story

    @cached_property
    def names(self) -> NameIndex:
        """The names of the cards, with the genders that cards and prose show."""
        index = NameIndex([card for card in self.story.cards if card.kind])
        index.learn_genders(sentence for scene in self.story.judged for sentence in scene.sentences)
        return index

    @cached_property
    def year(self) -> int:
        """The year of the story, where its scenes or beats agree on one; else 0."""
        years = {self.date_of(line).year for line in self._when_lines()} - {0}
        return years.pop() if len(years) == 1 else 0

    def _when_lines(self) -> Iterator[HeaderLine]:
        for part in (*self.story.scenes, *self.story.beats):
            line = part.field("when", "date")
            if line is not None:
                yield line

    def date_of(self, line: HeaderLine | None) -> PartialDate:
        """Return the first date with a month that a line says, else the first of any kind."""
        found = dates_in(line.value_sentence()) if line is not None else []
        return next((one for one in found if one.month), found[0] if found else PartialDate())

    def when(self, scene: StoryScene) -> PartialDate:
        """Return the date of a scene: as its head says, else as its beat does."""
        own = self.date_of(scene.field("when", "date"))
        if own.month or own.year:
            return own.in_year(self.year) if self.year else own
        for beat in self.story.beats_of(scene):
            planned = self.date_of(beat.field("when", "date"))
            if planned.month or planned.year:
                return planned
        return own

    def day(self, scene: StoryScene) -> date | None:
        """Return the day of a scene, where it is known."""
        return self.when(scene).exact

    def card_named(self, name: str, kind: str = "") -> BibleCard | None:
        """Return the card that a name stands for, of a kind if one is given."""
        wanted = " ".join(name.lower().removeprefix("the ").split())
        for card in self.story.cards:
            if (not kind or card.kind in (kind, "")) and wanted in (
                one.lower().removeprefix("the ") for one in card.names
            ):
                return card
        parts = [
            card for card in self.story.cards if card.kind == kind and wanted in card.name.lower().split()
        ]
        return parts[0] if len(parts) == 1 else None

    def pov_of(self, scene: StoryScene) -> BibleCard | None:
        """Return the card of the person through whose eyes a scene is seen."""
        line = scene.field("pov")
        if line is None:
            line = next((beat.field("pov") for beat in self.story.beats_of(scene) if beat.field("pov")), None)
        return self.card_named(line.value, "character") if line is not None else None

    def place_of(self, scene: StoryScene) -> BibleCard | None:
        """Return the card of the place of a scene."""
        line = scene.field("place", "where", "location")
        return self.card_named(line.value, "place") if line is not None else None

    @cached_property
    def passages(self) -> list[Passage]:
        """The sentences of all scenes that can be judged, and of the beats."""
        found = [passage for scene in self.story.judged for passage in self._of_scene(scene)]
        return found + [passage for beat in self.story.beats for passage in self._of_beat(beat)]

    def _of_scene(self, scene: StoryScene) -> Iterator[Passage]:
        pov, place, when = self.pov_of(scene), self.place_of(scene), self.when(scene)
        start = [card for card in (pov, place) if card is not None]
        start += [card for beat in self.story.beats_of(scene) for card in self.things_in(beat)]
        yield from self._in_order(scene.sentences, scene, when, pov, place, start)

    def things_in(self, beat: StoryBeat) -> list[BibleCard]:
        """Return the objects and places that the text of a beat names."""
        sentence = Sentence(beat.source, beat.start, f"{beat.title}. {beat.text}", 0, ())
        mentioned = [card for mention in self.names.mentions(sentence) for card in mention.cards]
        return [card for card in mentioned if card.kind != "character"]

    def _of_beat(self, beat: StoryBeat) -> Iterator[Passage]:
        line = beat.field("pov")
        pov = self.card_named(line.value, "character") if line is not None else None
        ends = min((one.start for one in beat.fields), default=None)
        end = ends if ends is not None else beat.source.plain.find("\n\n", beat.start)
        sentences = list(sentences_in(beat.source, beat.start, end if end >= 0 else None))
        start = [pov] if pov is not None else []
        when = self.date_of(beat.field("when", "date"))
        yield from self._in_order(sentences, None, when, pov, None, start)

    def _in_order(
        self,
        sentences: Sequence[Sentence],
        scene: StoryScene | None,
        when: PartialDate,
        pov: BibleCard | None,
        place: BibleCard | None,
        known: list[BibleCard],
    ) -> Iterator[Passage]:
        earlier: list[tuple[Mention, ...]] = []
        named = {card.name: card for card in known}
        before: tuple[Sentence, ...] = ()
        mentioned = [self.names.mentions(sentence) for sentence in sentences]
        people = {card.name: card for card in known if card.kind == "character"}
        for mention in (mention for mentions in mentioned for mention in mentions):
            people.update((card.name, card) for card in mention.cards if card.kind == "character")
        for sentence, mentions in zip(sentences, mentioned, strict=True):
            for mention in mentions:
                named.update((card.name, card) for card in mention.cards)
            yield Passage(
                sentence, mentions, tuple(earlier), scene, when, pov, place, self.names.genders,
                tuple(people.values()), tuple(named.values()), "scene" if scene else "outline", before,
            )  # fmt: skip
            earlier = [tuple(mentions), *earlier[: _REACH - 1]]
            before = (sentence, *before[: _REACH - 1])
