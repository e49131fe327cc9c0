"""Media types that a caller names."""

import pytest

from brasstag.documents.formats.media_types import fits, parse_media_type, require_fitting
from brasstag.words.errors import Code, ToolError

PDF = "application/pdf"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("text/csv", "text/csv"),
        (" Text/CSV ", "text/csv"),
        ("text/plain; charset=utf-8", "text/plain"),
        ('text/plain;charset="UTF-8"', "text/plain"),
        ("application/vnd.geo+json", "application/vnd.geo+json"),
    ],
)
def test_a_media_type_is_read_in_lower_case_and_without_the_encoding_all_text_has(
    said: str, named: str
) -> None:
    assert parse_media_type(said) == named


@pytest.mark.parametrize(
    "said",
    ["csv", "text/", "/csv", "text/a b", "text/csv; header=present", "x/y", "te\nxt/csv", "text/csv\0"],
)
def test_what_is_no_media_type_is_refused(said: str) -> None:
    with pytest.raises(ToolError) as refused:
        parse_media_type(said)
    assert refused.value.code is Code.INVALID_ARGUMENTS
    assert "leave mime_type out" in refused.value.message


@pytest.mark.parametrize(
    ("said", "found", "is_fitting"),
    [
        ("text/x-notes", "text/plain", True),
        ("application/javascript", "text/javascript", True),
        ("application/octet-stream", "image/png", True),
        ("application/epub+zip", "application/zip", True),
        ("audio/wav", "audio/x-wav", True),
        ("application/x-own", "application/octet-stream", True),
        ("image/png", "text/plain", False),
        ("video/mp4", "text/plain", False),
        (PDF, "text/plain", False),
        ("application/vnd.oasis.opendocument.text", "text/plain", False),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.template", "text/plain", False),
        ("application/epub+zip", "text/plain", False),
        ("application/vnd.oasis.opendocument.text-flat-xml", "application/xml", True),
        (WORD, "application/zip", False),
        ("text/plain", PDF, False),
        ("image/jpeg", "image/png", False),
        ("image/png", "application/octet-stream", False),
        ("text/plain", "application/octet-stream", False),
        ("application/x-own", "inode/symlink", False),
        ("image/bmp", "video/mp4", False),
        ("image/heic", "application/x-tar", False),
        ("audio/mp4", "video/mp4", True),
        ("application/font-sfnt", "font/ttf", True),
        ("application/x-tar", "text/plain", False),
    ],
)
def test_bytes_allow_only_types_that_they_may_be(said: str, found: str, is_fitting: bool) -> None:
    assert fits(said, found) is is_fitting


@pytest.mark.parametrize(
    ("said", "data", "problem"),
    [
        (
            "application/json",
            b"not json",
            "the content is not application/json: Expecting value: line 1 column 1",
        ),
        ("application/json", b"", "Expecting value"),
        ("application/json", b'{"a": NaN}', "NaN is no value of JSON"),
        ("application/ld+json", b"{", "Expecting property name"),
        ("application/x-ndjson", b"{}\n\n}\n", "line 3: Expecting value"),
        ("application/toml", b"= 1", "Invalid statement"),
        ("application/xml", b"no", "it does not begin with <"),
        ("image/svg+xml", b"<p/>", "it has no svg element"),
        ("image/bmp", bytes(64), "it does not begin as such a file does"),
        ("application/wasm", b"(module)", "it does not begin as such a file does"),
        ("text/plain; charset=utf-8", b"caf\xe9 au lait", "the content is not in UTF-8"),
    ],
)
def test_content_that_is_plainly_not_of_the_type_that_is_named_is_refused(
    said: str, data: bytes, problem: str
) -> None:
    with pytest.raises(ToolError) as refused:
        require_fitting(said, "a", data)
    assert refused.value.code is Code.INVALID_ARGUMENTS
    assert problem in refused.value.message


@pytest.mark.parametrize(
    ("said", "data"),
    [
        ("application/json", b'\xef\xbb\xbf{"a": [1]}\n'),
        ("application/json", '{"a": "\u00e9"}'.encode("utf-16")),
        ("application/json", b"[" * 100_000 + b"]" * 100_000),
        ("application/json", b"1" * 5_000),
        ("application/jsonl", b'{"a": 1}\r\n{"a": 2}'),
        ("application/xml; charset=utf-8", b"\n<a/>"),
        ("image/svg+xml", b'<?xml version="1.0"?><s:svg xmlns:s="http://www.w3.org/2000/svg"/>'),
        ("image/tiff", b"II*\0" + bytes(64)),
        ("text/plain", b"caf\xe9 au lait"),
    ],
)
def test_content_that_may_be_of_the_type_that_is_named_is_kept(said: str, data: bytes) -> None:
    require_fitting(said, "a", data)
