"""Patterns are data: each does what its examples say, and a table that does not is refused as a whole."""

import json
from typing import Any

import pytest

from brasstag.catalog.screen.patterns import BadPattern, read_patterns, shipped_patterns
from brasstag.catalog.screen.screen import load_table, screen
from brasstag.words.errors import ConfigError

PATTERNS = list(read_patterns(shipped_patterns()).by_id.values())
EXAMPLES = [pattern for pattern in PATTERNS if pattern.detector != "length"]


def entry(**changes: Any) -> dict[str, Any]:
    plain = {
        "id": "wave",
        "family": "test",
        "verdict": "block",
        "why": "It waves.",
        "expressions": [r"\bwave {whom}\b"],
        "match": ["Wave goodbye"],
        "not_match": ["a wave"],
    }
    return plain | changes


def written(*entries: dict[str, Any]) -> bytes:
    shipped = json.loads(shipped_patterns())["patterns"]
    detectors = [one | {"match": ["x"], "not_match": []} for one in shipped if "detector" in one]
    words = {"whom": "(?:goodbye|hello)"}
    return json.dumps(
        {"words": words, "patterns": [*(one | {"detector": "length"} for one in detectors), *entries]}
    ).encode()


def problems(data: bytes) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        load_table(data)
    return [str(problem) for problem in raised.value.problems if problem.field == "wave"]


@pytest.mark.parametrize("pattern", EXAMPLES, ids=lambda pattern: pattern.id)
def test_a_pattern_does_what_its_examples_say(pattern: BadPattern) -> None:
    assert pattern.match
    assert pattern.not_match
    for text in pattern.match:
        found = {finding.pattern: finding for finding in screen({"goals": text}).findings}
        assert found[pattern.id].verdict == pattern.verdict
        assert found[pattern.id].why.startswith(pattern.why)
    for text in pattern.not_match:
        assert pattern.id not in {finding.pattern for finding in screen({"goals": text}).findings}


def test_every_pattern_says_in_a_sentence_why() -> None:
    for pattern in PATTERNS:
        assert pattern.why.endswith(".")
        assert pattern.why[0].isupper()


def test_ids_of_patterns_are_stable_words() -> None:
    assert all(pattern.id.replace("_", "").isalnum() and pattern.id.islower() for pattern in PATTERNS)


def test_a_pattern_that_misses_its_example_is_refused() -> None:
    [problem] = problems(written(entry(match=["nothing"])))
    assert "does not match 'nothing'" in problem


def test_a_pattern_that_matches_what_it_must_not_is_refused() -> None:
    [problem] = problems(written(entry(not_match=["wave hello"])))
    assert "matches 'wave hello'" in problem


def test_a_pattern_without_examples_is_refused() -> None:
    [problem] = problems(written(entry(match=[])))
    assert "no example" in problem


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"expressions": ["wave ("]}, "RE2 refuses"),
        ({"expressions": ["wave {who}"]}, "who"),
        ({"expressions": ["wave[ -]hello"]}, "a blank stands for a gap"),
        ({"expressions": ["wave…"]}, "has a meaning in expressions"),
        ({"expressions": []}, "needs expressions or a detector"),
        ({"detector": "encoding"}, "needs expressions or a detector"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_refused(changes: dict[str, Any], what: str) -> None:
    [problem] = problems(written(entry(**changes)))
    assert what in problem


def test_an_id_that_is_there_twice_is_refused() -> None:
    [problem] = problems(written(entry(), entry()))
    assert "twice" in problem


def test_all_problems_are_named_at_once() -> None:
    assert len(problems(written(entry(match=["nothing", "nothing else"])))) == 2
