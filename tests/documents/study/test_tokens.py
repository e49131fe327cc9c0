"""Tokens are counted exactly, offline, and the count says who counted."""

import builtins
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public

from brasstag.documents.study import tokens as counting
from brasstag.documents.study.tokens import ESTIMATE, EXACT, TokenCount, count_tokens


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    yield
    if counting._encoding() is None:
        counting._encoding.cache_clear()


def theirs() -> tiktoken.Encoding:
    """Return the encoding as the library itself makes it, but for where its tokens come from."""
    ours = counting._encoding()
    assert ours is not None
    return ours


def test_our_encoding_is_the_one_the_library_describes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    load: Callable[..., dict[bytes, int]] = lambda *given, **named: asked.append((given, named)) or {}  # noqa: E731
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", load)
    described = openai_public.o200k_base()
    assert described["pat_str"] == counting._PATTERN
    assert described["special_tokens"] == counting._SPECIAL
    assert asked[0][1]["expected_hash"] == counting._DIGEST


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("hello world", 2), ("<|endoftext|>", 7), ("漢字", 2)])
def test_tokens_are_counted(text: str, tokens: int) -> None:
    assert count_tokens(text) == TokenCount(tokens, EXACT)


@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from(["\n", "a", "b c", " ", "\n\n", "/", "_x", ")", "\t", "é", "1234", "\r\n"]),
        max_size=60,
    )
)
def test_a_text_counted_in_pieces_has_as_many_tokens(parts: list[str]) -> None:
    text = "".join(parts)
    counting._PIECE, before = 4, counting._PIECE
    try:
        assert count_tokens(text).tokens == len(theirs().encode(text, disallowed_special=()))
    finally:
        counting._PIECE = before


@pytest.mark.parametrize(
    "text", [" " * 1_000_000, "a" * (counting.MOST_IN_ONE + 1), "a\n" * 4_000_001, "\ud800"]
)
def test_what_cannot_be_counted_soon_is_estimated(text: str) -> None:
    counted = count_tokens(text)
    assert counted.tokens > 0
    assert counted.tokenizer == (ESTIMATE if len(text) > 1 else EXACT)


def test_without_the_library_it_is_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    counting._encoding.cache_clear()
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    assert count_tokens("twelve bytes") == TokenCount(3, ESTIMATE)


def test_data_that_was_altered_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    counting._encoding.cache_clear()
    monkeypatch.setattr(counting, "_DIGEST", "0" * 64)
    assert count_tokens("twelve bytes").tokenizer == ESTIMATE


def test_counting_never_opens_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    counting._encoding.cache_clear()
    imported: list[str] = []
    usual = builtins.__import__

    def watched(name: str, *rest: Any, **named: Any) -> Any:
        imported.append(name)
        return usual(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", watched)
    count_tokens("words")
    assert "requests" not in imported
