"""Documents are converted where they can hurt nobody; a bad one fails by itself, with a code."""

import random
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from brasstag.documents.blocks.render import as_markdown
from brasstag.documents.formats import convert
from brasstag.documents.formats.convert import (
    NO_TIME,
    SLOW,
    ConversionSource,
    Converted,
    Converter,
    NotConverted,
)
from brasstag.documents.formats.kinds import kind_of
from brasstag.sandbox.process.job import Ran
from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.sandbox.process.run.job_run import Stop
from brasstag.sandbox.process.sandbox import Sandbox
from brasstag.words.blocks import DEEPEST_NESTED, Blocks
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from tests.documents.making import docx, paragraph, pdf, words, xlsx, zipped
from tests.sandbox.support import open_workspace

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class Counting(Sandbox):
    """A sandbox that counts the module jobs it ran."""

    module_jobs: int = 0

    def run_module(self, job: ModuleJob, stop: Stop | None = None) -> Ran:
        self.module_jobs += 1
        return super().run_module(job, stop)


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Counting]:
    (tmp_path / "data").mkdir()
    with open_workspace(tmp_path) as workspace:
        sandbox = Counting(workspace, tmp_path / "data", tmp_path / "scratch")
        if sandbox.standing().backend is None:
            pytest.skip("nothing confines here; scripts/bubblewrap.sh installs what does")
        yield sandbox


def source(name: str, data: bytes, media_type: str = "") -> ConversionSource:
    return ConversionSource(sha256(data), media_type or kind_of(name, data), name, data)


def texts(found: Converted) -> list[str]:
    assert isinstance(found, Blocks), found
    return [block.text for block in found.blocks]


def failed(found: Converted, code: Code) -> str:
    assert isinstance(found, NotConverted), found
    assert found.code is code, found
    return found.reason


def test_many_documents_take_one_module_job_and_keep_their_order(sandbox: Counting, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_bytes(b"from a file")
    found = Converter(sandbox).convert_many(
        [
            source("a.md", b"# title"),
            ConversionSource("", "text/plain", "kept", kept),
            source("b.pdf", b"%PDF-1.7 garbage"),
            source("c.txt", b"last"),
        ]
    )
    assert [texts(found[place]) for place in (0, 1, 3)] == [["title"], ["from a file"], ["last"]]
    failed(found[2], Code.CANNOT_CONVERT)
    assert sandbox.module_jobs == 1


def test_no_document_takes_no_module_job(sandbox: Counting) -> None:
    assert Converter(sandbox).convert_many([]) == []
    assert sandbox.module_jobs == 0


def test_one_that_ends_the_module_job_is_tried_alone_and_the_rest_without_it(
    sandbox: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert, "LIMITS", replace(convert.LIMITS, memory_bytes=120 << 20))
    sparse = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    found = Converter(sandbox).convert_many(
        [source("a.txt", b"first"), source("b.xlsx", xlsx([], sparse)), source("c.txt", b"last")]
    )
    assert (texts(found[0]), texts(found[2])) == (["first"], ["last"])
    assert "memory" in failed(found[1], Code.TOO_LARGE)
    assert sandbox.module_jobs == 3


def test_a_document_that_takes_too_long_is_given_up(
    sandbox: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert, "LIMITS", replace(convert.LIMITS, wall_seconds=0.01))
    (found,) = Converter(sandbox).convert_many([source("a.md", b"# a\n" * 50_000)])
    assert "took longer" in failed(found, Code.TIMEOUT)


def test_what_nobody_wants_any_more_is_not_a_failure_that_lasts(sandbox: Counting) -> None:
    with Stop() as stop:
        stop.pull()
        found = Converter(sandbox).convert_many([source("a.txt", b"a"), source("b.txt", b"b")], stop)
    for one in found:
        failed(one, Code.CANCELLED)
        assert isinstance(one, NotConverted)
        assert not one.is_lasting


def test_a_machine_that_starts_no_more_programs_is_not_a_failure_that_lasts(
    sandbox: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> Ran:
        raise ToolError(Code.BUSY, "the code was not run; call again when less is going on")

    monkeypatch.setattr(Sandbox, "run_module", refuse)
    for one in Converter(sandbox).convert_many([source("a.txt", b"a"), source("b.txt", b"b")]):
        failed(one, Code.BUSY)
        assert isinstance(one, NotConverted)
        assert not one.is_lasting


def test_where_nothing_confines_nothing_is_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brasstag.sandbox.process.detect._PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "data").mkdir()
    with open_workspace(tmp_path) as workspace:
        sandbox = Sandbox(workspace, tmp_path / "data", tmp_path / "scratch")
        (found,) = Converter(sandbox).convert_many([source("a.txt", b"a")])
    assert "bubblewrap is not installed" in failed(found, Code.NOT_SUPPORTED)
    assert isinstance(found, NotConverted)
    assert not found.is_lasting


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"code": "DENIED", "reason": "x"}',
        b'{"code": []}',
        b"[" * 100_000,
        b'{"form": 1}',
    ],
)
def test_an_answer_that_is_no_document_is_not_believed(line: bytes) -> None:
    failed(convert._read(line), Code.CANNOT_CONVERT)


def zip_that_says(name: str, unpacked: int) -> bytes:
    """Return a container whose only part says that it is that large."""
    data = bytearray(zipped({name: b"x" * 100}))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", unpacked)
    return bytes(data)


def bomb() -> bytes:
    """Return a Word document whose text is four hundred million zeros, in under half a megabyte."""
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join(squeezed.compress(bytes(1 << 20)) for _ in range(400)) + squeezed.flush()
    name = b"word/document.xml"
    head = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 33, 0, len(packed), 400 << 20, len(name), 0)
    entry = struct.pack(
        "<4s6H3I5H2I",
        b"PK\x01\x02",
        20,
        20,
        0,
        8,
        0,
        33,
        0,
        len(packed),
        400 << 20,
        len(name),
        0,
        0,
        0,
        0,
        0,
        0,
    )
    body = head + name + packed
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(entry) + len(name), len(body), 0)
    return body + entry + name + end


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
LAUGHS = (
    '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><l>&i;</l>"
)


def hostile() -> dict[str, tuple[bytes, str, Code]]:
    good = docx(paragraph("fine"))
    sheet = xlsx([["a", "b"], *([["x", 1]] * 300)])
    page = pdf(*[words(f"Page {number}.", 50, 700) for number in range(9)])
    noise = random.Random(1).randbytes(20_000)
    return {
        "zip bomb": (bomb(), DOCX, Code.TOO_LARGE),
        "zip that says much": (zip_that_says("xl/workbook.xml", 4_000_000_000), XLSX, Code.TOO_LARGE),
        "half a docx": (good[: len(good) // 2], DOCX, Code.CANNOT_CONVERT),
        "half a workbook": (sheet[: len(sheet) // 2], XLSX, Code.CANNOT_CONVERT),
        "docx of noise": (b"PK\x03\x04" + noise, DOCX, Code.CANNOT_CONVERT),
        "workbook of noise": (b"PK\x03\x04" + noise, XLSX, Code.CANNOT_CONVERT),
        "old workbook of noise": (OLE + noise, "application/vnd.ms-excel", Code.CANNOT_CONVERT),
        "empty docx": (b"", DOCX, Code.CANNOT_CONVERT),
        "docx that is no docx": (zipped({"a.txt": b"a"}), DOCX, Code.CANNOT_CONVERT),
        "docx of broken xml": (zipped({"word/document.xml": "<w:a><w:b></w:a>"}), DOCX, Code.CANNOT_CONVERT),
        "docx that laughs": (zipped({"word/document.xml": LAUGHS}), DOCX, Code.CANNOT_CONVERT),
        "locked docx": (OLE + noise, DOCX, Code.CANNOT_CONVERT),
        "pdf of noise": (b"%PDF-1.7\n" + noise, "application/pdf", Code.CANNOT_CONVERT),
        "start of a pdf": (page[:200], "application/pdf", Code.CANNOT_CONVERT),
        "pdf without pages": (pdf(), "application/pdf", Code.CANNOT_CONVERT),
        "picture of noise": (b"\xff\xd8\xff" + noise, "image/jpeg", Code.CANNOT_CONVERT),
    }


def test_hostile_documents_fail_by_themselves_with_a_code_and_a_reason(sandbox: Counting) -> None:
    given = hostile()
    sources = [ConversionSource("", kind, name, data) for name, (data, kind, _) in given.items()]
    found = Converter(sandbox).convert_many([*sources, source("good.docx", docx(paragraph("fine")))])
    told = dict(zip(given, found, strict=False))
    for name, (_, _, code) in given.items():
        one = told[name]
        assert isinstance(one, NotConverted), (name, one)
        assert (one.code, bool(one.reason)) == (code, True), (name, one)
    assert texts(found[-1]) == ["fine"]


def test_documents_cut_anywhere_are_read_or_refused(sandbox: Counting) -> None:
    whole = {
        "a.docx": docx(paragraph("fine") * 20),
        "a.xlsx": xlsx([["a", "b"], *([["x", 1]] * 50)]),
        "a.pdf": pdf(*[words(f"Page {number}.", 50, 700) for number in range(4)]),
    }
    chance = random.Random(7)
    sources = []
    for name, data in whole.items():
        kind = kind_of(name, data)
        for _ in range(15):
            cut = data[: chance.randrange(len(data))]
            hurt = bytearray(data)
            for _ in range(8):
                hurt[chance.randrange(len(hurt))] = chance.randrange(256)
            sources += [ConversionSource("", kind, name, cut), ConversionSource("", kind, name, bytes(hurt))]
    first = Converter(sandbox).convert_many(sources)
    assert len(first) == len(sources)
    assert all(
        one.code in (Code.CANNOT_CONVERT, Code.TOO_LARGE) for one in first if isinstance(one, NotConverted)
    )
    assert Converter(sandbox).convert_many(sources) == first


def test_a_sheet_of_millions_of_cells_is_bounded(sandbox: Counting) -> None:
    row = "<c><v>1</v></c>" * 100
    rows = "".join(f'<row r="{number}">{row}</row>' for number in range(1, 20_001))
    (found,) = Converter(sandbox).convert_many([source("a.xlsx", xlsx([], rows))])
    assert isinstance(found, Blocks)
    assert found.truncated
    assert 4_000 < len(found.blocks[1].rows) < 6_000


def test_lists_that_lie_deep_in_each_other_are_shown_as_lying_as_deep_as_can_be_borne(
    sandbox: Sandbox,
) -> None:
    (found,) = Converter(sandbox).convert_many([source("deep.html", b"<html>" + b"<ul><li>a" * 20_000)])
    assert isinstance(found, Blocks)
    assert max(item.level for block in found.blocks for item in block.items) == DEEPEST_NESTED
    assert len(as_markdown(found)) < 100 * 20_000


def endless(number: int) -> ConversionSource:
    """A PDF whose pages lie in themselves."""
    data = b"%%PDF-1.4\n%% %d\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n" % number
    data += b"2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 999999999>>endobj\ntrailer<</Root 1 0 R>>"
    return source(f"{number}.pdf", data)


def test_each_of_several_endless_documents_takes_its_share_of_the_time_once_and_holds_up_no_other(
    sandbox: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However much time there is for all of them, so that a busy machine has enough.
    monkeypatch.setattr(convert, "LIMITS", replace(convert.LIMITS, cpu_seconds=1.0))
    asked = [endless(0), endless(1), source("good.html", b"<html><p>walnut</p>")]
    slow, slower, quick = Converter(sandbox).convert_many(asked, seconds=120)
    assert (slow, slower) == (SLOW, SLOW)
    assert texts(quick) == ["walnut"]
    assert sandbox.module_jobs == 3


def test_where_time_is_short_good_documents_come_first_and_the_rest_is_said_to_wait(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert, "TOGETHER_SECONDS", 2.0)
    good = source("good.html", b"<html><p>walnut</p>")
    slow, quick = Converter(sandbox).convert_many([endless(0), good], seconds=4)
    assert slow in (SLOW, NO_TIME)
    assert texts(quick) == ["walnut"]
    assert Converter(sandbox).convert_many([good], seconds=0) == [NO_TIME]
