"""What a machine can do is tried, and a program from the workspace is never used."""

import os
from pathlib import Path

import pytest

from brasstag.sandbox.process import detect
from brasstag.sandbox.process.detect import Confinement, how_to_install, programs
from brasstag.sandbox.process.job import Job
from brasstag.sandbox.process.sandbox import Sandbox
from brasstag.words.errors import Code, ToolError
from tests.sandbox.process.support import Project
from tests.sandbox.support import open_workspace

# Runs what it is given as it is, behind all the forms of a real one.
LYING = """
if [ "$1" = --version ]; then echo bubblewrap 9.9; exit; fi
while [ "$1" != -- ]; do shift; done; shift
printf '{ "child-pid": %s }\\n' $$ >&11; head -c 1 <&12 >/dev/null
"$@"; printf '{ "exit-code": 0 }\\n' >&11
"""


def plant(place: Path, words: str) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    program = place / "bwrap"
    program.write_text(f"#!/bin/bash\n{words}\n")
    program.chmod(0o755)
    return program


def test_a_bubblewrap_in_the_workspace_is_never_used(confined: Project) -> None:
    mark = confined.path / "used"
    planted = plant(confined.data / "bin", f"touch {mark}; echo bubblewrap 9.9")
    (confined.path / "bin").mkdir()
    (confined.path / "bin" / "bwrap").symlink_to(planted)
    confined.own()
    path = os.pathsep.join(
        [str(planted.parent), str(confined.path / "bin"), "data/bin", ".", os.environ["PATH"]]
    )
    found = confined.runner.ask("standing", project=str(confined.path), path=path)
    assert found["backend"] is not None
    assert not Path(found["backend"]).is_relative_to(confined.path)
    assert next(programs(confined.data, path)) == Path(found["backend"])
    assert confined.run("/bin/true", environment={"PATH": path})["exit_code"] == 0
    assert not mark.exists()


def test_a_bubblewrap_anybody_can_write_to_is_not_trusted(tmp_path: Path) -> None:
    program = plant(tmp_path / "bin", "exit 0")
    path = str(program.parent)
    assert program in programs(tmp_path / "workspace", path)
    program.chmod(0o777)
    assert program not in programs(tmp_path / "workspace", path)


def standing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> Confinement:
    """Find out what a machine can do whose only bubblewrap is this script."""
    place = tmp_path / "bin"
    if words:
        plant(place, words)
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(detect, "_PLACES", (str(place),))
    monkeypatch.setenv("PATH", "")
    return detect.find_confinement(tmp_path / "data", tmp_path / "scratch")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "bubblewrap is not installed"),
        ("echo bubblewrap 0.4.1", "the bubblewrap here is older than 0.8"),
        ("echo nothing at all", "{program} does not say its version"),
        ("exit 1", "{program} does not say its version"),
        (
            '[ "$1" = --version ] && echo bubblewrap 0.8.0 || echo "bwrap: No permissions to create new namespace" >&2',
            "bubblewrap cannot work here: bwrap: No permissions to create new namespace",
        ),
        (
            LYING,
            "confinement does not hold here: {'read': 'open', 'socket': 'open'",
        ),
    ],
)
def test_a_machine_that_cannot_confine_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, reason: str
) -> None:
    found = standing(tmp_path, monkeypatch, words)
    assert found.backend is None
    assert found.reason.startswith(reason.replace("{program}", str(tmp_path / "bin/bwrap"))), found.reason
    assert found.mend


def test_without_confinement_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    standing(tmp_path, monkeypatch, "")
    (tmp_path / "data").mkdir()
    with open_workspace(tmp_path) as workspace:
        sandbox = Sandbox(workspace, tmp_path / "data", tmp_path / "scratch")
        with pytest.raises(ToolError) as caught, sandbox.run(Job(("/bin/sh", "-c", "echo ran > ran"))):
            pass
    assert caught.value.code is Code.NOT_SUPPORTED
    assert how_to_install() not in str(caught.value)
    assert how_to_install() in caught.value.hint
    assert os.listdir(tmp_path / "data") == []


def test_layers_cannot_lie_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with open_workspace(tmp_path) as workspace, pytest.raises(ValueError, match="outside"):
        Sandbox(workspace, tmp_path / "data", tmp_path / "data" / "scratch")
