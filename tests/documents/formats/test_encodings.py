"""Old texts are read in what they surely are written in; what nobody can be sure of stays as it was."""

import gzip
import random
import sys
import zlib
from pathlib import Path

import pytest

from brasstag.documents.formats.encodings import LEAST, OLD, old_encoding
from brasstag.documents.formats.kinds import kind_of
from brasstag.documents.formats.text import BEGINNING, decoded, decoded_with_note, encoding_of
from tests.documents import tongues
from tests.documents.making import zipped
from tests.documents.reading.test_carry import PNG

WIDEST = {"shift_jis": "cp932", "gb2312": "gb18030", "big5": "cp950", "euc_kr": "cp949"}


@pytest.mark.parametrize(("encoding", "text"), tongues.OLD)
def test_an_old_text_is_read_and_the_guess_is_told(encoding: str, text: str) -> None:
    assert len(text) >= 200
    data = text.encode(encoding)
    name = WIDEST.get(encoding, encoding)
    assert decoded_with_note(data) == (text, f"encoding: {name}, a guess, as it is not UTF-8")
    assert kind_of("letter.txt", data) == "text/plain"
    assert kind_of("letter.md", data) == "text/markdown"


def test_every_old_encoding_has_a_text_that_tries_it() -> None:
    assert {WIDEST.get(encoding, encoding) for encoding, _ in tongues.OLD} == OLD.keys()


@pytest.mark.parametrize(("encoding", "text"), tongues.OLD)
def test_an_old_text_is_found_behind_plain_lines_and_in_the_middle_of_code(encoding: str, text: str) -> None:
    code = "def count(sheep: int) -> int:\n    return sheep + 1\n\n\n" * 500
    commented = "".join(f"x = 1  # {line}\n" for line in text.splitlines() * 3)
    assert decoded((code + text).encode(encoding)) == code + text
    assert decoded((code + commented).encode(encoding)) == code + commented


@pytest.mark.parametrize(("encoding", "text"), tongues.OLD)
def test_a_beginning_that_ends_amid_a_character_tells_all_the_same(encoding: str, text: str) -> None:
    data = text.encode(encoding) * (BEGINNING // len(text.encode(encoding)) + 1)
    for length in range(BEGINNING - 4, BEGINNING + 1):
        assert encoding_of(data[:length]) == WIDEST.get(encoding, encoding)


@pytest.mark.parametrize(("encoding", "text"), tongues.OLD)
def test_a_short_text_is_left_undecided(encoding: str, text: str) -> None:
    short = "".join(sign for sign in text if not sign.isascii())[: LEAST // 2]
    assert old_encoding(short.encode(encoding)) is None
    assert encoding_of(short.encode(encoding)) is None


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1253", tongues.GREEK),
        ("iso8859_7", tongues.GREEK),
        ("cp1255", tongues.HEBREW),
        ("cp874", tongues.THAI),
        ("cp866", tongues.RUSSIAN),
        ("iso8859_5", tongues.RUSSIAN),
        ("cp1251", tongues.RUSSIAN.upper()),
        ("koi8_r", tongues.RUSSIAN.upper()),
    ],
)
def test_what_is_in_none_of_them_for_sure_is_no_text(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    assert encoding_of(data) is None
    assert kind_of("letter.txt", data) == "application/octet-stream"


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "mac_roman", "cp437", "cp1250"])
@pytest.mark.parametrize("text", [tongues.ITALIAN, tongues.FRENCH, tongues.POLISH])
def test_a_western_text_is_guessed_as_ever(encoding: str, text: str) -> None:
    assert encoding_of(text.encode(encoding, "ignore")) in ("cp1252", "latin-1", "utf-8")


@pytest.mark.parametrize("text", [tongues.RUSSIAN, tongues.JAPANESE, tongues.CHINESE, tongues.KOREAN])
def test_damaged_utf_8_is_taken_for_no_old_text(text: str) -> None:
    data = text.encode() + b"\xff" + text.encode()
    assert encoding_of(data) is None


def test_an_old_text_with_bytes_of_another_further_on_is_still_read() -> None:
    data = tongues.RUSSIAN.encode("cp1251") * 300 + b"\x98"
    text, note = decoded_with_note(data) or ("", "")
    assert text == tongues.RUSSIAN * 300 + "\ufffd"
    assert (
        note
        == "encoding: cp1251, a guess, as it is not UTF-8; some of it is not cp1251, and stands as \ufffd"
    )


@pytest.mark.parametrize(
    "data",
    [
        PNG,
        zipped({"letter.txt": tongues.RUSSIAN.encode("cp1251")}),
        gzip.compress(tongues.RUSSIAN.encode("cp1251") * 9),
        zlib.compress(tongues.JAPANESE.encode("shift_jis") * 9),
        Path(sys.executable).resolve().read_bytes()[:BEGINNING],
        tongues.RUSSIAN.encode("cp1251") + b"\0",
        tongues.RUSSIAN.encode("cp1251") + bytes(range(1, 9)),
        b"\xee" * 1000,
        b"\xee\xe5\xe0" * 300,
        bytes(range(0x80, 0x100)) * 9,
    ],
)
def test_a_binary_is_never_a_text(data: bytes) -> None:
    assert encoding_of(data) is None


@pytest.mark.parametrize("first", [0, 0x20, 0x80, 0xA1, 0xC0])
def test_random_bytes_are_never_a_text(first: int) -> None:
    dice = random.Random(first)
    for size in (100, 300, 3000, BEGINNING):
        for _ in range(50 if size < BEGINNING else 3):
            assert encoding_of(bytes(dice.choices(range(first, 0x100), k=size))) is None
