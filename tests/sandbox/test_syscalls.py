import errno
import os
from pathlib import Path

import pytest

from brasstag.sandbox import syscalls

BENEATH = syscalls.RESOLVE_BENEATH | syscalls.RESOLVE_NO_SYMLINKS | syscalls.RESOLVE_NO_MAGICLINKS


@pytest.fixture
def directory(tmp_path: Path) -> int:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    (tmp_path / "link").symlink_to("a")
    return os.open(tmp_path, os.O_RDONLY)


def test_openat2_opens_below_and_the_descriptor_is_not_inherited(directory: int) -> None:
    descriptor = syscalls.openat2(directory, b"a", os.O_RDONLY, 0, BENEATH)
    assert os.read(descriptor, 10) == b"a"
    assert not os.get_inheritable(descriptor)


@pytest.mark.parametrize(
    ("path", "number"),
    [(b"link", errno.ELOOP), (b"..", errno.EXDEV), (b"/etc/passwd", errno.EXDEV), (b"none", errno.ENOENT)],
)
def test_openat2_refuses_what_its_flags_forbid(directory: int, path: bytes, number: int) -> None:
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        syscalls.openat2(directory, path, os.O_RDONLY, 0, BENEATH)
    assert caught.value.errno == number


def test_renameat2_refuses_to_replace(directory: int, tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        syscalls.renameat2(directory, b"a", directory, b"b", syscalls.RENAME_NOREPLACE)
    assert (tmp_path / "b").read_text() == "b"


def test_renameat2_exchanges(directory: int, tmp_path: Path) -> None:
    syscalls.renameat2(directory, b"a", directory, b"b", syscalls.RENAME_EXCHANGE)
    assert [(tmp_path / name).read_text() for name in "ab"] == ["b", "a"]


def test_an_unknown_flag_is_reported_as_missing(directory: int) -> None:
    with pytest.raises(OSError, match="Invalid") as caught:
        syscalls.renameat2(directory, b"a", directory, b"b", 1 << 20)
    assert caught.value.errno in syscalls.MISSING
