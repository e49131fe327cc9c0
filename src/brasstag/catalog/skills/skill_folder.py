"""The folder of a skill on disk: read and written without following a link, and never more than a limit."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from brasstag.words.errors import Code, SecurityError, ToolError

SKILL = "SKILL.md"
MOST_BYTES = 4_000_000
"""Bytes of one file."""
MOST_OTHERS = 1_000
"""Other files that are counted."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_EVALS_FOLDER, _EVALS_FILE = "evals", "evals.json"


@dataclass(frozen=True, slots=True)
class SkillFiles:
    """What was read of a skill."""

    folder: str
    """The name of the folder."""
    skill: bytes
    evals: bytes | None = None
    others: tuple[str, ...] = ()
    """Files beside these, which are not read."""


def read_skill_folder(folder: Path) -> SkillFiles:
    """Read SKILL.md and the evals of a folder, and name the other files."""
    shown = folder.name or str(folder)
    with _open_folder(folder, shown) as opened:
        names = set(os.listdir(opened))
        name = next((one for one in (SKILL, SKILL.lower()) if one in names), None)
        if name is None:
            raise ToolError(Code.FILE_NOT_FOUND, f"{shown} has no {SKILL}; name the folder of one skill")
        skill = _read(opened, name, f"{shown}/{name}")
        evals = None
        if _EVALS_FOLDER in names:
            evals = _read_evals(opened, shown)
    read = {name} | ({f"{_EVALS_FOLDER}/{_EVALS_FILE}"} if evals is not None else set())
    others = tuple(path for path in _walk(folder) if path not in read)
    return SkillFiles(folder.resolve().name, skill, evals, others)


def write_skill_folder(folder: Path, name: str, files: Mapping[str, bytes]) -> list[Path]:
    """Write the files of a skill into a folder of its name; the same file again is no change, another is refused."""
    shown = folder.name or str(folder)
    with _coded(shown), suppress(FileExistsError):
        folder.mkdir(parents=True)
    with (
        _open_folder(folder, shown) as outer,
        _made_folder(outer, name, name) as inner,
        _made_folder(inner, _EVALS_FOLDER, f"{name}/{_EVALS_FOLDER}", needed=len(files) > 1) as evals,
    ):
        places = {SKILL: (inner, SKILL), f"{_EVALS_FOLDER}/{_EVALS_FILE}": (evals, _EVALS_FILE)}
        new = [path for path, place in places.items() if _is_new(place, files.get(path), f"{name}/{path}")]
        for path in new:
            _write(*places[path], files[path])
    return [folder / name / path for path in files]


def _read_evals(opened: int, shown: str) -> bytes | None:
    with _open_folder(_EVALS_FOLDER, f"{shown}/{_EVALS_FOLDER}", opened, os.O_NOFOLLOW) as evals:
        if _EVALS_FILE not in os.listdir(evals):
            return None
        return _read(evals, _EVALS_FILE, f"{shown}/{_EVALS_FOLDER}/{_EVALS_FILE}")


@contextmanager
def _open_folder(path: Path | str, shown: str, within: int | None = None, flags: int = 0) -> Iterator[int]:
    with _coded(shown, lambda: _is_link(path, within)):
        opened = os.open(path, _FOLDER | flags, dir_fd=within)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def _made_folder(within: int, name: str, shown: str, *, needed: bool = True) -> Iterator[int]:
    """Make a folder where it is needed; without need, a folder that is not there is -1."""
    if needed:
        with _coded(shown), suppress(FileExistsError):
            os.mkdir(name, dir_fd=within)
    elif name not in os.listdir(within):
        yield -1
        return
    with _open_folder(name, shown, within, os.O_NOFOLLOW) as opened:
        yield opened


def _is_new(place: tuple[int, str], data: bytes | None, shown: str) -> bool:
    """Say whether a file has to be written; raise ToolError where another one has its name."""
    folder, name = place
    if folder < 0 or name not in os.listdir(folder):
        return data is not None
    if data is None or _read(folder, name, shown) != data:
        raise ToolError(
            Code.ALREADY_EXISTS,
            f"{shown} is there with another content; remove it, or choose another folder",
        )
    return False


def _write(folder: int, name: str, data: bytes) -> None:
    with _coded(name), os.fdopen(os.open(name, _NEW, 0o644, dir_fd=folder), "wb") as stream:
        stream.write(data)


def _read(folder: int, name: str, shown: str) -> bytes:
    with _coded(shown, lambda: _is_link(name, folder)):
        opened = os.open(name, _FILE, dir_fd=folder)
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            raise ToolError(Code.NOT_A_FILE, f"{shown} is no regular file")
        with open(opened, "rb", closefd=False) as stream:
            data = stream.read(MOST_BYTES + 1)
    finally:
        os.close(opened)
    if len(data) > MOST_BYTES:
        raise ToolError(Code.TOO_LARGE, f"{shown} has more than {MOST_BYTES:,} bytes, which is no skill")
    return data


def _is_link(path: Path | str, within: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(path, dir_fd=within, follow_symlinks=False).st_mode)
    except OSError:
        return False


@contextmanager
def _coded(shown: str, is_link: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Turn what the system says into a coded error that names no path of the host."""
    try:
        yield
    except FileNotFoundError:
        raise ToolError(Code.FILE_NOT_FOUND, f"{shown} is not there") from None
    except OSError as error:
        if is_link():
            raise SecurityError(f"{shown} is a link; a skill is read without following links") from None
        if isinstance(error, NotADirectoryError):
            raise ToolError(
                Code.NOT_A_DIRECTORY,
                f"{shown} is no folder; unpack an archive first, and name the skill's folder",
            ) from None
        raise ToolError(Code.PERMISSION_DENIED, f"{shown} cannot be opened: {error.strerror}") from None


def _walk(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, by their path inside it, without following links; hidden ones are left out."""
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                count += 1
                if count > MOST_OTHERS:
                    return
                yield (Path(place) / name).relative_to(folder).as_posix().encode(errors="replace").decode()
