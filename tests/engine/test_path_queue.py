"""The queue of calls that wait for one path: a call that comes later stands behind those that wait."""

import threading
from pathlib import Path

import pytest

from brasstag.engine import path_queue
from brasstag.engine.path_queue import PathQueue
from brasstag.words.errors import LeaseHeld


def test_a_call_that_comes_later_does_not_pass_one_that_waits(tmp_path: Path) -> None:
    here, elsewhere = PathQueue(tmp_path / "queue"), PathQueue(tmp_path / "queue")
    here.require_turn("call_a", ["a.md"])
    with here.turn("call_a", "a.md"):
        here.require_turn("call_a", ["a.md", "b.md"])
        for queue in (here, elsewhere):
            with pytest.raises(LeaseHeld):
                queue.require_turn("call_b", ["b.md", "a.md"])
            queue.require_turn("call_b", ["b.md"])
    elsewhere.require_turn("call_b", ["a.md"])


def test_calls_that_wait_have_their_turn_one_after_the_other(tmp_path: Path) -> None:
    at_once: list[int] = []
    inside: set[str] = set()

    def wait(name: str) -> None:
        with PathQueue(tmp_path / "queue").turn(name, "a.md"):
            inside.add(name)
            at_once.append(len(inside))
            inside.discard(name)

    threads = [threading.Thread(target=wait, args=(f"call_{number}",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert at_once == [1] * 12


def test_a_call_that_has_waited_long_enough_goes_on_without_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(path_queue, "LONGEST_WAIT", 0.05)
    stopped, queue = PathQueue(tmp_path / "queue"), PathQueue(tmp_path / "queue")
    with stopped.turn("call_a", "a.md"), queue.turn("call_b", "a.md"):
        queue.require_turn("call_b", ["a.md"])


def test_calls_that_come_later_do_not_wait_for_one_that_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(path_queue, "LONGEST_WAIT", 0.05)
    stopped, queue = PathQueue(tmp_path / "queue"), PathQueue(tmp_path / "queue")
    with stopped.turn("call_a", "a.md"):
        with queue.turn("call_b", "a.md"):
            pass
        threads = threading.active_count()
        monkeypatch.setattr(path_queue, "LONGEST_WAIT", threading.TIMEOUT_MAX)
        queue.require_turn("call_c", ["a.md"])
        for number in range(20):
            # This does not wait at all: it would wait for ever if it did.
            with queue.turn(f"call_{number}", "a.md"):
                pass
        # Threads of others may end meanwhile.
        assert threading.active_count() <= threads


def test_a_call_does_not_wait_for_itself(tmp_path: Path) -> None:
    queue = PathQueue(tmp_path / "queue")
    with queue.turn("call_a", "a.md"), queue.turn("call_a", "a.md"):
        queue.require_turn("call_a", ["a.md"])


def test_without_a_folder_calls_do_not_queue() -> None:
    queue = PathQueue()
    with queue.turn("call_a", "a.md"):
        queue.require_turn("call_b", ["a.md"])
