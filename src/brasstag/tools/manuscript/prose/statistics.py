"""prose_analyzer: lengths, dialogue, repetitions, adverbs, filter words, and signals of the point of view."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import mean, median, pstdev
from typing import Any

from brasstag.tools.manuscript.language.lexicon import STOP_WORDS, THOUGHTS
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.language.word_lists import word_set

FILTERS = word_set(
    "saw heard felt noticed seemed watched realised realized thought wondered knew decided looked could"
) - {"could", "looked"}
_NOT_ADVERBS = word_set(
    "only family early reply supply apply fly july holy ugly lonely friendly lovely daily weekly likely elderly italy"
    " belly bully ally rely assembly butterfly jelly melancholy"
)
_FEWEST = 3
_PHRASE = 3


def statistics(sentences: Sequence[Sentence], most: int) -> dict[str, Any]:
    """Return the figures of some prose; lists have at most so many entries."""
    lengths = [len(sentence.words) for sentence in sentences if sentence.words]
    paragraphs = Counter[int]()
    for sentence in sentences:
        paragraphs[sentence.paragraph] += len(sentence.words)
    words = sum(lengths)
    spoken = sum(
        sentence.is_spoken(word.start) for sentence in sentences for word in sentence.words if sentence.speech
    )
    return {
        "words": words,
        "sentences": len(lengths),
        "paragraphs": len(paragraphs),
        "sentence_words": _figures(lengths),
        "paragraph_words": _figures([count for count in paragraphs.values() if count]),
        "dialogue_share": round(spoken / words, 3) if words else 0.0,
        "repeated_words": _repeated_words(sentences, most),
        "repeated_phrases": _repeated_phrases(sentences, most),
        "adverbs": _places(sentences, _is_adverb, most),
        "filter_words": _places(sentences, lambda lower: lower in FILTERS, most),
        "point_of_view": _point_of_view(sentences),
    }


def _figures(lengths: Sequence[int]) -> dict[str, float]:
    if not lengths:
        return {"mean": 0.0, "median": 0.0, "shortest": 0, "longest": 0, "deviation": 0.0}
    return {
        "mean": round(mean(lengths), 1),
        "median": float(median(lengths)),
        "shortest": min(lengths),
        "longest": max(lengths),
        "deviation": round(pstdev(lengths), 1),
    }


def _repeated_words(sentences: Iterable[Sentence], most: int) -> list[dict[str, Any]]:
    counts: Counter[str] = Counter()
    first: dict[str, tuple[Sentence, int, int]] = {}
    for sentence in sentences:
        for word in sentence.words:
            if word.lower not in STOP_WORDS and word.lower[0].isalpha() and len(word.lower) > _FEWEST:
                counts[word.lower] += 1
                first.setdefault(word.lower, (sentence, word.start, word.end))
    return _listed(counts, first, most)


def _repeated_phrases(sentences: Iterable[Sentence], most: int) -> list[dict[str, Any]]:
    """Return phrases of three words, at least one of which carries meaning, that stand there three times or more."""
    counts: Counter[str] = Counter()
    first: dict[str, tuple[Sentence, int, int]] = {}
    for sentence in sentences:
        words = sentence.words
        for at in range(len(words) - _PHRASE + 1):
            window = words[at : at + _PHRASE]
            if all(word.lower in STOP_WORDS for word in window):
                continue
            phrase = " ".join(word.lower for word in window)
            counts[phrase] += 1
            first.setdefault(phrase, (sentence, window[0].start, window[-1].end))
    return _listed(counts, first, most)


def _listed(
    counts: Counter[str], first: dict[str, tuple[Sentence, int, int]], most: int
) -> list[dict[str, Any]]:
    frequent = [(text, count) for text, count in counts.items() if count >= _FEWEST]
    frequent.sort(key=lambda one: (-one[1], one[0]))
    return [
        {"text": text, "count": count, "evidence": [first[text][0].quote(*first[text][1:]).as_json()]}
        for text, count in frequent[:most]
    ]


def _places(sentences: Iterable[Sentence], wanted: Callable[[str], bool], most: int) -> dict[str, Any]:
    count = 0
    evidence: list[dict[str, Any]] = []
    for sentence in sentences:
        for word in sentence.words:
            if wanted(word.lower) and not sentence.is_spoken(word.start):
                count += 1
                if len(evidence) < most:
                    evidence.append(sentence.quote(word.start, word.end).as_json() | {"word": word.text})
    return {"count": count, "evidence": evidence}


def _is_adverb(lower: str) -> bool:
    return lower.endswith("ly") and len(lower) > 4 and lower not in _NOT_ADVERBS


def _point_of_view(sentences: Iterable[Sentence]) -> dict[str, Any]:
    """Count the persons of pronouns outside speech, and verbs of thought by their subject."""
    persons: Counter[str] = Counter()
    thoughts: Counter[str] = Counter()
    for sentence in sentences:
        for at, word in enumerate(sentence.words):
            if sentence.is_spoken(word.start):
                continue
            person = _PERSONS.get(word.lower)
            if person:
                persons[person] += 1
            if word.lower in THOUGHTS and at:
                thoughts[sentence.words[at - 1].text] += 1
    main = max(("first", "third"), key=lambda person: persons[person]) if persons else ""
    return {
        "first_person": persons["first"],
        "second_person": persons["second"],
        "third_person": persons["third"],
        "told_in": main,
        "thoughts_by": [{"subject": name, "count": count} for name, count in thoughts.most_common(10)],
    }


_PERSONS = (
    dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our"), "first")
    | dict.fromkeys(("you", "your", "yours"), "second")
    | dict.fromkeys(("he", "him", "his", "she", "her", "hers", "they", "them", "their"), "third")
)
