"""Locations: one spelling for one address, and a refusal for whatever could be read in two ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.sandbox.network.locations import read_location, read_reference
from brasstag.words.errors import Code, ToolError

SPELLINGS = [
    ("HTTP://Example.ORG", "http://example.org/"),
    ("https://example.org:443/a", "https://example.org/a"),
    ("http://example.org:443/a", "http://example.org:443/a"),
    ("http://example.org./a", "http://example.org/a"),
    ("http://example.org/a/../b/./c", "http://example.org/b/c"),
    ("http://example.org/a/%2e%2E/b", "http://example.org/b"),
    ("http://example.org/../../x", "http://example.org/x"),
    ("http://example.org/a/..", "http://example.org/"),
    ("http://example.org/%61%2F%c3%a4", "http://example.org/a%2F%C3%A4"),
    ("http://example.org/ä?ö=1#ü", "http://example.org/%C3%A4?%C3%B6=1"),
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://ＥＸＡＭＰＬＥ.org/", "http://example.org/"),
    ("http://example。org/", "http://example.org/"),
    ("http://8.8.8.8:8080/", "http://8.8.8.8:8080/"),
    ("http://[2606:4700:0:0::1]:80/x", "http://[2606:4700::1]/x"),
    ("http://example.org?q", "http://example.org/?q"),
    ("http://under_score.example.org/", "http://under_score.example.org/"),
]
REFUSED = [
    *("", "example.org", "/x", "http://", "http:///x", "http://-a.org/", "http://a..b/", "http://.org/"),
    *("http://a b/", "http://a/\x00", "http://a\u2028/", "http://a/\\x", "http://a:b/", "http://a:/"),
    *("http://a:65536/", "http://a:-1/", "http://[::1", "http://[zz]/", "http://[]/", "http://a%2eb/"),
    *(
        "http://\ud800/",
        "http://a,b/",
        "http://a*b/",
        "http://" + "a" * 64 + ".org/",
        "http://" + "a." * 130 + "b/",
    ),
    "http://a/" + "x" * 9000,
]


@pytest.mark.parametrize(("given_url", "canonical"), SPELLINGS)
def test_an_address_has_one_spelling(given_url: str, canonical: str) -> None:
    assert read_location(given_url).url == canonical
    assert read_location(canonical).url == canonical


@pytest.mark.parametrize("url", REFUSED)
def test_what_is_not_plainly_an_address_is_refused(url: str) -> None:
    with pytest.raises(ToolError) as refused:
        read_location(url)
    assert refused.value.code is Code.INVALID_ARGUMENTS


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("/x", "https://a.test/x"),
        ("x", "https://a.test/d/x"),
        ("?q", "https://a.test/d/e?q"),
        ("//b.test/y", "https://b.test/y"),
        ("../../..", "https://a.test/"),
        ("http://b.test", "http://b.test/"),
    ],
)
def test_a_redirect_is_read_from_where_it_came(reference: str, url: str) -> None:
    assert read_reference(reference, read_location("https://a.test/d/e?f")).url == url


@pytest.mark.parametrize(
    "path",
    [
        *("/a%2fb", "/a%5Cb", "/a//b", "/a%00", "/a/..;/b", "/a/..;x=1/b", "/a/.;/b", "/a/..;", "/a/..%3b/b"),
        *("/a/%2e%2e;/b", "/a/..%20/b", "/a/%252e%252e/b", "/a%252fb", "/a%255Cb", "/a/%25252e/b"),
    ],
)
def test_a_path_that_servers_may_read_otherwise_is_known(path: str) -> None:
    assert read_location(f"http://a.test{path}").is_ambiguous


@pytest.mark.parametrize(
    "path", ["/a/b%20c?d//e%2f", "/a;v=1/b", "/a..;/b", "/.well-known/x", "/a%25b", "/x/..y"]
)
def test_a_path_with_one_meaning_is_not_ambiguous(path: str) -> None:
    assert not read_location(f"http://a.test{path}").is_ambiguous


@given(st.text(max_size=60) | st.from_regex(r"https?://[a-z0-9.@:\[\]%/\\-]{0,40}", fullmatch=True))
def test_reading_never_fails_otherwise_and_is_settled_once_it_is_done(text: str) -> None:
    try:
        found = read_location(text)
    except ToolError:
        return
    assert found.url.isascii()
    assert read_location(found.url) == found
