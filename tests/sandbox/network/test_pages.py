"""Pages: HTML as Markdown, made apart, within bounds."""

import pytest

from brasstag.sandbox.network.pages.pages import LONGEST_PAGE, markdown_of


async def test_a_page_becomes_markdown() -> None:
    html = "<h1>Ümlaut</h1><p>a <a href='/x'>b</a></p><ul><li>one<li>two</ul><script>alert(1)</script>"
    assert await markdown_of(html) == "# Ümlaut\n\na [b](/x)\n\n- one\n- two"


@pytest.mark.parametrize("nest", ["<div>", "<ul><li>", "<b>", "<blockquote>", "<table><tr><td>"])
async def test_a_page_that_is_endlessly_deep_does_no_harm(nest: str) -> None:
    made = await markdown_of(nest * 100_000 + "x")
    assert made is None or len(made) < 100_000


async def test_a_page_that_is_too_long_or_takes_too_long_is_not_converted() -> None:
    assert await markdown_of("x" * (LONGEST_PAGE + 1)) is None
    assert await markdown_of("<p>x</p>", seconds=0.0001) is None


async def test_half_a_character_does_no_harm() -> None:
    assert await markdown_of("<p>a\ud800b</p>") == "a?b"
