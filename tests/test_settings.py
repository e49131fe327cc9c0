"""Settings: what is read, and how each mistake is named."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from brasstag.settings import (
    SETTINGS_FILE,
    STATE_DIRECTORY,
    Settings,
    find_project,
    parse_settings,
    read_settings,
    route_name,
    template,
    toml_string,
    user_directory,
)
from brasstag.toolkit.config.config import ToolName
from brasstag.words.budgets import Budget
from brasstag.words.errors import ConfigError, Problem
from brasstag.words.previews import Fact


@pytest.fixture(autouse=True)
def own_user_directory(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("BRASSTAG_USER_DIR", str(directory))
    return directory


def project_with(tmp_path: Path, text: str) -> Path:
    (tmp_path / SETTINGS_FILE).write_text(text)
    return tmp_path


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        parse_settings(text)
    return caught.value.problems


def only_problem(text: str) -> Problem:
    (problem,) = problems_of(text)
    return problem


class TestFindProject:
    def test_the_nearest_directory_above_with_a_settings_file_is_the_project(self, tmp_path: Path) -> None:
        project_with(tmp_path, "")
        inner = tmp_path / "inner"
        deep = inner / "a" / "b"
        deep.mkdir(parents=True)
        assert find_project(deep) == tmp_path
        project_with(inner, "")
        assert find_project(deep) == inner

    def test_a_directory_named_like_the_settings_file_is_no_project(self, tmp_path: Path) -> None:
        project_with(tmp_path, "")
        (tmp_path / "inner" / SETTINGS_FILE).mkdir(parents=True)
        assert find_project(tmp_path / "inner") == tmp_path

    def test_without_a_project_the_error_names_brasstag_init(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="brasstag init"):
            find_project(tmp_path)


class TestReading:
    def test_an_empty_file_is_a_careful_room_with_the_workspace_data(self, tmp_path: Path) -> None:
        settings = read_settings(project_with(tmp_path, ""))
        assert settings.room.profile == "careful"
        assert settings.workspace(tmp_path) == tmp_path / "data"
        assert settings.approvals.expires_after is None

    def test_everything_that_may_stand_in_the_file_is_read(self) -> None:
        settings = parse_settings("""
            [room]
            workspace = "novel"
            profile = "trusted"

            [[rules]]
            name = "no-secrets"
            deny = "*(secrets/**)"
            unless = ["*(secrets/README.md)"]
            arguments = { encoding = "base64", language = ["bash", "python"] }
            when = { deletes = 10 }
            because = "they are secret"
            match = ["read_file(secrets/a)", { tool = "delete_file", arguments = { path = "a" }, deletes = ["a"] }]
            not_match = [{ tool = "move_file", moves = { a = "b" }, external = false }]

            [[rules]]
            ask = ["delete_file", "move_file"]
            when = ["deletes", "moves"]
            because = "look first"

            [roles.editor]
            description = "corrects"
            tools = ["read_file", "*"]

            [approvals]
            expires_after = "2h"
            notify_command = ["notify-send", "Brasstag"]
            notify_webhook = "https://example.org/hook?x=1"

            [tools.search_code]
            defaults = { directory = "manuscripts" }
            limits = { timeout_seconds = 2.5, max_matches = 10 }

            [limits]
            undo_bytes = 0
            argument_bytes = 1_000
        """)
        first, second = settings.rules
        assert (first.decision, first.patterns, first.unless) == (
            "deny",
            ("*(secrets/**)",),
            ("*(secrets/README.md)",),
        )
        assert first.arguments == {"encoding": ("base64",), "language": ("bash", "python")}
        assert first.when == {Fact.DELETES: 10}
        assert (second.decision, second.patterns) == ("ask", ("delete_file", "move_file"))
        assert second.when == {Fact.DELETES: None, Fact.MOVES: None}
        assert settings.roles["editor"].tools == ("read_file", "*")
        assert settings.approvals.expires_after == timedelta(hours=2)
        assert settings.approvals.notify_command == ("notify-send", "Brasstag")
        assert settings.approvals.notify_webhook == "https://example.org/hook?x=1"
        assert settings.tools["search_code"].defaults == {"directory": "manuscripts"}
        assert settings.tools["search_code"].limits == {"timeout_seconds": 2.5, "max_matches": 10}
        assert (settings.limits.undo_bytes, settings.limits.argument_bytes) == (0, 1000)

    def test_settings_cannot_be_changed_after_reading(self) -> None:
        with pytest.raises(ValueError, match="frozen"):
            Settings().room.profile = "trusted"

    @pytest.mark.parametrize(
        ("text", "duration"),
        [
            ("45s", timedelta(seconds=45)),
            ("30m", timedelta(minutes=30)),
            ("2h", timedelta(hours=2)),
            ("7d", timedelta(days=7)),
            ("never", None),
        ],
    )
    def test_durations_are_a_number_and_a_unit(self, text: str, duration: timedelta | None) -> None:
        assert parse_settings(f'[approvals]\nexpires_after = "{text}"').approvals.expires_after == duration


class TestCrew:
    def test_everything_about_a_crew_is_read(self) -> None:
        settings = parse_settings("""
            [crew]
            lead = "chief"
            model = "openai:large"
            fallback_model = "anthropic:large"
            document_tokens = 5000
            concurrency = 2
            [crew.budget]
            max_cost = 2.5

            [roles.chief]
            delegates_to = ["analyst"]
            [roles.analyst]
            description = "finds out"
            instructions = '''
            Look first.
            Then say.'''
            model = "openai:small"
            fallback_model = "scripted:x"
            tools = ["read_file"]
            budget = { max_steps = 5, max_tokens = 10, max_cost = 1, max_depth = 2, max_children = 3, max_seconds = 1.5 }
        """)
        crew, analyst = settings.crew, settings.roles["analyst"]
        assert (crew.lead, crew.model, crew.fallback_model) == ("chief", "openai:large", "anthropic:large")
        assert (crew.document_tokens, crew.concurrency) == (5000, 2)
        assert settings.roles["chief"].delegates_to == ("analyst",)
        assert analyst.instructions.split() == ["Look", "first.", "Then", "say."]
        assert (analyst.model, analyst.fallback_model) == ("openai:small", "scripted:x")
        assert analyst.limits == Budget(5, 10, 1, 2, 3, 1.5)

    def test_limits_that_are_left_out_are_the_usual_ones(self) -> None:
        settings = parse_settings("[roles.lead]\n[crew.budget]\nmax_cost = 0.25")
        assert settings.roles["lead"].limits == Budget(max_steps=50, max_children=20)
        assert settings.crew.limits == Budget(max_steps=500, max_depth=6, max_dollars=0.25)
        assert (settings.crew.lead, settings.crew.document_tokens, settings.crew.concurrency) == (
            "lead",
            20_000,
            8,
        )
        assert settings.crew.model is None

    def test_a_cost_too_small_to_count_is_still_a_limit(self) -> None:
        assert parse_settings("[crew.budget]\nmax_cost = 1e-9").crew.limits.max_cost == 1

    def test_a_crew_without_a_lead_is_no_mistake_until_somebody_runs_it(self) -> None:
        assert parse_settings("[crew]\nconcurrency = 2\n[roles.editor]").crew.lead == "lead"

    def test_the_longest_name_of_a_role_still_makes_the_name_of_a_tool(self) -> None:
        longest = "x" * 55
        assert longest in parse_settings(f"[roles.{longest}]").roles
        TypeAdapter(ToolName).validate_python(route_name(longest))

    def test_the_rule_for_names_is_said(self) -> None:
        problem = only_problem("[roles.copy-editor]")
        assert "route_to_copy-editor" in problem.what
        assert "lower-case letters, digits and _" in problem.mend

    def test_unknown_roles_are_told_together_with_everything_else(self) -> None:
        found = problems_of("""
            [crew]
            lead = "boss"
            concurrency = -1
            [roles.a]
            delegates_to = ["b", "c"]
            budget = { max_steps = 0 }
            [roles.b]
        """)
        assert {problem.field for problem in found} == {
            "crew.lead",
            "crew.concurrency",
            "roles.a.delegates_to[1]",
            "roles.a.budget.max_steps",
        }
        assert "Name one of a, b, or add [roles.c]." in {problem.mend for problem in found}

    def test_a_person_is_no_agent_and_cannot_be_made_one(self) -> None:
        assert (
            only_problem('[crew]\nlead = "operator"').mend
            == "Name the role of an agent; the operator is you."
        )
        assert "ask_master" in only_problem('[roles.a]\ndelegates_to = ["person"]').mend


class TestProblems:
    def test_every_problem_is_named_not_only_the_first(self) -> None:
        found = problems_of("""
            [room]
            profile = "bold"
            [[rules]]
            deny = "delete_file"
            [approvals]
            expires_after = "soon"
        """)
        assert {problem.field for problem in found} == {
            "room.profile",
            "rules[0].because",
            "approvals.expires_after",
        }

    def test_a_syntax_error_names_its_line(self) -> None:
        problem = only_problem("[room]\nworkspace = data\n")
        assert problem.file == SETTINGS_FILE
        assert problem.field.startswith("line 2")

    def test_a_syntax_error_at_the_end_says_so(self) -> None:
        assert only_problem('[room]\nworkspace = "data').what.startswith("is not TOML")

    def test_a_misspelt_setting_is_sent_home(self) -> None:
        problem = only_problem('[room]\nworkspce = "data"')
        assert problem.field == "room.workspce"
        assert "`workspace` in [room]" in problem.mend

    def test_a_setting_in_the_wrong_section_is_sent_home(self) -> None:
        assert "`profile` in [room]" in only_problem('profile = "careful"').mend

    @pytest.mark.parametrize(
        ("text", "field"),
        [
            ('[room]\nprofile = "bold"', "room.profile"),
            ('[room]\nworkspace = ""', "room.workspace"),
            ("[room]\nworkspace = 3", "room.workspace"),
            ('[[rules]]\nbecause = "x"', "rules[0]"),
            ('[[rules]]\nbecause = "x"\ndeny = "a"\nallow = "b"', "rules[0]"),
            ('[[rules]]\nbecause = "x"\ndeny = []', "rules[0]"),
            ('[[rules]]\nbecause = " "\ndeny = "a"', "rules[0].because"),
            ('[[rules]]\nbecause = "x"\ndeny = 3', "rules[0].deny"),
            ('[[rules]]\nbecause = "x"\ndeny = "a"\nwhen = ["burns"]', "rules[0].when.burns"),
            ('[[rules]]\nbecause = "x"\ndeny = "a"\nwhen = { deletes = 0 }', "rules[0].when.deletes"),
            ('[[rules]]\nbecause = "x"\ndeny = "a"\nwhen = { deletes = "two" }', "rules[0].when.deletes"),
            (
                '[[rules]]\nbecause = "x"\ndeny = "a"\nmatch = [{ toll = "a", tool = "b" }]',
                "rules[0].match[0].toll",
            ),
            (
                '[[rules]]\nbecause = "x"\ndeny = "a"\nmatch = [{ tool = "a", external = "no" }]',
                "rules[0].match[0].external",
            ),
            ('[[rules]]\nbecause = "x"\ndeny = "a"\narguments = { path = [] }', "rules[0].arguments.path"),
            ("[roles.operator]", "roles.operator"),
            ('[roles."a b"]', "roles.a b"),
            ('[roles.editor]\ntools = "read_file"', "roles.editor.tools"),
            ("[roles.person]", "roles.person"),
            ("[roles.Editor]", "roles.Editor"),
            ("[roles.copy-editor]", "roles.copy-editor"),
            (f"[roles.{'x' * 56}]", f"roles.{'x' * 56}"),
            ("[roles.editor]\nmodel = 3", "roles.editor.model"),
            ('[roles.editor]\nmodel = " "', "roles.editor.model"),
            ('[roles.editor]\ninstructions = ["x"]', "roles.editor.instructions"),
            ('[roles.editor]\ndelegates_to = "editor"', "roles.editor.delegates_to"),
            ('[roles.editor]\ndelegates_to = ["boss"]', "roles.editor.delegates_to[0]"),
            ('[roles.editor]\ndelegates_to = ["editor", "operator"]', "roles.editor.delegates_to[1]"),
            ('[roles.editor]\ndelegates_to = ["person"]', "roles.editor.delegates_to[0]"),
            ("[roles.editor.budget]\nmax_steps = 0", "roles.editor.budget.max_steps"),
            ("[roles.editor.budget]\nmax_steps = 1.5", "roles.editor.budget.max_steps"),
            ("[roles.editor.budget]\nmax_steps = 9007199254740993", "roles.editor.budget.max_steps"),
            ("[roles.editor.budget]\nmax_moons = 2", "roles.editor.budget.max_moons"),
            ("[crew.budget]\nmax_tokens = -1", "crew.budget.max_tokens"),
            ("[crew.budget]\nmax_depth = 0", "crew.budget.max_depth"),
            ("[crew.budget]\nmax_children = true", "crew.budget.max_children"),
            ("[crew.budget]\nmax_cost = 0.0", "crew.budget.max_cost"),
            ('[crew.budget]\nmax_cost = "five"', "crew.budget.max_cost"),
            ("[crew.budget]\nmax_cost = 1e10", "crew.budget.max_cost"),
            ("[crew.budget]\nmax_seconds = -0.5", "crew.budget.max_seconds"),
            ("[crew.budget]\nmax_seconds = nan", "crew.budget.max_seconds"),
            ("[crew.budget]\nmax_seconds = inf", "crew.budget.max_seconds"),
            ("[crew.budget]\nmax_seconds = true", "crew.budget.max_seconds"),
            ("[crew.budget]\nmax_children = 9007199254740993", "crew.budget.max_children"),
            ("[crew]\ndocument_tokens = 0", "crew.document_tokens"),
            ("[crew]\nconcurrency = 0", "crew.concurrency"),
            ('[crew]\nlead = "boss"', "crew.lead"),
            ('[crew]\nlead = "operator"\n[roles.editor]', "crew.lead"),
            ("[crew]\nlead = 3", "crew.lead"),
            ("[crew]\nboss = 3", "crew.boss"),
            ("crew = 3", "crew"),
            ('[approvals]\nexpires_after = "0h"', "approvals.expires_after"),
            ("[approvals]\nexpires_after = 5", "approvals.expires_after"),
            ('[approvals]\nnotify_webhook = "ftp://x.org"', "approvals.notify_webhook"),
            ('[approvals]\nnotify_webhook = "https://"', "approvals.notify_webhook"),
            ('[approvals]\nnotify_webhook = "http://[::1"', "approvals.notify_webhook"),
            ('[approvals]\nnotify_command = "true"', "approvals.notify_command"),
            ("[tools.x]\ndefaults = { since = 2020-01-01 }", "tools.x.defaults"),
            ("[tools.x]\ndefaults = { big = 9007199254740993 }", "tools.x.defaults"),
            ("[tools.x]\nlimits = { timeout = 0 }", "tools.x.limits.timeout"),
            ("[tools.x]\nlimits = { timeout = true }", "tools.x.limits.timeout"),
            ("[tools.x]\nlimits = { timeout = inf }", "tools.x.limits.timeout"),
            ("[limits]\nundo_bytes = -1", "limits.undo_bytes"),
            ('[documents]\nignore = ["a/", "# a note"]', "documents.ignore[1]"),
            ("[documents]\nlargest_indexed_bytes = 1", "documents.largest_indexed_bytes"),
            ("[documents]\nlargest_indexed_bytes = 6000001", "documents.largest_indexed_bytes"),
            ('[limits]\nargument_bytes = "many"', "limits.argument_bytes"),
        ],
    )
    def test_each_mistake_is_named_by_its_place_and_says_what_to_do(self, text: str, field: str) -> None:
        problem = only_problem(text)
        assert problem.field == field
        assert problem.what
        assert problem.mend.endswith((".", "?"))

    def test_a_missing_file_names_brasstag_init(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="brasstag init"):
            read_settings(tmp_path)

    def test_text_that_is_not_utf8_is_named_by_its_line(self, tmp_path: Path) -> None:
        (tmp_path / SETTINGS_FILE).write_bytes(b"[room]\n# \xff\n")
        with pytest.raises(ConfigError, match="line 2: is not UTF-8"):
            read_settings(tmp_path)

    def test_a_directory_in_the_place_of_the_file_is_a_problem(self, tmp_path: Path) -> None:
        (tmp_path / SETTINGS_FILE).mkdir()
        with pytest.raises(ConfigError, match="cannot be read"):
            read_settings(tmp_path)


class TestWorkspace:
    def refused(self, project: Path, workspace: str) -> str:
        with pytest.raises(ConfigError) as caught:
            read_settings(project_with(project, f"[room]\nworkspace = {toml_string(workspace)}"))
        assert {problem.field for problem in caught.value.problems} == {"room.workspace"}
        return str(caught.value)

    @pytest.mark.parametrize("workspace", ["data", ".", "a/b", "./data/../data", "tools2", ".brasstagged"])
    def test_any_directory_of_the_project_will_do(self, tmp_path: Path, workspace: str) -> None:
        settings = read_settings(project_with(tmp_path, f'[room]\nworkspace = "{workspace}"'))
        assert settings.workspace(tmp_path) == (tmp_path / workspace).resolve()

    def test_a_directory_outside_the_project_will_do(self, tmp_path: Path) -> None:
        project = tmp_path / "project"
        project.mkdir()
        outside = tmp_path / "novel"
        settings = read_settings(project_with(project, f'[room]\nworkspace = "{outside}"'))
        assert settings.workspace(project) == outside

    def test_a_home_directory_is_expanded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        assert parse_settings('[room]\nworkspace = "~/novel"').workspace(tmp_path / "p") == tmp_path / "novel"

    @pytest.mark.parametrize(
        "workspace", [STATE_DIRECTORY, f"{STATE_DIRECTORY}/blobs", "data/../.brasstag/", "tools"]
    )
    def test_the_counters_own_directories_are_refused(self, tmp_path: Path, workspace: str) -> None:
        assert "holds control files" in self.refused(tmp_path, workspace)

    def test_a_link_to_the_state_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / STATE_DIRECTORY).mkdir()
        (tmp_path / "data").symlink_to(STATE_DIRECTORY)
        assert "holds control files" in self.refused(tmp_path, "data")

    @pytest.mark.parametrize("workspace", ["..", "/"])
    def test_a_directory_that_holds_the_project_is_refused(self, tmp_path: Path, workspace: str) -> None:
        assert "contains the whole project" in self.refused(tmp_path, workspace)

    def test_a_workspace_that_holds_or_lies_in_the_users_own_directory_is_refused(
        self, tmp_path: Path, own_user_directory: Path
    ) -> None:
        assert "your configuration directory" in self.refused(tmp_path, str(own_user_directory / "data"))
        project = own_user_directory.parent / f"{tmp_path.name}-project"
        project.mkdir()
        assert "your configuration directory" in self.refused(project, str(own_user_directory))


class TestUserDirectory:
    def test_the_variable_decides(self, own_user_directory: Path) -> None:
        assert user_directory() == own_user_directory

    def test_without_it_the_platform_decides(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("BRASSTAG_USER_DIR")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        monkeypatch.setenv("HOME", str(tmp_path))
        assert user_directory().name == "brasstag"
        assert user_directory().is_absolute()


class TestWriting:
    @pytest.mark.parametrize("profile", ["careful", "trusted", "locked"])
    def test_the_template_is_accepted_and_says_what_was_chosen(self, profile: str, tmp_path: Path) -> None:
        settings = read_settings(project_with(tmp_path, template('no"vel', profile)))  # type: ignore[arg-type]
        assert settings.room.workspace == 'no"vel'
        assert settings.room.profile == profile

    def test_the_examples_in_the_template_are_accepted_when_their_comment_signs_go(self) -> None:
        text = template()
        start = text.index("# [[rules]]")
        alive = "\n".join(line.removeprefix("#").removeprefix(" ") for line in text[start:].splitlines())
        prose = ("Roles are", "You, the operator", "The search engine", "Changes to")
        lines = [line for line in alive.splitlines() if not line.startswith(prose)]
        settings = parse_settings("\n".join(lines))
        assert len(settings.rules) == 2
        assert settings.crew.lead == "architect"
        assert settings.crew.limits.max_cost == 5_000_000
        assert settings.roles["architect"].delegates_to == ("editor",)
        assert set(settings.tools) == {"search_code"}

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_any_text_survives_being_written_as_toml(self, text: str) -> None:
        written = f'[[rules]]\ndeny = "x"\nbecause = "y"\nname = {toml_string(text)}'
        assert parse_settings(written).rules[0].name == text
