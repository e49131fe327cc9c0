"""Filters of documents mean what lists show."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.surfaces.conftest import Pipe


@pytest.mark.usefixtures("tokyo")
@pytest.mark.parametrize("command", [("list",), ("search", "ships")])
def test_a_time_without_a_zone_is_the_local_time_that_lists_show(
    pipe: Pipe, project: Path, command: tuple[str, ...]
) -> None:
    (project / "data" / "log.md").write_text("Two ships.\n")
    pipe("documents")
    listed = pipe("documents", "show", "log.md", "-o", "people").out
    (changed,) = (one["updated_at"] for one in pipe("documents", "list").lines)
    shown = datetime.fromisoformat(changed).astimezone().replace(tzinfo=None)
    assert f"{shown:%Y-%m-%d %H:%M:%S JST}" in listed

    def found(*options: str) -> list[str]:
        return [one["path"] for one in pipe("documents", *command, *options).lines]

    later = (shown + timedelta(microseconds=1)).isoformat()
    assert found("--after", shown.isoformat()) == found("--before", later) == ["log.md"]
    assert found("--after", later) == found("--before", shown.isoformat()) == []
    assert found("--after", changed) == ["log.md"]


def test_by_finds_what_a_role_created_and_what_it_changed_last(pipe: Pipe, ada: str, project: Path) -> None:
    (project / "data" / "log.md").write_text("Two ships.\n")
    pipe("documents")
    assert (
        pipe("call", "edit_file", "path=log.md", "search_text=Two", "replace_text=Three", "--yes").code == 0
    )
    for role in ("operator", "outside"):
        assert [one["path"] for one in pipe("documents", "list", "--by", role).lines] == ["log.md"]
    assert pipe("documents", "list", "--by", "editor").lines == []
