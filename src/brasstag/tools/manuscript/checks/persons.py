"""Persons who cannot do what a scene has them do: the dead, and those of whom a card says that they never do it."""

import itertools
from collections.abc import Iterator

from brasstag.tools.manuscript.facts.context import StoryContext, acts_in_speech
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.language.lexicon import stem
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.text import TextFinding

_NO = frozenset({"no", "never", "not", "cannot"})
_DENIES = word_set("not never cannot can't couldn't didn't no nor if would might wished")


def dead_who_act(context: StoryContext) -> Iterator[TextFinding]:
    """Yield sentences in which a person speaks who has died before the day of the scene."""
    gone = {}
    for card in context.story.cards:
        line = card.line("died", "death", "dead since", "lost")
        dates = line.value_sentence.dates if line is not None and card.kind == "character" else []
        exact = next((one.exact for one in dates if one.exact), None)
        if line is not None and exact is not None:
            gone[card.name] = (exact, line)
    for passage in context.passages if gone else ():
        when = passage.when.exact
        for mention in passage.mentions:
            died, line = gone.get(mention.cards[0].name, (None, None))
            if died is None or line is None or when is None or when <= died or len(mention.cards) > 1:
                continue
            if acts_in_speech(passage.sentence, mention):
                words = passage.sentence.words
                quote = passage.sentence.quote(words[mention.first].start, words[mention.after - 1].end)
                message = f"{mention.cards[0].name} acts here on {when}, but the card says otherwise."
                yield TextFinding("canon_dead", message, "likely", (quote, line.quote))


def forbidden_acts(context: StoryContext) -> Iterator[TextFinding]:
    """Yield sentences in which a person does what a card says they never do."""
    never = [(card, line, verb) for card in context.story.cards for line, verb in _never(card)]
    for card, line, verb in never:
        for passage in context.passages:
            at = _does(passage, card, verb)
            if at is not None:
                word = passage.sentence.words[at]
                quote = passage.sentence.quote(word.start, word.end)
                message = f"{card.name} does here what the card denies: {line.name} {line.value}."
                yield TextFinding("canon_ability", message, "likely", (quote, line.quote))


def _never(card: BibleCard) -> Iterator[tuple[HeaderLine, str]]:
    """Yield the verbs that a card denies: "Swims: no", "Never: drinks", "cannot swim"."""
    if card.kind != "character":
        return
    for line in card.lines:
        words = [word.lower for word in line.value_sentence.words]
        key = line.key.split()
        if words and words[0] in ("no", "never") and len(words) == 1 and len(key) == 1:
            yield line, stem(key[0])
        elif key[-1] in ("never", "cannot", "not") and words:
            yield line, stem(words[0])
        else:
            for first, second in itertools.pairwise(words):
                if first == "cannot" or (first == "never" and second.endswith("s")):
                    yield line, stem(second)


def _does(passage: StoryPassage, card: BibleCard, verb: str) -> int | None:
    """Return where a passage has a person do something; None where it does not, or denies it."""
    words = passage.sentence.words
    for at, word in enumerate(words):
        if stem(word.lower) != verb or passage.sentence.is_spoken(word.start):
            continue
        before = [one.lower for one in words[max(0, at - 4) : at]]
        if not before or not _DENIES.isdisjoint(before) or before[-1] in ("to", "a", "the"):
            continue
        owners = passage.owners(at)
        direct = [one for mention in passage.mentions if mention.after == at for one in mention.cards]
        if (direct or owners) == [card]:
            return at
    return None
