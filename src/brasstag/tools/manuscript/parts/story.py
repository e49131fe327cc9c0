"""A whole manuscript: which file is a bible, an outline or a scene, and what all of them hold."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from brasstag.tools.manuscript.language.judge_language import why_not_judged
from brasstag.tools.manuscript.parts.beats import StoryBeat, beats_in
from brasstag.tools.manuscript.parts.cards import BibleCard, cards_in
from brasstag.tools.manuscript.parts.scenes import StoryScene, scene_in
from brasstag.tools.manuscript.text import NotJudged, SourceText

TEXT_ENDINGS = (".md", ".markdown", ".txt", ".text", ".mdown")


@dataclass(frozen=True, slots=True)
class PartPaths:
    """Which part each file is, where the caller says so; empty where names decide."""

    bible: tuple[str, ...] = ()
    outline: tuple[str, ...] = ()
    scenes: tuple[str, ...] = ()


def part_of(path: str, said: PartPaths) -> str:
    """Return which part of a manuscript a file is: bible, outline, scene, or empty for none."""
    for part, given in (("outline", said.outline), ("bible", said.bible), ("scene", said.scenes)):
        if given and any(_is_below(path, one) for one in given):
            return "outline" if part == "scene" and not said.outline and _is_outline(path) else part
    place = PurePosixPath(path)
    folders = [folder.lower() for folder in place.parts[:-1]]
    if place.suffix.lower() not in TEXT_ENDINGS:
        return ""
    if any("bible" in folder for folder in folders):
        return "" if said.bible else "bible"
    if _is_outline(path):
        return "" if said.outline else "outline"
    return "scene" if not said.scenes and "manuscripts" in folders else ""


def _is_outline(path: str) -> bool:
    return PurePosixPath(path).name.lower().startswith("outline")


def _is_below(path: str, folder: str) -> bool:
    return folder in (".", "") or path == folder or path.startswith(folder.rstrip("/") + "/")


@dataclass(frozen=True)
class Story:
    """The parts of one manuscript."""

    texts: Mapping[str, SourceText]
    said: PartPaths = PartPaths()

    def _of(self, part: str) -> list[SourceText]:
        return [text for path, text in sorted(self.texts.items()) if part_of(path, self.said) == part]

    @cached_property
    def cards(self) -> list[BibleCard]:
        """Every card of the bible."""
        return [card for text in self._of("bible") for card in cards_in(text)]

    @cached_property
    def bible(self) -> list[SourceText]:
        """The files of the bible."""
        return self._of("bible")

    @cached_property
    def outlines(self) -> list[SourceText]:
        """The outlines."""
        return self._of("outline")

    @cached_property
    def beats(self) -> list[StoryBeat]:
        """Every beat of the outlines, in order."""
        return [beat for text in self.outlines for beat in beats_in(text)]

    @cached_property
    def scenes(self) -> list[StoryScene]:
        """Every scene, in the order of the story."""
        return sorted((scene_in(text) for text in self._of("scene")), key=lambda scene: scene.order)

    @cached_property
    def judged(self) -> list[StoryScene]:
        """The scenes whose sentences are in a language that is known."""
        return [scene for scene in self.scenes if why_not_judged(scene.source.plain) is None]

    def beats_of(self, scene: StoryScene) -> list[StoryBeat]:
        """Return the beats that name a scene's file."""
        return self._beats_by_file.get(scene.name, [])

    @cached_property
    def _beats_by_file(self) -> dict[str, list[StoryBeat]]:
        found: dict[str, list[StoryBeat]] = {}
        for beat in self.beats:
            for name in dict.fromkeys(map(_file_name, beat.scene_files)):
                found.setdefault(name, []).append(beat)
        return found

    def scene_named(self, name: str) -> StoryScene | None:
        """Return the scene in a file of this name or path."""
        return self._scenes_by_file.get(_file_name(name))

    @cached_property
    def _scenes_by_file(self) -> dict[str, StoryScene]:
        return {scene.name: scene for scene in reversed(self.scenes)}

    def not_judged(self) -> list[NotJudged]:
        """Return the files about whose sentences nothing can be said."""
        found = []
        for path, text in sorted(self.texts.items()):
            part = part_of(path, self.said)
            reason = why_not_judged(text.plain) if part else None
            if part == "scene" and not text.plain.strip():
                reason = "it is empty"
            if reason:
                found.append(NotJudged(path, reason))
        return found


def _file_name(name: str) -> str:
    return PurePosixPath(name.strip("`*_.,()[] ")).name


def story_of(texts: Iterable[SourceText], said: PartPaths | None = None) -> Story:
    """Return the manuscript that some texts make up."""
    return Story({text.path: text for text in texts}, said or PartPaths())
