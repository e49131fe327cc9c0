"""Which tools a role may use, and whom it may give work to."""

import pytest

from brasstag.policy.roles import EVERYONES, OPERATOR, Roles
from brasstag.settings import parse_settings
from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.discovery import discover_package
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.routes import route_tools
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import ConfigError, Problem

NOVEL = """
[roles.architect]
tools = ["read_file", "write_file", "list_directory", "search_code"]
delegates_to = ["narrator", "editor"]
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

EVERYTHING = """
[roles.lead]
delegates_to = ["all"]
[roles.all]
tools = ["*"]
delegates_to = ["other"]
[roles.other]
"""


def roles(text: str, *more: Tool) -> Roles:
    settings = parse_settings(text)
    registry = ToolRegistry([*discover_package("brasstag.tools"), *more, *route_tools(settings.roles)])
    return Roles(settings.roles, registry)


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        roles(text)
    return caught.value.problems


class TestTools:
    @pytest.mark.parametrize("tool", S0)
    @pytest.mark.parametrize("role", ["architect", "narrator", "editor"])
    def test_the_matrix_of_s0_holds(self, tool: str, role: str) -> None:
        assert (roles(NOVEL).why_not(role, tool) is None) == (role in S0[tool])

    def test_the_operator_may_use_everything(self) -> None:
        for tool in [*S0, *EVERYONES, "route_to_editor", "route_to_narrator"]:
            assert roles(NOVEL).why_not(OPERATOR, tool) is None

    def test_a_star_is_every_tool(self) -> None:
        assert roles(EVERYTHING).why_not("all", "delete_file") is None

    @pytest.mark.parametrize("tool", sorted(EVERYONES))
    @pytest.mark.parametrize("role", ["architect", "narrator", "editor"])
    def test_every_role_can_end_ask_and_take_notes(self, tool: str, role: str) -> None:
        assert roles(NOVEL).why_not(role, tool) is None

    def test_the_tools_of_everyone_are_shipped(self) -> None:
        assert {tool.name for tool in discover_package("brasstag.tools")} >= EVERYONES

    def test_a_role_that_may_not_is_told_what_it_may(self) -> None:
        message = roles(NOVEL).why_not("narrator", "edit_file")
        assert message is not None
        assert message.startswith("the role narrator may not use edit_file; it may use ask_master, handoff, ")
        assert message.endswith("stop_and_think, write_file")

    def test_an_unknown_role_is_told_which_there_are(self) -> None:
        message = "there is no role 'boss'; this room has architect, editor, narrator, operator"
        assert roles(NOVEL).why_not("boss", "read_file") == message
        assert roles(NOVEL).why_not("boss", "route_to_editor") == message
        assert roles(NOVEL).may_delegate("boss", "editor") == message

    def test_a_role_with_a_tool_that_does_not_exist_stops_the_start(self) -> None:
        found = problems_of('[roles.a]\ntools = ["read_file", "raed_file"]\n[roles.b]\ntools = ["x"]')
        assert [problem.field for problem in found] == ["roles.a.tools[1]", "roles.b.tools[0]"]

    def test_a_route_comes_with_delegates_to_and_in_no_other_way(self) -> None:
        (problem,) = problems_of('[roles.a]\ntools = ["route_to_b"]\n[roles.b]\ndelegates_to = ["a"]')
        assert problem.field == "roles.a.tools[0]"
        assert 'Add "b" to delegates_to' in problem.mend


class TestDelegating:
    def test_a_role_has_the_routes_of_exactly_those_it_delegates_to(self) -> None:
        crew = roles(EVERYTHING)
        assert crew.why_not("lead", "route_to_all") is None
        assert crew.why_not("lead", "route_to_other") is not None
        assert crew.why_not("other", "route_to_all") is not None

    def test_not_even_a_star_is_a_route(self) -> None:
        crew = roles(EVERYTHING)
        assert crew.why_not("all", "route_to_other") is None
        message = "the role all may not give tasks to all; it may give them to other"
        assert crew.why_not("all", "route_to_all") == message

    def test_assign_task_reaches_whom_the_routes_reach(self) -> None:
        crew = roles(NOVEL)
        assert crew.why_not("architect", "assign_task") is None
        assert crew.why_not("narrator", "assign_task") is not None
        assert crew.may_delegate("architect", "editor") is None
        assert crew.may_delegate("narrator", "editor") == (
            "the role narrator may not give tasks to editor; it may give them to no role"
        )

    @pytest.mark.parametrize("target", ["nobody", "operator", "person", "architect ", ""])
    def test_a_target_that_is_no_role_is_told_with_those_that_are(self, target: str) -> None:
        message = roles(NOVEL).may_delegate("architect", target)
        assert message == (
            f"there is no role {target!r} to give a task to; architect may give tasks to editor, narrator"
        )

    def test_the_operator_may_give_work_to_every_role(self) -> None:
        crew = roles(NOVEL)
        assert [crew.may_delegate(OPERATOR, name) for name in ("architect", "narrator", "editor")] == [
            None
        ] * 3
        assert crew.may_delegate(OPERATOR, "boss") is not None

    def test_having_assign_task_alone_reaches_nobody(self) -> None:
        crew = roles('[roles.a]\ntools = ["assign_task"]\n[roles.b]')
        assert crew.why_not("a", "assign_task") is None
        assert crew.may_delegate("a", "b") is not None


ANSWERING = EVERYONES - {"save_to_short_term_memory", "save_to_long_term_memory"}

LOOKING = {
    "canon_checker",
    "consistency_checker",
    "timeline_validator",
    "outline_analyzer",
    "scene_draft_validator",
    "stakes_mapper",
    "scene_impact_analyzer",
    "reader_experience_simulator",
    "beat_architect",
    "prose_analyzer",
    "line_editor",
    *("read_file", "list_files", "search_code"),
    *("list_documents", "search_documents", "load_to_context", "compare_documents", "ask_data"),
    *("search_issues", "issue_status_summarizer"),
}


class TestAnswering:
    def test_who_only_answers_looks_and_changes_nothing(self) -> None:
        assert roles(NOVEL).answering("architect") == ANSWERING | {"read_file", "list_files", "search_code"}

    def test_neither_acting_nor_delegating_comes_in_with_a_star(self) -> None:
        assert roles(EVERYTHING).answering("all") == ANSWERING | LOOKING

    def test_what_is_said_of_documents_outlives_an_answer_so_it_is_left_out(self) -> None:
        crew = roles(
            '[roles.a]\ntools = ["tag_document", "describe_document", "restore_document", "read_file"]'
        )
        assert crew.answering("a") == ANSWERING | {"read_file"}

    def test_a_tool_that_acts_elsewhere_is_left_out(self) -> None:
        outside = Tool(ToolConfig(tool_id="send", description="Send it."), function=print)
        inside = Tool(ToolConfig(tool_id="peek", description="Look.", effects="none"), function=print)
        crew = roles('[roles.a]\ntools = ["send", "peek"]', outside, inside)
        assert crew.answering("a") == ANSWERING | {"peek"}

    def test_a_role_that_is_gone_has_nothing(self) -> None:
        assert roles(NOVEL).answering("boss") == frozenset()
