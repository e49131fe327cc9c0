"""How cards, beats and scenes are recognised."""

import pytest

from brasstag.tools.manuscript.parts.beats import beats_in
from brasstag.tools.manuscript.parts.cards import cards_in
from brasstag.tools.manuscript.parts.scenes import scene_in
from brasstag.tools.manuscript.parts.story import PartPaths, part_of
from tests.tools.manuscript.support import OUTLINE, mill, source, story_from


class TestCards:
    @pytest.mark.parametrize(
        "line",
        [
            "Eyes: green",
            "- Eyes: green",
            "* Eyes: green",
            "- **Eyes**: green",
            "**Eyes:** green",
            "Eyes: green\r",
        ],
    )
    def test_a_line_may_be_plain_or_an_item_of_a_list(self, line: str) -> None:
        (card,) = cards_in(source(f"## Mara Holm\n\n{line}\n"))
        assert (card.name, card.value("eyes")) == ("Mara Holm", "green")

    def test_a_heading_without_attributes_is_no_card(self) -> None:
        (card,) = cards_in(source("# People\n\nSome words.\n\n## Mara\n\nBorn: 1950\n"))
        assert card.name == "Mara"

    def test_a_value_goes_on_in_the_next_line(self) -> None:
        (card,) = cards_in(source("## Mara\n- Wants: to sell\n  the mill\n- Age: 30\n"))
        assert (card.value("wants"), card.value("age")) == ("to sell the mill", "30")

    def test_other_names_are_listed(self) -> None:
        (card,) = cards_in(source("## Mara Holm\nAlso called: Miss Holm, the miller\n"))
        assert card.names == ("Mara Holm", "Miss Holm", "the miller")

    @pytest.mark.parametrize(
        ("line", "kind"),
        [
            ("Type: place", "place"),
            ("Born: 1950", "character"),
            ("Travel to X: an hour", "place"),
            ("Note: x", ""),
        ],
    )
    def test_the_type_is_said_or_shows(self, line: str, kind: str) -> None:
        (card,) = cards_in(source(f"## A\n{line}\n"))
        assert card.kind == kind


class TestBeats:
    def test_title_text_and_fields_are_read(self) -> None:
        first, second = beats_in(source(OUTLINE, "outline.md"))
        assert (first.number, first.title, first.text) == (1, "The will", "Mara reads the will.")
        assert first.scene_files == ["scene_01.md"]
        assert [line.key for line in second.fields] == ["pov", "scene", "when", "place"]

    def test_text_goes_on_in_an_indented_line_and_headings_group(self) -> None:
        (beat,) = beats_in(source("## Act one\n\n1. **A**: one\n   two.\n   - POV: X\n"))
        assert (beat.text, beat.group) == ("one two.", "Act one")

    def test_an_item_without_number_or_title_is_a_beat_too(self) -> None:
        assert [(beat.number, beat.text) for beat in beats_in(source("- It rains.\n- It snows.\n"))] == [
            (1, "It rains."),
            (2, "It snows."),
        ]


class TestScenes:
    def test_heading_and_head_are_read_and_the_prose_begins_behind_them(self) -> None:
        scene = scene_in(
            source("# Scene 3: Rain\n\nPOV: Mara\nWhen: 1980\n\nIt rained.\n", "manuscripts/scene_03.md")
        )
        assert (scene.number, scene.title) == (3, "Rain")
        assert [line.value for line in scene.fields] == ["Mara", "1980"]
        assert [sentence.text.strip() for sentence in scene.sentences] == ["It rained."]

    def test_a_chapter_is_numbered_by_its_file(self) -> None:
        assert scene_in(source("It rained.\n", "manuscripts/ch12.md")).number == 12

    def test_they_come_in_the_order_of_their_numbers(self) -> None:
        names = ["ch10.md", "ch2.md", "ch1.md"]
        story = story_from({f"manuscripts/{name}": "It rained." for name in names})
        assert [scene.name for scene in story.scenes] == ["ch1.md", "ch2.md", "ch10.md"]


class TestWhichPartAFileIs:
    @pytest.mark.parametrize(
        ("path", "part"),
        [
            ("story_bible/people.md", "bible"), ("Bible/a/b.txt", "bible"), ("manuscripts/outline.md", "outline"),
            ("outline_two.md", "outline"), ("manuscripts/ch01.md", "scene"), ("a/manuscripts/b/x.txt", "scene"),
            ("notes.md", ""), ("manuscripts/map.png", ""), ("story_bible/outline.md", "bible"),
        ],
    )  # fmt: skip
    def test_its_place_and_name_decide(self, path: str, part: str) -> None:
        assert part_of(path, PartPaths()) == part

    def test_the_caller_decides_where_it_says_so(self) -> None:
        said = PartPaths(bible=("facts",), outline=("plan.md",), scenes=("text",))
        assert [part_of(path, said) for path in ("facts/a.md", "plan.md", "text/1.md", "manuscripts/1.md")] == [
            "bible", "outline", "scene", "",
        ]  # fmt: skip


def test_a_scene_in_another_language_is_named_and_not_judged() -> None:
    norwegian = "Hun gikk ned til kaia, det ble mørkt, og båtene lå allerede fortøyd ved brygga. " * 5
    story = mill(first=norwegian)
    assert [scene.name for scene in story.judged] == ["scene_02.md"]
    (left_out,) = story.not_judged()
    assert left_out.path == "manuscripts/scene_01.md"
    assert "not English" in left_out.reason
