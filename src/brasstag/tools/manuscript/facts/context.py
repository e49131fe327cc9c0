"""A story with the names in it and all of its passages; made once for all checks of a call."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from brasstag.tools.manuscript.facts.passages import SceneSetting, StoryPassage
from brasstag.tools.manuscript.language.dates import PartialDate
from brasstag.tools.manuscript.language.lexicon import SAYS
from brasstag.tools.manuscript.language.mentions import Mention, NameIndex
from brasstag.tools.manuscript.language.sentences import Sentence, sentences_in
from brasstag.tools.manuscript.parts.beats import StoryBeat
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.parts.scenes import StoryScene
from brasstag.tools.manuscript.parts.story import Story

_REACH = 4
"""So many sentences back a name is still in play."""


@dataclass(frozen=True)
class StoryContext:
    """A story, the names in it, and its passages."""

    story: Story

    @cached_property
    def names(self) -> NameIndex:
        """The names of persons, places and objects, with the genders that cards and prose show."""
        index = NameIndex([card for card in self.story.cards if card.kind not in ("", "event")])
        index.learn_genders(sentence for scene in self.story.judged for sentence in scene.sentences)
        return index

    @cached_property
    def year(self) -> int:
        """The year of the story, where its scenes or beats agree on one; else 0."""
        years = {self.date_of(line).year for line in self._when_lines()} - {0}
        return years.pop() if len(years) == 1 else 0

    def _when_lines(self) -> Iterator[HeaderLine]:
        lines = [scene.field("when", "date") for scene in self.story.scenes]
        lines += [beat.field("when", "date") for beat in self.story.beats]
        yield from (line for line in lines if line is not None)

    def date_of(self, line: HeaderLine | None) -> PartialDate:
        """Return the first date with a month that a line says, else the first of any kind."""
        found = line.value_sentence.dates if line is not None else []
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

    def pov_line(self, scene: StoryScene) -> HeaderLine | None:
        """Return the line that says through whose eyes a scene is seen: its own, or that of its beat."""
        planned = (beat.field("pov") for beat in self.story.beats_of(scene))
        return scene.field("pov") or next((line for line in planned if line is not None), None)

    def pov_of(self, scene: StoryScene) -> BibleCard | None:
        """Return the card of the person through whose eyes a scene is seen."""
        line = self.pov_line(scene)
        return self.card_named(line.value, "character") if line is not None else None

    def place_of(self, scene: StoryScene) -> BibleCard | None:
        """Return the card of the place of a scene."""
        line = scene.field("place", "where", "location")
        return self.card_named(line.value, "place") if line is not None else None

    @cached_property
    def passages(self) -> list[StoryPassage]:
        """The sentences of all scenes that can be judged, and of the beats."""
        found = [passage for scene in self.story.judged for passage in self._of_scene(scene)]
        return found + [passage for passages in self.by_beat.values() for passage in passages]

    @cached_property
    def by_beat(self) -> dict[StoryBeat, list[StoryPassage]]:
        """The passages of each beat."""
        return {beat: list(self._of_beat(beat)) for beat in self.story.beats}

    @cached_property
    def by_scene(self) -> dict[str, list[StoryPassage]]:
        """The passages of each scene, by its path."""
        found: dict[str, list[StoryPassage]] = {}
        for passage in self.passages:
            if passage.scene is not None:
                found.setdefault(passage.scene.path, []).append(passage)
        return found

    def things_in(self, beat: StoryBeat) -> list[BibleCard]:
        """Return the objects and places that the text of a beat names."""
        sentence = Sentence(beat.source, beat.start, f"{beat.title}. {beat.text}", 0, ())
        mentioned = [card for mention in self.names.mentions(sentence) for card in mention.cards]
        return [card for card in mentioned if card.kind != "character"]

    def _of_scene(self, scene: StoryScene) -> Iterator[StoryPassage]:
        start = [card for beat in self.story.beats_of(scene) for card in self.things_in(beat)]
        setting = (scene, self.when(scene), self.pov_of(scene), self.place_of(scene))
        yield from self._in_order(scene.sentences, setting, start)

    def _of_beat(self, beat: StoryBeat) -> Iterator[StoryPassage]:
        line = beat.field("pov")
        pov = self.card_named(line.value, "character") if line is not None else None
        ends = min((one.start for one in beat.fields), default=None)
        end = ends if ends is not None else beat.source.plain.find("\n\n", beat.start)
        sentences = list(sentences_in(beat.source, beat.start, end if end >= 0 else None))
        when = self.date_of(beat.field("when", "date"))
        yield from self._in_order(sentences, (None, when, pov, None), [])

    def _in_order(
        self,
        sentences: Sequence[Sentence],
        where: tuple[StoryScene | None, PartialDate, BibleCard | None, BibleCard | None],
        start: Sequence[BibleCard],
    ) -> Iterator[StoryPassage]:
        """Yield the passages of a scene or beat, each with what was named before it."""
        mentioned = [self.names.mentions(sentence) for sentence in sentences]
        named = {card.name: card for card in (*where[2:], *start) if card is not None}
        setting = self._setting(sentences, mentioned, where)
        known = tuple(named.values())
        earlier: tuple[tuple[Mention, ...], ...] = ()
        before: tuple[Sentence, ...] = ()
        for sentence, mentions in zip(sentences, mentioned, strict=True):
            count = len(named)
            named.update((card.name, card) for mention in mentions for card in mention.cards)
            known = known if len(named) == count else tuple(named.values())
            yield StoryPassage(sentence, mentions, earlier, setting, known, before)
            earlier = (tuple(mentions), *earlier[: _REACH - 1])
            before = (sentence, *before[: _REACH - 1])

    def _setting(
        self,
        sentences: Sequence[Sentence],
        mentioned: Sequence[Sequence[Mention]],
        where: tuple[StoryScene | None, PartialDate, BibleCard | None, BibleCard | None],
    ) -> SceneSetting:
        """Return what is known of a scene as a whole: who is named, who speaks, who is only spoken of."""
        scene, when, pov, place = where
        people = {pov.name: pov} if pov is not None else {}
        present, told = set(people), set[str]()
        for sentence, mentions in zip(sentences, mentioned, strict=True):
            for mention in mentions:
                persons = {card.name: card for card in mention.cards if card.kind == "character"}
                people.update(persons)
                if not sentence.is_spoken(sentence.words[mention.first].start):
                    told.update(persons)
                    if len(persons) == 1 and acts_in_speech(sentence, mention):
                        present.update(persons)
        return SceneSetting(
            scene,
            when,
            pov,
            place,
            self.names.genders,
            tuple(people.values()),
            frozenset(present),
            frozenset(told),
        )


def acts_in_speech(sentence: Sentence, mention: Mention) -> bool:
    """Say whether a name is the one who speaks beside speech: "…," said Aksel."""
    words = sentence.words
    if sentence.is_spoken(words[mention.first].start):
        return False
    before = words[mention.first - 1].lower if mention.first else ""
    behind = words[mention.after].lower if mention.after < len(words) else ""
    return bool(sentence.speech) and (before in SAYS or behind in SAYS)
