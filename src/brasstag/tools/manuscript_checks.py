"""canon_checker, consistency_checker, timeline_validator, outline_analyzer, scene_draft_validator: contradictions."""

from typing import Any

from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.tools.manuscript.checks.canon import canon_findings
from brasstag.tools.manuscript.checks.consistency import consistency_findings
from brasstag.tools.manuscript.checks.outline import outline_data, outline_findings
from brasstag.tools.manuscript.checks.scene_draft import scene_findings
from brasstag.tools.manuscript.checks.timeline import timeline_events, timeline_findings
from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.gather import StoryFacts
from brasstag.tools.manuscript.text import NotJudged, TextFinding
from brasstag.tools.manuscript_texts import (
    read_story,
    require_cards,
    require_outline,
    require_scenes,
    scene_at,
    shown,
)


@tool(execution_type="function")
def canon_checker(
    workspace: Draft,
    limits: Limits,
    path: str = "",
    bible: list[str] | None = None,
    outline: list[str] | None = None,
    scenes: list[str] | None = None,
) -> dict[str, Any]:
    """canon_checker"""
    texts, story = read_story(workspace, limits, bible or (), outline or (), scenes or ())
    only = scene_at(story, workspace, path).path if path else ""
    require_cards(story)
    findings = _about(canon_findings(StoryFacts(StoryContext(story))), only)
    cards = [
        {
            "name": card.name, "type": card.kind, "path": card.source.path, "line": card.quote.line,
            "attributes": len(card.lines),
        }
        for card in story.cards[: limits.numbers["max_items"]]
    ]  # fmt: skip
    cut = texts.truncated or len(story.cards) > len(cards)
    return texts.result(story, {"cards": cards, **shown(findings, limits, cut)})


@tool(execution_type="function")
def consistency_checker(
    workspace: Draft,
    limits: Limits,
    path: str = "",
    bible: list[str] | None = None,
    outline: list[str] | None = None,
    scenes: list[str] | None = None,
) -> dict[str, Any]:
    """consistency_checker"""
    texts, story = read_story(workspace, limits, bible or (), outline or (), scenes or ())
    only = scene_at(story, workspace, path).path if path else ""
    require_scenes(story)
    findings = _about(consistency_findings(StoryFacts(StoryContext(story))), only)
    return texts.result(story, shown(findings, limits, texts.truncated))


@tool(execution_type="function")
def timeline_validator(
    workspace: Draft,
    limits: Limits,
    bible: list[str] | None = None,
    outline: list[str] | None = None,
    scenes: list[str] | None = None,
) -> dict[str, Any]:
    """timeline_validator"""
    texts, story = read_story(workspace, limits, bible or (), outline or (), scenes or ())
    require_scenes(story)
    context = StoryContext(story)
    events = timeline_events(context)
    most = limits.numbers["max_items"]
    cut = texts.truncated or len(events) > most
    return texts.result(story, {"events": events[:most], **shown(timeline_findings(context), limits, cut)})


@tool(execution_type="function")
def outline_analyzer(
    workspace: Draft,
    limits: Limits,
    outline: list[str] | None = None,
    scenes: list[str] | None = None,
) -> dict[str, Any]:
    """outline_analyzer"""
    texts, story = read_story(workspace, limits, (), outline or (), scenes or ())
    require_outline(story)
    most = limits.numbers["max_items"]
    cut = texts.truncated or len(story.beats) > most
    return texts.result(story, {**outline_data(story, most), **shown(outline_findings(story), limits, cut)})


@tool(execution_type="function")
def scene_draft_validator(
    workspace: Draft,
    limits: Limits,
    path: str,
    bible: list[str] | None = None,
    outline: list[str] | None = None,
    scenes: list[str] | None = None,
) -> dict[str, Any]:
    """scene_draft_validator"""
    texts, story = read_story(workspace, limits, bible or (), outline or (), scenes or ())
    scene = scene_at(story, workspace, path)
    require_outline(story)
    facts = StoryFacts(StoryContext(story))
    beats = story.beats_of(scene)
    if not beats:
        texts.missing.append(NotJudged(scene.path, "no beat of the outline names it"))
    if facts.context.pov_of(scene) is None:
        texts.missing.append(NotJudged(scene.path, "its point of view has no card; thoughts were not judged"))
    canon = [one for one in canon_findings(facts) if _is_about(one, scene.path)]
    findings = [*scene_findings(facts, scene), *canon]
    content = {
        "scene": scene.path,
        "beats": [
            {"number": beat.number, "title": beat.title, "evidence": [beat.quote.as_json()]} for beat in beats
        ],
        **shown(findings, limits, texts.truncated),
    }
    return texts.result(story, content)


def _about(findings: list[TextFinding], path: str) -> list[TextFinding]:
    return [finding for finding in findings if not path or _is_about(finding, path)]


def _is_about(finding: TextFinding, path: str) -> bool:
    return any(quote.path == path for quote in finding.evidence)
