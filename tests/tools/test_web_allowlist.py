"""[web] allowlist: GET and POST to its hosts run unasked; whatever still asks says what of the call made it ask."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag import ConfigError, Done, Failed, Room, Waiting
from brasstag.policy.load import allowlist_rules
from brasstag.policy.match.subjects import Subject
from brasstag.sandbox.network.web import Web
from brasstag.settings import parse_settings
from brasstag.words.calls import Call
from brasstag.words.errors import Code
from brasstag.words.previews import Preview
from tests.conftest import MakeProject
from tests.runtimes import put_in
from tests.sandbox.network.servers import redirecting, replying, serving
from tests.tools.test_web_fetch import towards, value_of


def listing(*hosts: str, more: str = "") -> str:
    return f"[web]\nallowlist = [{', '.join(map(repr, hosts))}]\n\n{more}"


async def why_asked(room: Room, arguments: dict[str, Any], role: str = "operator") -> str:
    outcome = await room.call("web_fetch", arguments, role=role)
    assert isinstance(outcome, Waiting), outcome
    asked = (await room.approval(outcome.approval_id)).reason
    explained = await room.explain("web_fetch", arguments, role=role)
    assert explained.explanation is not None
    assert explained.explanation.verdict.because == asked
    return asked


@pytest.mark.parametrize("profile", ["careful", "trusted", "locked"])
@pytest.mark.parametrize("host", ["api.test", "*.test"])
async def test_get_and_post_to_its_hosts_run_unasked(
    make_project: MakeProject, host: str, profile: str
) -> None:
    async with serving(replying()) as server:
        project = make_project(listing(f"{host}:{server.port}"), profile=profile)
        async with Room.open(project) as room:
            towards(room, server)
            for number, name in enumerate(("web_fetch", "fetch")):
                for more in (
                    {},
                    {"method": "POST", "body": "x", "headers": {"X-Key": "1"}},
                    {"save_as": f"{number}.txt"} if profile != "locked" else {},
                ):
                    url = server.url("/a/..%2fb", "API.test")
                    assert isinstance(await room.call(name, {"url": url, **more}), Done), (name, more)


async def test_other_hosts_are_asked_about(make_project: MakeProject) -> None:
    async with Room.open(make_project(listing("api.test", "*.docs.test"))) as room:
        for url in (
            "https://docs.test/",
            "https://api.test.evil.test/",
            "https://evilapi.test/",
            "https://api.test:8443/",
            "https://evil.test/api.test/",
            "https://x.docs.test.evil.test/",
            "https://evil.test/?api.test/",
        ):
            assert "neither a rule nor [web] allowlist names" in await why_asked(room, {"url": url})


async def test_a_redirect_to_another_host_is_judged(make_project: MakeProject) -> None:
    async with serving(replying(b"further")) as other:
        away = other.url("/", "other.test")
        async with serving(redirecting(lambda _: away, "307 Temporary Redirect")) as server:
            project = make_project(listing(f"api.test:{server.port}"))
            async with Room.open(project) as room:
                towards(room, server, other)
                for method in ("GET", "POST"):
                    arguments = {"url": server.url("/", "api.test"), "method": method}
                    assert value_of(await room.call("web_fetch", arguments))["location"] == away
    assert other.connections == 0


async def test_addresses_inside_the_network_stay_closed(make_project: MakeProject) -> None:
    async with Room.open(make_project(listing("127.0.0.1", "localhost"))) as room:
        put_in(room, web=Web())
        for host in ("127.0.0.1", "localhost"):
            outcome = await room.call("web_fetch", {"url": f"http://{host}/"})
            assert isinstance(outcome, Failed)
            assert outcome.code is Code.ADDRESS_REFUSED


async def test_a_rule_that_denies_or_asks_still_wins(make_project: MakeProject) -> None:
    rules = '[[rules]]\ndeny = "web_fetch(api.test/admin/**)"\nbecause = "not there"\n\n'
    rules += '[[rules]]\nask = "web_fetch(api.test/pay/**)"\nbecause = "money"\n'
    async with Room.open(make_project(listing("api.test", more=rules))) as room:
        assert isinstance(await room.call("web_fetch", {"url": "https://api.test/admin/x"}), Failed)
        assert await why_asked(room, {"url": "https://api.test/pay/x", "method": "POST"}) == "money"


async def test_code_with_a_network_is_not_let_through_by_it(make_project: MakeProject) -> None:
    async with Room.open(make_project(listing("api.test"))) as room:
        outcome = await room.call("shell", {"command": "true", "network": ["api.test"]})
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.BLOCKED_BY_RULE


URL = "https://docs.test/x"
UNLISTED = "neither a rule nor [web] allowlist names docs.test"


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        ({}, f"it fetches {URL}; {UNLISTED}"),
        (
            {"method": "POST", "body": "four"},
            f"it fetches {URL} and sends 4 bytes by POST; {UNLISTED}",
        ),
        (
            {"headers": {"Accept": "x", "X-Key": "1"}},
            f"it fetches {URL} and sends the headers Accept, X-Key; {UNLISTED}",
        ),
        (
            {"headers": {f"X-{name}": "1" for name in "abcdefg"}},
            f"it fetches {URL} and sends the headers X-a, X-b, X-c, X-d, X-e, 2 more; {UNLISTED}",
        ),
    ],
)
async def test_what_asks_names_what_is_sent_and_the_host(
    room: Room, arguments: dict[str, Any], because: str
) -> None:
    assert await why_asked(room, {"url": URL, **arguments}) == because


@pytest.mark.parametrize(
    ("more", "arguments", "missing"),
    [
        ("", {"method": "POST"}, "not that it sends 0 bytes by POST"),
        (
            "",
            {"url": "https://docs.test/a/..%2fb"},
            "not that it has a path that servers may read as another",
        ),
        (
            'arguments = { method = "GET" }\nwhen = ["fetches", "external"]\n',
            {"method": "POST"},
            "argument method",
        ),
        ('roles = ["reader"]\n', {}, "not for the role operator"),
        ('unless = "web_fetch(docs.test/x)"\n', {}, "not this call as a whole"),
    ],
)
async def test_a_rule_that_names_the_address_is_told_with_what_it_does_not_cover(
    make_project: MakeProject, more: str, arguments: dict[str, Any], missing: str
) -> None:
    rule = f'[[rules]]\nname = "manual"\nallow = "web_fetch(docs.test/**)"\nbecause = "it is ours"\n{more}'
    roles = '[roles.reader]\ndescription = "Reads"\ntools = ["web_fetch"]\n'
    async with Room.open(make_project(f"{rule}\n{roles}")) as room:
        asked = await why_asked(room, {"url": URL, **arguments})
        assert "; the rule manual names this address, but " in asked
        assert missing in asked


@pytest.mark.parametrize(
    "host",
    ["", "*", "**", "*.*", "https://docs.test", "docs.test/x", "docs.test/**", "a b", "*docs.test", "docs.*", "a@b.test",
     "docs.test:", "docs.test:port", "docs.test:0", "docs.test:080", "docs.test:65536", "bücher.test",
     ".docs.test", "[::1]"],
)  # fmt: skip
def test_what_is_not_a_host_is_refused_with_what_to_write(host: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_settings(listing(host))
    (problem,) = caught.value.problems
    assert problem.field == "web.allowlist[0]"
    assert "docs.python.org" in str(problem)


def test_letters_make_no_difference() -> None:
    settings = parse_settings(listing("Docs.Test", "c.test:8443"))
    assert settings.web.allowlist == ("docs.test", "c.test:8443")


@pytest.mark.parametrize("port", [80, 443])
def test_a_usual_port_is_refused_because_the_list_would_reach_further_than_it_says(port: int) -> None:
    with pytest.raises(ConfigError, match=f"Leave :{port} out: a host stands for http and https"):
        parse_settings(listing(f"docs.test:{port}"))


labels = st.from_regex(r"[a-z][a-z0-9-]{0,5}[a-z0-9]", fullmatch=True)
hosts = st.lists(labels, min_size=1, max_size=4).map(".".join)


@given(hosts, hosts, st.booleans(), st.sampled_from(["", ":8443"]))
def test_an_entry_covers_its_host_or_what_is_below_and_nothing_else(
    listed: str, asked: str, below: bool, port: str
) -> None:
    (rule,) = allowlist_rules([f"*.{listed}" if below else listed])
    bound = rule.bound_to("web_fetch")
    assert bound is not None
    for host in (asked, listed, f"{asked}.{listed}", f"{listed}.{asked}", f"x{listed}"):
        subject = Subject(
            Call("", "web_fetch", {}, "", "", ""),
            Preview(fetches=(f"https://{host}{port}/a?b",), external=True),
        )
        wanted = not port and (host.endswith(f".{listed}") if below else host == listed)
        assert (bound.speaks(subject) is not None) is wanted
