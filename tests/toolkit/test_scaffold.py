import subprocess
import sys
from pathlib import Path

import pytest

from brasstag.toolkit.discovery import discover_folder
from brasstag.toolkit.scaffold import scaffold_tool
from tests.toolkit.samples import problems_of


def test_a_new_tool_is_found_at_once_and_its_test_passes(tmp_path: Path) -> None:
    made = scaffold_tool(tmp_path / "tools", tmp_path / "tests" / "tools", "line_count")
    assert [path.relative_to(tmp_path).as_posix() for path in made] == [
        "tools/line_count.json",
        "tools/line_count.py",
        "tests/tools/test_line_count.py",
    ]
    (found,) = discover_folder(tmp_path / "tools")
    assert found.name == "line_count"
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(made[2])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "name", ["", "Word", "9lives", "word-count", "../escape", "a b", "class", "x" * 65, "é"]
)
def test_a_name_that_cannot_be_a_tool_is_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    (problem,) = problems_of(lambda: scaffold_tool(tmp_path / "tools", tmp_path / "tests", name))
    assert "cannot be the name of a tool" in problem.what
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["tools/count.json", "tools/count.py", "tests/test_count.py"])
def test_nothing_is_ever_written_over(tmp_path: Path, there: str) -> None:
    path = tmp_path / there
    path.parent.mkdir()
    path.write_text("mine")
    (problem,) = problems_of(lambda: scaffold_tool(tmp_path / "tools", tmp_path / "tests", "count"))
    assert (problem.file, problem.what) == (str(path), "is already there")
    assert [found.read_text() for found in tmp_path.rglob("*") if found.is_file()] == ["mine"]
