"""Charts as in a module job, here not confined: every kind is drawn, the same each time, and bad input is refused."""

import base64
import io
import xml.etree.ElementTree as ET
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.image import imread

from brasstag.documents.data import fonts
from brasstag.documents.data.plot import plot
from brasstag.words.errors import Code, ToolError
from tests.documents.workbooks import workbook

SHIPPED = files("brasstag.app.crews") / "analyst" / "data" / "sales_raw.csv"
SVG = "{http://www.w3.org/2000/svg}"
BY_MONTH = {"x": "month", "y": ["revenue"], "aggregate": "sum"}
PLAIN = {
    "documents": [{"path": "sales_raw.csv", "content": base64.b64encode(SHIPPED.read_bytes()).decode()}],
    "seconds": 20,
    "memory_mb": 300,
    "sql": None,
    "kind": "bar",
    "x": None,
    "y": [],
    "series": None,
    "aggregate": None,
    "title": "",
    "x_label": "",
    "y_label": "",
    "format": "svg",
}


@pytest.fixture(autouse=True)
def _own_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program sets for itself is gone after each test."""
    for name in ("MPL_IGNORE_SYSTEM_FONTS", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, "")


def drawn(**more: Any) -> tuple[dict[str, Any], bytes]:
    found = plot(PLAIN | more)
    return found, base64.b64decode(found["picture"])


def texts(picture: bytes) -> set[str]:
    return {"".join(found.itertext()).strip() for found in ET.fromstring(picture).iter(f"{SVG}text")}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("line", {**BY_MONTH, "series": "region"}),
        ("area", BY_MONTH),
        ("scatter", {"x": "units", "y": ["revenue"]}),
        ("pie", {"x": "region", "y": ["revenue"], "aggregate": "sum"}),
        ("histogram", {"x": "revenue"}),
        ("bar", {"x": "month", "y": ["units", "revenue"], "aggregate": "mean"}),
        ("bar", {"x": "region", "y": ["product"], "aggregate": "count"}),
        ("line", {"sql": "SELECT DATE '2025-01-01' + i::INT AS day, i * 1e9 AS v FROM range(90) t(i)"}),
        ("bar", {"sql": "SELECT 'a name that is rather long ' || i AS n, -i AS v FROM range(30) t(i)"}),
        ("line", {"sql": "SELECT * FROM (VALUES ('a', 1), ('b', NULL), (NULL, 3)) t(x, y)"}),
        ("bar", {"sql": "SELECT 'x' AS n, 0 AS v"}),
        ("scatter", {"sql": "SELECT 1e-9 AS x, 1e300 AS y"}),
    ],
)
def test_every_kind_is_drawn(kind: str, more: dict[str, Any]) -> None:
    found, picture = drawn(kind=kind, **more)
    assert found["row_count"] >= 1
    assert ET.fromstring(picture).tag == f"{SVG}svg"


def test_whatever_the_data_says_stays_text() -> None:
    names = ["<script>alert(1)</script>", "$x^2$", "a & b", "\\frac{", "_"]
    values = ", ".join(f"('{name}', {place})" for place, name in enumerate(names, start=1))
    _, picture = drawn(sql=f"SELECT * FROM (VALUES {values}) t(n, v)", title="<b>$5 & more$</b>")
    assert set(names) | {"<b>$5 & more$</b>"} <= texts(picture)
    assert not [*ET.fromstring(picture).iter(f"{SVG}script")]


def test_no_name_of_a_pie_is_cut_off_at_an_edge() -> None:
    names = (
        "SELECT 'One of many customers with a long name, number ' || i AS n, 100 - i AS v FROM range(12) t(i)"
    )
    _, picture = drawn(
        kind="pie", sql=names, title="A title that is as long as titles are " * 3, format="png"
    )
    pixels = imread(io.BytesIO(picture))
    for edge in (pixels[:, :2], pixels[:, -2:], pixels[:2], pixels[-2:]):
        assert edge.min() == 1.0


def test_every_slice_of_a_pie_has_a_colour_of_its_own() -> None:
    _, picture = drawn(kind="pie", sql="SELECT 'n' || i AS n, 1 AS v FROM range(12) t(i)", format="png")
    colours = Counter(map(bytes, (imread(io.BytesIO(picture)) * 255).astype("uint8").reshape(-1, 4)))
    assert sum(count > 3_000 for count in colours.values()) == 12 + 1


def test_a_name_that_is_one_long_word_is_cut_and_not_left_out() -> None:
    _, picture = drawn(sql="SELECT repeat('x', 90) AS n, 1 AS v")
    assert "x" * 37 + "…" in texts(picture)


def test_an_svg_holds_nothing_that_no_xml_may() -> None:
    _, picture = drawn(title="a\x01b <b>&", sql="SELECT 'c' || chr(2) || 'd' AS n, 1 AS v")
    assert {"a\ufffdb <b>&", "c\ufffdd"} <= texts(picture)


def test_signs_that_no_font_has_are_told_of_where_they_cannot_be_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fonts, "PLACES", (tmp_path,))
    title = {"title": "売上", "sql": "SELECT 'a' AS n, 1 AS v"}
    found, boxes = drawn(**title, format="png")
    assert "上売" in found["notes"][0]
    as_svg, picture = drawn(**title)
    assert as_svg["notes"] == []
    assert "売上" in texts(picture)
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    _font_with("売上", tmp_path / "Other-Regular.ttf")
    found, signs = drawn(**title, format="png")
    assert found["notes"] == []
    assert signs != boxes


def _font_with(signs: str, path: Path) -> None:
    """Write a font in which each of some signs is a square."""
    names = [".notdef", *(f"sign{place}" for place in range(len(signs)))]
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 700), (700, 700), (700, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square = pen.glyph()
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(sign): name for sign, name in zip(signs, names[1:], strict=True)})
    font.setupGlyf(dict.fromkeys(names, square))
    font.setupHorizontalMetrics(dict.fromkeys(names, (800, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(path)


def test_of_a_workbook_with_several_sheets_it_has_to_be_said_which() -> None:
    book = workbook({"Q3": [["x", "y"], ["a", 1]], "Q4": [["x", "y"], ["a", 2]]})
    documents = [{"path": "Plan.xlsx", "content": base64.b64encode(book).decode()}]
    with pytest.raises(ToolError, match=r"plan_q3 \(sheet 'Q3'\), plan_q4 \(sheet 'Q4'\)") as caught:
        drawn(documents=documents)
    assert caught.value.code is Code.INVALID_ARGUMENTS
    assert drawn(documents=documents, sql="FROM plan_q4")[0]["rows"] == [["a", 2.0]]


@pytest.mark.parametrize("form", ["png", "svg"])
def test_equal_data_gives_equal_bytes(form: str) -> None:
    wanted = {**BY_MONTH, "series": "region", "format": form}
    assert drawn(**wanted)[1] == drawn(**wanted)[1]


def test_huge_figures_are_told_in_one_unit() -> None:
    _, picture = drawn(kind="line", sql="SELECT i AS n, i * 1e7 AS v FROM range(1, 5) t(i)")
    assert {"10 m", "40 m"} <= texts(picture)


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ({"x": "mnth"}, Code.INVALID_ARGUMENTS, "there are quarter, month"),
        ({"x": "month", "y": ["region"]}, Code.INVALID_ARGUMENTS, "not numbers"),
        (
            {"x": "month", "y": ["revenue"]},
            Code.INVALID_ARGUMENTS,
            "say with aggregate how they are combined",
        ),
        ({"sql": "SELECT 'a' AS x, 'b' AS y"}, Code.INVALID_ARGUMENTS, "no column of numbers"),
        ({"sql": "SELECT 1 AS x, 2 AS y WHERE false"}, Code.INVALID_ARGUMENTS, "nothing to draw"),
        ({"sql": "SELECT i AS x, i AS y FROM range(100) t(i)"}, Code.TOO_LARGE, "at most 60 rows"),
        (
            {"sql": "SELECT 1 AS x, i AS y, i AS s FROM range(9) t(i)", "series": "s"},
            Code.TOO_LARGE,
            "at most 8",
        ),
        ({"sql": "SELECT regon FROM sales_raw"}, Code.QUERY_FAILED, "region"),
        ({"sql": "DROP VIEW sales_raw"}, Code.INVALID_ARGUMENTS, "one SELECT"),
        (
            {"sql": "SELECT 1 AS x, -1 AS y", "kind": "pie"},
            Code.INVALID_ARGUMENTS,
            "without negative numbers",
        ),
    ],
)
def test_what_cannot_be_drawn_is_told_by_a_code(more: dict[str, Any], code: Code, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        drawn(**more)
    assert caught.value.code is code
    assert words in caught.value.message
