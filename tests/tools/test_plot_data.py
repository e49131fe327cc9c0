"""plot_data through a whole room: pictures of what documents hold, drawn confined, written like any file."""

import csv
import shutil
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from brasstag import Code, Done, Failed, Outcome, Room, Waiting

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SHIPPED = files("brasstag.app.crews") / "analyst" / "data" / "sales_raw.csv"
PNG = b"\x89PNG\r\n\x1a\n"
BY_MONTH = {"x": "month", "y": "revenue", "aggregate": "sum"}


@dataclass(frozen=True, slots=True)
class Desk:
    """A room with the sales of the analyst crew."""

    room: Room
    data: Path

    async def plot(self, path: str = "chart.svg", **more: Any) -> Outcome:
        arguments = {"documents": ["sales_raw.csv"], "path": path}
        return await self.room.call("plot_data", arguments | more)

    async def drawn(self, path: str = "chart.svg", **more: Any) -> dict[str, Any]:
        outcome = await self.plot(path, **more)
        assert isinstance(outcome, Done), outcome
        found: dict[str, Any] = outcome.value
        return found

    async def failure(self, path: str = "chart.svg", **more: Any) -> Failed:
        outcome = await self.plot(path, **more)
        assert isinstance(outcome, Failed), outcome
        assert not (self.data / path).exists()
        return outcome

    def texts(self, path: str = "chart.svg") -> set[str]:
        return {
            "".join(found.itertext()).strip()
            for found in ET.parse(self.data / path).iter()
            if _is_text(found)
        }


def _is_text(element: ET.Element) -> bool:
    return element.tag == "{http://www.w3.org/2000/svg}text"


@pytest.fixture
async def desk(project: Path) -> AsyncIterator[Desk]:
    (project / "data" / "sales_raw.csv").write_bytes(SHIPPED.read_bytes())
    async with Room.open(project) as room:
        yield Desk(room, project / "data")


async def test_a_png_is_drawn_and_its_rows_are_the_sums_of_the_file(desk: Desk) -> None:
    found = await desk.drawn("charts.png", **BY_MONTH, title="Revenue by month")
    picture = (desk.data / "charts.png").read_bytes()
    assert picture.startswith(PNG)
    assert (found["path"], found["size_bytes"]) == ("charts.png", len(picture))
    assert int.from_bytes(picture[16:20], "big") == found["width"]
    assert int.from_bytes(picture[20:24], "big") == found["height"]
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in csv.DictReader(SHIPPED.read_text().splitlines()):
        sums[row["month"]] += Decimal(row["revenue"])
    assert [month for month, _ in found["rows"]] == list(sums)
    for month, value in found["rows"]:
        assert value == pytest.approx(float(sums[month]))
    assert found["sources"][0]["view"] == "sales_raw"


async def test_an_svg_says_its_title_its_axes_and_its_names_as_text(desk: Desk) -> None:
    await desk.drawn(**BY_MONTH, title="Revenue by month, in EUR", y_label="EUR")
    assert {"Revenue by month, in EUR", "month", "EUR", "2025-09", "118,365"} <= desk.texts()


async def test_what_cannot_be_seen_in_the_picture_is_told(desk: Desk) -> None:
    # For private use, so that no font has it.
    found = await desk.drawn("charts.png", **BY_MONTH, title="Revenue \U0010fffd")
    assert "\U0010fffd" in found["notes"][0]
    assert (await desk.drawn(**BY_MONTH, title="Revenue \U0010fffd"))["notes"] == []


async def test_drawing_over_a_file_asks_first(desk: Desk) -> None:
    (desk.data / "chart.svg").write_text("mine")
    assert isinstance(await desk.plot(**BY_MONTH), Waiting)
    assert (desk.data / "chart.svg").read_text() == "mine"


async def test_a_link_with_the_name_of_a_chart_does_not_turn_a_document_into_one(desk: Desk) -> None:
    (desk.data / "chart.svg").symlink_to("sales_raw.csv")
    failed = await desk.plot(**BY_MONTH)
    assert isinstance(failed, Failed), failed
    assert failed.code is Code.INVALID_ARGUMENTS
    assert "chart.svg, or what it leads to, ends with neither" in failed.message
    assert (desk.data / "sales_raw.csv").read_bytes() == SHIPPED.read_bytes()


@pytest.mark.parametrize("path", ["sales.svg", "other.svg"])
async def test_a_chart_is_not_written_over_what_it_is_drawn_from(desk: Desk, path: str) -> None:
    source = desk.data / "sales.svg"
    source.write_bytes(SHIPPED.read_bytes())
    (desk.data / "other.svg").symlink_to("sales.svg")
    failed = await desk.plot(path, documents=["sales.svg"], **BY_MONTH)
    assert isinstance(failed, Failed), failed
    assert failed.code is Code.INVALID_ARGUMENTS
    assert "one of the documents that are drawn from" in failed.message
    assert source.read_bytes() == SHIPPED.read_bytes()


async def test_a_chart_is_written_through_a_link_to_another(desk: Desk) -> None:
    (desk.data / "latest.png").symlink_to("chart.svg")
    assert (await desk.drawn("latest.png", **BY_MONTH))["path"] == "chart.svg"
    assert "month" in desk.texts()


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ({"x": "mnth"}, Code.INVALID_ARGUMENTS, "there are quarter, month"),
        ({"sql": "SELECT regon FROM sales_raw"}, Code.QUERY_FAILED, "region"),
        ({"kind": "radar"}, Code.INVALID_ARGUMENTS, "kind"),
        ({"title": "x" * 201}, Code.INVALID_ARGUMENTS, "title"),
        ({"path": "chart.gif"}, Code.INVALID_ARGUMENTS, "neither .png nor .svg"),
        ({"documents": ["none.csv"]}, Code.FILE_NOT_FOUND, "none.csv"),
        ({"documents": ["sales_raw.csv", "other.csv"]}, Code.INVALID_ARGUMENTS, "several documents need sql"),
    ],
)
async def test_bad_input_is_a_coded_failure_and_draws_nothing(
    desk: Desk, more: dict[str, Any], code: Code, words: str
) -> None:
    path = more.pop("path", "chart.svg")
    failed = await desk.failure(path, **more)
    assert failed.code is code, failed
    assert words in failed.message
