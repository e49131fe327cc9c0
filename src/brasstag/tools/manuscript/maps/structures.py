"""beat_architect: the beats of an outline against a named structure, and where each falls in the word count."""

from typing import Any

from brasstag.tools.manuscript.parts.beats import StoryBeat
from brasstag.tools.manuscript.parts.story import Story

STRUCTURES: dict[str, tuple[tuple[str, float], ...]] = {
    "three_act": (
        ("opening", 0.0), ("inciting incident", 0.12), ("end of act one", 0.25), ("midpoint", 0.5),
        ("end of act two", 0.75), ("climax", 0.9), ("ending", 1.0),
    ),
    "five_act": (
        ("exposition", 0.0), ("rising action", 0.2), ("climax", 0.5), ("falling action", 0.7), ("resolution", 0.9),
    ),
    "save_the_cat": (
        ("opening image", 0.0), ("theme stated", 0.05), ("catalyst", 0.1), ("debate", 0.12), ("break into two", 0.2),
        ("b story", 0.22), ("fun and games", 0.3), ("midpoint", 0.5), ("bad guys close in", 0.55), ("all is lost", 0.75),
        ("dark night of the soul", 0.78), ("break into three", 0.8), ("finale", 0.85), ("final image", 1.0),
    ),
    "hero_journey": (
        ("ordinary world", 0.0), ("call to adventure", 0.1), ("refusal of the call", 0.14), ("meeting the mentor", 0.18),
        ("crossing the threshold", 0.25), ("tests, allies, enemies", 0.35), ("approach", 0.45), ("ordeal", 0.5),
        ("reward", 0.6), ("the road back", 0.75), ("resurrection", 0.88), ("return with the elixir", 1.0),
    ),
    "kishotenketsu": (("introduction", 0.0), ("development", 0.25), ("twist", 0.5), ("conclusion", 0.75)),
    "seven_point": (
        ("hook", 0.0), ("first plot turn", 0.25), ("first pinch", 0.37), ("midpoint", 0.5), ("second pinch", 0.62),
        ("second plot turn", 0.75), ("resolution", 1.0),
    ),
}  # fmt: skip
"""Each structure: its beats, and the share of the story at which each is expected."""

_NEAR = 0.08


def placed_beats(story: Story) -> list[tuple[StoryBeat, int, int]]:
    """Return each beat with the words before it, and the words of its scenes; without scenes each beat counts as one."""
    written = {scene.path: len(scene.source.plain[scene.body :].split()) for scene in story.scenes}
    per_beat = 0 if any(written.values()) else 1
    placed, before = [], 0
    counted: set[str] = set()
    for beat in story.beats:
        scenes = [scene for name in beat.scene_files if (scene := story.scene_named(name)) is not None]
        words = sum(written[scene.path] for scene in scenes if scene.path not in counted) or per_beat
        counted.update(scene.path for scene in scenes)
        placed.append((beat, before, words))
        before += words
    return placed


def structure_map(story: Story, name: str, most: int) -> dict[str, Any]:
    """Return the outline's beats with their shares of the story, and for each beat of the structure the nearest one."""
    placed = placed_beats(story)
    total = sum(words for _, _, words in placed) or 1
    beats = [
        {
            "number": beat.number, "title": beat.title, "words_before": before, "words": words,
            "share": round(before / total, 3), "evidence": [beat.quote.as_json()],
        }
        for beat, before, words in placed
    ]  # fmt: skip
    expected = [_nearest(title, share, placed, total) for title, share in STRUCTURES[name]]
    return {
        "structure": name,
        "unit": "words" if story.scenes else "beats",
        "total": total if placed else 0,
        "beats": beats[:most],
        "expected": expected,
        "empty": [one["beat"] for one in expected if not one["near"]],
        "chart": _chart(expected),
    }


def _nearest(
    title: str, share: float, placed: list[tuple[StoryBeat, int, int]], total: int
) -> dict[str, Any]:
    """Find the beat during which a beat of the structure should fall; the end belongs to the last one."""
    here = min(placed, key=lambda one: _distance(share * total, one), default=None)
    if here is None:
        return {"beat": title, "share": share, "number": None, "title": "", "off_by": None, "near": False}
    beat, before, words = here
    off = min(abs(share - before / total), 0 if before <= share * total <= before + words else 1)
    return {
        "beat": title, "share": share, "number": beat.number, "title": beat.title,
        "off_by": round(before / total - share, 3), "near": off <= _NEAR,
    }  # fmt: skip


def _distance(at: float, placed: tuple[StoryBeat, int, int]) -> float:
    _, before, words = placed
    return 0.0 if before <= at < before + words else min(abs(at - before), abs(at - before - words))


def _chart(expected: list[dict[str, Any]]) -> str:
    """Draw where each beat of the structure is expected, and which beat of the outline is there."""
    width = max(len(one["beat"]) for one in expected)
    return "\n".join(
        f"{one['share'] * 100:3.0f}% {one['beat']:<{width}} {'=' if one['near'] else ' '} "
        f"{'' if one['number'] is None else one['number']} {one['title']}".rstrip()
        for one in expected
    )
