"""A rule about read_file is a rule about reading, by whatever tool; and no tool tells whether what one hides is there."""

import os
from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Done, Failed, Room, Waiting
from tests.conftest import MakeProject
from tests.engine.crews import ADA

RULES = """
[[rules]]
ask = "read_file(asked/**)"
because = "it is private"

[[rules]]
deny = "read_file(secret/**)"
because = "it is secret"
"""


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    made = make_project(RULES, profile="trusted")
    for folder in ("asked", "secret", "open"):
        (made / "data" / folder).mkdir()
        (made / "data" / folder / "a.md").write_text("# Words\n")
        (made / "data" / folder / "a.csv").write_text("n\n1\n")
    return made


READERS: list[tuple[str, dict[str, Any]]] = [
    ("load_to_context", {"path": "asked/a.md"}),
    ("load_to_context", {"path": "asked/a.md", "version": "1"}),
    ("load_to_context", {"path": "open/link.md"}),
    ("compare_documents", {"path": "open/a.md", "other": "asked/a.md"}),
    ("compare_documents", {"path": "asked/a.md", "other": "open/a.md"}),
    ("ask_data", {"documents": ["asked/a.csv"], "sql": "SELECT * FROM a"}),
    ("plot_data", {"documents": ["asked/a.csv"], "path": "a.png", "x": "n", "y": "n"}),
    ("handoff", {"result": "Done.", "documents": ["asked/a.md"]}),
    ("edit_file", {"path": "asked/a.md", "search_text": "Words", "replace_text": "More"}),
    ("move_file", {"source": "asked/a.md", "target": "open/b.md"}),
    ("search_code", {"query": "Words"}),
    ("prose_analyzer", {"path": "asked/a.md"}),
    ("line_editor", {"path": "asked/a.md"}),
    ("consistency_checker", {"scenes": ["asked"]}),
    ("outline_analyzer", {"outline": ["asked/a.md"]}),
]


@pytest.mark.parametrize(("tool", "arguments"), READERS)
async def test_a_rule_that_asks_about_reading_is_heard_by_every_tool_that_reads(
    project: Path, tool: str, arguments: dict[str, Any]
) -> None:
    os.symlink("../asked/a.md", project / "data" / "open" / "link.md")
    async with Room.open(project) as room:
        await room.documents.scan()
        outcome = await room.call(tool, arguments)
        assert isinstance(outcome, Waiting), outcome
        assert outcome.reason == "it is private"


async def test_what_reads_nothing_is_not_asked_about(project: Path) -> None:
    async with Room.open(project) as room:
        for tool, arguments in (
            ("write_file", {"path": "asked/a.md", "content": "New.\n"}),
            ("tag_document", {"path": "asked/a.md", "add": ["new"]}),
            ("list_files", {"path": "asked"}),
            ("list_documents", {}),
            ("load_to_context", {"path": "open/a.md"}),
        ):
            assert isinstance(await room.call(tool, arguments), Done), tool


async def test_an_old_version_of_what_is_gone_is_asked_about_too(project: Path) -> None:
    async with Room.open(project) as room:
        await room.documents.scan()
        (room.workspace / "asked" / "a.md").unlink()
        outcome = await room.call("load_to_context", {"path": "asked/a.md", "version": "1"})
        assert isinstance(outcome, Waiting), outcome
        await room.decide(outcome.approval_id, ApprovalResponse(True), ADA)
        loaded = await room.resume(outcome.approval_id)
        assert isinstance(loaded, Done), loaded
        assert loaded.value["content"] == "# Words\n"


@pytest.mark.parametrize("folder", ["secret", "open/way"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("load_to_context", {"path": "PATH"}),
        ("load_to_context", {"path": "PATH", "version": "1"}),
        ("tag_document", {"path": "PATH", "add": ["x"]}),
        ("describe_document", {"path": "PATH", "description": "x"}),
        ("compare_documents", {"path": "PATH"}),
        ("compare_documents", {"path": "open/a.md", "other": "PATH"}),
        ("restore_document", {"path": "PATH", "version": "1"}),
        ("ask_data", {"documents": ["PATH"], "sql": "SELECT 1"}),
        ("ask_data", {"documents": ["PATH"], "question": "How many?"}),
        ("plot_data", {"documents": ["PATH"], "path": "a.png", "x": "n", "y": "n"}),
        ("handoff", {"result": "Done.", "documents": ["PATH"]}),
    ],
)
async def test_whether_a_hidden_path_is_there_makes_no_difference_to_what_is_said(
    project: Path, tool: str, arguments: dict[str, Any], folder: str
) -> None:
    os.symlink("../secret", project / "data" / "open" / "way")
    told = []
    async with Room.open(project) as room:
        for name in ("a.csv", "b.csv"):
            path = f"{folder}/{name}"
            given = {
                key: path if value == "PATH" else [path] if value == ["PATH"] else value
                for key, value in arguments.items()
            }
            outcome = await room.call(tool, given)
            assert isinstance(outcome, Failed), outcome
            told.append(f"{outcome.code} {outcome.message} {outcome.details}".replace(name, "NAME"))
    assert told[0] == told[1]
