"""Laws of drafts: what is staged and applied is what plain functions would have done, and nothing else happens."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.sandbox.workspace.change.apply import apply_changes
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import ToolError
from tests.sandbox.support import contents, open_workspace, snapshot

FAST = "/dev/shm" if os.path.isdir("/dev/shm") else None
"""Where nothing has to wait for a disk."""

PATHS = [
    "a",
    "b",
    "n",
    "d",
    "d/a",
    "d/n",
    "d/e",
    "d/e/a",
    "d/e/f/g",
    "l",
    "l/a",
    "l/n",
    "m",
    "d/up",
    "b/x",
    "",
]
LINKS = {"l": "d", "m": "a", "d/up": "../b", "dangling": "d/new/thing"}

paths = st.sampled_from([*PATHS, "dangling"])
writes = st.tuples(st.just("write"), paths, st.sampled_from([b"", b"one", b"two"]))
removals = st.tuples(st.just("remove"), paths, st.booleans())
moves = st.tuples(st.just("move"), paths, paths, st.booleans())
directories = st.tuples(st.just("mkdir"), paths)
operations = st.lists(st.one_of(writes, removals, moves, directories), min_size=1, max_size=8)


class Plain:
    """The same operations with plain functions on a directory of their own."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)

    def place(self, path: str, follow: bool) -> str:
        whole = os.path.normpath(os.path.join(self.root, path))
        if follow or whole == self.root:
            place = os.path.realpath(whole)
        else:
            place = os.path.join(os.path.realpath(os.path.dirname(whole)), os.path.basename(whole))
        loops = os.path.islink(place) and (follow or whole == self.root)
        if loops or not (place == self.root or place.startswith(self.root + "/")):
            raise OSError("leads out or in a circle")
        return place

    def write(self, path: str, data: bytes) -> None:
        place = self.place(path, follow=True)
        if os.path.isdir(place):
            raise IsADirectoryError
        os.makedirs(os.path.dirname(place), exist_ok=True)
        Path(place).write_bytes(data)

    def mkdir(self, path: str) -> None:
        os.makedirs(self.place(path, follow=True), exist_ok=True)

    def remove(self, path: str, recursive: bool) -> None:
        place = self.place(path, follow=False)
        if place == self.root:
            raise PermissionError
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.rmtree(place) if recursive else os.rmdir(place)
        else:
            os.unlink(place)

    def move(self, source: str, target: str, overwrite: bool) -> None:
        old, new = self.place(source, follow=False), self.place(target, follow=False)
        if self.root in (old, new) or old == new or new.startswith(f"{old}/") or not os.path.lexists(old):
            raise OSError("makes no sense")
        if os.path.lexists(new):
            is_directory = [os.path.isdir(place) and not os.path.islink(place) for place in (old, new)]
            if not overwrite or any(is_directory):
                raise FileExistsError
        if self.leads_out_after(old, new):
            raise OSError("a link would lead out")
        os.makedirs(os.path.dirname(new), exist_ok=True)
        os.rename(old, new)

    def leads_out_after(self, old: str, new: str) -> bool:
        """Try the move on a copy, and see whether any link leads out of it."""
        with tempfile.TemporaryDirectory(dir=FAST) as place:
            root = os.path.join(os.path.realpath(place), "copy")
            shutil.copytree(self.root, root, symlinks=True)
            copied_old, copied_new = (path.replace(self.root, root, 1) for path in (old, new))
            os.makedirs(os.path.dirname(copied_new), exist_ok=True)
            os.rename(copied_old, copied_new)
            links = (path for path in Path(root).rglob("*") if path.is_symlink())
            return any(not f"{os.path.realpath(link)}/".startswith(f"{root}/") for link in links)


def plant(root: Path) -> None:
    (root / "d" / "e").mkdir(parents=True)
    for path in ("a", "b", "d/a", "d/e/a"):
        (root / path).write_text(f"at {path}")
    for path, target in LINKS.items():
        (root / path).symlink_to(target)


@contextmanager
def project(portable: bool) -> Iterator[tuple[Path, Workspace]]:
    with tempfile.TemporaryDirectory(dir=FAST) as place:
        root = Path(place)
        (root / "data").mkdir()
        plant(root / "data")
        with open_workspace(root, portable) as workspace:
            yield root, workspace


def staged(draft: Draft) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for entry in draft.entries(recursive=True, hidden=True):
        if entry.type == "symlink":
            found[entry.path] = b"link"
        else:
            found[entry.path] = None if entry.type == "directory" else draft.read_bytes(entry.path)
    return found


def plainly(root: Path) -> dict[str, bytes | None]:
    kinds = {"link": b"link", "directory": None}
    return {path: kinds.get(kind, data) for path, (kind, data, _) in snapshot(root).items()}


def succeeds(operation: Callable[..., object], *arguments: object) -> bool:
    try:
        operation(*arguments)
    except (ToolError, OSError):
        return False
    return True


@pytest.mark.parametrize("portable", [False, True])
@given(steps=operations)
@settings(max_examples=100, deadline=None)
def test_a_draft_applied_equals_plain_functions_and_can_be_taken_back(
    portable: bool, steps: list[tuple[object, ...]]
) -> None:
    with project(portable) as (root, workspace):
        data = root / "data"
        shutil.copytree(data, root / "mirror", symlinks=True)
        original = snapshot(data)
        plain, draft = Plain(root / "mirror"), Draft(workspace, writable=True)
        acts = {"write": draft.write_bytes, "mkdir": draft.make_directory} | {
            "remove": draft.remove,
            "move": draft.move,
        }
        for name, *arguments in steps:
            drafted = succeeds(acts[str(name)], *arguments)
            assert drafted == succeeds(getattr(plain, str(name)), *arguments), (name, arguments)
            assert staged(draft) == plainly(root / "mirror")
        draft.persist()
        preview = draft.preview()
        assert snapshot(data) == original, "looking changed something"

        apply_changes(workspace, "call_one", preview.changes)
        assert contents(data) == contents(root / "mirror")

        undo = Draft(workspace, writable=True)
        for change in reversed(preview.changes):
            undo.take_back(change)
        undo.persist()
        apply_changes(workspace, "call_two", undo.preview().changes)
        assert snapshot(data) == original


NAMES = [
    "..",
    ".",
    "",
    "a",
    "d",
    "l",
    "out",
    "absolute",
    "proc",
    "x\0",
    "\ud800",
    "é" * 200,
    ".git",
    "n" * 300,
]
evil = st.one_of(
    st.lists(st.sampled_from(NAMES), max_size=8).map("/".join),
    st.text(max_size=30),
    st.sampled_from(
        ["/etc/passwd", "//etc", "out/secret", "out/../../outside/secret", "proc/root/etc/passwd"]
    ),
)


@pytest.mark.parametrize("portable", [False, True])
@given(path=evil, other=evil)
@settings(max_examples=120, deadline=None)
def test_no_path_reaches_outside_the_workspace(portable: bool, path: str, other: str) -> None:
    with project(portable) as (root, workspace):
        data = root / "data"
        (root / "outside").mkdir()
        (root / "outside" / "secret").write_text("SECRET")
        (data / "out").symlink_to("../outside")
        (data / "absolute").symlink_to(root / "outside" / "secret")
        (data / "proc").symlink_to("/proc/self")
        (data / ".git").mkdir()
        (data / ".git" / "secret").write_text("SECRET")
        before = {place: snapshot(root / place) for place in ("outside", "data/.git")}
        draft = Draft(workspace, writable=True)
        found: list[bytes] = []
        said: list[str] = []
        for use in (
            lambda: found.append(draft.read_bytes(path)),
            lambda: found.extend(file.read() for _, file in draft.open_files(path, hidden=True)),
            lambda: found.extend(entry.path.encode() for entry in draft.entries(path, recursive=True)),
            lambda: draft.write_bytes(path, b"new"),
            lambda: draft.move(path, other),
            lambda: draft.make_directory(other),
            lambda: draft.remove(path, recursive=True),
        ):
            try:
                use()
            except ToolError as error:
                said.append(error.message)
        assert not any(b"SECRET" in data for data in found)
        assert not any(str(root) in message for message in said)
        "".join(said).encode()
        draft.persist()
        apply_changes(workspace, "call_one", draft.preview().changes)
        assert {place: snapshot(root / place) for place in before} == before
        assert {entry.name for entry in root.iterdir()} <= {"data", "outside", ".brasstag"}
