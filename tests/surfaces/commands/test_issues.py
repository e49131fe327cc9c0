"""Issues at the command line and in the library."""

from pathlib import Path
from typing import Any

import pytest

from brasstag import Code, IssueFilter, Room, ToolError
from tests.app.prompts.documents import proposal
from tests.surfaces.conftest import OpenTerminal, Pipe


def test_an_issue_is_opened_commented_assigned_and_closed(pipe: Pipe, terminal: OpenTerminal) -> None:
    made = pipe(
        "issues", "new", "Scene 3 drags", "-b", "The middle.", "--tag", "pace", "--priority", "high"
    ).json
    name = made["issueId"]
    assert (made["status"], made["priority"], made["tags"]) == ("open", "high", ["pace"])
    assert pipe("issues", "comment", name, "Cut the tea.").json["comments"][0]["text"] == "Cut the tea."
    assert pipe("issues", "assign", name[-6:], "editor").json["assignee"] == "editor"
    assert pipe("issues", "list", "drags tea").json["issueId"] == name
    assert pipe("issues", "list", "drags coffee").lines == []
    assert pipe("issues", "list", "--assignee", "narrator").lines == []
    assert pipe("issues", "close", name, "--reason", "done").json["status"] == "closed"
    assert pipe("issues").lines == []
    assert pipe("issues", "list", "--all").json["issueId"] == name
    shown = pipe("issues", "show", name).json
    assert [event["kind"] for event in shown["history"]] == ["opened", "commented", "assigned", "closed"]
    at = terminal("issues", "show", name)
    assert at.ends() == 0
    assert "Cut the tea." in at.text


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("show", "iss_0000"), "ISSUE_NOT_FOUND"),
        (("comment", "iss_0000", "x"), "ISSUE_NOT_FOUND"),
        (("assign", "iss_0000", "x"), "ISSUE_NOT_FOUND"),
        (("close", "iss_0000"), "ISSUE_NOT_FOUND"),
        (("new", " "), "INVALID_ARGUMENTS"),
        (("new", "x" * 201), "INVALID_ARGUMENTS"),
        (("new", "x", "-b", "y" * 100_001), "INVALID_ARGUMENTS"),
    ],
)
def test_a_wrong_use_has_a_code(pipe: Pipe, arguments: tuple[str, ...], code: str) -> None:
    ended = pipe("issues", *arguments)
    assert ended.code == 1
    assert ended.err.startswith(code)


def test_there_is_no_other_priority(pipe: Pipe) -> None:
    assert pipe("issues", "new", "x", "--priority", "now").code == 2


async def test_an_issue_that_waits_for_a_decision_is_closed_by_it_alone(project: Path) -> None:
    async with Room.open(project) as room:
        found = await room.prompts.propose(proposal())
        for name in found.issues:
            with pytest.raises(ToolError) as error:
                await room.issues.close(name)
            assert error.value.code is Code.PROPOSAL_STATE
        await room.prompts.reject(found.id, "ada", seen=found.digest)
        assert (await room.issues.get(found.issues[1])).status == "closed"


async def test_issues_are_ranked_by_their_words(project: Path) -> None:
    async with Room.open(project) as room:
        body = await room.issues.open("Tea", "The storm is in the body.")
        title = await room.issues.open("The storm", "Nothing else.", priority="low")
        await room.issues.open("Coffee")
        found = await room.issues.search(IssueFilter(query="storm"))
        assert [issue.id for issue in found] == [title.id, body.id]
        await room.issues.comment(body.id, "storm storm storm storm")
        assert (await room.issues.search(IssueFilter(query="STORM")))[0].id in (title.id, body.id)
        assert await room.issues.search(IssueFilter(query="storm coffee")) == []
        reopened = await room.issues.reopen((await room.issues.close(body.id)).id)
        assert reopened.status == "open"


async def test_agents_search_count_and_comment(room: Room) -> None:
    issue = await room.issues.open("Storm", "In scene two.", tags=["weather"], assignee="editor")
    found: Any = await room.call("search_issues", {"query": "storm"})
    assert found.value["issues"][0]["issue"] == issue.id
    assert found.value["searched"] == 1
    counted: Any = await room.call("issue_status_summarizer", {})
    assert counted.value["open_by_assignee"] == {"editor": 1}
    assert counted.value["open_by_tag"] == {"weather": 1}
    said: Any = await room.call("comment_issue", {"issue": issue.id, "text": "See line 4."})
    assert said.value["issue"] == issue.id
    assert (await room.issues.get(issue.id)).comments[-1].text == "See line 4."
    missing: Any = await room.call("comment_issue", {"issue": "iss_00000000", "text": "x"})
    assert missing.code is Code.ISSUE_NOT_FOUND
    assert (await room.verify()).ok


def test_what_an_issue_says_cannot_move_the_cursor(pipe: Pipe, terminal: OpenTerminal) -> None:
    assert pipe("issues", "new", "Red \x1b[31mtitle").err.startswith("INVALID_ARGUMENTS")
    name = pipe("issues", "new", "Red", "-b", "a\x1b[2Jb").json["issueId"]
    at = terminal("issues", "show", name)
    assert at.ends() == 0
    assert "\x1b[2J" not in at.screen
