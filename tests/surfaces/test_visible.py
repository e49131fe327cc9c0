"""Text in which nothing hides."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from brasstag.surfaces.cli.terminal.fold_lines import folded
from brasstag.surfaces.visible import one_line, visible

anything = st.text(alphabet=st.characters(), max_size=60)


@given(anything)
@settings(max_examples=300)
def test_no_character_is_left_that_a_terminal_obeys_or_an_eye_misses(text: str) -> None:
    shown = one_line(text)
    assert all(
        unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") or char == "\t"
        for char in shown
    )
    assert len(shown.splitlines()) <= 1


def test_ordinary_text_is_left_alone() -> None:
    for text in ("plain", "Grüße, 世界", "a\tb\nc", "❤️", "→ 1 ⟨x⟩"):
        assert visible(text) == text


def test_what_hides_is_written_out() -> None:
    assert visible("a\u202eb\u200bc\x1b\x7f\x9b\u3164\ufe01\U000e0041") == (
        "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩⟨U+007F⟩⟨U+009B⟩⟨U+3164⟩⟨U+FE01⟩⟨U+E0041⟩"
    )


@given(st.text(alphabet="ab 世\u0301", max_size=300), st.integers(min_value=20, max_value=60))
@settings(max_examples=200)
def test_a_folded_line_fits_and_loses_nothing(line: str, width: int) -> None:
    pieces = list(folded(line, width))
    assert "".join(pieces) == line
    assert all(cell_len(piece) <= width for piece in pieces)
