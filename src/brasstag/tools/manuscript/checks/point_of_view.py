"""Point of view: thoughts of a person through whose eyes the scene is not seen, and a change of person."""

from collections.abc import Iterator

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.language.lexicon import THOUGHTS
from brasstag.tools.manuscript.language.mentions import HE, SHE
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.scenes import StoryScene
from brasstag.tools.manuscript.text import TextFinding, TextQuote

_GUESSES = word_set(
    "seemed seem seems perhaps maybe probably must looked appeared guessed supposed as if might may"
    " whether told said says think thinks knew sure show showed shows saw see heard"
)
_KNEW_THAT = word_set("he she that it what why how who")
_STATES = word_set("ashamed relieved afraid sorry glad certain sure jealous homesick grateful")
_FEELINGS = word_set("hated loved disliked envied pitied believed mistrusted resented")
_INSIDE = word_set("heart stomach mind conscience memory")
_FIRST_PERSON = frozenset({"i", "my", "me", "myself"})
_WORDS = THOUGHTS | _STATES | _FEELINGS | _INSIDE | {"knew", "wanted"}
_FEW = 0.02


def point_of_view_slips(context: StoryContext, scene: StoryScene) -> Iterator[TextFinding]:
    """Yield the sentences of a scene that only another mind could tell."""
    pov = context.pov_of(scene)
    line = context.pov_line(scene)
    if pov is None or line is None or scene not in context.story.judged:
        return
    passages = context.by_scene.get(scene.path, [])
    for passage in passages:
        slip = _other_mind(passage, pov)
        if slip is not None:
            message = f"The scene is seen by {pov.name}, but this tells what {slip[0]} thinks or feels."
            yield TextFinding("scene_pov_slip", message, "likely", (slip[1], line.quote))
    yield from _first_person(passages, line.quote)


def _other_mind(passage: StoryPassage, pov: BibleCard) -> tuple[str, TextQuote] | None:
    words = passage.sentence.words
    if passage.sentence.vocabulary.isdisjoint(_WORDS):
        return None
    for at, word in enumerate(words):
        if not at or passage.sentence.is_spoken(word.start):
            continue
        owner = _owner_inside(passage, at, pov)
        if owner:
            return owner, passage.sentence.quote(word.start, word.end)
        if not _is_thought(passage, at):
            continue
        if not _GUESSES.isdisjoint(one.lower for one in words[max(0, at - 5) : at]):
            continue
        who = _thinker(passage, at, pov)
        if who:
            return who, passage.sentence.quote(word.start, word.end)
    return None


def _owner_inside(passage: StoryPassage, at: int, pov: BibleCard) -> str:
    """Return whose heart or mind a sentence looks into, where it is not that of the one who sees the scene."""
    words = passage.sentence.words
    if words[at].lower not in _INSIDE:
        return ""
    for mention in passage.mentions:
        if mention.after == at and mention.possessive and pov not in mention.cards:
            return mention.cards[0].name if mention.cards[0].kind == "character" else ""
    theirs = {"his": "he", "her": "she"}.get(words[at - 1].lower, "")
    gender = passage.genders.get(pov.name)
    return theirs if theirs and gender and theirs != gender else ""


def _is_thought(passage: StoryPassage, at: int) -> bool:
    words = passage.sentence.words
    lower = words[at].lower
    following = words[at + 1].lower if at + 1 < len(words) else ""
    if lower == "knew":
        return following in _KNEW_THAT
    if lower == "wanted":
        return following == "to"
    if lower in _FEELINGS:
        return True
    if lower in ("was", "were"):
        return following in _STATES
    return lower in THOUGHTS and not (lower == "felt" and following in ("for", "along", "about", "around"))


def _thinker(passage: StoryPassage, at: int, pov: BibleCard) -> str:
    """Return who thinks, where it is surely not the one who sees the scene."""
    words = passage.sentence.words
    back = at - 1
    while back > 0 and words[back].lower in ("had", "suddenly", "only", "then", "never", "always", "also"):
        back -= 1
    for mention in passage.mentions:
        if mention.first <= back < mention.after and not mention.possessive:
            persons = [card for card in mention.cards if card.kind == "character"]
            return persons[0].name if persons and pov not in persons else ""
    gender = passage.genders.get(pov.name)
    pronoun = words[back].lower
    if gender and pronoun in ("he", "she") and pronoun != gender:
        return pronoun
    if pronoun in HE | SHE and pronoun == gender:
        return _same_gender(passage, back, pov)
    return ""


def _same_gender(passage: StoryPassage, back: int, pov: BibleCard) -> str:
    """Return the other person whom a pronoun means: the sentence's only name before it, and its subject."""
    before = [mention for mention in passage.mentions if mention.after <= back]
    if len(before) != 1 or before[0].first > 1 or before[0].possessive:
        return ""
    persons = [card for card in before[0].cards if card.kind == "character"]
    gender = passage.genders.get(pov.name)
    if len(persons) == 1 and persons[0] is not pov and passage.genders.get(persons[0].name) == gender:
        return persons[0].name
    return ""


def _first_person(passages: list[StoryPassage], line: TextQuote) -> Iterator[TextFinding]:
    """Yield the rare sentences told by "I" in a scene that is otherwise told in the third person."""
    told = [passage for passage in passages if passage.sentence.narration.strip()]
    slips = []
    for passage in told:
        sentence = passage.sentence
        for word in sentence.words:
            marked = (
                "*" in sentence.source.plain[sentence.start - 1 : sentence.start + len(sentence.text) + 1]
            )
            is_i = word.lower in _FIRST_PERSON or word.lower.startswith("i'")
            if is_i and not sentence.is_spoken(word.start) and not marked and not _in_letter(passage):
                slips.append((passage, word))
                break
    if 0 < len(slips) <= max(1, len(told) * _FEW):
        for passage, word in slips:
            quote = passage.sentence.quote(word.start, word.end)
            message = "The scene is told in the third person, but this sentence says I."
            yield TextFinding("scene_person_slip", message, "likely", (quote, line))


def _in_letter(passage: StoryPassage) -> bool:
    """Say whether a sentence stands inside emphasis, as letters, logs and thoughts do."""
    source, start = passage.sentence.source, passage.sentence.start
    begins = source.plain.rfind("\n\n", 0, start) + 1
    return source.plain.count("*", begins, start) % 2 == 1 or source.plain[
        begins : begins + 3
    ].strip().startswith("*")
