"""What a role may not read it does not learn by searching either."""

from pathlib import Path
from typing import Any

import pytest

from brasstag import Done, Room
from brasstag.policy.python_rules import PythonRule
from brasstag.policy.rule import Rule
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.previews import Fact
from tests.conftest import MakeProject

CREW = """
[roles.boss]
tools = ["*"]

[roles.clerk]
tools = ["*"]

[[rules]]
{decision} = "*(salaries/**)"
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


@pytest.mark.parametrize("decision", ["deny", "ask"])
async def test_neither_scores_nor_order_tell_a_role_what_is_kept_from_it(
    make_project: MakeProject, decision: str
) -> None:
    project = make_project(CREW.format(decision=decision), profile="trusted")
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


async def searched(room: Room, **asked: Any) -> Any:
    return await room.call("search_documents", asked, role="clerk")


@pytest.mark.parametrize(
    "pattern", ["*(salaries/**)", "read_file(salaries/**)", "search_documents(salaries/**)"]
)
async def test_what_a_rule_asks_about_makes_no_difference_to_a_search(
    make_project: MakeProject, pattern: str
) -> None:
    project = make_project(
        CREW.format(decision="ask").replace("*(salaries/**)", pattern).partition("match")[0]
    )
    data = project / "data"
    (data / "probe.md").write_text("4711 4711 4712 4712")
    (data / "salaries").mkdir()
    (data / "salaries" / "pin.md").write_text("The pin is 4711, " + FILLER)
    async with Room.open(project) as room:
        for asked in ({"limit": 1}, {"limit": 1, "offset": 1}, {"limit": 1, "offset": 9}, {"limit": 100}):
            told = []
            for pin in ("4711", "4712"):
                outcome = await searched(room, query=f"{pin} OR pi*", **asked)
                assert isinstance(outcome, Done), asked
                told.append([len(outcome.value["hits"]), outcome.value["more"], outcome.value["incomplete"]])
            assert told[0] == told[1]
            assert "asks about before they are read are not searched" in told[0][2]
        assert await room.approvals() == []
        # Whom no rule asks about finds them.
        assert [hit["path"] for hit in await found(room, "pin", "boss")] == ["salaries/pin.md"]
        outcome = await room.call("search_documents", {"query": "pin"}, role="boss")
        assert isinstance(outcome, Done)
        assert outcome.value["incomplete"] is None


async def test_a_list_tells_nothing_that_follows_from_what_a_document_holds_a_rule_asks_about(
    make_project: MakeProject,
) -> None:
    project = make_project(CREW.format(decision="ask"), profile="trusted")
    (project / "data" / "salaries").mkdir()
    for path in ("salaries/pin.md", "pin.md"):
        (project / "data" / path).write_text("The pin is 4711.\n")
    tells = {"digest", "auto_summary", "summary_by", "token_count", "tokenizer"}
    async with Room.open(project) as room:
        for role, hides in (("clerk", True), ("operator", False)):
            outcome = await room.call("list_documents", {}, role=role)
            assert isinstance(outcome, Done)
            mine, theirs = outcome.value["documents"]
            assert (mine["path"], theirs["path"]) == ("pin.md", "salaries/pin.md")
            assert all(mine[name] for name in tells)
            assert {name for name in tells if theirs[name]} == (set() if hides else tells)


@pytest.mark.parametrize("decision", ["deny", "ask"])
async def test_what_is_not_in_the_index_yet_is_counted_only_where_it_is_searched(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch, decision: str
) -> None:
    # Where nothing confines, a page waits to be converted for good.
    monkeypatch.setattr("brasstag.sandbox.process.detect._PLACES", ())
    monkeypatch.setenv("PATH", "")
    project = make_project(CREW.format(decision=decision), profile="trusted")
    (project / "data" / "a.md").write_text("walnuts\n")
    (project / "data" / "salaries").mkdir()
    (project / "data" / "salaries" / "all.html").write_text("<html><p>walnuts</p></html>")
    async with Room.open(project) as room:
        for role, is_told in (("clerk", False), ("boss", True)):
            outcome = await room.call("search_documents", {"query": "walnuts"}, role=role)
            assert isinstance(outcome, Done), outcome
            assert [hit["path"] for hit in outcome.value["hits"]] == ["a.md"]
            assert ("1 document is not in the index yet" in (outcome.value["incomplete"] or "")) is is_told


def rule(*patterns: str, decision: Any = "deny", **more: Any) -> Rule:
    return Rule(decision, patterns, "because", **more)


@pytest.mark.parametrize(
    ("added", "kept"),
    [
        ([], ""),
        ([rule("*(salaries/**)")], "deny"),
        ([rule("read_file(salaries/**)")], "deny"),
        ([rule("search_documents(path: salaries/**)")], "deny"),
        ([rule("*(salaries/**)", roles=("clerk",))], "deny"),
        ([rule("*(salaries/**)", when={Fact.READS: None})], "deny"),
        ([rule("*(salaries/**)", roles=("boss",))], ""),
        ([rule("*(salaries/**)", decision="ask")], "ask"),
        ([rule("read_file(salaries/**)", decision="ask")], "ask"),
        ([rule("*(salaries/**)"), rule("*(letters/**)", decision="ask")], "ask deny"),
        ([PythonRule("mine", lambda _call, _preview: None)], "ask deny"),
        ([rule("*(salaries/**)", decision="allow")], ""),
        ([rule("read_file", decision="ask")], ""),
        ([rule("*(salaries/**)", when={Fact.OVERWRITES: None})], ""),
        ([rule("write_file(salaries/**)")], ""),
        ([rule("read_file")], ""),
        ([rule("*(command: git push)")], ""),
    ],
)
def test_the_rules_alone_say_how_something_may_be_kept_from_a_role(added: list[Any], kept: str) -> None:
    assert Rules([*shipped_rules(), *added]).kept_from("search_documents", "clerk") == frozenset(kept.split())
