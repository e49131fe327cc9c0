"""The page for writers says what is true: which role has which core tool, and what can be asked for."""

import re
from pathlib import Path

from brasstag.app.crews import shipped_crew
from brasstag.settings import parse_settings
from brasstag.toolkit.discovery import shipped_tools
from brasstag.tools.manuscript.maps.structures import STRUCTURES
from brasstag.tools.manuscript.parts.story import TEXT_ENDINGS

PAGE = (Path(__file__).parents[3] / "docs" / "manuscripts.md").read_text(encoding="utf-8")
CORE = [
    "search_issues", "file_locator", "file_reader", "task_router", "canon_checker", "outline_analyzer",
    "prose_analyzer", "consistency_checker", "scene_draft_validator", "issue_status_summarizer", "stakes_mapper",
    "line_editor", "scene_impact_analyzer", "reader_experience_simulator", "timeline_validator", "beat_architect",
]  # fmt: skip
ROLES = ("architect", "narrator", "editor")


def table() -> dict[str, set[str]]:
    rows = re.findall(r"^\| `(\w+)`[^|]*\|([^|]*)\|([^|]*)\|([^|]*)\|$", PAGE, re.MULTILINE)
    return {
        name: {role for role, cell in zip(ROLES, cells, strict=True) if cell.strip() == "yes"}
        for name, *cells in rows
    }


def test_the_table_lists_the_sixteen_core_tools_in_order() -> None:
    assert list(table()) == CORE


def test_each_role_of_the_crew_has_the_tools_that_the_table_gives_it() -> None:
    roles = parse_settings(shipped_crew("novel").settings, "brasstag.toml").roles
    callable_ones = {tool.name for tool in shipped_tools()} & set(CORE)
    assert len(callable_ones) >= 11
    for name in callable_ones:
        assert {role for role in ROLES if name in roles[role].tools} == table()[name], name


def test_every_structure_and_every_ending_of_a_text_is_named() -> None:
    assert [name for name in (*STRUCTURES, *TEXT_ENDINGS) if f"`{name}`" not in PAGE] == []


def test_the_config_of_beat_architect_offers_the_structures_that_there_are() -> None:
    (config,) = [tool.config for tool in shipped_tools() if tool.name == "beat_architect"]
    assert set(config.parameters["structure"].enum or ()) == set(STRUCTURES)
