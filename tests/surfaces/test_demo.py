"""The story."""

import subprocess
import sys
from pathlib import Path


def test_the_story_is_played_to_its_proof_and_can_be_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "brasstag", "demo", "--keep", str(tmp_path / "novel")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stderr == ""
    for said in (
        "Waiting for approval",
        "approved with changed arguments by ada",
        "Denied delete_file",
        "restored:",
    ):
        assert said in ended.stdout
    assert "The timeline holds: " in ended.stdout
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "the story needs a new directory" in again.stderr
