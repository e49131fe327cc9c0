"""Maps of a story, figures of prose, and edits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.gather import StoryFacts
from brasstag.tools.manuscript.language.sentences import sentences_in
from brasstag.tools.manuscript.maps.impact import impact
from brasstag.tools.manuscript.maps.reader import reader_map
from brasstag.tools.manuscript.maps.stakes import stakes
from brasstag.tools.manuscript.maps.structures import STRUCTURES, structure_map
from brasstag.tools.manuscript.prose.edits import ProposedEdit, checked, overlapping, suggestions
from brasstag.tools.manuscript.prose.statistics import statistics
from tests.tools.manuscript.support import OUTLINE, mill, source, story_from


class TestStakes:
    def test_wants_and_costs_come_from_cards_and_prose(self) -> None:
        found = stakes(
            StoryContext(mill(first="Mara wanted to leave. If Mara lost the mill, that was that.")), 10
        )
        mara = next(one for one in found["people"] if one["person"] == "Mara Holm")
        assert [quote["path"] for quote in mara["wants"]] == ["bible/cards.md", "manuscripts/scene_01.md"]
        assert [quote["path"] for quote in mara["costs"]] == ["bible/cards.md", "manuscripts/scene_01.md"]
        assert found["without_want"] == ["Otto Holm", "Lena Holm"]


class TestImpact:
    def test_what_a_scene_introduces_is_followed_into_later_scenes(self) -> None:
        story = mill(first="Mara met Lena.", second="Lena had the key. Lena laughed.")
        found = impact(StoryFacts(StoryContext(story)), story.scenes[0], 1)
        lena = next(
            one for one in found["effects"] if one["what"] == "Lena Holm" and one["kind"] == "introduced"
        )
        assert lena["mentioned_in"] == ["manuscripts/scene_02.md"]
        assert (lena["mention_count"], len(lena["mentions"])) == (2, 1)

    def test_the_last_scene_has_no_effect_on_others(self) -> None:
        story = mill(second="Mara met Lena.")
        found = impact(StoryFacts(StoryContext(story)), story.scenes[1], 5)
        assert found["later_scenes"] == []
        assert all(one["mention_count"] == 0 for one in found["effects"])


class TestReader:
    def test_a_question_is_open_until_a_later_scene_takes_it_up(self) -> None:
        asked = "Mara stood there. Who had hidden the copper lantern in the granary?"
        story = mill(first=asked, second="The copper lantern in the granary was Lena's.")
        found = reader_map(StoryContext(story), 10)
        assert found["open_questions"] == []
        (question,) = found["answered_questions"]
        assert question["answered_in"] == "manuscripts/scene_02.md"
        assert [scene["open_questions"] for scene in found["scenes"]] == [1, 0]

    def test_one_that_is_not_taken_up_stays_open(self) -> None:
        found = reader_map(StoryContext(mill(first="Who had hidden the copper lantern?")), 10)
        assert [one["asked_in"] for one in found["open_questions"]] == ["manuscripts/scene_01.md"]

    def test_danger_raises_the_tension_and_the_chart_shows_it(self) -> None:
        calm = (
            "Mara walked along the river and looked at the fields, which were green and wide and still. " * 5
        )
        found = reader_map(
            StoryContext(mill(first=calm, second="Blood! A knife! She ran. Who was there?")), 10
        )
        low, high = (scene["tension"] for scene in found["scenes"])
        assert low < high
        bars = [line.count("#") for line in found["chart"].splitlines()]
        assert bars[0] < bars[1]


class TestStructures:
    @pytest.mark.parametrize("name", STRUCTURES)
    def test_each_begins_at_the_beginning_and_goes_on_in_order(self, name: str) -> None:
        shares = [share for _, share in STRUCTURES[name]]
        assert shares[0] == 0
        assert shares == sorted(shares)
        assert shares[-1] <= 1

    def test_beats_fall_where_their_words_are(self) -> None:
        found = structure_map(mill(first="one two three", second="four"), "three_act", 10)
        assert found["unit"] == "words"
        assert [(beat["words_before"], beat["words"]) for beat in found["beats"]] == [(0, 3), (3, 1)]
        assert found["total"] == 4

    def test_without_scenes_beats_are_counted(self) -> None:
        found = structure_map(story_from({"outline.md": OUTLINE}), "kishotenketsu", 10)
        assert (found["unit"], found["total"]) == ("beats", 2)

    def test_a_structure_says_which_of_its_beats_nothing_is_near(self) -> None:
        found = structure_map(story_from({"outline.md": "# Outline\n"}), "five_act", 10)
        assert found["empty"] == [title for title, _ in STRUCTURES["five_act"]]


class TestStatistics:
    def test_figures_of_a_small_text(self) -> None:
        text = (
            '"Go," she said quickly. She felt the rain. She felt the cold. She felt the wind.\n\nIt was late.'
        )
        found = statistics(list(sentences_in(source(text))), 10)
        assert (found["words"], found["sentences"], found["paragraphs"]) == (19, 5, 2)
        assert found["dialogue_share"] == round(1 / 19, 3)
        assert found["adverbs"]["count"] == 1
        assert found["filter_words"]["count"] == 3
        assert [one["text"] for one in found["repeated_phrases"]] == ["she felt the"]
        assert found["point_of_view"]["told_in"] == "third"

    @given(st.text(max_size=200))
    def test_shares_and_counts_stay_within_bounds(self, text: str) -> None:
        found = statistics(list(sentences_in(source(text))), 3)
        assert 0 <= found["dialogue_share"] <= 1
        assert found["sentences"] <= max(1, found["words"])
        assert len(found["repeated_words"]) <= 3


class TestEdits:
    TEXT = "The rain fell. The the rain fell again,, and  stopped.\n"

    def test_an_edit_applies_if_its_text_is_there_once(self) -> None:
        edits = [
            ProposedEdit("again", "once more", ""),
            ProposedEdit("rain", "x", ""),
            ProposedEdit("snow", "x", ""),
        ]
        found = checked(source(self.TEXT), edits)
        assert [(one["applies"], one["matches"], one["line"]) for one in found] == [
            (True, 1, 1), (False, 2, 1), (False, 0, None),
        ]  # fmt: skip
        assert "give more" in found[1]["problem"]

    def test_edits_that_touch_the_same_text_are_named(self) -> None:
        edits = [
            ProposedEdit("fell again", "x", ""),
            ProposedEdit("again,,", "y", ""),
            ProposedEdit("stopped", "z", ""),
        ]
        assert overlapping(source(self.TEXT), edits) == [[0, 1]]

    def test_slips_are_suggested(self) -> None:
        found = suggestions(source(self.TEXT), 10)
        assert {one["check"] for one in found} == {"doubled_word", "repeated_mark", "double_space"}

    @given(st.text(alphabet=st.sampled_from(list("ab ,;.\n\r")), max_size=120))
    def test_every_suggestion_applies_exactly_once(self, text: str) -> None:
        for one in suggestions(source(text), 20):
            assert text.count(one["search_text"]) == 1
            assert one["search_text"] != one["replace_text"]

    def test_had_had_and_that_that_are_english(self) -> None:
        assert suggestions(source("She had had enough of that that day."), 10) == []
