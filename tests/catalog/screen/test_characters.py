"""Characters that a reader cannot see are found, except where a script or an emoji needs them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.catalog.screen.characters import suspect_characters

FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def found_in(text: str) -> list[str]:
    return [pattern for pattern, _, _ in suspect_characters(text, 5)]


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",
        "क्\u200dष",
        "ක්\u200dර",
        "👩\u200d🚀",
        "👩🏽\u200d🚀",
        "❤\ufe0f\u200d🔥",
        "1\ufe0f\u20e3",
        FLAG,
        "葛\U000e0100城",
        "ภาษา\u200bไทย",
        "Silben\u00adtrennung",
        "\ufeffA byte order mark at the start",
        "שלום\u200f!",
        "line\r\n\tnext\fpage",
        "한국어 ᄒᆞᆫ글",
        "Москва and Moscow",
        "Δt, λx, µm and α-helix",
        "Việt Nam, naïve, Ångström",
        "⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙",
    ],
)
def test_what_a_script_or_an_emoji_needs_is_innocent(text: str) -> None:
    assert found_in(text) == []


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("\U0001f3f4" + "\U000e0069" * 9 + "\U000e007f", "tag_characters"),
        ("🙂" + "\ufe01\ufe0e" * 4, "variation_data"),
        ("a\U000e0100", "variation_data"),
        ("ab\u200dcd", "zero_width_in_word"),
        ("👩\u200dx", "zero_width"),
        ("x\ufeffy", "zero_width_in_word"),
        ("\u00ad\u00ad", "zero_width"),
        ("half \ud83d a pair", "control_character"),
        ("\x1b[31mred", "control_character"),
    ],
)
def test_the_same_characters_elsewhere_are_found(text: str, pattern: str) -> None:
    assert pattern in found_in(text)


@given(st.text(st.characters()), st.integers(1, 5))
def test_runs_lie_in_the_text_and_are_few(text: str, most: int) -> None:
    counts: dict[str, int] = {}
    for pattern, start, end in suspect_characters(text, most):
        assert 0 <= start < end <= len(text)
        counts[pattern] = counts.get(pattern, 0) + 1
    assert all(count <= most for count in counts.values())


def test_many_weak_findings_hide_no_strong_one() -> None:
    assert "zero_width_in_word" in found_in("end.\u200b " * 500 + "wo\u200brd")
