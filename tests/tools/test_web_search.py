"""web_search against engines that are played by servers of this machine."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from brasstag import Done, Failed, Room
from brasstag.words.calls import Outcome
from brasstag.words.errors import Code, ConfigError
from tests.conftest import MakeProject
from tests.sandbox.network.servers import Server, Writes, replying, serving

FOUND = [
    {
        "title": "One <b>bold</b> &amp; plain",
        "url": "https://one.test/",
        "content": "first\n\n  lines",
        "description": "d <strong>1</strong>",
    },
    {"title": "Two", "url": "javascript:alert(1)", "content": "never"},
    {"url": "https://three.test/", "title": None},
    "nonsense",
    *({"title": f"{i}", "url": f"https://more.test/{i}", "content": ""} for i in range(30)),
]


def answering(found: Any) -> Writes:
    return replying(json.dumps(found).encode(), Content_Type="application/json")


async def searched(project: Any, **arguments: Any) -> Outcome:
    async with Room.open(project) as room:
        return await room.call("search_web", {"query": "brass & tags", **arguments})


def searxng(server: Server) -> str:
    return f'[web]\nsearch = "searxng"\nurl = "http://127.0.0.1:{server.port}"\n'


async def test_searxng_may_lie_inside_and_answers(make_project: MakeProject) -> None:
    async with serving(answering({"results": FOUND}), host="127.0.0.1") as server:
        outcome = await searched(make_project(searxng(server)))
    assert isinstance(outcome, Done), outcome
    assert outcome.value["untrusted"] is True
    results = outcome.value["results"]
    assert len(results) == 5
    assert results[0] == {"title": "One bold & plain", "url": "https://one.test/", "snippet": "first lines"}
    assert results[1] == {"title": "", "url": "https://three.test/", "snippet": ""}
    target = urlsplit(server.requests[0].split(b" ")[1].decode())
    assert target.path == "/search"
    assert parse_qs(target.query) == {"q": ["brass & tags"], "format": ["json"]}


async def test_as_many_as_wanted_come_back(make_project: MakeProject) -> None:
    async with serving(answering({"results": FOUND}), host="127.0.0.1") as server:
        outcome = await searched(make_project(searxng(server)), numResults=20)
    assert isinstance(outcome, Done), outcome
    assert len(outcome.value["results"]) == 20


async def test_brave_is_asked_with_the_key_of_the_environment(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_KEY", "secret-key")
    async with serving(answering({"web": {"results": FOUND}}), host="127.0.0.1") as server:
        settings = (
            f'[web]\nsearch = "brave"\nkey_variable = "OUR_KEY"\nurl = "http://127.0.0.1:{server.port}"\n'
        )
        outcome = await searched(make_project(settings), num_results=1)
    assert isinstance(outcome, Done), outcome
    assert outcome.value["results"] == [
        {"title": "One bold & plain", "url": "https://one.test/", "snippet": "d 1"}
    ]
    assert b"X-Subscription-Token: secret-key" in server.requests[0]
    assert b"/res/v1/web/search?q=brass+%26+tags&count=1 " in server.requests[0]
    assert "secret-key" not in json.dumps(outcome.value)


async def test_without_an_engine_it_says_how_to_set_one(room: Room) -> None:
    outcome = await room.call("web_search", {"query": "x"})
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.SEARCH_NOT_CONFIGURED
    assert 'search = "searxng"' in outcome.message


async def test_without_its_key_brave_names_the_variable(make_project: MakeProject) -> None:
    outcome = await searched(make_project('[web]\nsearch = "brave"\nkey_variable = "NOT_SET_ANYWHERE"\n'))
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.SEARCH_NOT_CONFIGURED
    assert "NOT_SET_ANYWHERE" in outcome.message


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (replying(b"no", "403 Forbidden"), "search.formats"),
        (replying(b"no", "500 Oops"), "500"),
        (replying(b"no", "302 Found", Location="http://127.0.0.1:1/"), "302"),
        (replying(b"<html>"), "JSON"),
        (replying(b"[1]"), "JSON"),
        (replying(b"[" * 100_000), "JSON"),
    ],
)
async def test_an_engine_that_does_not_answer_properly_is_told(
    make_project: MakeProject, write: Writes, said: str
) -> None:
    async with serving(write, host="127.0.0.1") as server:
        outcome = await searched(make_project(searxng(server)))
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.FETCH_FAILED
    assert said in outcome.message


@pytest.mark.parametrize("found", [{}, {"results": None}, {"results": {"a": 1}}, {"results": [1, None, {}]}])
async def test_an_answer_without_pages_is_an_empty_list(make_project: MakeProject, found: Any) -> None:
    async with serving(answering(found), host="127.0.0.1") as server:
        outcome = await searched(make_project(searxng(server)))
    assert isinstance(outcome, Done), outcome
    assert outcome.value["results"] == []


async def test_the_origin_of_the_engine_is_open_to_the_engine_only(make_project: MakeProject) -> None:
    async with serving(answering({"results": []}), host="127.0.0.1") as server:
        project = make_project(searxng(server) + f"ports = [{server.port}]\n")
        async with Room.open(project) as room:
            outcome = await room.call("web_fetch", {"url": f"http://127.0.0.1:{server.port}/"})
            assert isinstance(outcome, Failed)
            assert outcome.code is Code.ADDRESS_REFUSED
        assert server.connections == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[web]\nsearch = "searxng"\n', "where it is"),
        ('[web]\nsearch = "brave"\n', "its key"),
        ('[web]\nsearch = "altavista"\n', "search"),
        ("[web]\nports = [0]\n", "ports"),
        ('[web]\nsearch = "searxng"\nurl = "nonsense"\n', "web address"),
        ('[web]\nsearch = "searxng"\nurl = "http://me:pw@localhost"\n', "password"),
    ],
)
async def test_settings_that_cannot_be_used_stop_the_room(
    make_project: MakeProject, settings: str, said: str
) -> None:
    project = make_project(settings)
    with pytest.raises(ConfigError, match=said):
        async with Room.open(project):
            await asyncio.sleep(0)
