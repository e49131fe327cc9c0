"""Of the host, code sees the Python it runs on and its packages, and nothing that lies beside them."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from brasstag.sandbox.process.interpreters import project_python
from tests.sandbox.process.support import Project, Runner

PRIVATE = "what-nobody-may-see"
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
LOOK = """
import ours
for index, place in enumerate(sys.argv[1:]):
    attempt(str(index), lambda: open(place).read())
found["package"] = ours.WORD
"""


def make_environment(place: Path, home: Path, python: Path) -> None:
    """Make an environment as venv does, with a Python that is reached by a link in ``home``."""
    (place / "bin").mkdir(parents=True)
    home.mkdir(parents=True, exist_ok=True)
    (home / "python3").symlink_to(python)
    (place / "bin/python").symlink_to(home / "python3")
    (place / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
    packages = place / "lib" / VERSION / "site-packages"
    packages.mkdir(parents=True)
    (packages / "ours.py").write_text("WORD = 'from the environment'")


def write(place: Path, text: str = PRIVATE) -> str:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return str(place)


@pytest.mark.parametrize("home", ["bin", ".local/bin"])
def test_a_python_in_a_home_shows_nothing_else_of_it(confined: Project, home: str) -> None:
    person = confined.path / "person"
    make_environment(confined.data / ".venv", person / home, Path(sys.executable).resolve())
    secrets = [write(person / ".ssh/id_rsa"), write(person / "notes.txt"), write(person / home / "tool")]
    secrets.append(write(person / ".local/lib" / VERSION / "site-packages/mine.py"))
    confined.own()
    found = confined.attack(LOOK, *secrets)
    assert found.pop("package") == "from the environment"
    assert set(found.values()) == {"ENOENT"}, found


def test_a_project_that_is_an_environment_shows_nothing_but_that(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(tempfile.mkdtemp(prefix="project-"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    packages = place / "lib" / VERSION / "site-packages"
    (packages / "ours.py").write_text("WORD = 'from the environment'")
    (packages / "borrowed.pth").write_text(next(path for path in sys.path if path.endswith("site-packages")))
    secrets = [
        write(place / name) for name in (".brasstag/state.db", "data/.env", "lib/own.py", "brasstag.toml")
    ]
    subprocess.run(["chmod", "-R", "a+rX", str(place)], check=True)
    monkeypatch.setattr(sys, "executable", str(place / "bin/python"))
    within = Runner(runner.user)
    try:
        found = within.project().attack(LOOK, *secrets)
    finally:
        within.close()
        subprocess.run(["rm", "-rf", str(place)], check=True)
    assert found.pop("package") == "from the environment"
    assert set(found.values()) == {"ENOENT"}, found


def test_of_an_installation_its_program_and_library_are_shown(tmp_path: Path) -> None:
    base = tmp_path / "share/uv/python/cpython-3.11"
    for name in ("bin/python3.11", f"lib/{VERSION}/os.py", "lib/libpython3.11.so.1.0", "notes.txt"):
        write(base / name)
    make_environment(tmp_path / "ws/.venv", tmp_path / "person/bin", base / "bin/python3.11")
    shown = project_python(tmp_path / "ws").binds
    environment = tmp_path / "ws/.venv"
    assert set(shown) == {
        environment / "pyvenv.cfg",
        environment / "bin",
        environment / "lib" / VERSION,
        tmp_path / "person/bin/python3",
        base / "bin/python3.11",
        base / "lib" / VERSION,
        base / "lib/libpython3.11.so.1.0",
    }


def test_of_a_conda_installation_its_libraries_are_shown_too(tmp_path: Path) -> None:
    base = tmp_path / "person/miniconda3"
    for name in ("bin/python3.11", f"lib/{VERSION}/os.py", "lib/libssl.so.3", "conda-meta/history", "pkgs/x"):
        write(base / name)
    (tmp_path / "ws/.venv/bin").mkdir(parents=True)
    (tmp_path / "ws/.venv/bin/python").symlink_to(base / "bin/python3.11")
    (tmp_path / "ws/.venv/pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    shown = set(project_python(tmp_path / "ws").binds)
    assert {base / "bin", base / "lib"} <= shown
    assert not [path for path in shown if (base / "pkgs").is_relative_to(path)]


def test_a_system_python_needs_nothing_of_the_host_but_its_environment(tmp_path: Path) -> None:
    make_environment(tmp_path / "ws/.venv", tmp_path / "none", Path("/usr/bin/env"))
    (tmp_path / "none/python3").unlink()
    (tmp_path / "ws/.venv/bin/python").unlink()
    (tmp_path / "ws/.venv/bin/python").symlink_to("/usr/bin/env")
    (tmp_path / "ws/.venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    environment = tmp_path / "ws/.venv"
    assert set(project_python(tmp_path / "ws").binds) == {
        environment / "pyvenv.cfg",
        environment / "bin",
        environment / "lib" / VERSION,
    }
