"""The fair lock: who waits comes before who wants it again, and neither the dead nor the stopped keep it."""

import errno
import fcntl
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from brasstag.store.database.fair_lock import FairLock, HeldFile
from tests.processes import KILLED, _context, end, start

PATIENCE = 300.0


def wait_for(look: Any) -> None:
    """Wait until something is so."""
    beat = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        if look():
            return
        beat.wait(0.01)
    raise AssertionError("it never came to this")


def test_who_waits_comes_before_who_wants_it_again_at_once(tmp_path: Path) -> None:
    path = tmp_path / "writing.lock"
    mine, other = FairLock(path), FairLock(path)
    order: list[str] = []

    def wait_and_release() -> None:
        assert other.acquire(PATIENCE)
        order.append("other")
        other.release()

    for _ in range(20):
        assert mine.acquire(PATIENCE)
        thread = threading.Thread(target=wait_and_release)
        thread.start()
        wait_for(HeldFile(tmp_path / "writing-queue.lock").is_taken)
        mine.release()
        assert mine.acquire(PATIENCE)
        order.append("mine")
        mine.release()
        thread.join()
    assert order == ["other", "mine"] * 20


def hold(path: Path, held: Any, how: int) -> None:
    """Take the lock, and get a signal."""
    assert FairLock(path).acquire(PATIENCE)
    held.set()
    os.kill(os.getpid(), how)


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    held = _context.Event()
    assert end(start(hold, tmp_path / "writing.lock", held, signal.SIGKILL)) == KILLED
    assert held.is_set()
    assert FairLock(tmp_path / "writing.lock").acquire(PATIENCE)


def test_a_stopped_process_delays_others_once_and_they_queue_again_when_it_is_gone(tmp_path: Path) -> None:
    path, held = tmp_path / "writing.lock", _context.Event()
    stopped = start(hold, path, held, signal.SIGSTOP)
    assert held.wait(PATIENCE)
    lock = FairLock(path)
    assert not lock.acquire(0.05)
    # This does not wait at all: it would wait for ever if it did.
    assert not lock.acquire(float(threading.TIMEOUT_MAX))
    stopped.kill()
    assert end(stopped) == KILLED
    wait_for(lambda: lock.acquire(PATIENCE))
    assert HeldFile(path).is_taken()
    lock.release()
    assert not HeldFile(path).is_taken()


def test_where_no_file_can_be_made_there_is_no_queue(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not FairLock(tmp_path / "file" / "writing.lock").acquire(PATIENCE)


def test_a_wait_that_has_no_time_left_does_not_keep_the_lock_later(tmp_path: Path) -> None:
    path = tmp_path / "writing.lock"
    mine, other = HeldFile(path), HeldFile(path)
    assert mine.take(PATIENCE)
    assert not other.take(0.0)
    assert other.is_stuck
    mine.give_back()
    wait_for(lambda: not other.is_stuck)
    wait_for(lambda: not HeldFile(path).is_taken())


def test_a_fork_that_lives_longer_does_not_keep_what_was_let_go_of(tmp_path: Path) -> None:
    path = tmp_path / "writing.lock"
    held = HeldFile(path)
    assert held.take(PATIENCE)
    reading, writing = os.pipe()
    fork = os.fork()
    if fork == 0:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    held.close()
    assert not HeldFile(path).is_taken()
    os.close(writing)
    os.waitpid(fork, 0)
    os.close(reading)


def test_a_drive_that_forgets_its_locks_loses_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_descriptor: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    held = HeldFile(tmp_path / "writing.lock")
    assert held.take(PATIENCE)
    monkeypatch.setattr(fcntl, "flock", fails)
    held.give_back()
    assert not HeldFile(tmp_path / "writing.lock").is_taken()
    assert not HeldFile(tmp_path / "writing.lock").take(PATIENCE)


def test_where_no_thread_can_be_started_a_writer_goes_on_without_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "writing.lock"
    mine, other = HeldFile(path), HeldFile(path)
    assert mine.take(PATIENCE)

    def cannot(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", cannot)
    assert not other.take(PATIENCE)
    mine.give_back()
    assert other.take(PATIENCE)
