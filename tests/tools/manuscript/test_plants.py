"""The planted contradictions of the sample novel: each can be planted once, and taken back without a trace."""

from pathlib import Path

import pytest

from brasstag.app.crews import shipped_crew
from tests.tools.manuscript.plants import SHIPPED, Plant, clean_copy, plant, read_plants, replace_once

SETS = ["first"]
CASES = [(name, one) for name in SETS for one in read_plants(name)]
CORE = {
    "canon_checker", "consistency_checker", "outline_analyzer", "prose_analyzer", "scene_draft_validator",
    "scene_impact_analyzer", "stakes_mapper", "timeline_validator", "beat_architect", "reader_experience_simulator",
}  # fmt: skip


def texts(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.md")}


def test_what_is_shipped_is_the_clean_copy_with_the_first_set(tmp_path: Path) -> None:
    clean_copy(tmp_path)
    plant(tmp_path, SHIPPED)
    assert texts(tmp_path) == shipped_crew("novel").seeds


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_planted_whole_and_taken_back_without_a_trace(tmp_path: Path, name: str) -> None:
    clean_copy(tmp_path)
    before = texts(tmp_path)
    planted = plant(tmp_path, name)
    assert planted == read_plants(name)
    assert texts(tmp_path) != before
    for one in reversed(planted):
        replace_once(tmp_path / one.path, one.planted, one.clean)
    assert texts(tmp_path) == before


@pytest.mark.parametrize(("name", "one"), CASES, ids=lambda part: getattr(part, "kind", part))
def test_each_can_be_planted_alone(tmp_path: Path, name: str, one: Plant) -> None:
    clean_copy(tmp_path)
    before = texts(tmp_path)
    replace_once(tmp_path / one.path, one.clean, one.planted)
    assert texts(tmp_path) != before
    replace_once(tmp_path / one.path, one.planted, one.clean)
    assert texts(tmp_path) == before


@pytest.mark.parametrize(("name", "one"), CASES, ids=lambda part: getattr(part, "kind", part))
def test_each_says_what_it_contradicts_and_who_should_find_it(name: str, one: Plant) -> None:
    assert one.about.endswith(".")
    assert one.tools
    assert set(one.tools) <= CORE
