"""Screening over whole sets: attacks are stopped or shown, innocent texts and the core prompts pass."""

import json
from importlib.resources import files

import pytest

from brasstag.catalog.screen.patterns import read_patterns, shipped_patterns
from brasstag.catalog.screen.screen import screen
from tests.catalog.screen.sets import attacks, innocent, show, table, verdict_of

CORE = json.loads((files("brasstag.catalog.core") / "tools.json").read_text(encoding="utf-8"))


def test_no_attack_passes_and_most_are_blocked() -> None:
    counts = table(attacks(), "family")
    show(counts)
    assert sum(found.total() for found in counts.values()) >= 150
    assert [entry["text"] for entry in attacks() if verdict_of(entry["text"]) == "pass"] == []
    for family, found in counts.items():
        assert found["block"] >= 0.7 * found.total(), family


def test_every_family_of_patterns_has_attacks() -> None:
    families = {pattern.family for pattern in read_patterns(shipped_patterns()).by_id.values()}
    assert {entry["family"] for entry in attacks()} == families - {"length"}


def test_attacks_are_found_for_the_reason_they_are_attacks() -> None:
    for entry in attacks():
        found = {finding.family for finding in screen({"prompt": entry["text"]}).findings}
        # A hidden phrase may be blamed on what hides it, or on what it says.
        hidden = {"hidden_unicode", "encoded_payload"}
        assert entry["family"] in found or found & hidden or entry["family"] in hidden, entry["text"]


def test_innocent_texts_pass() -> None:
    counts = table(innocent(), "kind")
    show(counts)
    assert sum(found.total() for found in counts.values()) >= 200
    assert [entry["text"] for entry in innocent() if verdict_of(entry["text"]) == "block"] == []
    assert sum(found["warn"] for found in counts.values()) <= 1


@pytest.mark.parametrize("tool", CORE, ids=lambda tool: tool["id"])
def test_a_core_prompt_gives_no_finding(tool: dict[str, str]) -> None:
    assert screen(tool).findings == ()


def test_all_innocent_texts_together_still_pass() -> None:
    together = "\n\n".join(entry["text"] for entry in innocent() if entry["kind"] != "language")
    assert not screen({"prompt": together[:20_000]}).blocked
