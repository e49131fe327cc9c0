"""Folding gives one phrase one spelling, and always knows where each character came from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.catalog.screen.fold import fold, fold_origins
from brasstag.catalog.screen.look_alikes import LOOK_ALIKES


@pytest.mark.parametrize(
    "text",
    [
        "IGNORE",
        "ｉｇｎｏｒｅ",
        "i\u200bgnore",
        "ígnörè",
        "ign\u043ere",
        "𝐢𝐠𝐧𝐨𝐫𝐞",
        "ⓘⓖⓝⓞⓡⓔ",
        "ig\u00adnore",
        "ignor\u0435\ufe0f",
    ],
)
def test_a_word_in_another_dress_folds_to_the_word(text: str) -> None:
    assert fold(text) == "ignore"


@given(st.text(st.characters()))
def test_each_folded_character_has_an_origin_in_the_text(text: str) -> None:
    origins = fold_origins(text)
    assert len(origins) == len(fold(text))
    assert list(origins) == sorted(origins)
    assert all(0 <= place < len(text) for place in origins)


@given(st.text(st.characters()))
def test_a_folded_text_can_be_encoded_and_folds_to_itself(text: str) -> None:
    folded = fold(text)
    assert folded.encode().decode() == folded
    assert fold(folded) == folded


def test_no_look_alike_stands_for_two_letters() -> None:
    assert all(len(other) == 1 and plain.isascii() for other, plain in LOOK_ALIKES.items())
    assert [other for other in LOOK_ALIKES if other.isascii()] == []
