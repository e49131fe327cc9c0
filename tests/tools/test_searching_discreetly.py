"""What a role may not read it does not learn by searching either."""

from pathlib import Path
from typing import Any

import pytest

from brasstag import Done, Room
from brasstag.policy.judging import Rules
from brasstag.policy.rules import Rule
from brasstag.policy.shipped import shipped_rules
from brasstag.words.previews import Fact
from tests.conftest import MakeProject

CREW = """
[roles.clerk]
tools = ["*"]

[[rules]]
deny = "*(salaries/**)"
roles = ["clerk"]
because = "salaries are for the boss"
match = ["read_file(salaries/a.md)"]
not_match = ["read_file(a.md)"]
"""
FILLER = "x " * 20


async def found(room: Room, query: str, role: str) -> list[dict[str, Any]]:
    outcome = await room.call("search_documents", {"query": query}, role=role)
    assert isinstance(outcome, Done), outcome
    hits: list[dict[str, Any]] = outcome.value["hits"]
    return hits


def write_all(folder: Path, body: str, count: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"{body.split(maxsplit=1)[0]}{number}.md").write_text(body)


async def test_neither_scores_nor_order_tell_a_role_what_is_hidden_from_it(make_project: MakeProject) -> None:
    project = make_project(CREW, profile="trusted")
    data = project / "data"
    (data / "a.md").write_text("nightly nightly bonus " + FILLER)
    (data / "b.md").write_text("nightly bonus bonus " + FILLER)
    write_all(data / "other", "x", 40)
    write_all(data / "salaries", "nightly x", 12)
    async with Room.open(project) as room:
        before = await found(room, "nightly bon*", "clerk")
        assert {hit["path"] for hit in before} == {"a.md", "b.md"}
        assert all("score" not in hit for hit in before)
        others = [hit["path"] for hit in await found(room, "nightly bon*", "operator")]
        write_all(data / "salaries", "bonus x", 24)
        assert await found(room, "nightly bon*", "clerk") == before
        # Whoever may see them is served by all there is.
        assert [hit["path"] for hit in await found(room, "nightly bon*", "operator")] != others


def rule(*patterns: str, decision: Any = "deny", **more: Any) -> Rule:
    return Rule(decision, patterns, "because", **more)


@pytest.mark.parametrize(
    ("added", "hides"),
    [
        ([], False),
        ([rule("*(salaries/**)")], True),
        ([rule("read_file(salaries/**)")], True),
        ([rule("search_documents(path: salaries/**)")], True),
        ([rule("*(salaries/**)", roles=("clerk",))], True),
        ([rule("*(salaries/**)", when={Fact.READS: None})], True),
        ([rule("*(salaries/**)", roles=("boss",))], False),
        ([rule("*(salaries/**)", decision="ask")], False),
        ([rule("*(salaries/**)", when={Fact.OVERWRITES: None})], False),
        ([rule("write_file(salaries/**)")], False),
        ([rule("read_file")], False),
        ([rule("*(command: git push)")], False),
    ],
)
def test_the_rules_alone_say_whether_something_may_be_hidden(added: list[Rule], hides: bool) -> None:
    assert Rules([*shipped_rules(), *added]).may_hide_documents("search_documents", "clerk") is hides
