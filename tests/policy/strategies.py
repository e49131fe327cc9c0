"""Rules, calls and previews for laws; few words, so that they meet often."""

from hypothesis import strategies as st

from brasstag.policy.profiles import PROFILES, ToolFacts
from brasstag.policy.python_rules import PythonRule
from brasstag.policy.rule import Rule
from brasstag.policy.shell.rules import command_rules as shipped_command_rules
from brasstag.words.calls import Call
from brasstag.words.previews import ABSENT, Change, Fact, Preview, Seen
from brasstag.words.verdicts import CONDITIONS, Decision, Verdict
from tests.policy.calls import NEW, OLD, call_with

TOOLS = ["read_file", "write_file", "shell"]
PATHS = ["a", "a/b", "a/B", "c.md", ".env", "a/c.md", "d e"]

decisions: st.SearchStrategy[Decision] = st.sampled_from(["deny", "ask", "allow"])
specifiers = [
    "",
    "(a)",
    "(a/**)",
    "(a/)",
    "(*.md)",
    "(/c.md)",
    "(**)",
    "(command: rm)",
    "(command: ls **)",
    "(mode: x*)",
    "(x.org/**)",
]
patterns = st.builds(
    lambda tool, spec: f"{tool}{spec}", st.sampled_from(["*", *TOOLS]), st.sampled_from(specifiers)
)
facts = st.dictionaries(st.sampled_from(Fact), st.sampled_from([None, 1, 2]), max_size=2)

rules = st.builds(
    Rule,
    decision=decisions,
    patterns=st.lists(patterns, min_size=1, max_size=2).map(tuple),
    because=st.sampled_from(["x", "y"]),
    name=st.sampled_from(["", "r", "s"]),
    unless=st.lists(patterns, max_size=1).map(tuple),
    arguments=st.sampled_from([{}, {"mode": ("x",)}, {"path": ("a/**", "c.md")}]),
    when=facts,
)
strict_rules = rules.filter(lambda rule: rule.decision != "allow")


def says(decision: Decision) -> PythonRule:
    def judge(made: Call, _preview: Preview) -> Verdict | None:
        return Verdict(decision, "z", "?") if made.tool == "shell" else None

    return PythonRule(f"py-{decision}", judge)


python_rules = decisions.map(says)
command_rules = st.sampled_from(shipped_command_rules("here"))
any_rules = st.one_of(rules, rules, rules, python_rules, command_rules)

paths = st.sampled_from(PATHS)
states = st.sampled_from([ABSENT, OLD, NEW])
changes = st.builds(
    Change, paths, states, states, source=st.sampled_from(["", "a", "c.md"]), undoable=st.booleans()
)
previews = st.builds(
    Preview,
    reads=st.lists(st.builds(Seen, paths, st.just(OLD)), max_size=2).map(tuple),
    changes=st.lists(changes, max_size=2).map(tuple),
    runs=st.sampled_from([(), (), ("ls",), ("rm x",), ("rm -r a; $X",), ("ls && rm -rf /",)]),
    fetches=st.sampled_from([(), (), ("https://x.org",), ("https://x.org", "https://y.org")]),
    external=st.booleans(),
    untracked_reads=st.sampled_from([0, 0, 3]),
    annotates=st.sampled_from([(), (), ("a",), ("c.md",)]),
)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "path": st.one_of(paths, st.sampled_from(["./a", "A", "c.md/"])),
        "command": st.sampled_from(["rm", "ls -l", "ls; rm a", "ls a && ls 'd e'", "cat .env", "sudo ls"]),
        "mode": st.sampled_from(["x", "xy", "z", ["x"]]),
    },
)
calls: st.SearchStrategy[Call] = st.builds(call_with, st.sampled_from(TOOLS), arguments)
tools = st.builds(
    ToolFacts,
    tool=st.just("tool"),
    approval=st.sampled_from([None, "auto", "confirm", *CONDITIONS]),
    requires_approval=st.sampled_from([None, True, False]),
    error=st.sampled_from(["", "", "KeyError"]),
    effects=st.sampled_from(["none", "files", "code", "external"]),
)
profiles = st.sampled_from(list(PROFILES))
