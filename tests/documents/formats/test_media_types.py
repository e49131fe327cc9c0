"""Media types that a caller names."""

import pytest

from brasstag.documents.formats.media_types import fits, parse_media_type
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
    ],
)
def test_bytes_allow_only_types_that_they_may_be(said: str, found: str, is_fitting: bool) -> None:
    assert fits(said, found) is is_fitting
