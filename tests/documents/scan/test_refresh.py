"""Refreshing: who asks waits no longer than they care to, and nothing is walked twice at once."""

import threading
from collections.abc import Callable, Iterator

import pytest

from brasstag.documents.scan.refresh import Refresher
from brasstag.words.errors import StoreError


class Scans:
    """Looks that take as long as a test wants them to."""

    def __init__(self) -> None:
        self.walks = self.glances = 0
        self.go_on = threading.Event()
        self.go_on.set()
        self.begun = threading.Event()
        self.stopped = False
        self.error: Exception | None = None

    def scan_touched(self, _stop: Callable[[], bool]) -> None:
        self.glances += 1
        if self.error is not None:
            raise self.error

    def scan_all(self, stop: Callable[[], bool]) -> None:
        self.walks += 1
        self.begun.set()
        while not self.go_on.wait(0.01):
            if stop():
                self.stopped = True
                return


@pytest.fixture
def scans() -> Scans:
    return Scans()


@pytest.fixture
def refresher(scans: Scans) -> Iterator[Refresher]:
    made = Refresher(scans)
    yield made
    made.close()


def test_whoever_asks_has_everything_looked_at(scans: Scans, refresher: Refresher) -> None:
    assert refresher.refresh(10)
    assert (scans.walks, scans.glances) == (1, 1)
    assert refresher.refresh(10)
    assert scans.walks == 2


def test_a_walk_that_takes_long_is_waited_for_no_longer_than_asked_and_made_once(
    scans: Scans, refresher: Refresher
) -> None:
    scans.go_on.clear()
    assert not refresher.refresh(0)
    assert not refresher.refresh(0)
    assert scans.begun.wait(10)
    assert scans.walks == 1
    scans.go_on.set()
    assert refresher.refresh(10)


def test_what_was_touched_is_looked_at_while_a_walk_is_under_way(scans: Scans, refresher: Refresher) -> None:
    scans.go_on.clear()
    refresher.refresh(0)
    assert scans.begun.wait(10)
    before = scans.glances
    refresher.look_at_touched()
    deadline = threading.Event()
    while scans.glances == before:
        assert not deadline.wait(0.01)
    scans.go_on.set()


def test_where_somebody_watches_nobody_walks_again(scans: Scans, refresher: Refresher) -> None:
    refresher.watched(True)
    for _ in range(3):
        assert refresher.refresh(10)
    assert (scans.walks, scans.glances) == (1, 3)
    refresher.watched(False)
    refresher.refresh(10)
    assert scans.walks == 2


def test_closing_stops_a_walk_and_nothing_begins_after_it(scans: Scans) -> None:
    refresher = Refresher(scans)
    scans.go_on.clear()
    refresher.refresh(0)
    assert scans.begun.wait(10)
    refresher.close()
    assert scans.stopped
    assert not refresher.refresh(10)
    refresher.look_at_touched()
    assert scans.walks == 1


def test_whoever_waits_is_told_what_went_wrong(scans: Scans, refresher: Refresher) -> None:
    scans.error = StoreError("the disk is full")
    with pytest.raises(StoreError, match="full"):
        refresher.refresh(10)


def test_a_look_that_nobody_waits_for_goes_wrong_without_disturbing_who_began_it(
    scans: Scans, refresher: Refresher, caplog: pytest.LogCaptureFixture
) -> None:
    scans.error = StoreError("the disk is full")
    begun = refresher.begin()
    assert [type(future.exception(10)) for future in begun] == [StoreError, type(None)]
    assert "the disk is full" in caplog.text
    scans.error = None
    assert refresher.refresh(10)


def test_a_walk_that_is_doubted_before_it_ends_is_walked_again(scans: Scans, refresher: Refresher) -> None:
    refresher.watched(True)
    scans.go_on.clear()
    begun = refresher.begin()
    assert scans.begun.wait(10)
    refresher.doubt()
    scans.go_on.set()
    for look in begun:
        look.result(10)
    assert scans.walks == 2
    assert refresher.refresh(10)
    assert scans.walks == 2
