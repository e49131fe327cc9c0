"""What a file is comes from its bytes; its name only speaks among texts."""

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.documents.kinds import BINARY, kind_of
from tests.documents.making import docx, xlsx

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def packed(*names: str, first: tuple[str, bytes] | None = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as box:
        if first:
            box.writestr(zipfile.ZipInfo(first[0]), first[1])
        for name in names:
            box.writestr(name, b"words " * 50)
    return out.getvalue()


@pytest.mark.parametrize(
    ("path", "data", "kind"),
    [
        ("a.txt", b"words", "text/plain"),
        ("a", b"", "text/plain"),
        ("a.md", b"# x", "text/markdown"),
        ("A.CSV", b"a,b", "text/csv"),
        ("x/y.ts", b"let a = 1", "text/x-typescript"),
        ("latin.txt", b"caf\xe9 noir", "text/plain"),
        ("wide.csv", "a,b".encode("utf-16"), "text/csv"),
        ("page", b"  <!DOCTYPE HTML><p>", "text/html"),
        ("tool", b"#!/usr/bin/env python3\n", "text/x-python"),
        ("a.pdf", b"hello", "text/plain"),
        ("a.txt", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "application/pdf"),
        ("a.txt", b"%PDF-1.4\nall in letters", "application/pdf"),
        ("a.png", b"GIF89a\0\0\x01", "image/gif"),
        ("a.zip", packed("one.txt"), "application/zip"),
        ("a.docx", packed("one.txt"), "application/zip"),
        ("a.zip", packed("[Content_Types].xml", "word/document.xml"), DOCX),
        ("a.zip", packed("docProps/app.xml", "xl/worksheets/sheet1.xml", "[Content_Types].xml"), XLSX),
        ("a.zip", packed("xl/notes.txt", "word/list.txt"), "application/zip"),
        ("a.bin", docx("<w:p/>"), DOCX),
        ("a.docx", xlsx([["a"]]), XLSX),
        ("a.odt", packed(first=("mimetype", ODT.encode())), ODT),
        ("a.epub", packed("x", first=("mimetype", b"application/epub+zip")), "application/epub+zip"),
        ("a.odt", packed(first=("mimetype", b"<script>\n")), "application/zip"),
        ("a.zip", b"PK\x03\x04", "application/zip"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "application/vnd.ms-excel"),
        ("locked.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, DOCX),
        ("a.mp3", b"ID3\x03\0\0\0\0\0\0" + b"\0" * 300, "audio/mpeg"),
        ("a.md", b"\0\x01\x02\x03", BINARY),
    ],
)  # fmt: skip
def test_a_file_is_what_its_bytes_are(path: str, data: bytes, kind: str) -> None:
    assert kind_of(path, data) == kind


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"RIFF"]),
)
def test_any_bytes_are_something(data: bytes, start: bytes) -> None:
    assert "/" in kind_of("a.b", start + data)
