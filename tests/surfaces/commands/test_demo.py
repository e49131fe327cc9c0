"""The stories."""

import csv
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import pytest

from brasstag.surfaces.cli.demo.story_crew import ANALYSIS, SCRIPT
from tests.surfaces.conftest import Pipe


def play(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "brasstag", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_crew_goes_the_whole_way_and_ends_with_its_proof(tmp_path: Path) -> None:
    place = tmp_path / "sales"
    ended = play("--keep", str(place))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stderr == ""
    for said in (
        "scripted, not a live model",
        "ask_data How much revenue did each quarter bring?",
        "asks a person: Online grew",
        "wants write_file analysis.md: it overwrites analysis.md",
        "Approved write_file (apr_",
        "plot_data charts.png",
        "visualizer: Revenue rises every month. [charts.png]",
        "└─ ✓ visualizer",
        "document charts.png",
        "Altogether 12 steps",
        "The timeline holds: ",
    ):
        assert said in ended.stdout
    chart = (place / "data" / "charts.png").read_bytes()
    assert chart.startswith(b"\x89PNG\r\n")
    assert (place / "data" / "analysis.md").read_text() == ANALYSIS
    again = play("--keep", str(place))
    assert again.returncode == 1
    assert "the story needs a new directory" in again.stderr


def test_the_counter_is_told_of_on_demand(tmp_path: Path) -> None:
    ended = play("counter", "--keep", str(tmp_path / "novel"))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.findall(r"^[A-Z_]+(?=:)", ended.stderr, re.MULTILINE) == ["BLOCKED_BY_RULE"]
    for said in (
        "Waiting for approval",
        "approved with changed arguments by ada",
        "Denied delete_file",
        "restored:",
        "The timeline holds: ",
    ):
        assert said in ended.stdout


def test_a_story_nobody_knows_is_a_usage_error(pipe: Pipe) -> None:
    assert pipe("demo", "opera").code == 2


def test_afterwards_one_is_where_one_was_and_who_one_was(
    pipe: Pipe, project: Path, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dict(os.environ)
    assert pipe("demo", "counter").code == 0
    assert dict(os.environ) == before
    assert Path.cwd() == project


class TestFigures:
    """Every figure the script speaks of is one that the data has."""

    @pytest.fixture
    def revenue(self) -> dict[tuple[str, str], Decimal]:
        data = files("brasstag.app.crews") / "analyst" / "data" / "sales_raw.csv"
        sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
        for row in csv.DictReader(data.read_text().splitlines()):
            for group in (row["region"], ""):
                sums[row["quarter"], group] += Decimal(row["revenue"])
        return sums

    def test_the_table_of_the_analysis(self, revenue: dict[tuple[str, str], Decimal]) -> None:
        for region in ("North", "South", "East", "West", "Online"):
            before, after = revenue["Q2", region], revenue["Q3", region]
            change = (after / before - 1) * 100
            assert f"| {region} | {before:,} | {after:,} | {change:+.1f} % |" in ANALYSIS

    def test_the_sentences(self, revenue: dict[tuple[str, str], Decimal]) -> None:
        before, after = revenue["Q2", ""], revenue["Q3", ""]
        percent = f"{(after / before - 1) * 100:.1f} %"
        assert f"rose from {before:,} to {after:,}: up {after - before:,}, or {percent}" in ANALYSIS
        assert f"Q3 brought {after:,}, up {percent} from {before:,}" in json.dumps(SCRIPT)
        online = revenue["Q3", "Online"] - revenue["Q2", "Online"]
        assert f"Online brought {online:,} of the {after - before:,}" in ANALYSIS
