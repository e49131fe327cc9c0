"""Rules about web addresses: a pattern names a host and what lies below it."""

import pytest

from brasstag.policy.addresses import address_of
from brasstag.policy.judging import Rules
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.rules import Rule
from brasstag.policy.shipped import shipped_rules
from brasstag.words.previews import Preview, Seen
from brasstag.words.verdicts import Decision
from tests.policy.calls import OLD, call

FETCHER = ToolFacts("web_fetch", effects="external")


def verdict_on(rule: Rule, *urls: str, **more: object) -> str:
    preview = Preview(fetches=urls, **more)  # type: ignore[arg-type]
    return Rules([rule]).judge(call("web_fetch", url=urls[0]), preview, FETCHER).decision


def rule(decision: Decision, *patterns: str, unless: tuple[str, ...] = ()) -> Rule:
    return Rule(decision, patterns, "because", unless=unless)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://docs.test/3/x?q=1#y", "docs.test/3/x"),
        ("https://DOCS.test:443/", "docs.test"),
        ("http://docs.test:80", "docs.test"),
        ("http://docs.test:443/x/", "docs.test:443/x"),
        ("docs.test/x", "docs.test/x"),
    ],
)
def test_an_address_is_host_and_path(url: str, address: str) -> None:
    assert address_of(url) == address


@pytest.mark.parametrize(
    "pattern", ["docs.test/**", "docs.test/", "*.test/**", "*(docs.test/**)", "web_fetch"]
)
def test_an_allow_covers_a_site_with_its_first_page(pattern: str) -> None:
    said = rule("allow", pattern if "(" in pattern or pattern == "web_fetch" else f"web_fetch({pattern})")
    for url in ("https://docs.test/", "https://docs.test/3/x?q", "http://docs.test/a"):
        assert verdict_on(said, url) == "allow"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.test/docs.test",
        "https://evil.test/docs.test/3",
        "https://docs.test.evil.test/",
        "https://docs.test:8443/3",
        "https://evil.test/?docs.test/3",
        "https://docs.tests/3",
    ],
)
@pytest.mark.parametrize("pattern", ["docs.test", "docs.test/**", "docs.test/", "docs.test/3"])
def test_an_allow_for_a_site_is_not_for_a_name_that_stands_elsewhere(pattern: str, url: str) -> None:
    assert verdict_on(rule("allow", f"web_fetch({pattern})"), url) == "ask"


def test_an_allow_for_a_port_names_it() -> None:
    assert verdict_on(rule("allow", "web_fetch(docs.test:8443/**)"), "https://docs.test:8443/x") == "allow"


def test_an_allow_for_a_site_covers_nothing_that_nobody_can_see() -> None:
    said = rule("allow", "web_fetch(docs.test/**)")
    assert verdict_on(said, "https://docs.test/", external=True) == "ask"
    assert verdict_on(said, "https://docs.test/", "https://evil.test/") == "ask"
    assert verdict_on(said, "https://docs.test/", reads=(Seen("docs.test/x", OLD),)) == "ask"
    wider = Rule("allow", ("web_fetch(docs.test/**)",), "because", when={"fetches": None, "external": None})  # type: ignore[dict-item]
    assert verdict_on(wider, "https://docs.test/", external=True) == "allow"


@pytest.mark.parametrize("pattern", ["evil.test", "evil.test/**", "EVIL.test/", "**/evil.test", "*", "**"])
def test_a_deny_reaches_everything_below_a_host(pattern: str) -> None:
    said = rule("deny", f"web_fetch({pattern})")
    for url in ("https://evil.test/", "https://evil.test/a/b"):
        assert verdict_on(said, url) == "deny"


def test_a_deny_may_leave_part_of_a_site_alone() -> None:
    said = rule("deny", "web_fetch(wide.test)", unless=("web_fetch(wide.test/docs/**)",))
    assert verdict_on(said, "https://wide.test/x") == "deny"
    assert verdict_on(said, "https://wide.test/docs/x") == "ask"


def test_rules_about_files_do_not_speak_of_addresses() -> None:
    rules = Rules([*shipped_rules(), rule("deny", "*(.)"), rule("deny", "*(notes.md)")])
    for url in ("https://docs.test/notes.md", "https://docs.test/.env", "https://docs.test/"):
        assert rules.judge(call("web_fetch", url=url), Preview(fetches=(url,)), FETCHER).decision == "ask"


def test_a_tool_that_acts_outside_without_saying_where_is_covered_by_no_site() -> None:
    said = Rules([rule("allow", "web_fetch(docs.test/**)")])
    assert said.judge(call("web_fetch", url="https://docs.test/"), Preview(), FETCHER).decision == "ask"
