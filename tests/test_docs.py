"""The documentation is kept true: what it shows runs, what it links to is there, and nothing public goes unmentioned."""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import brasstag
from brasstag.app.opening import _aliases
from brasstag.policy.judging import Rules
from brasstag.policy.loading import rules_from, strange_tools
from brasstag.policy.profiles import PROFILES
from brasstag.policy.roles import Roles
from brasstag.policy.shipped import shipped_rules
from brasstag.settings.model import Section
from brasstag.settings.reading import parse_settings
from brasstag.surfaces.cli.exits import Exit
from brasstag.surfaces.cli.main import app, main
from brasstag.toolkit.config import Limits, ToolConfig
from brasstag.toolkit.discovery import discover_package
from brasstag.toolkit.docs import tools_page
from brasstag.toolkit.kinds import ToolType
from brasstag.toolkit.parameters import Parameter
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import INJECTABLE
from brasstag.words.approvals import ApprovalState
from brasstag.words.errors import Code, ConfigError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Fact
from tests.pages import DOCS, ROOT, Block, all_pages, anchors_of, blocks_of, links_of, named
from tests.transcripts import Shell, settle_in

PAGES = all_pages()
BLOCKS = [block for page in PAGES for block in blocks_of(page)]
GENERATED = DOCS / "TOOLS.md"


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    yield settle_in(tmp_path / "ada", monkeypatch)


class TestWhatPagesShow:
    @pytest.mark.parametrize("page", [page for page in PAGES if page != GENERATED], ids=named)
    def test_a_page_can_be_followed_from_top_to_bottom(
        self, page: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        blocks = blocks_of(page)
        if not any(block.language == "console" and "brasstag init" in block.text for block in blocks):
            make_room(shell, monkeypatch)
        names: dict[str, Any] = {"__name__": page.stem}
        for block in blocks:
            if block.title:
                write_file(block)
            elif block.language == "console":
                shell.play(block)
            elif block.language == "python":
                run_python(block, names)

    @pytest.mark.parametrize("block", [one for one in BLOCKS if one.language == "toml"], ids=str)
    def test_settings_on_a_page_are_accepted_and_their_examples_hold(self, block: Block) -> None:
        registry = ToolRegistry(discover_package("brasstag.tools"))
        settings = parse_settings(block.text, str(block))
        aliases = _aliases(registry)
        rules = rules_from(settings.rules, aliases, str(block))
        problems = list(strange_tools(rules, lambda name: registry.get(name) is not None, str(block)))
        assert not problems
        Rules([*shipped_rules(), *rules], settings.room.profile, aliases)
        Roles(settings.roles, registry.get)
        for name, chosen in settings.tools.items():
            tool = registry.get(name)
            assert tool is not None, f"{block}: {name} is no tool"
            assert chosen.defaults.keys() <= tool.config.parameters.keys()

    @pytest.mark.parametrize("block", [one for one in BLOCKS if one.language == "json"], ids=str)
    def test_json_on_a_page_is_json(self, block: Block) -> None:
        json.loads(block.text)

    def test_every_block_says_what_it_is(self) -> None:
        known = {"python", "console", "toml", "json", "text"}
        assert [str(block) for block in BLOCKS if block.language not in known] == []


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
            page = waiting.pop()
            if page not in reached:
                reached.add(page)
                linked = ((page.parent / target.partition("#")[0]).resolve() for target in links_of(page))
                waiting += [there for there in linked if there.suffix == ".md" and there.exists()]
        assert sorted(map(named, set(PAGES) - reached)) == []


class TestNothingGoesUnmentioned:
    @pytest.mark.parametrize("code", Code)
    def test_every_code_is_explained(self, code: Code) -> None:
        assert f"| `{code}` |" in text_of("docs/errors.md")

    def test_no_code_is_explained_that_does_not_exist(self) -> None:
        explained = re.findall(r"^\| `([A-Z_]+)` \|", text_of("docs/errors.md"), re.MULTILINE)
        assert set(explained) == {*Code, "UNKNOWN", "WAITING_FOR_APPROVAL"}

    @pytest.mark.parametrize(
        "setting",
        sorted({name for section in Section.__subclasses__() for name in section.model_fields}),
    )
    def test_every_setting_is_explained(self, setting: str) -> None:
        assert f"`{setting}`" in text_of("docs/rooms/settings.md")

    @pytest.mark.parametrize("name", brasstag.__all__)
    def test_every_public_name_is_explained(self, name: str) -> None:
        assert f"`{name}`" in text_of("docs/library.md")

    @pytest.mark.parametrize("command", list(dict(dict.fromkeys(["brasstag"]))) or ["brasstag"])
    def test_the_command_line_is_there(self, command: str) -> None:
        assert command in text_of("docs/cli.md")
