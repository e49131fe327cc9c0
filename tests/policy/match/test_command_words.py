"""A rule about a command means it however it is spelt."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.policy.profiles import ToolFacts
from brasstag.policy.rule import Rule
from brasstag.policy.rule_engine import SafetyRule
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict
from tests.policy.calls import call

SHELL = ToolFacts("shell", approval="auto", effects="files")
EVERYTHING = Rule("allow", ("shell",), "all of it", "everything")
PATTERNS = (
    "git push",
    "git push --force",
    "kubectl delete",
    "docker push",
    "npm publish",
    "pip install",
    "systemctl stop",
    "aws s3 rm",
    "terraform apply",
    "frobnicate wipe all",
    "curl",
    "docker container run",
    "npm install",
    "git push -f",
)


def judged(command: str, *patterns: str, decision: str = "deny") -> Verdict:
    """Judge a command by one rule about these commands, where all else is allowed."""
    written = tuple(f"*(command: {pattern})" for pattern in patterns)
    rules = Rules([*shipped_rules(), EVERYTHING, Rule(decision, written, "no", "mine")], "trusted")  # type: ignore[arg-type]
    return rules.judge(call("shell", command=command), Preview(runs=(command,)), SHELL)


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("git -C . push", "git push"),
        ("git -c k=v push", "git push"),
        ("git --git-dir=x --no-pager push", "git push"),
        ("git --git-dir x push", "git push"),
        ("git -C $D push", "git push"),
        ("git --new-option value push", "git push"),
        ("git-push origin", "git push"),
        ("/usr/lib/git-core/git-push", "git push"),
        ("{git,push}", "git push"),
        ("git pu{s,}h", "git push"),
        ("g{i..i}t push", "git push"),
        ("git push origin main --force", "git push --force"),
        ("git push --force=yes", "git push --force"),
        ("docker -H tcp://x --tls push y", "docker push"),
        ("kubectl --context prod -n web delete pod x", "kubectl delete"),
        ("npm --prefix app publish", "npm publish"),
        ("python -m pip --proxy x install y", "pip install"),
        ("systemctl --user -H host stop x", "systemctl stop"),
        ("cargo +nightly --locked publish", "cargo publish"),
        ("go -C x install y", "go install"),
        ("terraform -chdir=x apply", "terraform apply"),
        ("aws --profile p s3 --region x rm y", "aws s3 rm"),
        ("gh -R o/r pr --help merge", "gh pr merge"),
        ("apt -o k=v install x", "apt install"),
        ("helm -n web uninstall x", "helm uninstall"),
        ("frobnicate --level 3 -v wipe", "frobnicate wipe"),
        ("rm x -f y -r", "rm -rf"),
        ("uv --quiet run git push", "git push"),
        ("docker exec -it c git -C x push", "git push"),
        ("env - git -C . push", "git push"),
        ("pip3.12 --proxy x install y", "pip install"),
        ("python3 -m pip3 install y", "pip install"),
        ("/usr/bin/gpg2 --sign x", "gpg --sign"),
        ("docker image push x", "docker push"),
        ("docker push x", "docker image push"),
        ("docker -H h image push x", "docker push"),
        ("podman container run x", "podman run"),
        ("docker image rm x", "docker rmi"),
        ("docker buildx build .", "docker build"),
        ("npm pub", "npm publish"),
        ("npm i x", "npm install"),
        ("npm install x", "npm add"),
        ("npm rum x", "npm run"),
        ("git push -uf", "git push --force"),
        ("git push --force", "git push -f"),
        ("git push origin +main", "git push --force"),
        ("git push origin :main", "git push --delete"),
        ("git send-pack x", "git push"),
        ("git stage x", "git add"),
        ("git commit -anm x", "git commit --no-verify"),
        ("kubectl delete ns prod", "kubectl delete namespace"),
        ("kubectl -n x delete pods/p", "kubectl delete pod"),
        ("cargo +nightly r", "cargo run"),
        ("helm del x", "helm uninstall"),
        ("hg pus", "hg push"),
        ("rm --recursive -f x", "rm -rf"),
        ("curl -ko x y", "curl --insecure"),
        ("terraform destroy", "terraform apply -destroy"),
    ],
)
def test_options_braces_wrappers_and_other_names_do_not_hide_a_command(command: str, pattern: str) -> None:
    verdict = judged(command, pattern)
    assert verdict.decision == "deny"
    assert judged(command, pattern, decision="ask").decision in ("ask", "deny")


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("git $X", "git push"),
        ('git "$X" origin', "git push origin"),
        ("x=push; git $x", "git push"),
        ("git $(echo push)", "git push"),
        ("git -C $D log", "git push"),
        ("git pu?h", "git push"),
        ("echo push | xargs git", "git push"),
        ("find . -exec git {} \\;", "git push"),
        ("xargs -I%$x git % <<< push", "git push"),
        ('xargs -I "$x" git % <<< push', "git push"),
        ("x=`echo \\`git p$1ush\\``", "git push"),
        ('g() { git "$@"; }; g push', "git push"),
        ("sh -c 'git $0' push", "git push"),
        ("git push origin $X", "git push --force"),
        ("git push --forc", "git push --force"),
        ("frobnicate --level $L wipe", "frobnicate clean"),
        ("new-wrapper -x git -C . push", "git push"),
        ('import subprocess, sys; subprocess.run(["git", sys.argv[1]])', "git push"),
    ],
)
def test_where_a_word_that_the_rule_looks_at_is_not_known_a_person_is_asked(
    command: str, pattern: str
) -> None:
    if command.startswith("import"):
        made = call("run_code", language="python", code=command)
        rules = Rules(
            [EVERYTHING, Rule("allow", ("run_code",), "all"), SafetyRule("mine", [pattern]).as_rule()]
        )
        verdict = rules.judge(made, Preview(runs=(command,)), SHELL)
    else:
        verdict = judged(command, pattern)
    assert (verdict.decision, verdict.rule) == ("ask", "mine")
    assert "only known when it runs" in verdict.because


@pytest.mark.parametrize(
    "command",
    [
        "git log $X",
        'git -C "$D" log',
        'git --git-dir="$D" log',
        "git commit -m push",
        'git commit -m "$MESSAGE"',
        "git log --grep push",
        "git -C push log",
        "git add *.py",
        "git fetch origin push",
        "npm run push $X",
        "echo $X",
        'for f in *.md; do wc -l "$f"; done',
        "python x.py -c y",
    ],
)
def test_commands_that_are_known_to_be_others_are_left_alone(command: str) -> None:
    verdict = judged(command, "git push", "npm publish", "curl", "python -c")
    assert (verdict.decision, verdict.rule) == ("allow", "everything")


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("npm pack", "npm publish"),
        ("npm in x", "npm init"),
        ("docker image ls", "docker push"),
        ("git push -u origin feat-f", "git push --force"),
        ("git commit -m x", "git commit --no-verify"),
        ("kubectl get ns", "kubectl delete namespace"),
        ("git push origin a:b", "git push --delete"),
        ("npm run pub", "npm publish"),
        ("git clean -n", "git clean --force"),
    ],
)
def test_names_that_belong_to_another_subcommand_or_option_are_left_alone(command: str, pattern: str) -> None:
    assert judged(command, pattern).rule == "everything"


def test_an_exception_to_an_allow_means_the_command_however_it_is_spelt() -> None:
    careful = Rule("allow", ("shell",), "all but pushing", "most", unless=("shell(command: git push)",))
    rules = Rules([careful], "locked")
    for command in ("git push", "git -C x push", "git $X"):
        assert rules.judge(call("shell", command=command), Preview(runs=(command,)), SHELL).decision == "ask"
    assert (
        rules.judge(call("shell", command="git log"), Preview(runs=("git log",)), SHELL).decision == "allow"
    )


def test_a_condition_on_a_command_means_it_however_it_is_spelt() -> None:
    rule = Rule("deny", ("shell",), "no", "mine", arguments={"command": ("git push",)})
    for command, decision in {"git -C x push": "deny", "git $X": "ask", "git log": "allow"}.items():
        verdict = Rules([rule, EVERYTHING]).judge(
            call("shell", command=command), Preview(runs=(command,)), SHELL
        )
        assert verdict.decision == decision, command


def test_a_certain_denial_counts_more_than_one_in_doubt() -> None:
    assert judged("git $X; curl x", "git push", "curl").decision == "deny"


# The law: spellings are drawn for each word, then for the command, then for what it stands in.


def _ansi(word: str) -> str:
    return "$'" + "".join(f"\\x{ord(letter):02x}" for letter in word) + "'"


def _halves(word: str, glue: str) -> str:
    return f"{word[:1]}{glue}{word[1:]}"


WORD_SPELLINGS = (
    lambda word: word,
    lambda word: f"'{word}'",
    lambda word: f'"{word}"',
    lambda word: _halves(word, "''"),
    lambda word: _halves(word, '""'),
    lambda word: _halves(word, "\\") if len(word) > 1 else word,
    lambda word: _halves(word, "\\\n") if len(word) > 1 else word,
    _ansi,
    lambda word: f"{{{word},}}",
    lambda word: f"{word[:-1]}{{{word[-1]}..{word[-1]}}}" if word[-1].isalpha() else word,
)
UNKNOWN_SPELLINGS = (
    lambda word: f"$(echo {word})",
    lambda word: f"`echo {word}`",
    lambda word: f'"$(printf %s {word})"',
    lambda word: "$W",
    lambda word: '"${W}"',
    lambda word: f"{word[:1]}$W",
    lambda word: f"{word[:1]}*",
)
OPTIONS = {
    "git": ("-C .", "-c k=v", "--git-dir=x", "--no-pager", "--work-tree x", '-C "$D"'),
    "kubectl": ("-n web", "--context=x", "--v=3"),
    "docker": ("-H x", "--debug"),
    "npm": ("--prefix x", "--silent"),
    "frobnicate": ("-q", "--level 3", "--mode=x"),
}
ANY_OPTIONS = ("-q", "--verbose", "--color=never", "--some-option value")
WRAPPERS = (
    "env", "env A=1 B=2", "command", "nice -n 5", "timeout 5", "timeout -k 3 5s", "sudo -u me", "nohup", "exec", "time -p",
    "stdbuf -oL", "setsid", "busybox", "env -u X", "flock f", "uv run",
)  # fmt: skip
PLACES = (
    "{}", "({})", "{{ {}; }}", "ls; {}", "ls && {}", "false || {}", "ls | {}", "{} | cat", "! {}", "{} &",
    "{} > /dev/null 2>&1", "echo $({})", "x=`{}`", "cat <({})", "if true; then {}; fi", "for i in 1; do {}; done",
    "ls\n{}", "# x\n{}", "f() {{ {}; }}; f", "case x in x) {};; esac", "[ -n \"$({})\" ]", "echo $(( $({}) ))",
)  # fmt: skip
TEXTS = (
    "eval {}", "sh -c {}", "bash -lc {}", "trap {} EXIT", "env -S {}", "su -c {}", "watch {}", "bash <<< {}", "alias x={}",
    "ssh host {}", "xargs sh -c {}",
)  # fmt: skip


@st.composite
def respellings(draw: st.DrawFn, words: list[str], unknown: bool) -> str:
    """Return another way to write a command: with ``unknown``, one of its words is only known when it runs."""
    spelt = [draw(st.sampled_from(WORD_SPELLINGS))(word) for word in words]
    if unknown:
        index = draw(st.integers(0, len(words) - 1))
        spelt[index] = draw(st.sampled_from(UNKNOWN_SPELLINGS))(words[index])
    options = OPTIONS.get(words[0], ()) + ANY_OPTIONS
    line = spelt[0]
    if "{" not in line and "$" not in line and draw(st.booleans()):
        line = f"/usr/bin/{line}"
    for word in spelt[1:]:
        line += " " + " ".join([*draw(st.lists(st.sampled_from(options), max_size=2)), word])
    for wrapper in draw(st.lists(st.sampled_from(WRAPPERS), max_size=2)):
        line = f"{wrapper} {line}"
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            line = draw(st.sampled_from(PLACES)).format(line)
        else:
            text = draw(st.sampled_from(TEXTS))
            line = text.format(shlex.quote(line)) if "\n" not in line else f"bash <<'E'\n{line}\nE"
    return line


@given(st.data(), st.sampled_from(PATTERNS))
@settings(max_examples=300, deadline=None)
def test_respelling_a_denied_command_never_makes_it_allowed(data: st.DataObject, pattern: str) -> None:
    unknown = data.draw(st.booleans())
    command = data.draw(respellings(pattern.split(), unknown))
    verdict = judged(command, pattern)
    assert verdict.decision != "allow", command
    if not unknown and '"$D"' not in command:
        # It may be asked about where the parser is in doubt, or a wrapper is.
        assert verdict.decision in ("deny", "ask")


@given(st.data(), st.sampled_from(PATTERNS))
@settings(max_examples=150, deadline=None)
def test_without_text_inside_text_a_respelling_stays_denied(data: st.DataObject, pattern: str) -> None:
    words = [data.draw(st.sampled_from(WORD_SPELLINGS[:-2]))(word) for word in pattern.split()]
    options = OPTIONS.get(pattern.split(maxsplit=1)[0], ()) + ANY_OPTIONS
    line = words[0] + "".join(
        " " + " ".join([*data.draw(st.lists(st.sampled_from(options), max_size=2)), word])
        for word in words[1:]
    )
    line = f"{data.draw(st.sampled_from(('', *WRAPPERS[:12])))} {line}"
    command = data.draw(st.sampled_from(PLACES)).format(line)
    assert judged(command, pattern).decision == "deny", command
