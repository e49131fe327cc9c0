"""What each check reports, and what it leaves alone: sentences of a story that is not the sample."""

import pytest

from tests.tools.manuscript.support import CARDS, OUTLINE, all_findings, checks, mill, scene

QUIET = [
    "Mara signed with her left hand.",
    "Her green eyes were on the door.",
    "The scar on her left cheek itched.",
    "She climbed the forty stairs.",
    "She took three stairs at once.",
    "It was two hours to Sund by cart.",
    "She was twenty-nine.",
    "Mara never swam.",
    "The market was on the west quay.",
    "The mill opened at eight.",
    "Her brother Otto had sold the horse.",
    '"Otto would have known," said Mara.',
    "The fair of Sund is on Sunday 18 May 1980.",
    "Mara wondered whether it would rain.",
    "Lena seemed to wonder about it.",
    "Perhaps Lena thought so.",
    "In 1946 the winter was long.",
    "The year was 1975. She was twenty-four then, or twenty-five.",
    "It took all day.",
    "The fair is in two weeks.",
    "Mrs Holm laughed.",
    "She counted to fifty.",
    "It was two weeks to the day until 19 May.",
    "Mara hated the mill, and her heart sank.",
]

LOUD = [
    ("Mara signed with her right hand.", "canon_hand"),
    ("Mara was right-handed.", "canon_hand"),
    ("Mara's blue eyes were on the door.", "canon_colour"),
    ("Mara looked up. Her eyes were blue.", "canon_colour"),
    ("The scar on Mara's right cheek itched.", "canon_side"),
    ("She climbed the fifty stairs of the mill.", "canon_count"),
    ("It was an hour to Sund by cart.", "canon_travel"),
    ("Mara was thirty-five.", "canon_age"),
    ("Mara, 41, closed the door.", "canon_age"),
    ("Mara swam to the other side.", "canon_ability"),
    ("Sund had its market on the east quay.", "canon_direction"),
    ("The mill opened at nine.", "canon_hour"),
    ("Her cousin Otto had sold the horse.", "canon_relation"),
    ('"I never sold it," said Otto.', "canon_dead"),
    ("The mill had a green door.", "canon_colour"),
    ("Otto had been born in 1951.", "canon_date"),
    ("On Saturday 18 May 1980 there was music.", "timeline_weekday"),
    ("The fair of Sund was on 25 May 1980.", "timeline_date"),
    ("There is no 31 June 1980.", "timeline_no_such_day"),
    ("It was a Friday, and it rained.", "timeline_scene_weekday"),
    ('"Tomorrow is Sunday," she said.', "timeline_scene_weekday"),
    ("The fair is in four weeks.", "timeline_date"),
    ("Lena wondered what it was worth.", "scene_pov_slip"),
    ("Lena knew that it was worth little.", "scene_pov_slip"),
    ("He was afraid of the dark.", "scene_pov_slip"),
    ("I looked at the door.", "scene_person_slip"),
    ("Marra closed the door and Mara went.", "consistency_name"),
    ("They met Mara Holme at the gate.", "consistency_name"),
    ("They met Otto Berg at the gate.", "consistency_name"),
    ("She had heard of the silver flute.", "canon_knowledge"),
    ("She counted the stairs. Her legs knew the forty-four.", "canon_count"),
    ("Her husband came. Otto's wife Mara was late.", "canon_wife"),
    ("Lena hated the mill.", "scene_pov_slip"),
    ("Lena's heart sank.", "scene_pov_slip"),
    ("It was three weeks to the day until 19 May.", "timeline_date"),
]


@pytest.mark.parametrize("prose", QUIET)
def test_what_fits_the_cards_is_no_finding(prose: str) -> None:
    assert all_findings(mill(first=f"Mara stood in the old mill. {prose}")) == []


@pytest.mark.parametrize(("prose", "check"), LOUD)
def test_what_contradicts_them_is_found_with_both_places(prose: str, check: str) -> None:
    told = f"Mara stood in the old mill. {prose}"
    found = [one for one in all_findings(mill(first=told)) if one.check == check]
    assert found
    (finding, *_) = found
    assert any(quote.path == "manuscripts/scene_01.md" for quote in finding.evidence)
    for quote in finding.evidence:
        lines = mill(first=told).texts[quote.path].text.split("\n")
        assert quote.text in lines[quote.line - 1]
    if check not in ("timeline_weekday", "timeline_no_such_day"):
        assert len(finding.evidence) >= 2


class TestPronouns:
    def test_one_that_may_mean_a_person_whom_the_value_fits_is_left_alone(self) -> None:
        assert (
            all_findings(mill(first='Mara came, and Lena too. "So," said Lena. Her eyes were brown.')) == []
        )

    def test_one_whom_no_value_fits_is_found(self) -> None:
        assert "canon_colour" in checks(
            mill(first='Mara came, and Lena too. "So," said Lena. Her eyes were blue.')
        )


class TestKnowledge:
    def test_an_object_is_named_in_the_scene_in_which_it_is_found(self) -> None:
        assert all_findings(mill(second="Mara took the silver flute.")) == []

    def test_a_secret_is_told_where_its_keeper_is_not(self) -> None:
        found = all_findings(mill(second="The silver flute lay behind the mill wheel."))
        assert [one.check for one in found] == ["canon_knowledge"]


class TestObjects:
    GONE = "Mara threw the letter into the sea."

    def test_what_is_gone_and_used_is_found(self) -> None:
        assert "consistency_object" in checks(
            mill(first=self.GONE, second="She read the letter again."[:20] + "letter.")
        )

    def test_what_is_found_again_is_not(self) -> None:
        assert all_findings(mill(first=self.GONE, second="She found the letter. She read the letter.")) == []

    def test_what_was_not_thrown_is_still_there(self) -> None:
        assert (
            all_findings(
                mill(first="Mara almost threw the letter into the sea.", second="She read the letter.")
            )
            == []
        )


class TestSceneAgainstBeat:
    @pytest.mark.parametrize(
        ("head", "check"),
        [
            ({"when": "Wednesday 7 May 1980, evening"}, "scene_when"),
            ({"when": "Tuesday 6 May 1980, morning"}, "scene_when"),
            ({"place": "Sund"}, "scene_place"),
            ({"pov": "Lena Holm"}, "scene_pov"),
        ],
    )
    def test_a_head_that_differs_is_found(self, head: dict[str, str], check: str) -> None:
        assert check in checks(mill(scene_02=scene(2, "It snowed.", **head)))

    def test_a_point_of_view_without_a_card_is_found(self) -> None:
        assert "scene_pov_without_card" in checks(mill(scene_02=scene(2, "It snowed.", pov="Nils")))


class TestOutline:
    def test_a_beat_without_its_scene_and_a_scene_without_its_beat(self) -> None:
        found = checks(mill(outline=OUTLINE.replace("scene_02.md", "scene_09.md")))
        assert {"outline_beat_without_scene", "outline_scene_without_beat"} <= found

    def test_a_beat_that_names_no_scene_where_others_do(self) -> None:
        assert "outline_beat_without_scene" in checks(
            mill(outline=OUTLINE.replace("   - Scene: scene_02.md\n", ""))
        )

    def test_a_gap_in_the_numbers(self) -> None:
        assert "outline_gap" in checks(mill(outline=OUTLINE.replace("2. **The flute", "4. **The flute")))

    def test_two_beats_of_one_scene(self) -> None:
        assert "outline_scene_twice" in checks(mill(outline=OUTLINE.replace("scene_02.md", "scene_01.md")))

    def test_a_heading_with_another_number_than_the_file(self) -> None:
        text = scene(2, "It snowed.").replace("# Scene 2", "# Scene 3")
        assert "outline_number" in checks(mill(scene_02=text))


class TestTimeline:
    def test_a_scene_before_the_one_in_front_of_it(self) -> None:
        text = scene(2, "It snowed.", when="Sunday 4 May 1980, evening")
        outline = OUTLINE.replace("Tuesday 6 May 1980", "Sunday 4 May 1980")
        assert "timeline_order" in checks(mill(scene_02=text, outline=outline))

    def test_days_that_do_not_add_up(self) -> None:
        assert "timeline_gap" in checks(mill(second="Three days later it snowed."))
        assert all_findings(mill(second="The next evening it snowed.")) == []

    def test_an_age_that_a_birth_date_does_not_give(self) -> None:
        assert "timeline_age" in checks(mill(cards=CARDS.replace("- Hand: left", "- Hand: left\n- Age: 33")))
        assert all_findings(mill(cards=CARDS.replace("- Hand: left", "- Hand: left\n- Age: 29"))) == []

    def test_a_journey_for_which_there_is_no_time(self) -> None:
        outline = OUTLINE.replace("Tuesday 6 May 1980, evening", "Monday 5 May 1980, 9:00").replace(
            "Monday 5 May 1980, morning", "Monday 5 May 1980, 8:30"
        )
        outline = outline[::-1].replace("Place: Old mill"[::-1], "Place: Sund"[::-1], 1)[::-1]
        cards = CARDS.replace("Found: 6 May 1980", "Found: 5 May 1980")
        first, second = ({"when": f"Monday 5 May 1980, {hour}"} for hour in ("8:30", "9:00"))
        story = mill(cards=cards, outline=outline, scene_02=scene(2, "It snowed.", place="Sund", **second))
        texts = {path: text.text for path, text in story.texts.items()}
        texts["manuscripts/scene_01.md"] = scene(1, "It rained.", **first)
        from tests.tools.manuscript.support import story_from

        assert "timeline_travel" in checks(story_from(texts))
