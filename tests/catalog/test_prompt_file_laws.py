"""Laws of the files of prompt tools: replaced as a whole, snapshots written once, names that only grow."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.catalog.prompt_files import PromptFiles
from brasstag.words.errors import StoreError


def files(folder: Path) -> PromptFiles:
    return PromptFiles(folder / "prompts", "project", "prompts.json")


def test_a_snapshot_is_written_once(tmp_path: Path) -> None:
    at = files(tmp_path)
    at.write_snapshot("tool", "20261118T070000.000001Z.json", {"toolId": "tool", "a": 1})
    at.write_snapshot("tool", "20261118T070000.000001Z.json", {"toolId": "tool", "a": 1})
    with pytest.raises(StoreError, match="never replaced"):
        at.write_snapshot("tool", "20261118T070000.000001Z.json", {"toolId": "tool", "a": 2})
    assert [one.body["a"] for one in at.snapshots("tool")] == [1]
    assert [path.name for path in (tmp_path / "prompts/history/tool").iterdir()] == [
        "20261118T070000.000001Z.json"
    ]


@given(
    st.lists(
        st.sampled_from(
            ["2026-11-18T07:00:00.000001Z", "2026-11-18T07:00:00.500000Z", "2025-01-01T00:00:00.000000Z"]
        )
    )
)
def test_a_later_snapshot_has_a_later_name_even_if_the_clock_goes_back(times: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        at, names = files(Path(scratch)), []
        for number, time in enumerate(times):
            name = at.free_name("tool", time)
            at.write_snapshot("tool", name, {"toolId": "tool", "n": number})
            names.append(name)
        assert names == sorted(set(names))
        assert [one.body["n"] for one in at.snapshots("tool")] == list(range(len(times)))


def test_a_file_of_another_tool_is_no_snapshot(tmp_path: Path) -> None:
    at = files(tmp_path)
    at.write_snapshot("tool", "20261118T070000.000001Z.json", {"toolId": "other"})
    (tmp_path / "prompts/history/tool/20261118T070000.000002Z.json").write_text("{")
    assert [one.body for one in at.snapshots("tool")] == [{}, {}]
    assert [one.tool for one in at.snapshots("tool")] == [None, None]


def test_the_live_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    at = files(tmp_path)
    assert (at.live().entries, at.stamp()) == ((), ())
    at.write_live([{"id": "b"}, {"id": "a"}])
    first = at.stamp()
    assert [entry["id"] for entry in at.live().entries] == ["b", "a"]
    at.write_live([])
    assert at.stamp() != first
    assert json.loads((tmp_path / "prompts/prompts.json").read_text()) == []
    assert [path.name for path in (tmp_path / "prompts").iterdir()] == ["prompts.json"]
