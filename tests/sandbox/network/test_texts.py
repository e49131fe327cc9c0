"""Texts: what bytes say, and how much of it could be read."""

import pytest

from brasstag.sandbox.network.pages.texts import read_body

UMLAUT = "Bär"


@pytest.mark.parametrize(
    ("content_type", "body", "encoding"),
    [
        ("text/plain; charset=utf-8", UMLAUT.encode(), "utf-8"),
        ("text/plain", UMLAUT.encode(), "utf-8"),
        ("text/plain", UMLAUT.encode("cp1252"), "cp1252"),
        ("text/plain; charset=ISO-8859-1", UMLAUT.encode("latin-1"), "cp1252"),
        ('text/plain; charset="windows-1252"', UMLAUT.encode("cp1252"), "cp1252"),
        ("text/plain; charset=utf-8", UMLAUT.encode("utf-16"), "utf-16-le"),
        ("text/plain; charset=latin-1", b"\xef\xbb\xbf" + UMLAUT.encode(), "utf-8"),
        ("text/html", b'<meta charset="windows-1252">' + UMLAUT.encode("cp1252"), "cp1252"),
        (
            "application/xml",
            b'<?xml version="1.0" encoding="iso-8859-15"?>' + UMLAUT.encode("latin-1"),
            "iso8859-15",
        ),
        ("application/json", f'"{UMLAUT}"'.encode(), "utf-8"),
        ("application/ld+json; profile=x", UMLAUT.encode(), "utf-8"),
        ("", UMLAUT.encode(), "utf-8"),
        ("nonsense", UMLAUT.encode(), "utf-8"),
        ("text/plain; charset=shift_jis", "日本Bär".replace("ä", "").encode("shift_jis"), "shift_jis"),
    ],
)
def test_text_is_read_by_its_marks(content_type: str, body: bytes, encoding: str) -> None:
    read = read_body(content_type, body)
    assert read.text is not None
    assert read.encoding == encoding
    assert read.replaced == 0
    assert read.text.endswith((UMLAUT, f'{UMLAUT}"', "日本Br"))


@pytest.mark.parametrize(
    "charset", ["rot13", "base64", "idna", "unicode_escape", "utf-7", "zip", "nonsense", "../x"]
)
def test_an_encoding_that_is_none_is_not_used(charset: str) -> None:
    read = read_body(f"text/plain; charset={charset}", UMLAUT.encode())
    assert (read.text, read.encoding) == (UMLAUT, "utf-8")


def test_what_cannot_be_read_is_counted_and_what_the_author_wrote_is_not() -> None:
    read = read_body("text/plain; charset=utf-8", b"a\xffb\xfe " + "\ufffd".encode())
    assert read.text == "a\ufffdb\ufffd \ufffd"
    assert read.replaced == 2


@pytest.mark.parametrize(
    ("content_type", "body", "media_type"),
    [
        ("image/png", b"\x89PNG", "image/png"),
        ("application/pdf", b"%PDF-1.7", "application/pdf"),
        ("", b"\x7fELF\0\0", "application/octet-stream"),
        ("", b"\xff\xd8\xff", "application/octet-stream"),
        ("text/plain", b"GIF\0\0\0", "text/plain"),
        ("application/octet-stream", b"\0", "application/octet-stream"),
    ],
)
def test_what_is_not_text_is_not_read(content_type: str, body: bytes, media_type: str) -> None:
    read = read_body(content_type, body)
    assert (read.text, read.media_type) == (None, media_type)


def test_a_text_that_was_cut_within_a_character_is_still_utf8() -> None:
    assert read_body("text/plain", "ä".encode() * 3 + b"\xc3").encoding == "utf-8"
