"""reader_experience_simulator: what a reader knows after each scene, which questions are open, and the tension."""

from collections import Counter
from typing import Any

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.scenes import StoryScene

_TENSE = word_set(
    "blood broke broken cut dark dead death die died fear afraid fire storm wind hurt knife lie lied lost locked missing"
    " never night pain secret shot silence sudden suddenly threat torn wound alone danger drowned scream shouted ran"
)
_SHORT = 8
_BARS = 20
_HIGHEST = 10
_SHARED = 2
_COMMON = 0.02


def reader_map(context: StoryContext, most: int) -> dict[str, Any]:
    """Return the scenes as a reader meets them, the open questions, and a chart of the tension."""
    rare = _rare_stems(context)
    told: set[str] = set()
    scenes: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for scene in context.story.scenes:
        passages = context.by_scene.get(scene.path, [])
        learned = _learned(passages, told)
        _answer(questions, passages, rare, scene)
        asked = _questions(passages, rare, scene)
        questions += asked
        scenes.append(
            {
                "path": scene.path,
                "words": sum(len(passage.sentence.words) for passage in passages),
                "learns": learned[:most],
                "asks": len(asked),
                "open_questions": sum(question["answered_in"] is None for question in questions),
                "tension": _tension(passages),
            }
        )
    return {
        "scenes": scenes,
        "open_questions": [_shown(one) for one in questions if one["answered_in"] is None][:most],
        "answered_questions": [_shown(one) for one in questions if one["answered_in"] is not None][:most],
        "chart": _chart([(scene["path"], scene["tension"]) for scene in scenes]),
    }


def _learned(passages: list[StoryPassage], told: set[str]) -> list[dict[str, Any]]:
    """Return the cards that a reader meets for the first time, with the place."""
    found = []
    for passage in passages:
        for mention in passage.mentions:
            card = mention.cards[0]
            if card.name not in told:
                told.add(card.name)
                word = passage.sentence.words[mention.first]
                quote = passage.sentence.quote(word.start, word.end)
                found.append({"what": card.name, "type": card.kind, "evidence": [quote.as_json()]})
    return found


def _rare_stems(context: StoryContext) -> frozenset[str]:
    """Return the stems that stand in few sentences, so that two of them point to the same matter."""
    counts = Counter(one for passage in context.passages for one in passage.sentence.stems)
    limit = max(3, int(len(context.passages) * _COMMON))
    return frozenset(one for one, count in counts.items() if count <= limit)


def _questions(passages: list[StoryPassage], rare: frozenset[str], scene: StoryScene) -> list[dict[str, Any]]:
    found = []
    for passage in passages:
        if passage.sentence.text.rstrip("\"'”’*_ )").endswith("?"):
            stems = passage.sentence.stems & rare
            quote = passage.sentence.quote()
            found.append({"quote": quote, "stems": stems, "asked_in": scene.path, "answered_in": None})
    return found


def _answer(
    questions: list[dict[str, Any]], passages: list[StoryPassage], rare: frozenset[str], scene: StoryScene
) -> None:
    """Note which open questions a later scene takes up: a statement shares two rare words with one."""
    open_ones = [one for one in questions if one["answered_in"] is None and len(one["stems"]) >= _SHARED]
    by_stem: dict[str, list[int]] = {}
    for number, one in enumerate(open_ones):
        for stem in one["stems"]:
            by_stem.setdefault(stem, []).append(number)
    for passage in passages if open_ones else ():
        if passage.sentence.text.rstrip("\"'”’").endswith("?"):
            continue
        shared = Counter(number for stem in passage.sentence.stems & rare for number in by_stem.get(stem, ()))
        for number, count in shared.items():
            if count >= _SHARED and open_ones[number]["answered_in"] is None:
                open_ones[number]["answered_in"] = scene.path
                open_ones[number]["answer"] = passage.sentence.quote()


def _shown(question: dict[str, Any]) -> dict[str, Any]:
    evidence = [question["quote"], *([question["answer"]] if "answer" in question else [])]
    return {
        "asked_in": question["asked_in"],
        "answered_in": question["answered_in"],
        "evidence": [quote.as_json() for quote in evidence],
    }


def _tension(passages: list[StoryPassage]) -> float:
    """Return 0 to 10: words of danger, short sentences, questions and exclamations, each by its share."""
    if not passages:
        return 0.0
    sentences = [passage.sentence for passage in passages]
    words = sum(len(sentence.words) for sentence in sentences) or 1
    danger = sum(word.lower in _TENSE for sentence in sentences for word in sentence.words) / words
    short = sum(len(sentence.words) <= _SHORT for sentence in sentences) / len(sentences)
    marks = sum(sentence.text.count("!") + sentence.text.count("?") for sentence in sentences) / len(
        sentences
    )
    return round(min(_HIGHEST, danger * 150 + short * 5 + marks * 8), 1)


def _chart(tension: list[tuple[str, float]]) -> str:
    """Draw one bar for each scene."""
    width = max((len(path.rpartition("/")[2]) for path, _ in tension), default=0)
    lines = [
        f"{path.rpartition('/')[2]:<{width}} |{'#' * round(value / _HIGHEST * _BARS):<{_BARS}}| {value:.1f}"
        for path, value in tension
    ]
    return "\n".join(lines)
