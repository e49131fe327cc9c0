"""Why a verdict is what it is."""

from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.policy.explain import explain
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.rule import Rule
from brasstag.policy.verdict import Rules
from brasstag.words.calls import Call
from brasstag.words.previews import Preview
from tests.policy import strategies as make
from tests.policy.calls import call, overwrites

FACTS = ToolFacts("write_file", approval="auto", effects="files")


@given(st.lists(make.any_rules, max_size=4), make.calls, make.previews, make.tools, make.profiles)
@settings(max_examples=150)
def test_the_explained_verdict_is_the_verdict_and_exactly_one_line_decided(
    rules: list[Rule], made: Call, preview: Preview, tool: ToolFacts, profile: str
) -> None:
    judging = Rules(rules, profile)  # type: ignore[arg-type]
    explanation = explain(judging, made, preview, tool)
    assert explanation.verdict == judging.judge(made, preview, tool)
    assert [line.verdict for line in explanation.lines if line.decided] == [explanation.verdict]


def test_every_voice_is_there_the_one_that_decided_first() -> None:
    rules = Rules(
        [
            Rule("allow", ("write_file",), "writers write", "writing", source="brasstag.toml: rules[0]"),
            Rule("ask", ("*(*.md)",), "look at prose", "prose", source="brasstag.toml: rules[1]"),
            Rule("deny", ("read_file",), "not about this call"),
        ]
    )
    explanation = explain(rules, call("write_file", path="a.md"), overwrites("a.md"), FACTS)
    assert [(line.verdict.rule, line.decided, line.on) for line in explanation.lines] == [
        ("prose", True, "a.md"),
        ("writing", False, "write_file"),
        ("profile careful", False, ""),
        ("tool write_file", False, ""),
    ]
    assert explanation.lines[0].source == "brasstag.toml: rules[1]"


def test_the_words_a_rule_found_are_shown_on_one_line() -> None:
    rules = Rules([Rule("deny", ("shell(command: git push)",), "no")])
    line = explain(rules, call("shell", command="git push"), Preview(), FACTS).lines[0]
    assert line.on == "git push"


def test_an_explanation_has_a_json_form() -> None:
    explanation = explain(Rules([]), call("write_file", path="a"), overwrites("a"), FACTS)
    assert explanation.as_json()["verdict"]["decision"] == "ask"
    assert explanation.as_json()["lines"][0] == {
        "decision": "ask",
        "because": "it overwrites a; profile careful asks first",
        "rule": "profile careful",
        "by_rule": False,
        "decided": True,
        "on": "",
        "source": "",
    }
