"""Dates whose order no row settles are told, with the order they are read in."""

from pathlib import Path

import pytest

from tests.documents.data.test_ragged import lines, opened


def told(order: str) -> str:
    return f"no row tells in what order the dates of day are written; they are read as {order}"


@pytest.mark.parametrize(
    ("written", "note"),
    [
        (["02/06/2025", "03/07/2025"], told("day, month, year")),
        (["02-06-2025", "03-07-2025"], told("day, month, year")),
        (["02/06/2025 10:00:00", "03/07/2025 11:00:00"], told("day, month, year")),
        (["02/06/25", "03/07/25"], told("year, month, day")),
        (["02/06/2025", "25/07/2025"], ""),
        (["02/06/2025", "07/25/2025"], ""),
        (["02.06.2025", "03.07.2025"], ""),
        (["2025-06-02", "2025-07-03"], ""),
        (["2025-06-02T10:00:00", "2025-07-03T11:00:00"], ""),
    ],
)
def test_an_order_that_no_row_settles_is_told(tmp_path: Path, written: list[str], note: str) -> None:
    _, _, found = opened(tmp_path, lines("day,units", *(f"{day},1" for day in written)))
    assert found == note


def test_dates_that_a_row_far_behind_the_beginning_contradicts_stay_texts(tmp_path: Path) -> None:
    days = [f"0{number % 9 + 1}/0{number % 7 + 1}/2025,{number}" for number in range(30_000)]
    _, rows, note = opened(tmp_path, lines("day,units", *days, "02/25/2025,1"))
    assert (rows[7], note) == (["08/01/2025", 7], "")
