"""Read the texts of a manuscript for an analyser: what rules hide is not seen, what is no text is counted."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.tools.manuscript.parts.scenes import StoryScene
from brasstag.tools.manuscript.parts.story import PartPaths, Story, part_of, story_of
from brasstag.tools.manuscript.text import NotJudged, SourceText, TextFinding, digests
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError

_SNIFFED_BYTES = 8000


@dataclass
class ManuscriptTexts:
    """The texts that a call has read, and what it left out."""

    workspace: Draft
    texts: dict[str, SourceText] = field(default_factory=dict)
    not_text: int = 0
    too_large: int = 0
    truncated: bool = False
    missing: list[NotJudged] = field(default_factory=list)

    def read(self, paths: Iterable[str], limits: Limits) -> None:
        """Read files until the limits of the call are reached."""
        numbers = limits.numbers
        total = 0
        for path, file in self.workspace.open_each(paths):
            data = file.read(numbers["max_file_bytes"] + 1)
            if len(data) > numbers["max_file_bytes"]:
                self.too_large += 1
                self.missing.append(NotJudged(path, "it is larger than the limit of one file"))
                continue
            total += len(data)
            if len(self.texts) >= numbers["max_files"] or total > numbers["max_bytes"]:
                self.truncated = True
                return
            text = _decoded(data)
            if text is None:
                self.not_text += 1
                self.missing.append(NotJudged(path, "it is not UTF-8 text"))
            else:
                self.texts[path] = SourceText(path, text, sha256(data))

    def result(self, story: Story, content: dict[str, Any]) -> dict[str, Any]:
        """Return what every analyser returns, with the content of one."""
        return {
            **content,
            "scanned": digests(story.texts),
            "not_judged": [one.as_json() for one in (*story.not_judged(), *self.missing)],
            "skipped": {
                "not_text": self.not_text,
                "too_large": self.too_large,
                "unreadable": self.workspace.skipped_count,
                "forbidden": self.workspace.hidden_count,
            },
        }


def read_story(
    workspace: Draft, limits: Limits, bible: Sequence[str], outline: Sequence[str], scenes: Sequence[str]
) -> tuple[ManuscriptTexts, Story]:
    """Read the manuscript: the files that are named, and for each part that is not, the files that look like it."""
    said = PartPaths(*(tuple(map(workspace.canonical, paths)) for paths in (bible, outline, scenes)))
    reader = ManuscriptTexts(workspace)
    reader.read(_wanted(workspace, said), limits)
    return reader, story_of(reader.texts.values(), said)


def _wanted(workspace: Draft, said: PartPaths) -> Iterator[str]:
    """Name the files that are part of the manuscript, each once."""
    seen = set()
    named = (*said.bible, *said.outline, *said.scenes)
    everywhere = () if said.bible and said.outline and said.scenes else (".",)
    for place in (*named, *everywhere):
        for path in workspace.files(place):
            if path not in seen and part_of(path, said):
                seen.add(path)
                yield path


def read_one(workspace: Draft, limits: Limits, path: str) -> SourceText:
    """Read one file that the caller named; raise ToolError where it cannot be read as text."""
    read = workspace.read(path, limits.numbers["max_file_bytes"])
    return SourceText(workspace.canonical(path), read.text, sha256(read.data))


def scene_at(story: Story, workspace: Draft, path: str) -> StoryScene:
    """Return the scene in a file; raise ToolError where the file is no scene of the manuscript."""
    where = workspace.canonical(path)
    found = next((scene for scene in story.scenes if scene.path == where), None)
    if found is None:
        if workspace.look(path).kind != "file":
            raise ToolError(Code.NOT_A_FILE, f"{path} is a directory; name one scene in it")
        workspace.read_text(path)
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"{path} is not a scene: it is not below manuscripts/; name it in scenes"
        )
    return found


def require_scenes(story: Story) -> None:
    """Raise ToolError where there is no scene to look at."""
    if not story.scenes:
        raise ToolError(
            Code.FILE_NOT_FOUND,
            "no scene was found: scenes are text files below manuscripts/; name them in scenes",
        )


def require_outline(story: Story) -> None:
    """Raise ToolError where there is no outline to look at."""
    if not story.outlines:
        raise ToolError(
            Code.FILE_NOT_FOUND, "no outline was found: it is a file named outline*.md; name it in outline"
        )


def require_cards(story: Story) -> None:
    """Raise ToolError where the bible has no card."""
    if not story.cards:
        raise ToolError(
            Code.FILE_NOT_FOUND,
            "no card was found: a card is a heading with lines `Attribute: value`, in a file below a folder whose name "
            "holds bible; name the files in bible",
        )


def shown(findings: Sequence[TextFinding], limits: Limits, cut: bool = False) -> dict[str, Any]:
    """Return findings as a result has them: as many as the limit allows."""
    most = limits.numbers["max_findings"]
    return {
        "findings": [finding.as_json() for finding in findings[:most]],
        "finding_count": len(findings),
        "truncated": cut or len(findings) > most,
    }


def _decoded(data: bytes) -> str | None:
    if b"\0" in data[:_SNIFFED_BYTES]:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
