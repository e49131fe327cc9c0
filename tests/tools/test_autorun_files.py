"""Files that other programs run by themselves: however one is written, a person is asked first."""

import pytest

from brasstag import ConfigError, Done, Failed, Room, Rule, RuleEngine, Waiting
from brasstag.policy.narrow import NoRule
from brasstag.policy.profiles import PROFILES
from brasstag.policy.shipped import autorun_rules, shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.calls import Outcome
from tests.conftest import MakeProject
from tests.sandbox.network.servers import replying, serving
from tests.tools.test_web_fetch import towards

NAMED = {
    ".github/workflows/ci.yml": "build-services",
    "sub/.GITHUB/workflows/ci.yml": "build-services",
    ".vscode/tasks.json": "editor-settings",
    ".husky/pre-commit": "git-hooks",
    "conftest.py": "python-start-up",
    "src/deep/Makefile": "build-files",
    "package.json": "package-scripts",
    ".bashrc": "shell-start-up",
    ".gdbinit": "interpreter-start-up",
    "compose.yaml": "container-files",
    ".mcp.json": "agent-instructions",
    "claude.md": "agent-instructions",
    "wrangler.toml": "build-services",
    ".luarc.json": "editor-settings",
    "home/.config/git/config": "git-hooks",
    "units/x.service": "shell-start-up",
    "www/.user.ini": "interpreter-start-up",
    "__pycache__/mod.cpython-311.pyc": "python-start-up",
    ".pnp.cjs": "package-scripts",
    "tools/bazel": "build-files",
    "skills/x/SKILL.md": "agent-instructions",
}


async def asking_rule(room: Room, outcome: Outcome) -> str:
    assert isinstance(outcome, Waiting), outcome
    return (await room.approval(outcome.approval_id)).rule


@pytest.mark.parametrize("profile", PROFILES)
async def test_creating_one_is_asked_about_in_every_profile(make_project: MakeProject, profile: str) -> None:
    allow = '[[rules]]\nallow = "*"\nbecause = "all is fine"\n'
    async with Room.open(make_project(allow, profile=profile)) as room:
        for path, rule in NAMED.items():
            outcome = await room.call("write_file", {"path": path, "content": "x"})
            assert await asking_rule(room, outcome) == rule
        assert list(room.workspace.iterdir()) == []


@pytest.mark.parametrize("path", [".envrc", "home/.npmrc", ".ssh/config"])
async def test_what_is_denied_stays_denied(room: Room, path: str) -> None:
    assert isinstance(await room.call("write_file", {"path": path, "content": "x"}), Failed)


async def test_editing_one_and_moving_a_file_or_its_directory_there_is_asked_about(
    make_project: MakeProject,
) -> None:
    project = make_project(profile="trusted")
    data = project / "data"
    (data / "ci" / "workflows").mkdir(parents=True)
    (data / "ci" / "workflows" / "x.yml").write_text("on: push")
    (data / "Makefile").write_text("all:\n")
    async with Room.open(project) as room:
        for tool, arguments, rule in (
            ("edit_file", {"path": "Makefile", "search_text": "all", "replace_text": "any"}, "build-files"),
            ("move_file", {"from": "ci/workflows/x.yml", "to": "justfile"}, "build-files"),
            ("move_file", {"from": "ci", "to": ".github"}, "build-services"),
        ):
            assert await asking_rule(room, await room.call(tool, arguments)) == rule


async def test_saving_one_from_the_web_is_asked_about(make_project: MakeProject) -> None:
    async with serving(replying(b"all:\n")) as server:
        project = make_project(f'[web]\nallowlist = ["site.test:{server.port}"]\n', profile="trusted")
        async with Room.open(project) as room:
            arguments = {"url": server.url(), "save_as": "Makefile"}
            outcome = await towards(room, server).call("web_fetch", arguments)
            assert await asking_rule(room, outcome) == "build-files"
            assert not (room.workspace / "Makefile").exists()


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("Path('Makefile').write_text('all:')", "build-files"),
        ("Path('.github/workflows').mkdir(parents=True)", "build-services"),
        ("Path('x/workflows').mkdir(parents=True); Path('.github').symlink_to('x')", "build-services"),
        ("Path('notes').touch(); Path('CLAUDE.md').symlink_to('notes')", "agent-instructions"),
    ],
)
async def test_what_code_writes_is_asked_about_before_it_lands(
    make_project: MakeProject, code: str, rule: str
) -> None:
    async with Room.open(make_project(profile="trusted")) as room:
        arguments = {"language": "python", "code": f"from pathlib import Path; {code}"}
        assert await asking_rule(room, await room.call("run_code", arguments)) == rule
        assert list(room.workspace.iterdir()) == []


async def test_reading_and_deleting_them_is_not_asked_about(make_project: MakeProject) -> None:
    project = make_project(profile="trusted")
    (project / "data" / "Makefile").write_text("all:\n")
    async with Room.open(project) as room:
        assert isinstance(await room.call("read_file", {"path": "Makefile"}), Done)
        assert isinstance(await room.call("search_code", {"query": "all"}), Done)
        assert isinstance(await room.call("delete_file", {"path": "Makefile"}), Done)
    rules = Rules(shipped_rules())
    for rule in autorun_rules():
        names = [pattern[2:-1] for pattern in rule.patterns]
        assert rules.is_silent_about(names, "search_code"), rule.name


async def test_a_project_switches_such_a_rule_off_by_its_name(make_project: MakeProject) -> None:
    project = make_project('[policy]\nswitched_off = ["build-files"]\n')
    async with Room.open(project, rules=RuleEngine()) as room:
        assert isinstance(await room.call("write_file", {"path": "Makefile", "content": "x"}), Done)
        outcome = await room.call("write_file", {"path": "package.json", "content": "x"})
        assert await asking_rule(room, outcome) == "package-scripts"


@pytest.mark.parametrize("name", ["ssh-keys", "build-flies", "destroys-the-machine"])
async def test_no_other_rule_can_be_switched_off(make_project: MakeProject, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        async with Room.open(make_project(f'[policy]\nswitched_off = ["{name}"]\n')):
            pass
    (problem,) = caught.value.problems
    assert problem.field == "policy.switched_off"
    assert "build-files" in str(problem)


async def test_always_says_how_to_switch_it_off(room: Room) -> None:
    outcome = await room.call("write_file", {"path": "Makefile", "content": "x"})
    assert isinstance(outcome, Waiting)
    found = room.narrow_rule(await room.approval(outcome.approval_id), "yes")
    assert isinstance(found, NoRule)
    assert "[policy] switched_off may name it" in found.because


def test_each_such_rule_says_why_and_no_file_stands_in_two_of_them() -> None:
    rules = autorun_rules()
    assert all(isinstance(rule, Rule) and rule.because and rule.match and rule.not_match for rule in rules)
    patterns = [pattern.lower() for rule in rules for pattern in rule.patterns]
    assert len(patterns) == len(set(patterns))
