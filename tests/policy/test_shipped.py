"""The rules every room has."""

import pytest

from brasstag.policy.profiles import PROFILES, ToolFacts
from brasstag.policy.rule import Rule
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.previews import ABSENT, Change, Preview, file_state
from tests.policy.calls import call, overwrites, reads

AUTO = ToolFacts("any", approval="auto", effects="none")


@pytest.mark.parametrize("rule", shipped_rules(), ids=lambda rule: rule.name)
def test_every_shipped_rule_bears_out_its_examples(rule: Rule) -> None:
    assert rule.match
    assert rule.not_match
    assert list(rule.failing_examples()) == []


SENSITIVE = [
    *(
        ".ssh/id_rsa",
        ".ssh/known_hosts",
        "deploy/id_ed25519",
        "etc/passwd",
        "backup/etc/shadow",
        ".env",
        "web/.env.local",
    ),
    *(".netrc", ".pgpass", ".aws/credentials", ".gnupg/pubring.kbx", ".npmrc", ".pypirc", ".git-credentials"),
    *(".kube/config", ".docker/config.json", "vault.kdbx", "tls/privkey.pem"),
]


@pytest.mark.parametrize("path", SENSITIVE)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("tool", ["read_file", "write_file", "some_other_tool"])
def test_sensitive_files_are_denied_to_every_tool_in_every_profile(
    path: str, profile: str, tool: str
) -> None:
    allows = Rule("allow", ("*",), "allow everything")
    rules = Rules([*shipped_rules(), allows], profile)  # type: ignore[arg-type]
    assert rules.judge(call(tool, path=path), reads(path), AUTO).decision == "deny"
    assert rules.judge(call(tool), overwrites(f"copy/{path}"), AUTO).decision == "deny"
    assert rules.hides(path)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "README.md",
            "src/environment.py",
            ".env.example",
            "id_rsa.pub",
            "docs/passwd.md",
            "certs/ca.pem",
            "keynote.md",
        ),
        *(
            ".github/workflows/ci.yml",
            ".gitignore",
            "aws/credentials.md",
            "config.json",
            "manuscripts/ch01.md",
        ),
    ],
)
def test_ordinary_files_are_left_alone(path: str) -> None:
    assert not Rules(shipped_rules()).judge(call("read_file", path=path), reads(path), AUTO).by_rule


@pytest.mark.parametrize(
    "command", ["rm -rf /", "sudo rm -fr /*", "mkfs.ext4 /dev/sda", "dd if=x of=/dev/sda", "rm -r ~"]
)
def test_commands_that_destroy_a_machine_are_denied(command: str) -> None:
    verdict = Rules(shipped_rules(), "trusted").judge(
        call("shell", command=command), Preview(runs=(command,)), AUTO
    )
    assert verdict.decision == "deny"


@pytest.mark.parametrize(
    "command", ["ls -la", "make test", "rm notes.md", "git rm -r --cached docs", "find . -name rm"]
)
def test_everyday_commands_are_not_denied(command: str) -> None:
    verdict = Rules(shipped_rules()).judge(call("shell", command=command), Preview(runs=(command,)), AUTO)
    assert verdict.decision != "deny"


def test_a_name_that_may_be_a_key_asks() -> None:
    assert (
        Rules(shipped_rules()).judge(call("read_file", path="x.key"), reads("x.key"), AUTO).decision == "ask"
    )


MAKES_HEAD = [
    ("write_file", (Change("lib/HEAD", ABSENT, file_state("x")),)),
    ("edit_file", (Change("HEAD", file_state("x"), file_state("y")),)),
    ("move_file", (Change("lib/HEAD", ABSENT, file_state("x"), source="lib/notes"),)),
    (
        "apply_changes",
        tuple(Change(f"lib/{name}", ABSENT, file_state(name)) for name in ("config", "head", "refs/x")),
    ),
]


@pytest.mark.parametrize(("tool", "changes"), MAKES_HEAD)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_file_that_makes_its_directory_a_repository_asks_in_every_profile(
    tool: str, changes: tuple[Change, ...], profile: str
) -> None:
    allows = Rule("allow", ("*",), "allow everything")
    rules = Rules([*shipped_rules(), allows], profile)  # type: ignore[arg-type]
    verdict = rules.judge(call(tool), Preview(changes=changes), AUTO)
    assert (verdict.decision, verdict.rule) == ("ask", "maybe-a-repository")


@pytest.mark.parametrize(
    "path", ["head.html", "src/Head/index.ts", "HEADER", "docs/HEAD.md", "ahead", "HEAD~"]
)
def test_names_like_it_are_left_alone(path: str) -> None:
    made = Preview(changes=(Change(path, ABSENT, file_state("x")),))
    assert not Rules(shipped_rules()).judge(call("write_file", path=path), made, AUTO).by_rule
