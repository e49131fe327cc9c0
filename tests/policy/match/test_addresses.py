"""Rules about web addresses: a pattern names a host and what lies below it."""

import pytest

from brasstag.policy.match.addresses import address_of
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.python_rules import PythonRule
from brasstag.policy.rule import Rule
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.previews import Fact, Preview, Seen
from brasstag.words.verdicts import Decision, Verdict
from tests.policy.calls import OLD, call

CODE = ToolFacts("run_code", approval="auto", effects="code")
EVERYTHING = {Fact.RUNS: None, Fact.FETCHES: None, Fact.EXTERNAL: None}
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


def test_a_file_that_a_fetch_saves_needs_no_cover_and_is_minded_all_the_same() -> None:
    made = call("web_fetch", url="https://docs.test/x", save_as="kept/x")
    preview = Preview(fetches=("https://docs.test/x",), saves=("kept/x",))
    allowed = rule("allow", "web_fetch(docs.test/**)")
    assert Rules([allowed]).judge(made, preview, FETCHER).decision == "allow"
    for denied in ("*(kept/**)", "web_fetch(save_as: kept/**)"):
        assert Rules([allowed, rule("deny", denied)]).judge(made, preview, FETCHER).decision == "deny"


class TestCodeOnTheWeb:
    def judged(self, *rules: Rule, hosts: tuple[str, ...] = ("api.test",), code: str = "cat a.csv") -> str:
        fetches = tuple(f"https://{host}/" for host in hosts)
        preview = Preview((Seen("a.csv", OLD),), runs=(code,), fetches=fetches, external=True)
        made = call("run_code", language="bash", code=code, cwd=".", network=list(hosts))
        return Rules([*shipped_rules(), *rules]).judge(made, preview, CODE).decision

    def opening(self, decision: Decision, *patterns: str, but: Fact | None = None) -> Rule:
        when = {fact: most for fact, most in EVERYTHING.items() if fact is not but}
        return Rule(decision, patterns, "because", when=when)

    def test_an_allow_opens_it_to_the_hosts_it_names(self) -> None:
        opened = self.opening("allow", "run_code(api.test/**)")
        assert self.judged(opened) == "allow"
        assert self.judged(opened, hosts=("api.test", "other.test")) == "deny"
        assert (
            self.judged(self.opening("allow", "run_code(*.test/**)"), hosts=("api.test", "b.test")) == "allow"
        )

    @pytest.mark.parametrize("fact", EVERYTHING)
    def test_an_allow_has_to_say_all_that_it_does(self, fact: Fact) -> None:
        assert self.judged(self.opening("allow", "run_code(api.test/**)", but=fact)) == "deny"

    def test_a_page_is_less_than_its_host(self) -> None:
        assert self.judged(self.opening("allow", "run_code(api.test/v1/**)")) == "deny"

    @pytest.mark.parametrize("pattern", ["run_code", "*", "run_code(code: cat **)", "run_code(**)"])
    def test_an_allow_that_does_not_speak_of_the_web_leaves_it_closed(self, pattern: str) -> None:
        assert self.judged(rule("allow", pattern)) == "deny"

    def test_a_whole_tool_is_opened_only_in_so_many_words(self) -> None:
        assert self.judged(self.opening("allow", "run_code")) == "allow"

    @pytest.mark.parametrize("pattern", ["run_code(api.test)", "run_code", "*(a.csv)", "*"])
    def test_an_ask_alone_does_not_open_it(self, pattern: str) -> None:
        assert self.judged(rule("ask", pattern)) == "deny"
        assert self.judged(self.opening("ask", pattern)) == "deny"
        assert self.judged(code="rm -r a") == "deny"

    def test_beside_an_allow_an_ask_puts_it_to_a_person(self) -> None:
        opened = self.opening("allow", "run_code(api.test/**)")
        assert self.judged(opened, rule("ask", "run_code(api.test)")) == "ask"

    def test_rules_about_commands_hold_where_it_is_open(self) -> None:
        opened = self.opening("allow", "run_code(api.test/**)")
        assert self.judged(opened, code="rm -r a") == "ask"
        assert self.judged(opened, code="rm -rf /") == "deny"
        assert self.judged(opened, rule("deny", "*(api.test)")) == "deny"

    def test_a_rule_in_python_opens_it_by_allowing(self) -> None:
        def says(decision: Decision) -> PythonRule:
            return PythonRule("mine", lambda _call, _preview: Verdict(decision, "so", "mine"))

        said = {decision: self.judged_by(says(decision)) for decision in ("allow", "ask", "deny")}  # type: ignore[arg-type]
        assert said == {"allow": "allow", "ask": "deny", "deny": "deny"}

    def judged_by(self, python: PythonRule) -> str:
        preview = Preview(runs=("x",), fetches=("https://api.test/",), external=True)
        return Rules([python]).judge(call("run_code", code="x"), preview, CODE).decision

    def test_the_refusal_names_a_rule_that_would_do(self) -> None:
        hosts = [f"h{number}.test" for number in range(5)]
        preview = Preview(runs=("x",), fetches=tuple(f"https://{host}/" for host in hosts), external=True)
        said = Rules([]).judge(call("run_code", code="x"), preview, CODE)
        assert said.rule == "profile careful"
        assert (
            'allow = ["run_code(h0.test/**)", "run_code(h1.test/**)", "run_code(h2.test/**)"]' in said.because
        )
        assert 'when = ["runs", "fetches", "external"]' in said.because
