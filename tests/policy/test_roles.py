"""Which tools a role may use."""

from dataclasses import dataclass

import pytest

from brasstag.policy.roles import OPERATOR, Roles
from brasstag.settings import parse_settings
from brasstag.words.errors import ConfigError


@dataclass(frozen=True)
class Tool:
    name: str


TOOLS = ["read_file", "write_file", "edit_file", "list_files", "search_code", "assign_task", "delete_file"]
FOUND = {name: Tool(name) for name in TOOLS} | {"list_directory": Tool("list_files")}

NOVEL = """
[roles.architect]
tools = ["read_file", "write_file", "list_directory", "search_code", "assign_task"]
[roles.narrator]
tools = ["read_file", "write_file"]
[roles.editor]
tools = ["read_file", "edit_file", "list_files", "search_code"]
"""

S0 = {
    "read_file": {"architect", "narrator", "editor"},
    "write_file": {"architect", "narrator"},
    "edit_file": {"editor"},
    "list_files": {"architect", "editor"},
    "search_code": {"architect", "editor"},
    "assign_task": {"architect"},
    "delete_file": set(),
}


def roles(text: str, everyone: tuple[str, ...] = ()) -> Roles:
    return Roles(parse_settings(text).roles, FOUND.get, everyone)


@pytest.mark.parametrize("tool", S0)
@pytest.mark.parametrize("role", ["architect", "narrator", "editor"])
def test_the_matrix_of_s0_holds(tool: str, role: str) -> None:
    assert (roles(NOVEL).why_not(role, tool) is None) == (role in S0[tool])


def test_the_operator_may_use_everything() -> None:
    assert all(roles(NOVEL).why_not(OPERATOR, tool) is None for tool in TOOLS)


def test_a_star_is_every_tool() -> None:
    assert roles('[roles.all]\ntools = ["*"]').why_not("all", "delete_file") is None


def test_some_tools_belong_to_everyone() -> None:
    assert roles(NOVEL, everyone=("handoff",)).why_not("narrator", "handoff") is None


def test_a_role_that_may_not_is_told_what_it_may() -> None:
    message = roles(NOVEL).why_not("narrator", "edit_file")
    assert message == "the role narrator may not use edit_file; it may use read_file, write_file"


def test_a_role_without_tools_is_told_so() -> None:
    assert "no tool at all" in (roles("[roles.mute]").why_not("mute", "read_file") or "")


def test_an_unknown_role_is_told_which_there_are() -> None:
    message = roles(NOVEL).why_not("boss", "read_file")
    assert message == "there is no role 'boss'; this room has architect, editor, narrator, operator"


def test_a_role_with_a_tool_that_does_not_exist_stops_the_start() -> None:
    with pytest.raises(ConfigError) as caught:
        roles('[roles.a]\ntools = ["read_file", "raed_file"]\n[roles.b]\ntools = ["x"]')
    assert [problem.field for problem in caught.value.problems] == ["roles.a.tools[1]", "roles.b.tools[0]"]
