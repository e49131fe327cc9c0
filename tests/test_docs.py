"""The documentation is kept true: what it shows runs, what it links to is there, nothing public goes unmentioned."""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import re
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import brasstag
from brasstag.catalog.harness.checks import MADE, NAMED, ROOM_CHECKS
from brasstag.catalog.screen.patterns import shipped_patterns
from brasstag.policy.load import rules_from, strange_tools
from brasstag.policy.profiles import PROFILES
from brasstag.policy.roles import Roles
from brasstag.policy.shipped import shipped_rules
from brasstag.settings import parse_settings
from brasstag.settings.model import Section
from brasstag.surfaces.cli.main import app, main
from brasstag.surfaces.cli.terminal.exits import Exit
from brasstag.toolkit.config.config import Limits, ToolConfig
from brasstag.toolkit.config.parameters import Parameter
from brasstag.toolkit.discovery import discover_package
from brasstag.toolkit.docs import tools_page
from brasstag.toolkit.kinds import BEHAVIOUR, ToolType
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.routes import route_tools
from brasstag.toolkit.tool import INJECTABLE
from brasstag.words.approvals import ApprovalState
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from brasstag.words.previews import Fact
from brasstag.words.review.prompt_tools import FIELDS
from brasstag.words.review.proposals import PERSONS_STEPS, TRANSITIONS, ProposalState, ProposalStep
from tests.pages import DOCS, ROOT, Block, all_pages, anchors_of, blocks_of, links_of, named
from tests.transcripts import Shell, settle_in
from tests.type_checker import type_check

PAGES = all_pages()
BLOCKS = [block for page in PAGES for block in blocks_of(page)]
GENERATED = DOCS / "TOOLS.md"


def blocks_in(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return settle_in(tmp_path / "ada", monkeypatch)


class TestWhatPagesShow:
    @pytest.mark.parametrize("page", [page for page in PAGES if page != GENERATED], ids=named)
    def test_a_page_can_be_followed_from_top_to_bottom(
        self, page: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        blocks = blocks_of(page)
        if not any(block.language == "console" and "brasstag init" in block.text for block in blocks):
            make_room(shell.home / "novel")
            monkeypatch.chdir(shell.home / "novel")
        names: dict[str, Any] = {"__name__": page.stem}
        for block in blocks:
            if block.title:
                write_file(block)
            elif block.language == "console":
                shell.play(block)
            elif block.language == "python":
                run_python(block, names)

    @pytest.mark.slow
    def test_what_the_library_pages_show_passes_a_strict_type_checker(self, tmp_path: Path) -> None:
        shown = [ROOT / "README.md", DOCS / "library.md"]
        for page in shown:
            text = "".join(block.text for block in blocks_of(page) if block.language == "python")
            body = textwrap.indent(text, "    ")
            (tmp_path / f"{page.stem.lower()}_page.py").write_text(f"async def page() -> None:\n{body}")
        passes, said = type_check(tmp_path.glob("*.py"))
        assert passes, said

    @pytest.mark.parametrize("block", blocks_in("toml"), ids=str)
    def test_settings_on_a_page_are_accepted_and_their_examples_hold(self, block: Block) -> None:
        registry = ToolRegistry(discover_package("brasstag.tools"))
        settings = parse_settings(block.text, str(block))
        aliases = {alias: tool.name for tool in registry.list() for alias in tool.config.aliases}
        rules = rules_from(settings.rules, aliases, str(block))
        assert not list(strange_tools(rules, lambda name: registry.get(name) is not None, str(block)))
        for route in route_tools(settings.roles):
            registry.register(route)
        Roles(settings.roles, registry)
        for name, chosen in settings.tools.items():
            tool = registry.get(name)
            assert tool is not None
            assert chosen.defaults.keys() <= tool.config.parameters.keys()
            assert chosen.limits.keys() <= {*Limits.model_fields, *tool.config.limits.numbers}

    @pytest.mark.parametrize("block", blocks_in("json"), ids=str)
    def test_json_on_a_page_is_json(self, block: Block) -> None:
        json.loads(block.text)

    def test_every_block_says_what_it_is(self) -> None:
        known = {"python", "console", "toml", "json", "text"}
        assert [str(block) for block in BLOCKS if block.language not in known] == []

    def test_the_ten_lines_that_check_an_export_are_ten(self) -> None:
        (block,) = [block for block in BLOCKS if block.title == "check_entries.py"]
        assert len(block.text.splitlines()) == 10


class TestLinks:
    @pytest.mark.parametrize("page", PAGES, ids=named)
    def test_every_link_leads_somewhere(self, page: Path) -> None:
        lost = []
        for target in links_of(page):
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.exists() or (anchor and anchor not in anchors_of(there)):
                lost.append(target)
        assert lost == []

    def test_every_page_can_be_reached_from_the_readme(self) -> None:
        reached: set[Path] = set()
        waiting = [ROOT / "README.md"]
        while waiting:
            here = waiting.pop()
            if here not in reached:
                reached.add(here)
                linked = ((here.parent / target.partition("#")[0]).resolve() for target in links_of(here))
                waiting += [there for there in linked if there.suffix == ".md" and there.exists()]
        assert sorted(map(named, set(PAGES) - reached)) == []

    @pytest.mark.parametrize("page", PAGES, ids=named)
    def test_every_module_a_page_names_is_there(self, page: Path) -> None:
        modules = re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text(encoding="utf-8"))
        rooms = {place.name for place in (ROOT / "src" / "brasstag").iterdir()}
        ours = [module for module in modules if module.partition("/")[0] in rooms - {"tools"}]
        assert [module for module in ours if not (ROOT / "src" / "brasstag" / module).exists()] == []

    def test_every_path_of_the_page_on_changes_is_there(self) -> None:
        rows = re.findall(r"^\| .+ \| (.+) \|$", page("docs/changing.md"), re.MULTILINE)[1:]
        paths = {path for row in rows for path in re.findall(r"`((?:\w+/)+[\w.]*|__init__\.pyi)`", row)}
        assert len(paths) > 40
        places = (ROOT, ROOT / "src" / "brasstag")
        assert [path for path in sorted(paths) if not any((place / path).exists() for place in places)] == []


class TestNothingGoesUnmentioned:
    def test_every_code_is_explained_and_no_other(self) -> None:
        explained = re.findall(r"^\| `([A-Z_]+)` \|", page("docs/errors.md"), re.MULTILINE)
        assert sorted(explained) == sorted([*Code, "UNKNOWN", "WAITING_FOR_APPROVAL", "WAITING_FOR_TASK"])

    @pytest.mark.parametrize("section", Section.__subclasses__(), ids=lambda section: section.home)
    def test_every_setting_has_a_row_in_the_table_of_its_section_and_no_other(
        self, section: type[Section]
    ) -> None:
        _, _, below = page("docs/packages/settings.md").lower().partition(f"\n### {section.home.lower()}\n")
        rows = re.findall(r"^\| (`.+?) \|", re.split(r"^##", below, flags=re.MULTILINE)[0], re.MULTILINE)
        assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(section.model_fields)

    def test_every_public_name_is_explained(self) -> None:
        assert unmentioned(brasstag.__all__, "docs/library.md") == []

    def test_every_method_of_a_room_is_explained(self) -> None:
        listed = page("docs/library.md").partition("## Room, method by method")[2]
        public = [name for name in vars(brasstag.Room) if not name.startswith("_")]
        assert [name for name in public if not re.search(rf"`(?:Room\.)?{name}\b", listed)] == []

    def test_every_method_of_a_rooms_documents_is_explained(self) -> None:
        listed = page("docs/library.md").partition("## Documents")[2].partition("\n## ")[0]
        public = [name for name in vars(brasstag.RoomDocuments) if not name.startswith("_")]
        assert [name for name in public if not re.search(rf"`{name}\(", listed)] == []

    @pytest.mark.parametrize("part", [brasstag.PromptRegistry, brasstag.RoomIssues])
    def test_every_method_of_a_rooms_prompts_and_issues_is_explained(self, part: type[object]) -> None:
        listed = page("docs/library.md").partition("## Prompt tools and issues")[2].partition("\n## ")[0]
        public = [name for name in vars(part) if not name.startswith("_")]
        assert [name for name in public if not re.search(rf"`{name}\(", listed)] == []

    def test_every_check_state_and_family_of_screening_is_explained(self) -> None:
        families = {pattern["family"] for pattern in json.loads(shipped_patterns())["patterns"]}
        assert unmentioned([*FIELDS, *families, *ProposalState], "docs/prompt-tools.md") == []
        listed = page("docs/prompt-tools.md").partition("## Test cases")[2].partition("\n## ")[0]
        assert [check for check in (*NAMED, *ROOM_CHECKS, *MADE) if f'"{check}"' not in listed] == []

    def test_every_command_and_option_is_explained_and_no_other(self) -> None:
        said = {
            section.partition("\n")[0].strip("` "): set(re.findall(r"--[a-z][a-z-]+", section))
            for section in re.split(r"^### ", page("docs/cli.md"), flags=re.MULTILINE)[1:]
        }
        said["brasstag"] -= {"--help"}
        assert said == dict(commands(typer.main.get_command(app), "brasstag"))

    def test_every_exit_code_is_explained(self) -> None:
        assert re.findall(r"^\| (\d) \|", page("docs/cli.md"), re.MULTILINE) == [
            str(int(one)) for one in Exit
        ]

    def test_every_variable_of_the_environment_is_explained(self) -> None:
        sources = "".join(file.read_text() for file in (ROOT / "src" / "brasstag").rglob("*.py"))
        assert unmentioned(set(re.findall(r'"(BRASSTAG_[A-Z_]+)"', sources)), "docs/cli.md") == []

    def test_every_entry_kind_is_explained(self) -> None:
        assert unmentioned(EntryKind, "docs/timeline.md") == []

    def test_every_state_of_an_approval_is_explained(self) -> None:
        assert unmentioned(ApprovalState, "docs/approvals.md") == []

    def test_every_fact_and_shipped_rule_is_explained(self) -> None:
        assert unmentioned([*Fact, *(rule.name for rule in shipped_rules())], "docs/rules.md") == []

    def test_every_field_of_a_tool_and_all_it_may_ask_for_is_explained(self) -> None:
        fields = {
            *ToolConfig.model_fields,
            *Limits.model_fields,
            *Parameter.model_fields,
            *INJECTABLE,
            *ToolType,
        }
        assert unmentioned(fields, "docs/writing-tools.md") == []

    def test_every_package_has_a_page(self) -> None:
        packages = {init.parent.name for init in (ROOT / "src" / "brasstag").glob("*/__init__.py")} - {
            "testing"
        }
        assert {file.stem for file in (DOCS / "packages").glob("*.md")} == packages


class TestTables:
    def test_the_table_of_profiles_is_the_one_that_is_used(self) -> None:
        stances = {
            "allow": "allow",
            "ask": "ask",
            "undoable": "allow if it can be undone",
            "silent": "the tool decides",
        }
        for fact in Fact:
            row = f"| {fact} | {' | '.join(stances[profile[fact]] for profile in PROFILES.values())} |"
            assert row in page("docs/rules.md")

    def test_the_table_of_steps_of_a_proposal_is_the_one_that_is_used(self) -> None:
        rows = re.findall(
            r"^\| (`.+`) \| ([a-z ]+)(?::.+)? \| `(\w+)` \| (.+) \|$",
            page("docs/prompt-tools.md"),
            re.MULTILINE,
        )
        told = {
            (state, ProposalStep(step)): (ProposalState(then), who == "a person")
            for states, step, then, who in rows
            for state in map(ProposalState, re.findall(r"`(\w+)`", states))
        }
        assert told == {
            (state, step): (then, step in PERSONS_STEPS) for (state, step), then in TRANSITIONS.items()
        }

    def test_the_table_of_kinds_is_the_one_that_is_used(self) -> None:
        words = {True: "yes", False: "no"}
        for kind, row in BEHAVIOUR.items():
            does = (row.creates_node, row.blocks_parent, row.executes_code, row.passes_documents)
            cells = " | ".join(words[one] for one in does)
            assert f"| `{kind}` | {cells} |" in page("docs/packages/toolkit.md")


class TestGeneratedAndDated:
    def test_the_page_of_tools_is_up_to_date(self) -> None:
        assert GENERATED.read_text(encoding="utf-8") == tools_page(discover_package("brasstag.tools"))

    def test_the_changelog_begins_with_what_is_unreleased_and_knows_this_version(self) -> None:
        versions = re.findall(r"^## \[(.+?)\]", page("CHANGELOG.md"), re.MULTILINE)
        assert versions[0] == "Unreleased"
        project = tomllib.loads(page("pyproject.toml"))["project"]
        assert brasstag.__version__ == project["version"]


def make_room(project: Path) -> None:
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main(["init", str(project)])
    (project / "data" / "notes.md").write_text("# Notes\n\nThree short words.\n")


def write_file(block: Block) -> None:
    file = Path.cwd() / block.title
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text)


def run_python(block: Block, names: dict[str, Any]) -> None:
    """Run a block after those before it, compare what it prints with its ``#>`` lines, and call the tests in it."""
    # Padded, so that a traceback names the line of the page.
    source = "\n" * (block.line - 1) + block.text
    code = compile(source, str(block.page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, names))
        else:
            exec(code, names)
    expected = re.findall(r"^ *#> (.*)$", block.text, re.MULTILINE)
    assert printed.getvalue().splitlines() == expected, str(block)
    for name in re.findall(r"^(?:async )?def (test_\w+)", block.text, re.MULTILINE):
        call_test(names[name])


def call_test(test: Callable[[], Any]) -> None:
    result = test()
    if inspect.iscoroutine(result):
        asyncio.run(result)


def unmentioned(names: Any, where: str) -> list[str]:
    text = page(where)
    return sorted(str(name) for name in names if f"`{name}`" not in text)


def commands(command: Any, path: str) -> Iterator[tuple[str, set[str]]]:
    """Every command with its long options."""
    options = (one for one in command.params if one.param_type_name == "option" and not one.hidden)
    yield path, {name for option in options for name in option.opts if name.startswith("--")}
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from commands(below, f"{path} {name}")
