"""outline_analyzer: beats without scenes, scenes without beats, gaps in the numbers; and counts by chapter."""

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from brasstag.tools.manuscript.parts.beats import StoryBeat
from brasstag.tools.manuscript.parts.scenes import StoryScene
from brasstag.tools.manuscript.parts.story import Story
from brasstag.tools.manuscript.text import TextFinding, unique

_FIELDS = ("pov", "scene", "when", "place")


def outline_findings(story: Story) -> list[TextFinding]:
    """Return what outline and scenes do not agree on."""
    return unique(
        [
            *_beats_without_scene(story),
            *_scenes_without_beat(story),
            *_scenes_twice(story),
            *_numbers(story),
            *_order(story),
        ]
    )


def _beats_without_scene(story: Story) -> Iterator[TextFinding]:
    names_files = any(beat.scene_files for beat in story.beats)
    for beat in story.beats:
        line = beat.field("scene", "scenes", "file", "chapter")
        if line is None and names_files:
            message = f"Beat {beat.number}, {_title(beat)}, names no scene, but other beats do."
            yield TextFinding("outline_beat_without_scene", message, "certain", (beat.quote,))
        for name in beat.scene_files:
            if story.scene_named(name) is None and line is not None:
                message = f"Beat {beat.number}, {_title(beat)}, names {name}, but there is no such scene."
                yield TextFinding("outline_beat_without_scene", message, "certain", (line.quote, beat.quote))


def _scenes_without_beat(story: Story) -> Iterator[TextFinding]:
    if not any(beat.scene_files for beat in story.beats):
        return
    for scene in story.scenes:
        if not story.beats_of(scene):
            nearest = [beat.quote for beat in story.beats if beat.number == scene.order[0]][:1]
            message = f"No beat of the outline names {scene.name}."
            yield TextFinding("outline_scene_without_beat", message, "certain", (scene.quote, *nearest))


def _scenes_twice(story: Story) -> Iterator[TextFinding]:
    first: dict[str, StoryBeat] = {}
    for beat in story.beats:
        for name in beat.scene_files:
            other = first.setdefault(PurePosixPath(name.strip("`")).name, beat)
            line, before = beat.field("scene", "scenes", "file"), other.field("scene", "scenes", "file")
            if other is not beat and line is not None and before is not None:
                message = f"Beats {other.number} and {beat.number} name the same scene, {name}."
                yield TextFinding("outline_scene_twice", message, "likely", (line.quote, before.quote))


def _numbers(story: Story) -> Iterator[TextFinding]:
    for before, beat in zip(story.beats, story.beats[1:], strict=False):
        if before.source is beat.source and beat.number not in (before.number + 1, 1):
            message = f"Beat {beat.number} follows beat {before.number}; the numbers have a gap."
            yield TextFinding("outline_gap", message, "certain", (beat.quote, before.quote))
    numbered = [scene for scene in story.scenes if scene.file_number]
    for earlier, scene in itertools.pairwise(numbered):
        same_folder = PurePosixPath(earlier.path).parent == PurePosixPath(scene.path).parent
        if same_folder and scene.file_number > earlier.file_number + 1:
            message = f"{scene.name} follows {earlier.name}; a number is missing."
            yield TextFinding("outline_gap", message, "certain", (scene.quote, earlier.quote))
    for scene in numbered:
        if scene.number != scene.file_number:
            message = f"The heading says scene {scene.number}, the file is {scene.name}."
            yield TextFinding("outline_number", message, "certain", (scene.quote,))


def _order(story: Story) -> Iterator[TextFinding]:
    """Yield beats whose scenes stand in another order than the beats."""
    placed = [(beat, scene) for beat in story.beats for scene in _scenes_of(story, beat)]
    for (before, first), (beat, second) in itertools.pairwise(placed):
        if second.order < first.order:
            message = f"Beat {beat.number} comes after beat {before.number}, but {second.name} is before {first.name}."
            yield TextFinding("outline_order", message, "certain", (beat.quote, before.quote))


def _scenes_of(story: Story, beat: StoryBeat) -> list[StoryScene]:
    return [scene for name in beat.scene_files if (scene := story.scene_named(name)) is not None]


def outline_data(story: Story, most: int) -> dict[str, Any]:
    """Return the beats and counts of an outline, at most so many beats."""
    groups = Counter(beat.group for beat in story.beats)
    return {
        "beats": [_described(story, beat) for beat in story.beats[:most]],
        "beat_count": len(story.beats),
        "scene_count": len(story.scenes),
        "beats_by_group": [{"group": group, "beats": count} for group, count in groups.items()],
        "scenes_by_pov": [
            {"pov": pov, "scenes": count}
            for pov, count in Counter(_pov(story, scene) for scene in story.scenes).most_common()
        ],
    }


def _described(story: Story, beat: StoryBeat) -> dict[str, Any]:
    return {
        "number": beat.number,
        "title": beat.title,
        "group": beat.group,
        "line": beat.quote.line,
        "path": beat.source.path,
        "scenes": [scene.path for scene in _scenes_of(story, beat)],
        "missing": [name for name in _FIELDS if beat.field(name) is None],
    }


def _pov(story: Story, scene: StoryScene) -> str:
    line = scene.field("pov") or next(
        (one for beat in story.beats_of(scene) if (one := beat.field("pov"))), None
    )
    return line.value if line is not None else ""


def _title(beat: StoryBeat) -> str:
    return f"“{beat.title or beat.text[:60]}”"
