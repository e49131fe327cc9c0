"""Small manuscripts for tests, and everything the checkers say about one."""

from collections.abc import Mapping
from pathlib import Path

from brasstag.tools.manuscript.checks.canon import canon_findings
from brasstag.tools.manuscript.checks.consistency import consistency_findings
from brasstag.tools.manuscript.checks.outline import outline_findings
from brasstag.tools.manuscript.checks.scene_draft import scene_findings
from brasstag.tools.manuscript.checks.timeline import timeline_findings
from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.gather import StoryFacts
from brasstag.tools.manuscript.language.sentences import Sentence, sentences_in
from brasstag.tools.manuscript.parts.story import Story, story_of
from brasstag.tools.manuscript.text import SourceText, TextFinding
from brasstag.words.canonical import sha256

CARDS = """# Cards

## Mara Holm

- Type: character
- Also called: Miss Holm
- Born: 4 June 1950
- Eyes: green
- Hand: left
- Scar: on the left cheek
- Swims: never
- Brother: Otto Holm
- Wants: to sell the mill
- It costs: her brother's trust

## Otto Holm

- Type: character
- Born: 1946
- Hair: black
- Wife: Lena Holm
- Died: 2 May 1980

## Lena Holm

- Type: character
- Age: 30
- Eyes: brown

## Old mill

- Type: place
- Also called: the mill
- Stairs: 40
- Door: red
- Travel to Sund: two hours by cart
- Opens: at eight in the morning

## Sund

- Type: place
- Market: on the west quay

## Silver flute

- Type: object
- Found: 6 May 1980, under the floor
- Is kept: behind the mill wheel; only Otto Holm knows that

## Fair of Sund

- Type: event
- When: Sunday 18 May 1980
"""

OUTLINE = """# Outline

1. **The will**: Mara reads the will.
   - POV: Mara Holm
   - Scene: scene_01.md
   - When: Monday 5 May 1980, morning
   - Place: Old mill
2. **The flute**: Mara finds the silver flute.
   - POV: Mara Holm
   - Scene: scene_02.md
   - When: Tuesday 6 May 1980, evening
   - Place: Old mill
"""


def scene(number: int, text: str, when: str = "", place: str = "Old mill", pov: str = "Mara Holm") -> str:
    dates = {1: "Monday 5 May 1980, morning", 2: "Tuesday 6 May 1980, evening"}
    head = f"POV: {pov}\nWhen: {when or dates[number]}\nPlace: {place}"
    return f"# Scene {number}: A title\n\n{head}\n\n{text}\n"


def source(text: str, path: str = "manuscripts/scene_01.md") -> SourceText:
    return SourceText(path, text, sha256(text.encode()))


def one_sentence(text: str) -> Sentence:
    (found,) = sentences_in(source(text))
    return found


def mill(first: str = "It rained.", second: str = "It snowed.", **changed: str) -> Story:
    """The story of the mill, with the prose of its two scenes, or with other files."""
    files = {
        "bible/cards.md": CARDS,
        "manuscripts/outline.md": OUTLINE,
        "manuscripts/scene_01.md": scene(1, first),
        "manuscripts/scene_02.md": scene(2, second),
    }
    names = {
        "cards": "bible/cards.md",
        "outline": "manuscripts/outline.md",
        "scene_02": "manuscripts/scene_02.md",
    }
    files |= {names[name]: text for name, text in changed.items()}
    return story_from(files)


def story_from(files: Mapping[str, str]) -> Story:
    return story_of(source(text, path) for path, text in files.items())


def all_findings(story: Story) -> list[TextFinding]:
    facts = StoryFacts(StoryContext(story))
    found = [*canon_findings(facts), *consistency_findings(facts), *timeline_findings(facts.context)]
    found += outline_findings(story)
    return found + [one for scene in story.scenes for one in scene_findings(facts, scene)]


def checks(story: Story) -> set[str]:
    return {finding.check for finding in all_findings(story)}


def story_in(folder: Path) -> Story:
    return story_from(
        {
            path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
            for path in folder.rglob("*.md")
        }
    )
