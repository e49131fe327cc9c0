"""stakes_mapper, scene_impact_analyzer, reader_experience_simulator, beat_architect: maps of a story."""

from typing import Any, Literal

from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.gather import StoryFacts
from brasstag.tools.manuscript.maps.impact import impact
from brasstag.tools.manuscript.maps.reader import reader_map
from brasstag.tools.manuscript.maps.stakes import stakes
from brasstag.tools.manuscript.maps.structures import structure_map
from brasstag.tools.manuscript_texts import (
    read_story,
    require_cards,
    require_outline,
    require_scenes,
    scene_at,
)

StructureName = Literal[
    "three_act", "five_act", "save_the_cat", "hero_journey", "kishotenketsu", "seven_point"
]


@tool(execution_type="function")
def stakes_mapper(
    workspace: Draft,
    limits: Limits,
    bible: list[str] | None = None,
    outline: list[str] | None = None,
    scenes: list[str] | None = None,
) -> dict[str, Any]:
    """stakes_mapper"""
    texts, story = read_story(workspace, limits, bible or (), outline or (), scenes or ())
    require_cards(story)
    found = stakes(StoryContext(story), limits.numbers["max_items"])
    more = found.pop("more")
    return texts.result(story, {**found, "truncated": texts.truncated or more})


@tool(execution_type="function")
def scene_impact_analyzer(
    workspace: Draft,
    limits: Limits,
    path: str,
    bible: list[str] | None = None,
    outline: list[str] | None = None,
    scenes: list[str] | None = None,
) -> dict[str, Any]:
    """scene_impact_analyzer"""
    texts, story = read_story(workspace, limits, bible or (), outline or (), scenes or ())
    scene = scene_at(story, workspace, path)
    found = impact(StoryFacts(StoryContext(story)), scene, limits.numbers["max_mentions"])
    most = limits.numbers["max_items"]
    cut = texts.truncated or len(found["effects"]) > most
    return texts.result(story, {**found, "effects": found["effects"][:most], "truncated": cut})


@tool(execution_type="function")
def reader_experience_simulator(
    workspace: Draft,
    limits: Limits,
    bible: list[str] | None = None,
    outline: list[str] | None = None,
    scenes: list[str] | None = None,
) -> dict[str, Any]:
    """reader_experience_simulator"""
    texts, story = read_story(workspace, limits, bible or (), outline or (), scenes or ())
    require_scenes(story)
    most = limits.numbers["max_items"]
    found = reader_map(StoryContext(story), most)
    lists = [
        found["open_questions"],
        found["answered_questions"],
        *(one["learns"] for one in found["scenes"]),
    ]
    cut = texts.truncated or any(len(one) >= most for one in lists)
    return texts.result(story, {**found, "truncated": cut})


@tool(execution_type="function")
def beat_architect(
    workspace: Draft,
    limits: Limits,
    structure: StructureName = "three_act",
    outline: list[str] | None = None,
    scenes: list[str] | None = None,
) -> dict[str, Any]:
    """beat_architect"""
    texts, story = read_story(workspace, limits, (), outline or (), scenes or ())
    require_outline(story)
    most = limits.numbers["max_items"]
    found = structure_map(story, structure, most)
    return texts.result(story, {**found, "truncated": texts.truncated or len(story.beats) > most})
