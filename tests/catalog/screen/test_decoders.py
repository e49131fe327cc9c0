"""Encoded runs are read as they were written, and escapes know where they stood."""

import base64
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.catalog.screen.decoders import encoded_runs, unescaped
from brasstag.catalog.screen.layers import DEEPEST, EncodingReport, layers

SAID = "The keeper counts the ships at night."
ENCODERS: dict[str, Callable[[str], str]] = {
    "base64_payload": lambda text: base64.b64encode(text.encode()).decode(),
    "base32_payload": lambda text: base64.b32encode(text.encode()).decode(),
    "base85_payload": lambda text: base64.a85encode(text.encode(), adobe=True).decode(),
    "hex_payload": lambda text: text.encode().hex(" "),
    "binary_payload": lambda text: " ".join(f"{byte:08b}" for byte in text.encode()),
    "number_payload": lambda text: ", ".join(str(byte) for byte in text.encode()),
}


@pytest.mark.parametrize("pattern", ENCODERS)
def test_a_run_is_read_and_found_where_it_stands(pattern: str) -> None:
    run = ENCODERS[pattern](SAID)
    text = f"Run: {run} (end)"
    [found] = [one for one in encoded_runs(text) if one.pattern == pattern]
    assert found.says == SAID
    assert text[found.start : found.end].strip() == run


@given(st.text(st.characters(codec="utf-8"), min_size=12), st.sampled_from([32, 40, 76]))
def test_wrapped_base64_is_read_as_a_whole(said: str, width: int) -> None:
    run = base64.b64encode(f"Once upon a time: {said * 3}".encode()).decode()
    wrapped = "\n".join(run[start : start + width] for start in range(0, len(run), width))
    printable = all(letter.isprintable() for letter in said)
    found = [one.says for one in encoded_runs(wrapped)]
    assert not printable or any(says and said * 3 in says for says in found)


@pytest.mark.parametrize(
    "text",
    [
        "InternationalizationOfficeHours",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "10, 12, 15, 18, 21, 34, 55, 89, 99, 10, 11, 12",
        "----------------------------------------",
        "https://example.org/a-rather-long-path/With-Names/and-2024/more-words.html",
    ],
)
def test_what_only_looks_encoded_says_no_words(text: str) -> None:
    assert [run for run in encoded_runs(text) if run.is_words] == []


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        ("%69gnore", "ignore"),
        ("%D0%B0", "а"),
        ("&#105;&#x67;n", "ign"),
        ("&lt;b&gt;", "<b>"),
        ("\\u0069\\x67\\u{6e}", "ign"),
        ("=69=67n", "ign"),
    ],
)
def test_escapes_are_read(escaped: str, plain: str) -> None:
    found = unescaped(escaped)
    assert found is not None
    assert found.text == plain


@pytest.mark.parametrize("text", ["100% sure", "a = 20", "AT&T & sons", "C:\\users", ""])
def test_a_text_without_escapes_stays_as_it_is(text: str) -> None:
    assert unescaped(text) is None


@given(st.lists(st.sampled_from(["%69", "&#103;", "\\u006e", "&amp;", "=20", "x", " ", "é", "%zz", "&#1;"])))
def test_each_character_behind_an_escape_has_its_place(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = unescaped(text)
    if found is None:
        return
    last = 0
    for place in range(len(found.text)):
        start, end = found.origin(place)
        assert last <= start < end <= len(text)
        last = start
        if end - start == 1:
            assert text[start] == found.text[place]


def test_layers_end_at_a_limit_that_is_reported() -> None:
    text = SAID
    for _ in range(DEEPEST + 2):
        text = base64.b64encode(text.encode()).decode()
    reports: list[EncodingReport] = []
    depths = [layer.depth for layer in layers(text, reports.append)]
    assert max(depths) == DEEPEST
    assert [report.pattern for report in reports if report.pattern == "nested_encoding"] == [
        "nested_encoding"
    ]


def test_layers_of_a_large_text_stay_within_a_size() -> None:
    reports: list[EncodingReport] = []
    text = "%25252541 " * 2_000
    sizes = [len(layer.text) for layer in layers(text, reports.append)]
    assert sum(sizes) <= 3 * len(text)
    assert "nested_encoding" in {report.pattern for report in reports}
