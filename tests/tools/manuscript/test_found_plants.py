"""How many planted contradictions the checkers find, and how much of what they report is one."""

from pathlib import Path

import pytest

from brasstag.tools.manuscript.text import TextFinding
from tests.tools.manuscript.plants import Plant, clean_copy, plant
from tests.tools.manuscript.support import all_findings, story_in

SETS = sorted(path.stem for path in (Path(__file__).parent / "plants").glob("*.json"))
LEAST_PRECISION = 0.8
LEAST_RECALL = 0.5


def region(folder: Path, one: Plant) -> range:
    """The lines of the file on which a contradiction stands; where lines were taken away, their neighbours too."""
    text = (folder / one.path).read_text(encoding="utf-8")
    first = text.count("\n", 0, text.index(one.planted)) + 1
    last = first + one.planted.rstrip("\n").count("\n")
    wider = one.planted.count("\n") < one.clean.count("\n")
    return range(first - wider, last + 1 + wider)


def shows(finding: TextFinding, one: Plant, lines: range) -> bool:
    """A finding shows a contradiction if it quotes its lines; one about a missing part may name the scene instead."""
    if any(quote.path == one.path and quote.line in lines for quote in finding.evidence):
        return True
    names = {word for word in (one.clean + one.planted).split() if word.endswith(".md")}
    return finding.check.startswith("outline_") and any(name in finding.message for name in names)


def test_the_clean_sample_gives_no_finding(tmp_path: Path) -> None:
    clean_copy(tmp_path)
    assert all_findings(story_in(tmp_path)) == []


@pytest.mark.parametrize("name", SETS)
def test_enough_is_found_and_little_else_is_reported(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    clean_copy(tmp_path)
    plants = plant(tmp_path, name)
    lines = [region(tmp_path, one) for one in plants]
    findings = all_findings(story_in(tmp_path))
    right = [
        finding
        for finding in findings
        if any(shows(finding, one, where) for one, where in zip(plants, lines, strict=True))
    ]
    found = [
        one
        for one, where in zip(plants, lines, strict=True)
        if any(shows(finding, one, where) for finding in findings)
    ]
    precision, recall = len(right) / max(1, len(findings)), len(found) / len(plants)
    with capsys.disabled():
        print(
            f"\n{name}: precision {precision:.2f} ({len(right)} of {len(findings)}), "
            f"recall {recall:.2f} ({len(found)} of {len(plants)})"
        )
    assert precision >= LEAST_PRECISION
    assert recall >= LEAST_RECALL
