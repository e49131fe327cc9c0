"""Real processes that swap, save and watch while drafts look and changes are made."""

import fcntl
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from brasstag.sandbox import syscalls
from brasstag.sandbox.workspace.change.apply import apply_changes
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import digest_in
from tests.sandbox.support import ended, fork, meanwhile, open_workspace, snapshot, turns

HERE = -100  # AT_FDCWD


@pytest.fixture
def project() -> Iterator[Path]:
    """A project where nothing has to wait for a disk, so that there is time for many tries."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as place:
        root = Path(place)
        (root / "data" / "d").mkdir(parents=True)
        (root / "data" / "d" / "f").write_text("inside")
        (root / "outside").mkdir()
        for name in ("f", "g", "one", "two"):
            (root / "outside" / name).write_text("SECRET")
        yield root


def exchange(one: Path, other: Path) -> None:
    syscalls.renameat2(HERE, os.fsencode(one), HERE, os.fsencode(other), syscalls.RENAME_EXCHANGE)


def found_by(draft: Draft, turn: int) -> bytes:
    """Use the path that is being swapped in one of many ways; return all that was learnt."""
    match turn % 5:
        case 0:
            return draft.read_bytes("d/f")
        case 1:
            return b"".join(file.read() for _, file in draft.open_files("d"))
        case 2:
            return b"".join(file.read() for _, file in draft.open_files())
        case 3:
            return " ".join(entry.path for entry in draft.entries(recursive=True)).encode()
        case _:
            return str(draft.look("d/f").size).encode()


def test_a_directory_swapped_with_a_link_out_shows_nothing_of_what_is_outside(
    workspace: Workspace, data: Path
) -> None:
    (data / "e").symlink_to("../outside")
    outcomes: Counter[str] = Counter()
    with meanwhile(lambda: exchange(data / "d", data / "e")):
        for turn in turns(5000, lambda: min(outcomes["read"], outcomes[Code.INVALID_PATH]) > 100):
            try:
                found = found_by(Draft(workspace, writable=False), turn)
                assert b"SECRET" not in found
                assert b"one" not in found
                assert found != b"6" or turn % 5 == 4
                outcomes["read"] += 1
            except ToolError as error:
                outcomes[error.code] += 1


def test_writing_through_a_directory_that_is_swapped_changes_nothing_outside(
    workspace: Workspace, project: Path, data: Path
) -> None:
    (data / "e").symlink_to("../outside")
    before = snapshot(project / "outside")
    outcomes: Counter[str] = Counter()
    with meanwhile(lambda: exchange(data / "d", data / "e")):
        for turn in turns(1500, lambda: min(outcomes["applied"], outcomes[Code.CHANGED]) > 20):
            draft = Draft(workspace, writable=True)
            try:
                match turn % 3:
                    case 0:
                        draft.write_text("d/f", f"written {turn}")
                    case 1:
                        draft.write_text(f"d/new{turn}", "new")
                    case _:
                        draft.remove("d/f")
                        draft.write_text("d/f", "again")
                draft.persist()
                apply_changes(workspace, f"call_{turn}", draft.preview().changes)
                outcomes["applied"] += 1
            except ToolError as error:
                outcomes[error.code] += 1
    assert set(outcomes) <= {
        "applied",
        Code.CHANGED,
        Code.INVALID_PATH,
        Code.FILE_NOT_FOUND,
        Code.NOT_A_DIRECTORY,
    }
    assert snapshot(project / "outside") == before


def test_a_link_swapped_between_a_plain_file_and_a_control_file_never_shows_the_control_file(
    workspace: Workspace, data: Path
) -> None:
    (data / ".git").mkdir()
    (data / ".git" / "f").write_text("SECRET")
    (data / "to_plain").symlink_to("d")
    (data / "to_control").symlink_to(".git")
    outcomes: Counter[str] = Counter()
    with meanwhile(lambda: exchange(data / "to_plain", data / "to_control")):
        for _ in turns(3000, lambda: min(outcomes["read"], outcomes[Code.CONTROL_FILE]) > 10):
            try:
                assert Draft(workspace, writable=False).read_bytes("to_plain/f") == b"inside"
                outcomes["read"] += 1
            except ToolError as error:
                outcomes[error.code] += 1
    assert set(outcomes) <= {"read", Code.CONTROL_FILE, Code.CHANGED}


def test_an_environment_swapped_with_a_plain_directory_never_shows_its_files(
    workspace: Workspace, data: Path
) -> None:
    (data / "env").mkdir()
    (data / "env" / "f").write_text("SECRET")
    (data / "env" / "pyvenv.cfg").write_text("")
    outcomes: Counter[str] = Counter()
    with meanwhile(lambda: exchange(data / "d", data / "env")):
        for _ in turns(3000, lambda: min(outcomes["read"], outcomes[Code.CONTROL_FILE]) > 10):
            try:
                assert Draft(workspace, writable=False).read_bytes("d/f") == b"inside"
                outcomes["read"] += 1
            except ToolError as error:
                outcomes[error.code] += 1
    assert set(outcomes) == {"read", Code.CONTROL_FILE}


class Editor:
    """An outside program that saves numbered versions of a file by renaming them into place.

    It exchanges, so that it knows what each of its versions replaced.
    """

    def __init__(self, project: Path) -> None:
        self._file = project / "data" / "t"
        self._beside = project / "beside"
        self._log = project / "replaced"
        self._stop = project / "stop"

    def run(self) -> None:
        moods = random.Random(1)
        version = 0
        with self._log.open("w") as log:
            while not self._stop.exists():
                version += 1
                self._beside.write_text(f"editor {version}")
                log.write(f"{self._save()}\n")
                for _ in range(moods.choice([0, 0, 10, 1000])):
                    os.getppid()
        (self._beside.parent / "last").write_text(str(version))

    def stop(self) -> None:
        self._stop.touch()

    def replaced(self) -> set[str]:
        """Return everything its versions took the place of."""
        return set(self._log.read_text().splitlines())

    def _save(self) -> str:
        while True:
            try:
                exchange(self._beside, self._file)
            except FileNotFoundError:
                with suppress(FileExistsError):
                    name, beside = os.fsencode(self._file), os.fsencode(self._beside)
                    syscalls.renameat2(HERE, beside, HERE, name, syscalls.RENAME_NOREPLACE)
                    return "nothing"
            else:
                return self._beside.read_text()


def change_once(workspace: Workspace, turn: int, accounted: set[str]) -> bool:
    """Change the file the editor is saving all the while; note what we replaced or had to keep."""
    draft = Draft(workspace, writable=True)
    try:
        draft.read_bytes("t")
        match turn % 4:
            case 0:
                draft.remove("t")
            case 1:
                draft.move("t", f"moved/{turn}")
            case _:
                draft.write_text("t", f"ours {turn}")
        draft.persist()
        changes = draft.preview().changes
        apply_changes(workspace, f"call_{turn}", changes)
    except ToolError as error:
        if error.code not in (Code.CHANGED, Code.FILE_NOT_FOUND):
            raise
        kept = error.details.get("kept", [])
        accounted |= {workspace.blobs.get(one["sha256"]).decode() for one in kept}
        return False
    for change in changes:
        digest = digest_in(change.before)
        accounted |= {workspace.blobs.get(digest).decode()} if digest else set()
    return True


def test_nothing_an_outside_editor_saves_is_ever_lost(
    workspace: Workspace, project: Path, data: Path
) -> None:
    (data / "t").write_text("editor 0")
    editor = Editor(project)
    child = fork(editor.run)
    accounted: set[str] = set()
    endings = {True: 0, False: 0}
    for turn in turns(2000, lambda: min(endings.values()) > 20):
        endings[change_once(workspace, turn, accounted)] += 1
    editor.stop()
    assert ended(child) == 0
    versions = {f"editor {number}" for number in range(int((project / "last").read_text()) + 1)}
    on_disk = {path.read_text() for path in data.rglob("*") if path.is_file()}
    assert versions - editor.replaced() - accounted - on_disk == set()
    assert not [path for path in snapshot(data) if ".brasstag" in path]


def test_two_calls_that_lease_the_path_never_lose_an_update(
    workspace: Workspace, project: Path, data: Path
) -> None:
    """Looking needs no lease: whatever it saw, in between or not, is checked when the change is made."""
    (data / "t").write_text("0")

    def count(name: str) -> None:
        with open_workspace(project, workspace.portable) as mine, (project / "lease").open("w") as lease:
            turn = 0
            while turn < 200:
                draft = Draft(mine, writable=True)
                with suppress(ToolError):
                    draft.write_text("t", str(int(draft.read_text("t")) + 1))
                    fcntl.flock(lease, fcntl.LOCK_EX)
                    draft.persist()
                    apply_changes(mine, f"{name}_{turn}", draft.preview().changes)
                    turn += 1
                fcntl.flock(lease, fcntl.LOCK_UN)

    children = [fork(partial(count, name)) for name in ("left", "right")]
    assert [ended(child) for child in children] == [0, 0]
    assert (data / "t").read_text() == "400"
