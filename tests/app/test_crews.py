"""The crews that are shipped: they load, they may do what they should, and are written whole."""

from pathlib import Path
from typing import Any

import pytest

from brasstag import Code, Done, Failed, Room, ToolError, UntrustedError
from brasstag.app.crews import crew_names, shipped_crew
from brasstag.app.project.create import create_project
from brasstag.app.project.load import check_configuration, load_project
from brasstag.app.project.trust import control_files
from brasstag.policy.roles import EVERYONES, Roles
from brasstag.settings import read_settings
from tests.conftest import accept

FIND = {"read_file", "load_to_context", "list_documents", "search_documents"}
BROWSE = FIND | {"list_files", "compare_documents"}
READ_CODE = BROWSE | {"search_code"}
SECOND_OPINION = {"ask_gpt", "ask_claude"}
MAY_USE = {
    "novel": {
        "architect": {
            *READ_CODE, *SECOND_OPINION, "write_file", "restore_document", "assign_task", "route_to_narrator",
            "search_issues", "issue_status_summarizer", "comment_issue", "propose_prompt_tool",
            "route_to_editor", "outline_analyzer", "beat_architect", "stakes_mapper", "scene_impact_analyzer",
            "reader_experience_simulator", "timeline_validator", "canon_checker",
        },
        "narrator": {*FIND, "compare_documents", "write_file", "scene_draft_validator", "prose_analyzer"},
        "editor": {
            *READ_CODE, "edit_file", "canon_checker", "consistency_checker", "timeline_validator",
            "scene_draft_validator", "scene_impact_analyzer", "prose_analyzer", "line_editor", "search_issues",
            "comment_issue", "propose_prompt_tool",
        },
    },
    "analyst": {
        "lead": {*BROWSE, *SECOND_OPINION, "assign_task", "route_to_analyst"},
        "analyst": {
            *BROWSE, "write_file", "edit_file", "restore_document", "tag_document", "describe_document", "ask_data",
            "assign_task", "route_to_visualizer",
        },
        "visualizer": {*FIND, "list_files", "plot_data"},
    },
    "developer": {
        "lead": {
            *READ_CODE, *SECOND_OPINION, "write_file", "edit_file", "assign_task", "route_to_developer",
            "route_to_reviewer",
        },
        "developer": {*READ_CODE, "write_file", "edit_file", "move_file", "delete_file", "restore_document"},
        "reviewer": READ_CODE,
    },
}  # fmt: skip


def made(tmp_path: Path, crew: str, **given: Any) -> Path:
    create_project(tmp_path / "project", crew=crew, **given)
    return tmp_path / "project"


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


class TestShipped:
    def test_these_are_shipped(self) -> None:
        assert crew_names() == sorted(MAY_USE)

    @pytest.mark.parametrize("crew", MAY_USE)
    def test_each_loads_without_a_problem(self, tmp_path: Path, crew: str) -> None:
        assert check_configuration(made(tmp_path, crew)) == []

    @pytest.mark.parametrize("crew", MAY_USE)
    async def test_each_opens_at_once_as_what_was_written_is_accepted(
        self, tmp_path: Path, crew: str
    ) -> None:
        async with Room.open(made(tmp_path, crew)) as room:
            offered = {tool.name for tool in room.tools.list()}
        assert offered >= set.union(*MAY_USE[crew].values())

    @pytest.mark.parametrize("crew", MAY_USE)
    def test_its_roles_may_use_exactly_these_tools(self, tmp_path: Path, crew: str) -> None:
        project = made(tmp_path, crew)
        settings = read_settings(project)
        registry = load_project(project, {})[1]
        roles = Roles(settings.roles, registry)
        may = {
            role: {tool.name for tool in registry.list() if roles.why_not(role, tool.name) is None}
            - EVERYONES
            for role in settings.roles
        }
        assert may == MAY_USE[crew]

    @pytest.mark.parametrize("crew", MAY_USE)
    def test_somebody_leads_and_everybody_is_described_and_instructed(
        self, tmp_path: Path, crew: str
    ) -> None:
        settings = read_settings(made(tmp_path, crew))
        assert settings.crew.lead in settings.roles
        for role in settings.roles.values():
            assert role.description
            assert "handoff" in role.instructions

    @pytest.mark.parametrize("crew", MAY_USE)
    def test_instructions_name_only_tools_the_role_has(self, tmp_path: Path, crew: str) -> None:
        project = made(tmp_path, crew)
        settings = read_settings(project)
        for tool in load_project(project, {})[1].names():
            for name, role in settings.roles.items():
                if "_" in tool and tool in role.instructions:
                    assert tool in MAY_USE[crew][name] | EVERYONES, f"{name} is told to use {tool}"

    @pytest.mark.parametrize("crew", MAY_USE)
    def test_everybody_can_be_reached_from_the_lead(self, tmp_path: Path, crew: str) -> None:
        settings = read_settings(made(tmp_path, crew))
        reached, waiting = set(), [settings.crew.lead]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += settings.roles[name].delegates_to
        assert reached == set(settings.roles)

    def test_those_who_judge_the_novel_give_evidence_and_the_one_who_invents_does_not(
        self, tmp_path: Path
    ) -> None:
        roles = read_settings(made(tmp_path, "novel")).roles
        assert {name for name, role in roles.items() if role.evidence} == {"architect", "editor"}

    async def test_the_novel_is_searched_where_its_manuscripts_are(self, tmp_path: Path) -> None:
        async with Room.open(made(tmp_path, "novel")) as room:
            found = await room.call("search_code", {"query": "Outline"}, role="editor")
            elsewhere = await room.call("search_code", {"query": "Also called"}, role="editor")
        assert isinstance(found, Done)
        assert [match["path"] for match in found.value["matches"]] == ["manuscripts/outline.md"]
        assert isinstance(elsewhere, Done)
        assert elsewhere.value["matches"] == []

    def test_the_sample_novel_has_five_scenes_and_a_beat_for_each(self, tmp_path: Path) -> None:
        data = made(tmp_path, "novel") / "data"
        scenes = [path.name for path in sorted((data / "manuscripts").glob("scene_*.md"))]
        assert scenes == [f"scene_{number:02}.md" for number in range(1, 6)]
        outline = (data / "manuscripts" / "outline.md").read_text(encoding="utf-8")
        beats = [line.split(": ")[1] for line in outline.splitlines() if "- Scene: " in line]
        assert beats == [*scenes, "scene_06.md"], "the last is planted: there is no such scene"
        for name in scenes:
            words = (data / "manuscripts" / name).read_text(encoding="utf-8").split()
            assert 600 <= len(words) <= 920, name

    async def test_nobody_takes_a_way_that_is_not_theirs(self, tmp_path: Path) -> None:
        async with Room.open(made(tmp_path, "analyst")) as room:
            outcome = await room.call("route_to_visualizer", {"request": "draw"}, role="lead")
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.NOT_ALLOWED
        assert "it may give them to analyst" in outcome.message


class TestWriting:
    def test_another_workspace_and_profile_are_taken(self, tmp_path: Path) -> None:
        project = made(tmp_path, "analyst", workspace='sa"les', profile="locked")
        settings = read_settings(project)
        assert (settings.room.workspace, settings.room.profile) == ('sa"les', "locked")
        assert files_below(project / 'sa"les') == {"sales_raw.csv"}
        assert check_configuration(project) == []

    @pytest.mark.parametrize("crew", MAY_USE)
    def test_what_is_not_given_is_the_crews_own(self, crew: str) -> None:
        assert shipped_crew(crew).settings_with(None, None) == shipped_crew(crew).settings

    def test_an_unknown_crew_is_answered_with_those_there_are_and_makes_nothing(self, tmp_path: Path) -> None:
        for name in ("opera", "", "..", "../crews/novel", "__pycache__"):
            with pytest.raises(ToolError, match="analyst, developer, novel") as caught:
                made(tmp_path, name)
            assert caught.value.code is Code.INVALID_ARGUMENTS
        assert not (tmp_path / "project").exists()

    def test_files_of_the_workspace_that_are_there_stay_and_are_named(self, tmp_path: Path) -> None:
        project = tmp_path / "project"
        (project / "data").mkdir(parents=True)
        (project / "data" / "sales_raw.csv").write_text("mine")
        created = create_project(project, crew="analyst")
        assert created.kept == [project / "data" / "sales_raw.csv"]
        assert (project / "data" / "sales_raw.csv").read_text() == "mine"
        assert project / "brasstag.toml" in created.made

    def test_settings_that_are_there_stop_it_before_anything_is_written(self, tmp_path: Path) -> None:
        project = tmp_path / "project"
        project.mkdir()
        (project / "brasstag.toml").write_text("mine")
        with pytest.raises(ToolError, match="is there already") as caught:
            create_project(project, crew="analyst")
        assert caught.value.code is Code.ALREADY_EXISTS
        assert files_below(project) == {"brasstag.toml"}

    async def test_other_tools_that_are_there_are_not_accepted_unseen(self, tmp_path: Path) -> None:
        project = tmp_path / "project"
        (project / "tools").mkdir(parents=True)
        (project / "tools" / "x.py").write_text("raise SystemExit")
        create_project(project, crew="analyst")
        with pytest.raises(UntrustedError) as caught:
            async with Room.open(project):
                pass
        assert caught.value.changed == ("tools/x.py (new)",)

    async def test_a_tool_that_was_accepted_once_and_is_gone_is_shown(self, tmp_path: Path) -> None:
        project = made(tmp_path, "analyst")
        (project / "tools").mkdir()
        (project / "tools" / "x.py").write_text("")
        accept(project)
        (project / "tools" / "x.py").unlink()
        (project / "brasstag.toml").unlink()
        create_project(project, crew="novel")
        with pytest.raises(UntrustedError) as caught:
            async with Room.open(project):
                pass
        assert caught.value.changed == ("tools/x.py (removed)",)

    def test_half_a_project_is_taken_back(self, tmp_path: Path) -> None:
        project = tmp_path / "project"
        project.mkdir()
        (project / "data").mkdir()
        (project / "data" / "story_bible").write_text("in the way of a directory")
        with pytest.raises(OSError, match="story_bible"):
            create_project(project, crew="novel")
        assert files_below(project) == {"data/story_bible"}
        (project / "data" / "story_bible").unlink()
        create_project(project, crew="novel")

    def test_what_python_leaves_beside_the_files_is_not_part_of_a_crew(self, tmp_path: Path) -> None:
        project = made(tmp_path, "analyst")
        assert set(control_files(project)) == {"brasstag.toml"}
        assert not any("__pycache__" in name for name in files_below(project))
