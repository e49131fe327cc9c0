"""Versions of documents as agents name them, through moves and past what rules hide."""

from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Done, Failed, Room, Waiting
from brasstag.words.errors import Code
from tests.conftest import MakeProject
from tests.tools.asking import failure, value


@pytest.fixture
async def room(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


async def test_a_version_is_reached_by_number_after_moves_away_and_back(room: Room) -> None:
    for content in ("one\n", "two\n"):
        await value(room, "write_file", path="n.md", content=content)
    await value(room, "move_file", source="n.md", target="n2.md")
    await value(room, "move_file", source="n2.md", target="n.md")
    loaded = await value(room, "load_to_context", path="n.md", version="1")
    assert (loaded["content"], loaded["version"]) == ("one\n", 1)
    assert (await value(room, "restore_document", path="n.md"))["restored"] == "n.md@1"
    assert (await room.documents.get("n.md")).version == 5


async def test_what_a_move_wrote_over_can_be_brought_back(room: Room) -> None:
    await value(room, "write_file", path="f.md", content="the first\n")
    await value(room, "write_file", path="x.md", content="the second\n")
    await value(room, "move_file", source="x.md", target="f.md", overwrite=True)
    assert (await value(room, "compare_documents", path="f.md"))["old"] == "f.md@1"
    await value(room, "restore_document", path="f.md", version="1")
    assert (room.workspace / "f.md").read_text() == "the first\n"


async def test_a_digest_names_a_version_of_the_line_before_any_other(room: Room) -> None:
    await value(room, "write_file", path="f.md", content="the same\n")
    await value(room, "delete_file", path="f.md")
    await value(room, "write_file", path="x.md", content="the same\n")
    await value(room, "move_file", source="x.md", target="f.md")
    digest = (await room.documents.get("f.md")).digest
    found = await room.documents.version("f.md", digest[:12])
    assert (found.path, found.version) == ("f.md", 3)


@pytest.mark.parametrize("name", ["x.md@9", "y.md@1", "@1x", "a.md@", "a.md@one", "x.md@01"])
async def test_a_name_no_version_has_says_which_there_are(room: Room, name: str) -> None:
    await value(room, "write_file", path="x.md", content="one\n")
    await value(room, "move_file", source="x.md", target="a.md")
    failed = await failure(room, "load_to_context", path="a.md", version=name)
    assert failed.code is Code.INVALID_ARGUMENTS
    assert "it has only 1" in failed.message


async def test_the_deletion_of_a_document_cannot_be_read(room: Room) -> None:
    await value(room, "write_file", path="a.md", content="one\n")
    await value(room, "delete_file", path="a.md")
    failed = await failure(room, "load_to_context", path="a.md", version="2")
    assert failed.code is Code.NOT_A_FILE
    assert "version 2 of a.md is its deletion, by operator at " in failed.message


CLERK = """
[[rules]]
{decision} = "*(salaries/**)"
roles = ["clerk"]
because = "private"
match = ["read_file(salaries/a.md)"]
not_match = ["read_file(a.md)"]

[roles.clerk]
tools = ["load_to_context", "compare_documents", "restore_document"]
"""
ANY_VERSION = ("load_to_context", "compare_documents", "restore_document")
NOBODYS = "0123456789ab"


async def move_out(room: Room) -> str:
    """Move what was written twice in salaries/ to open.md; return the digest of what it held first."""
    await value(room, "write_file", path="salaries/all.md", content="Ada earns walnuts.\n")
    digest = (await room.documents.get("salaries/all.md")).digest
    await value(room, "write_file", path="salaries/all.md", content="Nothing to see.\n")
    await value(room, "move_file", source="salaries/all.md", target="open.md")
    return digest


async def test_no_name_tells_what_a_document_was_at_a_path_a_rule_hides(make_project: MakeProject) -> None:
    project = make_project(CLERK.format(decision="deny"), profile="trusted")
    async with Room.open(project) as room:
        digest = await move_out(room)
        await value(room, "write_file", path="plain.md", content="Nothing to see.\n")
        guesses = (digest, digest[:6], digest[:10].upper(), NOBODYS, "salaries/all.md@1", "salaries/all.md@7")
        for tool in ANY_VERSION:
            said = set()
            for name in guesses:
                outcome = await room.call(tool, {"path": "open.md", "version": name}, role="clerk")
                assert isinstance(outcome, Failed), (tool, name)
                said.add((outcome.code, outcome.message.replace(repr(name), "NAME")))
            assert len(said) == 1, said
        for tool in ("compare_documents", "restore_document"):
            moved, plain = [
                await room.call(tool, {"path": path}, role="clerk") for path in ("open.md", "plain.md")
            ]
            assert isinstance(moved, Failed), tool
            assert isinstance(plain, Failed), tool
            assert (moved.code, moved.message) == (plain.code, plain.message.replace("plain", "open"))
        for name in (digest[:6], "salaries/all.md@1"):
            mine = await room.call("load_to_context", {"path": "open.md", "version": name})
            assert isinstance(mine, Done), name
            assert mine.value["content"] == "Ada earns walnuts.\n"


async def test_whether_a_digest_is_that_of_a_version_a_rule_asks_about_is_asked_about(
    make_project: MakeProject,
) -> None:
    project = make_project(CLERK.format(decision="ask"), profile="trusted")
    async with Room.open(project) as room:
        digest = await move_out(room)
        await value(room, "write_file", path="open.md", content="Mine.\n")
        now = (await room.documents.get("open.md")).digest
        for tool in ANY_VERSION:
            for name in (digest[:10], NOBODYS):
                outcome = await room.call(tool, {"path": "open.md", "version": name}, role="clerk")
                assert isinstance(outcome, Waiting), (tool, name, outcome)
        answers = []
        for name in (digest[:10], NOBODYS):
            asked = await room.call("load_to_context", {"path": "open.md", "version": name}, role="clerk")
            assert isinstance(asked, Waiting)
            await room.decide(asked.approval_id, ApprovalResponse(approved=True), by="ada")
            answers.append(await room.resume(asked.approval_id))
        right, wrong = answers
        assert isinstance(right, Done)
        assert right.value["content"] == "Ada earns walnuts.\n"
        assert isinstance(wrong, Failed)
        assert wrong.code is Code.INVALID_ARGUMENTS
        # What was at a path the clerk may read is nobody's secret.
        for name in ("1", "2", now[:10]):
            outcome = await room.call("load_to_context", {"path": "open.md", "version": name}, role="clerk")
            assert isinstance(outcome, Done), (name, outcome)
        assert isinstance(await room.call("compare_documents", {"path": "open.md"}, role="clerk"), Done)
