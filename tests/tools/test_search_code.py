"""search_code with a confined ripgrep and without: two ways, one answer."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brasstag import Done, Room, Waiting
from brasstag.sandbox import syscalls
from brasstag.sandbox.process import detect, ripgrep
from brasstag.sandbox.process.ripgrep import Ripgrep, find_ripgrep
from brasstag.sandbox.process.sandbox import Sandbox
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.view.visibility import Visibility
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.toolkit.config.config import Limits
from brasstag.tools.search_code import FEW, search_code
from brasstag.words.errors import ToolError
from brasstag.words.previews import Preview
from tests.conftest import MakeProject
from tests.sandbox.process.support import REPOSITORY
from tests.sandbox.support import Hiding, Listing, meanwhile, open_workspace

pytestmark = pytest.mark.skipif(
    next(detect.programs(REPOSITORY, ""), None) is None,
    reason="no bubblewrap here; scripts/bubblewrap.sh installs it",
)

LARGEST = 100_000
LIMITS = Limits(timeout_seconds=30, numbers={"max_file_bytes": LARGEST, "max_line_characters": 500})
HERE = -100  # AT_FDCWD

Answer = tuple[dict[str, Any], Preview]


@dataclass
class Place:
    """A workspace and a sandbox over it."""

    project: Path
    workspace: Workspace
    sandbox: Sandbox
    visibility: Visibility | None = None

    @property
    def data(self) -> Path:
        return self.project / "data"

    def search(self, query: str, with_ripgrep: bool = True, **arguments: Any) -> Answer:
        draft = Draft(self.workspace, False, self.visibility)
        engine = Ripgrep(self.sandbox, lambda _break_off: None) if with_ripgrep else None
        found = search_code(draft, LIMITS, engine, query, **arguments)
        return found, draft.preview()

    def both(self, query: str, **arguments: Any) -> dict[str, Any]:
        """Search in both ways, see that they agree in everything, and return the answer."""
        (fast, seen_fast), (slow, seen_slow) = (self.search(query, way, **arguments) for way in (True, False))
        assert slow.pop("engine") == "walk"
        engine = fast.pop("engine")
        if slow["truncated"]:
            # How much was passed on the way to the last result differs; what was found does not.
            fast |= {name: slow[name] for name in ("skipped", "files_searched")}
        else:
            assert seen_fast == seen_slow
        assert fast == slow
        return {**fast, "engine": engine}


def open_place(project: Path) -> Place:
    (project / "data").mkdir(parents=True)
    workspace = open_workspace(project)
    return Place(project, workspace, Sandbox(workspace, project / "data", project / "scratch"))


def fill(directory: Path, suffix: str = ".txt") -> None:
    """Put so many files into a directory that ripgrep is worth starting."""
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(FEW + 1):
        (directory / f"filler{number}{suffix}").write_text(f"nothing of interest, number {number}\n")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = open_place(tmp_path / "p")
    with place.workspace:
        fill(place.data / "fill")
        yield place


CONTENTS: dict[str, bytes] = {
    "plain.txt": b"one needle\ntwo\nneedle needle\n",
    "crlf.txt": b"needle\r\nend;\r\n\r\nx needle\r\n",
    "cr.txt": b"needle\rneedle\r",
    "no_final_newline.txt": b"first\nlast needle",
    "bom.txt": b"\xef\xbb\xbfneedle at the start\n",
    "utf16.txt": "needle\n".encode("utf-16"),
    "utf16_cjk.txt": "\u6f22\u5b57".encode("utf-16"),
    "latin1.txt": b"caf\xe9 needle\n\xff\xfe\n",
    "surrogate.txt": b"a\xed\xa0\x80b needle\n",
    "nul_first.bin": b"\0needle\n",
    "nul_after_match.bin": b"needle\n\0\n",
    "nul_late.txt": b"needle\n" + b"x" * 9000 + b"\n\0needle\n",
    "nul_late_only.txt": b"x" * 9000 + b"\0\n",
    "empty.txt": b"",
    "newlines.txt": b"\n\n\n",
    "long_line.txt": b"y" * 60_000 + b"needle" + b"y" * 30_000,
    "at_the_limit.txt": b"needle" + b"z" * (LARGEST - 6),
    "over_the_limit.txt": b"needle" + b"z" * (LARGEST - 5),
    "cases.txt": "Needle NEEDLE ſtraße STRASSE K k \u0130 \u0131 жЖ θϴ".encode(),
    "code.py": b"import numpy as np\n\ndef main(argument):\n\treturn argument[12] + x_1  # TODO needle\n",
    "sub/deep/er/a.txt": b"needle\n",
    "sub.txt": b"needle\n",
    "sub-.txt": b"needle\n",
    ".hidden.txt": b"needle\n",
    ".hidden/a.txt": b"needle\n",
    ".gitignore": b"*.txt\nsub/\n",
    ".ignore": b"*\n",
    "sub/.gitignore": b"*\n",
    "sub/.rgignore": b"*\n",
    "odd\nname\x1b[31m.txt": b"needle\n",
    "-e": b"needle\n",
    "spa ce: x.txt": b"needle\n",
    "\U0001f9ab.txt": b"needle\n",
    "e\u0301.TXT": b"needle\n",
    ".git/config": b"needle\n",
    "venv/lib.py": b"needle\n",
    "env/pyvenv.cfg": b"needle\n",
    "env/lib.py": b"needle\n",
    "foreign/a.txt": b"needle\n",
    "foreign.txt": b"needle\n",
    "closed.txt": b"needle\n",
    "shut/a.txt": b"needle\n",
    "odd: Permission denied (os error 13)\nrg: ./sub/closed.txt": b"needle\n",
}


NEEDS_A_WALK = ("venv/", "env/", "foreign", "closed.txt", "shut/", "odd: ")
"""Control files, and what not everybody may read: where there is one, ripgrep's list of files is not enough."""


def write(data: Path, contents: dict[str, bytes]) -> None:
    fill(data / "fill")
    fill(data / "sub")
    fill(data / "loud", ".TXT")
    for name, content in contents.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(content)


@pytest.fixture(scope="module")
def tidy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Odd names and contents, but nothing that tools may not see or read."""
    place = open_place(tmp_path_factory.mktemp("tidy") / "p")
    write(place.data, {name: data for name, data in CONTENTS.items() if not name.startswith(NEEDS_A_WALK)})
    with place.workspace:
        yield place


@pytest.fixture(scope="module")
def ugly(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Everything that two programs could see differently."""
    place = open_place(tmp_path_factory.mktemp("ugly") / "p")
    data = place.data
    write(data, CONTENTS)
    for raw in (b"not utf8 \xff.txt", b"sub/\xff\xfe"):
        Path(os.fsdecode(os.fsencode(data) + b"/" + raw)).write_bytes(b"needle\n")
    (place.project / "outside").mkdir()
    (place.project / "outside" / "secret.txt").write_text("SECRET needle\n")
    for name, target in {
        "in.txt": "plain.txt",
        "in": "sub",
        "out.txt": "../outside/secret.txt",
        "out": "../outside",
        "absolute": str(place.project / "outside"),
        "dangling": "nowhere",
        "loop": "loop",
        "sub/up": "..",
    }.items():
        (data / name).symlink_to(target)
    os.mkfifo(data / "pipe")
    os.link(data / ".git" / "config", data / "control_by_another_name.txt")
    for name in ("closed.txt", "shut", "odd: Permission denied (os error 13)\nrg: ./sub/closed.txt"):
        (data / name).chmod(0)
    if os.geteuid() == 0:
        # Root may read these; a program without capabilities may not.
        for name in ("foreign", "foreign.txt"):
            os.chown(data / name, 12345, 12345)
            (data / name).chmod(0o700)
    with place.workspace:
        yield place
    for name in ("closed.txt", "shut"):
        (data / name).chmod(0o700)


LITERALS = [
    "needle",
    "NEEDLE",
    "needle\r",
    "Needle",
    "STRASSE",
    "ſ",
    "K",
    "жж",
    "İ",
    "\x00",
    "é",
    "e\u0301",
    ".",
    "(",
    "z" * 50,
    "TODO",
    "no such",
]
EXPRESSIONS = [
    r"^needle", r"needle$", r"end;$", r"^\S+ needle$", r"def \w+\(", r"\bneedle\b", r"\d+\]",
    r"caf.", r"caf. ", r"a.b", r"[^a-z\s]+", r"n[a-f]{2}dle",
    r"(one|last) needle", r"\t", r"\s$", r"x+y|y{5}needle", r"(?i)NEEDLE", r"[ß-ſ]", r"\W\W",
    r"import .* as", r".needle", r"\Bedle",
]  # fmt: skip
WALKED = [r"^$", r"x*", r"\pL+", r"(?s)a.b", r"[[:digit:]]+", r"\x{6f22}", "$"]


@pytest.mark.parametrize("case_sensitive", [True, False])
@pytest.mark.parametrize("query", LITERALS)
def test_both_ways_find_the_same_text(ugly: Place, tidy: Place, query: str, case_sensitive: bool) -> None:
    for place, hidden in product((ugly, tidy), (False, True)):
        found = place.both(query, case_sensitive=case_sensitive, include_hidden=hidden, max_results=5000)
        assert found["engine"] == "ripgrep"


@pytest.mark.parametrize("case_sensitive", [True, False])
@pytest.mark.parametrize("query", EXPRESSIONS)
def test_both_ways_find_the_same_expressions(
    ugly: Place, tidy: Place, query: str, case_sensitive: bool
) -> None:
    for place in (ugly, tidy):
        found = place.both(query, regex=True, case_sensitive=case_sensitive, context=1, max_results=5000)
        assert found["engine"] == "ripgrep"


@pytest.mark.parametrize("query", WALKED)
def test_what_ripgrep_may_understand_differently_it_is_not_asked(ugly: Place, query: str) -> None:
    assert ugly.both(query, regex=True, max_results=5000)["engine"] == "walk"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text("need Llk1.x\réſ\t", min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([".", "sub", "sub/deep/..", "in"]),
    st.integers(1, 12),
)
def test_both_ways_agree_on_any_text_anywhere(
    ugly: Place, tidy: Place, query: str, case_sensitive: bool, directory: str, most: int
) -> None:
    # The link is one of the ugly things.
    for place in (ugly,) if directory == "in" else (ugly, tidy):
        found = place.both(query, case_sensitive=case_sensitive, directory=directory, max_results=most)
        assert found["engine"] == "ripgrep"


@pytest.mark.parametrize(
    "globs",
    [
        {"include": ["*.txt"]},
        {"include": ["*.py", "*.txt"], "exclude": ["sub*"]},
        {"include": ["sub/**"]},
        {"include": ["*.{txt,py}"]},
        {"include": ["*.TXT"]},
        {"exclude": ["*.txt"]},
    ],
)
def test_globs_mean_the_same_in_both_ways(ugly: Place, tidy: Place, globs: dict[str, Any]) -> None:
    for place in (ugly, tidy):
        found = place.both("needle", include_hidden=True, **globs)
        assert found["engine"] == "ripgrep"
        assert found["matches"]


def test_what_was_met_is_counted_as_it_is(ugly: Place) -> None:
    found = ugly.both("needle")
    assert found["skipped"]["binary"] == 2
    assert found["skipped"]["too_large"] == 1
    assert found["skipped"]["unreadable"] == 2 + (3 if os.geteuid() else 0)
    assert {one["path"] for one in found["matches"]}.isdisjoint(
        {".git/config", "venv/lib.py", "env/lib.py", "control_by_another_name.txt", "out.txt", "in.txt"}
    )
    assert "sub.txt" in {one["path"] for one in found["matches"]}
    assert all("SECRET" not in one["text"] for one in found["matches"])


def test_the_first_results_are_the_same_however_many_there_are(place: Place) -> None:
    for number in range(30):
        (place.data / f"many{number}.txt").write_text("needle\n" * 3000)
    found = place.both("needle", max_results=5000)
    assert found["truncated"] == "results"
    assert len(found["matches"]) == 5000
    assert found["matches"][-1]["path"] == "many1.txt"
    assert found["engine"] == "ripgrep"


def test_what_a_rule_hides_is_neither_found_nor_told_apart(place: Place) -> None:
    (place.data / "secret").mkdir()
    (place.data / "secret" / "a.txt").write_text("needle\n")
    (place.data / "secret.txt").write_text("needle\n")
    place.visibility = Hiding(lambda path: path.startswith("secret"))
    with_match, without = place.both("needle"), place.both("needles")
    assert with_match["engine"] == "ripgrep"
    assert with_match["matches"] == []
    assert with_match == without
    assert with_match["skipped"]["forbidden"] == 2


def test_a_file_a_rule_speaks_about_is_named_as_read_although_nothing_is_found_in_it(place: Place) -> None:
    place.visibility = Listing(lambda path: path == "fill/filler7.txt")
    found, preview = place.search("no such text")
    assert found["engine"] == "ripgrep"
    assert "fill/filler7.txt" in [seen.path for seen in preview.reads]


async def test_a_rule_that_asks_about_a_file_is_heard_before_a_search_shows_anything(
    make_project: MakeProject,
) -> None:
    project = make_project(
        '[[rules]]\nask = "search_code(plans.md)"\nbecause = "plans are private"\n'
        'match = ["search_code(plans.md)"]\nnot_match = ["search_code(notes.md)"]\n'
    )
    fill(project / "data")
    (project / "data" / "plans.md").write_text("nothing\n")
    async with Room.open(project) as room:
        assert isinstance(await room.call("search_code", {"query": "needle"}), Waiting)
        told = await room.call("search_code", {"query": "needle", "exclude": ["plans.md"]})
        assert isinstance(told, Done)
        assert told.value["engine"] == "ripgrep"


def test_a_directory_swapped_with_a_link_out_shows_nothing_of_what_is_outside(place: Place) -> None:
    outside = place.project / "outside"
    fill(outside)
    for directory in (place.data / "d", outside):
        directory.mkdir(exist_ok=True)
        (directory / "f.txt").write_text("needle\n" if directory != outside else "SECRET needle\n")
    (place.data / "link").symlink_to(outside)

    def swap() -> None:
        one, other = (os.fsencode(place.data / name) for name in ("d", "link"))
        syscalls.renameat2(HERE, one, HERE, other, syscalls.RENAME_EXCHANGE)

    engines = set()
    with meanwhile(swap):
        for turn in range(60):
            with suppress(ToolError):
                found, _ = place.search("needle", directory="." if turn % 2 else "d")
                engines.add(found["engine"])
                assert all("SECRET" not in one["text"] for one in found["matches"]), found
    assert "ripgrep" in engines


def plant(directory: Path, script: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / "rg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Forget which programs were tried."""
    monkeypatch.setattr(ripgrep, "_tried", {})
    return monkeypatch


LYING = 'test "$1" = --version && echo ripgrep 99.0.0'


def test_a_ripgrep_in_the_workspace_is_never_used(place: Place, fresh: pytest.MonkeyPatch) -> None:
    (place.data / "a.txt").write_text("needle\n")
    planted = plant(place.data / "bin", LYING)
    (place.project / "bin").mkdir()
    (place.project / "bin" / "rg").symlink_to(planted)
    fresh.setenv(
        "PATH",
        os.pathsep.join([str(planted.parent), str(place.project / "bin"), "data/bin", os.environ["PATH"]]),
    )
    found = place.both("needle")
    assert [one["path"] for one in found["matches"]] == ["a.txt"]
    program = find_ripgrep(place.sandbox)
    assert program is not None
    assert not program.path.is_relative_to(place.project)


@pytest.mark.parametrize(
    ("script", "is_used"),
    [
        ("echo ripgrep 12.1.1", False),
        ("echo no version", False),
        ("exit 1", False),
        (f"{LYING} || exit 3", True),
        (f"{LYING} || {{ echo 'rg: something else' >&2; exit 2; }}", True),
        (f"{LYING} || exit 2", True),
        (f"{LYING} || kill -9 $$", True),
        (f"{LYING} || while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", True),
    ],
)
def test_a_ripgrep_that_is_too_old_or_fails_changes_no_answer(
    place: Place, fresh: pytest.MonkeyPatch, script: str, is_used: bool
) -> None:
    (place.data / "a.txt").write_text("needle\n")
    planted = plant(place.project / "bin", script)
    fresh.setenv("PATH", os.pathsep.join([str(planted.parent), os.environ["PATH"]]))
    program = find_ripgrep(place.sandbox)
    assert program is not None
    assert (program.path == planted) is is_used
    found = place.both("needle")
    assert found["engine"] == ("walk" if is_used else "ripgrep")
    assert [one["path"] for one in found["matches"]] == ["a.txt"]


def test_where_nothing_confines_the_files_are_walked(place: Place, fresh: pytest.MonkeyPatch) -> None:
    (place.data / "a.txt").write_text("needle\n")
    fresh.setattr(detect, "_PLACES", ())
    fresh.setenv("PATH", str(place.project))
    found = place.both("needle")
    assert found["engine"] == "walk"
    assert len(found["matches"]) == 1


def test_a_search_that_is_broken_off_leaves_nothing_running(place: Place) -> None:
    broken: list[object] = []

    def at_once(break_off: Callable[[], None] | None) -> None:
        broken.append(break_off)
        if break_off is not None:
            break_off()

    draft = Draft(place.workspace, False)
    found = search_code(draft, LIMITS, Ripgrep(place.sandbox, at_once), "number 77")
    assert found["engine"] == "walk"
    assert broken[-1] is None
    assert len(found["matches"]) == 1
    assert place.sandbox.sweep() == 0


def test_few_files_are_not_worth_a_program(place: Place) -> None:
    (place.data / "few").mkdir()
    (place.data / "few" / "a.txt").write_text("needle\n")
    assert place.both("needle", directory="few")["engine"] == "walk"
    assert place.both("needle", directory="few/a.txt")["engine"] == "walk"
