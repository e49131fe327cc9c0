"""What a file is comes from its bytes; its name only speaks among texts."""

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.documents.formats.kinds import BINARY, is_text_kind, kind_of
from brasstag.documents.formats.text import decoded, decoded_with_note
from brasstag.documents.scan.intake import described
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
        ("broken.docx", b"PK\x03\x04garbage", "application/zip"),
        ("broken.docx", b"PK\x03\x04" + b"all in letters " * 100, "application/zip"),
        ("a.parquet", b"PAR1\x15\x04\x15\x10\x15", "application/vnd.apache.parquet"),
        ("a.rtf", b"{\\rtf1\\ansi Hello}", "application/rtf"),
        ("a.rtf", b"not at all", "text/plain"),
        ("a.ipynb", b'{"cells": []}', "application/x-ipynb+json"),
        ("src/Makefile", b"all:\n", "text/x-makefile"),
        ("rules.mk", b"all:\n", "text/x-makefile"),
        ("Dockerfile", b"FROM x\n", "text/x-dockerfile"),
        ("Dockerfile.dev", b"FROM x\n", "text/x-dockerfile"),
        ("dev.dockerfile", b"FROM x\n", "text/x-dockerfile"),
        ("makefile.md", b"# On it\n", "text/markdown"),
        ("makefile/notes", b"all is well\n", "text/plain"),
        ("notes.txt", b"PAR1 is how such files begin", "text/plain"),
        ("bell.log", b"a line with a bell\x07\n" + b"and many without one\n" * 20, "text/plain"),
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


MARKED = st.sampled_from([b"", b"\xff\xfe", b"\xef\xbb\xbf", b"PK\x03\x04", b"%PDF-", b"PAR1", b"GIF89a"])


@given(MARKED, st.binary(max_size=80) | st.text(max_size=60).map(str.encode))
def test_everybody_agrees_on_what_is_a_text(start: bytes, rest: bytes) -> None:
    data = start + rest
    kind, text = described("a.b", data, is_whole=True)
    assert kind == kind_of("a.b", data)
    assert is_text_kind(kind) == (text is not None)
    assert text is None or (text == decoded(data) and "\0" not in text)


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        (b"plain", "plain", ""),
        ("\ufeffGr\u00fc\u00dfe".encode(), "Gr\u00fc\u00dfe", ""),
        (
            "Gr\u00fc\u00dfe aus dem Norden".encode("cp1252"),
            "Gr\u00fc\u00dfe aus dem Norden",
            "encoding: cp1252, a guess, as it is not UTF-8",
        ),
        (
            b"nine letters\x81 and more",
            "nine letters\x81 and more",
            "encoding: latin-1, a guess, as it is not UTF-8",
        ),
        ("wide".encode("utf-16"), "wide", "encoding: utf-16, by its byte order mark"),
        (
            b"\xff\xfea\0b",
            "a\ufffd",
            "encoding: utf-16, by its byte order mark; some of it is not utf-16, and stands as \ufffd",
        ),
        (b"x" * 70_000 + b"\0", "x" * 70_000 + "\ufffd", ""),
    ],
)
def test_a_text_comes_with_a_word_on_how_it_was_read(data: bytes, text: str, note: str) -> None:
    assert decoded_with_note(data) == (text, note)


@pytest.mark.parametrize(
    "data", [b"\0", b"\x01\x02\x03", b"\xff\xfe\0\xd8\0\xd8", bytes(range(128, 256)), b"MZ\x90\0\x03"]
)
def test_what_is_no_text_has_none(data: bytes) -> None:
    assert decoded_with_note(data) is None
