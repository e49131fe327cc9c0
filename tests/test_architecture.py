"""The layout of the code keeps its rules; what breaks one today stands in a list that only shrinks."""

import ast

import pytest

from brasstag.surfaces.cli.main import app
from tests.architecture import COMMAND, OFFENDERS, RULES, Rule, invented_names


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_only_listed_offenders_break_a_rule(rule: Rule) -> None:
    prefix = f"{rule.__name__}: "
    lines = OFFENDERS.read_text(encoding="utf-8").splitlines()
    listed = {line.removeprefix(prefix).split("  # ")[0] for line in lines if line.startswith(prefix)}
    found = set(rule())
    assert found - listed == set(), f"new offenders; the rule: {rule.__doc__}"
    assert listed - found == set(), "these are mended; remove them from the list"


def test_every_line_of_the_list_belongs_to_a_rule() -> None:
    names = {rule.__name__ for rule in RULES}
    for line in OFFENDERS.read_text(encoding="utf-8").splitlines():
        assert line.split(": ")[0] in names
        assert "  # " in line, f"say why this may stay: {line}"


@pytest.mark.parametrize(
    "code",
    [
        "class Booth: ...",
        "def run_errand(): ...",
        "def f(*, racks): ...",
        "self._shelf = 1",
        "async def vault(): ...",
    ],
)
def test_an_invented_picture_is_found_in_any_name(code: str) -> None:
    assert len(list(invented_names(ast.parse(code)))) == 1


def test_plain_words_are_no_pictures() -> None:
    assert list(invented_names(ast.parse("def watch(boot): minutes = looked_at = shopping = 1"))) == []


def test_every_command_is_known_to_the_rule_about_messages() -> None:
    commands = [one.name or one.callback.__name__ for one in app.registered_commands if one.callback]
    groups = [str(group.name) for group in app.registered_groups]
    for name in [*commands, *groups]:
        assert COMMAND.search(f"run `brasstag {name}` first"), name
