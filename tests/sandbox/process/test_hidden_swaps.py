"""Other programs move and replace what is hidden while a run is set up: it stays hidden, or nothing is run."""

import fcntl
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from brasstag.sandbox import syscalls
from tests.sandbox.process.support import Project
from tests.sandbox.process.test_hidden_from_code import PRIVATE, READ
from tests.sandbox.support import meanwhile

HERE = -100  # AT_FDCWD


def exchange(one: Path, other: Path) -> None:
    syscalls.renameat2(HERE, os.fsencode(one), HERE, os.fsencode(other), syscalls.RENAME_EXCHANGE)


READ_ALL = """
found = set()
for _ in range(200):
    for place in ("d", "e", "d/deep", "e/deep"):
        found.add(held(f"{place}/{env}"))
print(json.dumps(sorted(found)))
"""


def swapped_project(confined: Project, other: str, *, foreign: bool) -> Project:
    """Hide files in d/; beside it lies a link out, or a directory that holds nothing to hide."""
    confined.write("d/.env", PRIVATE)
    confined.write("d/deep/.env", PRIVATE)
    if other == "link":
        (confined.data / "e").symlink_to(confined.path / "outside")
    else:
        confined.write("e/plain", "plain")
    confined.own()
    if foreign and os.geteuid() == 0:
        os.chown(confined.write("foreign.txt", "of another user"), 1234, 1234)
    return confined


def race(confined: Project, runs: int) -> Counter[str]:
    """Swap d with e while code is set up again and again; count how the runs ended.

    No path is swapped while code runs: what is moved then may be seen.
    """
    outcomes: Counter[str] = Counter()
    lock = confined.path / "swap.lock"
    lock.touch(0o644)

    def swap() -> None:
        with lock.open() as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            exchange(confined.data / "d", confined.data / "e")
        os.sched_yield()

    given = {"language": "python", "code": READ + READ_ALL}
    outside = sorted(os.listdir(confined.path / "outside"))
    with meanwhile(swap):
        for _ in range(runs):
            answer = confined.runner.ask(
                "raced",
                project=str(confined.path),
                tool="run_code",
                arguments=given,
                approve=True,
                lock=str(lock),
            )
            assert "outcome" in answer, answer
            assert PRIVATE not in json.dumps(answer), answer
            assert sorted(os.listdir(confined.path / "outside")) == outside
            outcomes[answer["outcome"]] += 1
            if answer["outcome"] == "done":
                assert set(json.loads(answer["stdout"])) <= {"", "FileNotFoundError", "NotADirectoryError"}
            else:
                assert (answer["outcome"], answer["code"]) == ("failed", "CHANGED"), answer
    return outcomes


@pytest.mark.parametrize("foreign", [False, True], ids=["layer", "copy"])
@pytest.mark.parametrize("other", ["link", "directory"])
def test_a_swapped_directory_shows_nothing_hidden_and_nothing_is_made_outside(
    confined: Project, other: str, foreign: bool
) -> None:
    assert race(swapped_project(confined, other, foreign=foreign), 6).total() == 6


@pytest.mark.slow
@pytest.mark.parametrize("foreign", [False, True], ids=["layer", "copy"])
def test_a_hundred_runs_beside_a_swap_show_nothing_hidden(confined: Project, foreign: bool) -> None:
    assert race(swapped_project(confined, "link", foreign=foreign), 100).total() == 100


MOVES: dict[str, list[tuple[str, str]]] = {
    "a directory becomes a link out": [("d", "away"), ("out", "d")],
    "a directory is moved": [("d", "away")],
    "a directory becomes another": [("d", "away"), ("plain", "d")],
    "a file becomes a link out": [("d/.env", "away"), ("out-file", "d/.env")],
    "a file becomes another": [("d/.env", "away"), ("plain/file", "d/.env")],
    "a file is moved": [("d/.env", "away")],
    "a hidden directory becomes another": [("keys", "away"), ("plain", "keys")],
    "what is only shown becomes a link out": [(".git", "away"), ("out", ".git")],
    "what is only shown becomes another": [(".git", "away"), ("plain", ".git")],
}
SHOWN = [kind for kind in MOVES if kind.startswith("what is only shown")]


@pytest.mark.parametrize(
    ("footing", "when"),
    [
        ("overlay", "listed"),
        ("read-only", "listed"),
        ("snapshot", "listed"),
        ("overlay", "behind its gate"),
        ("read-only", "behind its gate"),
    ],
)
@pytest.mark.parametrize("kind", MOVES)
def test_what_moves_between_the_listing_and_the_start_refuses_the_run(
    confined: Project, kind: str, footing: str, when: str
) -> None:
    for name in ("d/.env", "keys/a", ".git/id"):
        confined.write(name, PRIVATE)
    confined.write("plain/file", "plain")
    (confined.data / "out").symlink_to(confined.path / "outside")
    (confined.data / "out-file").symlink_to(confined.path / "outside" / "secret.txt")
    confined.own()
    before = sorted(os.listdir(confined.path / "outside"))
    answer = confined.runner.ask(
        "swapped",
        project=str(confined.path),
        footing=footing,
        hidden=["d/.env", "keys", ".git/id"],
        moves=MOVES[kind],
        # A layer looks for itself at what it shows, and a copy is made with it.
        when="layer made" if kind in SHOWN and when == "listed" else when,
        script="cat d/.env away away/* away/.env keys/* .git/*",
    )
    assert answer.get("raised") == "HiddenMoved", answer
    assert answer["code"] == "CHANGED"
    assert "was not run" in answer["message"]
    assert sorted(os.listdir(confined.path / "outside")) == before
    assert os.listdir(confined.path / "scratch") == []


@pytest.mark.parametrize("footing", ["overlay", "read-only", "snapshot"])
def test_where_nothing_moves_the_same_run_finds_what_is_hidden_empty(confined: Project, footing: str) -> None:
    for name in ("d/.env", "keys/a", ".git/id"):
        confined.write(name, PRIVATE)
    confined.write(".git/config", "shown")
    confined.own()
    answer = confined.runner.ask(
        "swapped",
        project=str(confined.path),
        footing=footing,
        hidden=["d/.env", "keys", ".git/id"],
        moves=[],
        when="listed",
        script="cat d/.env .git/id && ls -A keys && cat .git/config && ! touch .git/config",
    )
    assert (answer["stdout"], answer["exit_code"], answer["footing"]) == ("shown", 0, footing), answer


PLACED = ".brasstag-call_1-0.tmp"
"""What a call calls a file until it is in its place."""


@pytest.mark.parametrize("footing", ["overlay", "read-only", "snapshot"])
@pytest.mark.parametrize("when", ["listed", "layer made"])
@pytest.mark.parametrize(
    "moves",
    [[(f"d/{PLACED}", "d/new")], [(f"d/{PLACED}", "d/new"), ("plain", f"d/{PLACED}")], []],
    ids=["in its place", "swapped", "still there"],
)
def test_a_file_that_another_call_puts_in_its_place_refuses_no_run(
    confined: Project, moves: list[tuple[str, str]], when: str, footing: str
) -> None:
    for name in (f"d/{PLACED}", "d/.env", "plain"):
        confined.write(name, PRIVATE if name != "plain" else "plain")
    confined.own()
    answer = confined.runner.ask(
        "swapped",
        project=str(confined.path),
        footing=footing,
        hidden=[f"d/{PLACED}", "d/.env"],
        moves=moves,
        when=when,
        script=f"cat d/.env d/{PLACED} 2> /dev/null; true",
    )
    assert (answer.get("stdout"), answer.get("exit_code")) == ("", 0), answer


@pytest.mark.parametrize(
    ("seen_as", "ends"), [("plain", "HiddenMoved"), ("d", "")], ids=["swapped", "itself"]
)
def test_two_directories_that_were_both_taken_for_the_one_that_hides_nothing_refuse_the_run(
    confined: Project, seen_as: str, ends: str
) -> None:
    confined.write("d/.env", PRIVATE)
    confined.write("plain/file", "plain")
    confined.own()
    answer = confined.runner.ask(
        "swapped",
        project=str(confined.path),
        footing="overlay",
        hidden=[],
        walked=[("d", seen_as), ("plain", "plain")],
        moves=[],
        when="listed",
        script="true",
    )
    assert answer.get("raised", "") == ends, answer
