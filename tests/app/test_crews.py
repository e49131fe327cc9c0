"""The crews that are shipped: they load, they may do what they should, and their tools compute."""

import csv
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from brasstag import Code, Done, Failed, Room, ToolError, UntrustedError, Waiting
from brasstag.app.creating import create_project
from brasstag.app.crews import crew_names, shipped_crew
from brasstag.app.loading import check_configuration, load_tools
from brasstag.app.trust import control_files
from brasstag.policy.roles import EVERYONES, Roles
from brasstag.settings import read_settings

SVG = "{http://www.w3.org/2000/svg}"

MAY_USE = {
    "novel": {
        "architect": {
            "read_file", "write_file", "list_files", "search_code", "assign_task", "route_to_narrator", "route_to_editor",
            "ask_gpt", "ask_claude",
        },
        "narrator": {"read_file", "write_file"},
        "editor": {"read_file", "edit_file", "list_files", "search_code"},
    },
    "analyst": {
        "lead": {"read_file", "list_files", "assign_task", "route_to_analyst", "ask_gpt", "ask_claude"},
        "analyst": {
            "read_file", "list_files", "write_file", "edit_file", "summarize_csv", "assign_task", "route_to_visualizer",
        },
        "visualizer": {"read_file", "list_files", "bar_chart"},
    },
    "developer": {
        "lead": {
            "read_file", "list_files", "search_code", "write_file", "edit_file", "assign_task", "route_to_developer",
            "route_to_reviewer", "ask_gpt", "ask_claude",
        },
        "developer": {
            "read_file", "list_files", "search_code", "write_file", "edit_file", "move_file", "delete_file",
        },
        "reviewer": {"read_file", "list_files", "search_code"},
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
        registry = load_tools(project, settings, [])
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
        for tool in load_tools(project, settings, []).names():
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

    async def test_the_novel_is_searched_where_its_manuscripts_are(self, tmp_path: Path) -> None:
        async with Room.open(made(tmp_path, "novel")) as room:
            found = await room.call("search_code", {"query": "Outline"}, role="editor")
            elsewhere = await room.call("search_code", {"query": "Ingrid"}, role="editor")
        assert isinstance(found, Done)
        assert [match["path"] for match in found.value["matches"]] == ["manuscripts/outline.md"]
        assert isinstance(elsewhere, Done)
        assert elsewhere.value["matches"] == []

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
        assert project / "tools" / "bar_chart.json" in created.made

    @pytest.mark.parametrize("there", ["brasstag.toml", "tools/tables.py"])
    def test_a_control_file_that_is_there_stops_it_before_anything_is_written(
        self, tmp_path: Path, there: str
    ) -> None:
        project = tmp_path / "project"
        (project / there).parent.mkdir(parents=True)
        (project / there).write_text("mine")
        with pytest.raises(ToolError, match="is there already") as caught:
            create_project(project, crew="analyst")
        assert caught.value.code is Code.ALREADY_EXISTS
        assert files_below(project) == {there}

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
        for name in ("brasstag.toml", *shipped_crew("analyst").tools):
            (project / name).unlink()
        create_project(project, crew="novel")
        with pytest.raises(UntrustedError) as caught:
            async with Room.open(project):
                pass
        assert "tools/tables.py (removed)" in caught.value.changed

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
        assert set(control_files(project)) == {"brasstag.toml", *shipped_crew("analyst").tools}
        assert not any("__pycache__" in name for name in shipped_crew("analyst").tools)


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    async with Room.open(made(tmp_path, "analyst")) as opened:
        yield opened


def sums(file: Path, x: str, y: str, **where: str) -> dict[str, Decimal]:
    """The sums, computed in another way than the tools do."""
    found: defaultdict[str, Decimal] = defaultdict(Decimal)
    with file.open(newline="") as stream:
        for row in csv.DictReader(stream):
            if row.items() >= where.items():
                found[row[x]] += Decimal(row[y])
    return dict(found)


async def draw(room: Room, **more: Any) -> Any:
    arguments = {"document": "sales_raw.csv", "x": "month", "y": "revenue", "path": "charts.svg"}
    return await room.call("bar_chart", arguments | more, role="visualizer")


def bars_of(file: Path) -> Iterator[tuple[str, Decimal, float]]:
    for bar in ET.parse(file).iter(f"{SVG}rect"):
        if bar.get("class") == "bar":
            yield bar.attrib["data-label"], Decimal(bar.attrib["data-value"]), float(bar.attrib["height"])


async def failure(room: Room, text: str, **more: Any) -> Failed:
    (room.workspace / "table.csv").write_text(text)
    outcome = await draw(room, **({"document": "table.csv", "x": "name", "y": "value"} | more))
    assert isinstance(outcome, Failed)
    assert not (room.workspace / "charts.svg").exists()
    return outcome


class TestBarChart:
    @pytest.mark.parametrize(
        ("x", "y", "where"),
        [("month", "revenue", {}), ("region", "revenue", {"quarter": "Q3"}), ("product", "units", {})],
    )
    async def test_its_bars_are_the_sums_of_the_shipped_table(
        self, room: Room, x: str, y: str, where: dict[str, str]
    ) -> None:
        outcome = await draw(room, x=x, y=y, where=where)
        assert isinstance(outcome, Done), outcome
        expected = sums(room.workspace / "sales_raw.csv", x, y, **where)
        drawn = [*bars_of(room.workspace / "charts.svg")]
        assert {label: value for label, value, _ in drawn} == expected
        assert [*expected] == [label for label, _, _ in drawn]
        tallest = max(drawn, key=lambda bar: bar[1])
        for _, value, height in drawn:
            assert height / tallest[2] == pytest.approx(float(value / tallest[1]), abs=0.001)
        assert {bar["label"]: Decimal(str(bar["value"])) for bar in outcome.value["bars"]} == expected
        assert outcome.value["total"] == float(sum(expected.values()))

    async def test_it_names_its_axes_and_what_it_shows(self, room: Room) -> None:
        await draw(room, title="Revenue <2025> & more")
        root = ET.parse(room.workspace / "charts.svg").getroot()
        words = [text.text for text in root.iter(f"{SVG}text")]
        assert words[0] == "Revenue <2025> & more"
        assert root.findtext(f"{SVG}title") == "Revenue <2025> & more"
        assert {"month", "revenue", "0", "100,000", "2025-07"} <= set(words)

    async def test_the_same_table_gives_the_same_bytes(self, room: Room) -> None:
        await draw(room)
        await draw(room, path="again.svg")
        assert (room.workspace / "charts.svg").read_bytes() == (room.workspace / "again.svg").read_bytes()

    async def test_drawing_over_a_file_asks_first(self, room: Room) -> None:
        await draw(room)
        assert isinstance(await draw(room), Waiting)

    async def test_whatever_a_table_says_stays_text(self, room: Room) -> None:
        nasty = '"</svg><script>alert(1)</script> & ""quoted"" \x0b\x01"'
        (room.workspace / "table.csv").write_text(f"name,value\n{nasty},-3.5\n'é–日',2\n")
        outcome = await draw(room, document="table.csv", x="name", y="value")
        assert isinstance(outcome, Done), outcome
        labels = {label: value for label, value, _ in bars_of(room.workspace / "charts.svg")}
        assert labels == {
            '</svg><script>alert(1)</script> & "quoted" \ufffd\ufffd': Decimal("-3.5"),
            "'é–日'": Decimal(2),
        }
        assert not [*ET.parse(room.workspace / "charts.svg").iter(f"{SVG}script")]

    @pytest.mark.parametrize(
        "values", [["0"], ["-1", "-2"], ["0.000000001"], ["999999999999999", "1"], ["5"] * 40]
    )
    async def test_odd_numbers_are_drawn_inside_the_picture(self, room: Room, values: list[str]) -> None:
        rows = "".join(f"a rather long name {index},{value}\n" for index, value in enumerate(values))
        (room.workspace / "table.csv").write_text(f"name,value\n{rows}")
        assert isinstance(await draw(room, document="table.csv", x="name", y="value"), Done)
        for bar in ET.parse(room.workspace / "charts.svg").iter(f"{SVG}rect"):
            assert 0 <= float(bar.get("y", 0)) <= float(bar.get("y", 0)) + float(bar.attrib["height"]) <= 480
            assert float(bar.attrib["width"]) > 0

    @pytest.mark.parametrize(
        ("text", "more", "code", "said"),
        [
            ("name,value\na,1\n", {"document": "no.csv"}, Code.FILE_NOT_FOUND, "no.csv"),
            ("name,value\na,1\n", {"document": "../x.csv"}, Code.INVALID_PATH, ""),
            ("name,value\na,1\n", {"x": "colour"}, Code.INVALID_ARGUMENTS, "'colour'; it has name, value"),
            ("name,value\na,1\n", {"y": "colour"}, Code.INVALID_ARGUMENTS, "'colour'"),
            ("name,value\na,1\n", {"where": {"colour": "x"}}, Code.INVALID_ARGUMENTS, "'colour'"),
            ("name,value\na,1\n", {"where": {"name": "b"}}, Code.INVALID_ARGUMENTS, "nothing to draw"),
            ("name,value\na,1\n", {"path": "chart.png"}, Code.INVALID_ARGUMENTS, "path"),
            ("name,value\na,1\n", {"title": "x" * 121}, Code.INVALID_ARGUMENTS, "title"),
            ("name,value\na,1\n", {"colour": "red"}, Code.INVALID_ARGUMENTS, "colour"),
            ("name,value\na,1\nb,many\n", {}, Code.INVALID_ARGUMENTS, "line 3 of table.csv: value is 'many'"),
            ("name,value\na,\n", {}, Code.INVALID_ARGUMENTS, "line 2"),
            ("name,value\na,nan\n", {}, Code.INVALID_ARGUMENTS, "'nan'"),
            ("name,value\na,1e999999999\n", {}, Code.INVALID_ARGUMENTS, "not a number"),
            ("name,value\na,1,2\n", {}, Code.INVALID_ARGUMENTS, "line 2 of table.csv has 3 cells"),
            ('name,value\n"a,1\n', {}, Code.INVALID_ARGUMENTS, "is not CSV"),
            ("", {}, Code.INVALID_ARGUMENTS, "name each column"),
            ("name,name\na,1\n", {}, Code.INVALID_ARGUMENTS, "name each column"),
            ("name,value\n", {}, Code.INVALID_ARGUMENTS, "nothing to draw"),
            ("name,value\n" + "".join(f"{n},1\n" for n in range(41)), {}, Code.TOO_LARGE, "41 groups"),
        ],
    )
    async def test_bad_input_is_a_coded_failure_and_draws_nothing(
        self, room: Room, text: str, more: dict[str, Any], code: Code, said: str
    ) -> None:
        failed = await failure(room, text, **more)
        assert failed.code is code
        assert said in failed.message

    async def test_bytes_that_are_no_text_are_told(self, room: Room) -> None:
        (room.workspace / "table.csv").write_bytes(b"name,value\n\xff\xfe,1\n")
        outcome = await draw(room, document="table.csv", x="name", y="value")
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.NOT_TEXT

    async def test_a_mark_at_the_beginning_is_no_part_of_a_name(self, room: Room) -> None:
        (room.workspace / "table.csv").write_bytes("\ufeffname,value\r\na,1\r\n\r\na,2\r\n".encode())
        outcome = await draw(room, document="table.csv", x="name", y="value")
        assert isinstance(outcome, Done)
        assert outcome.value["bars"] == [{"label": "a", "value": 3}]


class TestSummarizeCsv:
    async def summary(self, room: Room, **arguments: Any) -> Any:
        return await room.call("summarize_csv", {"document": "sales_raw.csv"} | arguments, role="analyst")

    async def test_it_adds_up_what_is_a_number(self, room: Room) -> None:
        outcome = await self.summary(room)
        assert isinstance(outcome, Done)
        assert outcome.value["rows"] == 60
        assert outcome.value["groups"] == []
        assert outcome.value["totals"].keys() == {"units", "revenue"}
        expected = sum(sums(room.workspace / "sales_raw.csv", "month", "revenue").values())
        assert Decimal(str(outcome.value["totals"]["revenue"])) == expected

    async def test_groups_are_sums_too_and_in_the_order_of_the_file(self, room: Room) -> None:
        outcome = await self.summary(room, group_by=["region"], where={"quarter": "Q3"})
        assert isinstance(outcome, Done)
        expected = sums(room.workspace / "sales_raw.csv", "region", "revenue", quarter="Q3")
        groups = outcome.value["groups"]
        found = {one["group"]["region"]: Decimal(str(one["totals"]["revenue"])) for one in groups}
        assert [*found.items()] == [*expected.items()]
        assert sum(one["rows"] for one in groups) == outcome.value["rows"] == 30

    async def test_two_columns_make_pairs(self, room: Room) -> None:
        outcome = await self.summary(room, group_by=["quarter", "product"])
        assert isinstance(outcome, Done)
        assert [tuple(one["group"].values()) for one in outcome.value["groups"]] == [
            ("Q2", "Vise"), ("Q2", "Drill press"), ("Q3", "Vise"), ("Q3", "Drill press"),
        ]  # fmt: skip

    async def test_the_shipped_table_tells_a_story(self, room: Room) -> None:
        outcome = await self.summary(room, group_by=["quarter"])
        assert isinstance(outcome, Done)
        before, after = (one["totals"]["revenue"] for one in outcome.value["groups"])
        assert after / before == pytest.approx(1.15, abs=0.005)

    async def test_no_rows_have_no_totals(self, room: Room) -> None:
        outcome = await self.summary(room, where={"quarter": "Q9"})
        assert isinstance(outcome, Done)
        assert (outcome.value["rows"], outcome.value["totals"]) == (0, {})

    @pytest.mark.parametrize(
        "arguments",
        [
            {"group_by": ["colour"]},
            {"group_by": "region"},
            {"group_by": ["a", "b", "c", "d", "e"]},
            {"where": {"region": 3}},
            {"where": {"colour": "red"}},
            {"where": "region"},
            {"document": ""},
        ],
    )
    async def test_bad_input_is_refused(self, room: Room, arguments: dict[str, Any]) -> None:
        outcome = await self.summary(room, **arguments)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.INVALID_ARGUMENTS

    async def test_too_many_groups_are_refused(self, room: Room) -> None:
        (room.workspace / "table.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(501)))
        outcome = await self.summary(room, document="table.csv", group_by=["n"])
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.TOO_LARGE
