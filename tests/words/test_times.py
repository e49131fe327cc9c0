"""Times somebody typed, as they are written down."""

import pytest

from brasstag.words.times import read_moment


@pytest.mark.usefixtures("tokyo")
@pytest.mark.parametrize(
    ("given", "local", "written"),
    [
        ("2026-03-01", False, "2026-03-01T00:00:00.000000Z"),
        ("2026-03-01", True, "2026-02-28T15:00:00.000000Z"),
        ("2026-03-01T09:30", False, "2026-03-01T09:30:00.000000Z"),
        ("2026-03-01T09:30", True, "2026-03-01T00:30:00.000000Z"),
        ("2026-03-01 09:30:00.25", True, "2026-03-01T00:30:00.250000Z"),
        ("2026-03-01T09:30:00Z", True, "2026-03-01T09:30:00.000000Z"),
        ("2026-03-01T09:30:00+02:00", False, "2026-03-01T07:30:00.000000Z"),
    ],
)
def test_a_time_without_a_zone_is_utc_unless_it_is_local(given: str, local: bool, written: str) -> None:
    assert read_moment(given, local=local) == written


@pytest.mark.usefixtures("tokyo")
@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize(
    "given",
    [
        "",
        "yesterday",
        "2026-02-30",
        "2026-03-01T25:00",
        "0001-01-01T00:00:00+09:00",
        "9999-12-31T23:59:59-09:00",
    ],
)
def test_what_is_no_time_is_refused_with_how_to_write_one(given: str, local: bool) -> None:
    with pytest.raises(ValueError, match="is no time; write 2026-03-01 or"):
        read_moment(given, local=local)


@pytest.mark.usefixtures("tokyo")
def test_a_local_time_before_the_first_there_is_is_refused() -> None:
    with pytest.raises(ValueError, match="is no time"):
        read_moment("0001-01-01", local=True)
