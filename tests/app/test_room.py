"""Room: the library's front door."""

import inspect
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import brasstag
from brasstag import (
    ConfigError,
    Done,
    Draft,
    Ended,
    Found,
    Hit,
    Listed,
    Room,
    RoomDocuments,
    RunEvent,
    Toolbox,
    UntrustedError,
    Waits,
    tool,
)
from brasstag.app.runs import Runs
from brasstag.app.state import open_state
from brasstag.words.errors import StoreError
from tests.conftest import MakeProject, accept


def test_every_public_name_is_there() -> None:
    assert {"Room", "tool", "Filter"} < set(brasstag.__all__) <= set(dir(brasstag))
    for name in brasstag.__all__:
        assert getattr(brasstag, name) is not None
    with pytest.raises(AttributeError):
        _ = brasstag.no_such_name


def test_what_only_the_command_line_needs_is_not_public() -> None:
    assert {"Store", "RoomState"}.isdisjoint(brasstag.__all__)


def test_what_is_imported_by_name_is_all_that_is_imported() -> None:
    script = (
        "import sys, brasstag\nbrasstag.Code\nprint(*(name for name in sys.modules if 'brasstag' in name))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert set(told.split()) == {"brasstag", "brasstag.doors", "brasstag.words", "brasstag.words.errors"}


def _classes_in(hint: object) -> Iterator[type]:
    if isinstance(hint, type):
        yield hint
    for part in get_args(hint):
        for one in part if isinstance(part, list) else (part,):
            yield from _classes_in(one)


@pytest.mark.parametrize("front", [Room, RoomDocuments, Toolbox, Listed, Found, Hit, RunEvent, Waits, Ended])
def test_every_type_that_a_public_signature_names_can_be_imported(front: type) -> None:
    named = [*get_type_hints(front).values()] if is_dataclass(front) else []
    for name, member in vars(front).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not name.startswith("_") and callable(function):
            named += get_type_hints(inspect.unwrap(function)).values()
    met = {one for hint in named for one in _classes_in(hint) if one.__module__.startswith("brasstag.")}
    assert met
    assert [one.__name__ for one in met if getattr(brasstag, one.__name__, None) is not one] == []


async def test_the_library_in_one_look(project: Path) -> None:
    (project / "data" / "notes.md").write_text("one two three")

    @tool(effects="none")
    async def word_count(workspace: Draft, path: str) -> int:
        """Count the words of a workspace file."""
        return len(workspace.read_text(path).split())

    async with Room.open(project) as room:
        room.register(word_count)
        outcome = await room.call("word_count", {"path": "notes.md"})
        assert isinstance(outcome, Done)
        assert outcome.value == 3
        assert "word_count" in {one["function"]["name"] for one in room.tools.for_openai()}
        schema = next(one for one in room.tools.for_anthropic() if one["name"] == "word_count")[
            "input_schema"
        ]
        assert list(schema["properties"]) == ["path"]


@pytest.mark.parametrize("given", [str, Path])
async def test_a_directory_of_ones_own_is_named_by_text_or_path(
    tmp_path: Path, given: Callable[[Path], str | Path]
) -> None:
    (tmp_path / "notes.md").write_text("one two three")
    async with Room.in_memory(given(tmp_path)) as room:
        assert room.workspace == tmp_path
        outcome = await room.call("read_file", {"path": "notes.md"})
    assert isinstance(outcome, Done)


def test_no_parameter_of_a_run_is_kept_from_programs() -> None:
    below = inspect.signature(Runs.begin).parameters
    # What is left out of the context is one value below; prompts.run gives the rest of it.
    skips = {"skip_tool_catalog", "skip_tools"}
    assert set(inspect.signature(Room.start).parameters) - skips == set(below) - {"context"}


async def test_a_project_that_does_not_exist_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="brasstag init"):
        async with Room.open(tmp_path / "nowhere"):
            pass


@pytest.mark.parametrize(
    ("settings", "command", "became"),
    [
        ("", "rm -rf build", "BLOCKED_BY_RULE"),
        ('[policy]\ndangerous_commands = "ask"\n', "rm -rf build", "asked"),
        ('[policy]\ndangerous_commands = "ask"\n', "dd if=a of=b", "asked"),
        ('[policy]\ndangerous_commands = "ask"\n', "rm -rf /", "BLOCKED_BY_RULE"),
    ],
)
async def test_rm_rf_and_dd_are_denied_and_a_setting_asks_instead(
    make_project: MakeProject, settings: str, command: str, became: str
) -> None:
    async with Room.open(make_project(settings=settings)) as room:
        outcome = await room.call("shell", {"command": command})
        assert (outcome.code if isinstance(outcome, brasstag.Failed) else "asked") == became
        if command == "rm -rf build" and isinstance(outcome, brasstag.Failed):
            assert "delete_file" in outcome.message


async def test_every_problem_of_a_configuration_is_named_at_once(make_project: MakeProject) -> None:
    project = make_project()
    (project / "brasstag.toml").write_text(
        '[room]\nworkspace = "data"\n\n[[rules]]\ndeny = "reed_file"\nbecause = "x"\n\n'
        '[roles.editor]\ntools = ["edit_file", "fly"]\n\n[tools.read_file]\nlimits = { max_moons = 3 }\n'
        "defaults = { encoding = 7, pth = 1 }\n\n[tools.nothing]\n"
    )
    (project / "tools").mkdir()
    (project / "tools" / "one.json").write_text('{"tool_id": "one", "colour": "red"}')
    (project / "tools" / "two.py").write_text("import no_such_module")
    accept(project)
    with pytest.raises(ConfigError) as caught:
        async with Room.open(project):
            pass
    said = str(caught.value)
    for part in (
        "reed_file",
        "fly",
        "max_moons",
        "defaults.encoding",
        "defaults.pth",
        "tools.nothing",
        "colour",
        "description",
        "no_such_module",
    ):
        assert part in said, part
    # The books can still be opened, so people can look, decide and stop.
    room_state = open_state(project)
    assert room_state.verify().ok
    room_state.close()


async def test_settings_give_a_tool_another_description_and_so_another_version(
    make_project: MakeProject,
) -> None:
    async with Room.open(make_project(name="plain")) as room:
        shipped = room.tools.get("read_file")
    words = "Read a chapter."
    async with Room.open(make_project(f'[tools.read_file]\ndescription = "{words}"\n')) as room:
        changed = room.tools.get("read_file")
        (exported,) = [one for one in room.tools.for_anthropic() if one["name"] == "read_file"]
    assert exported["description"] == words
    assert shipped is not None
    assert changed is not None
    assert changed.version != shipped.version


async def test_an_alias_in_the_settings_is_refused_as_it_would_change_nothing(
    make_project: MakeProject,
) -> None:
    project = make_project('[tools.list_directory]\ndescription = "List."\n')
    with pytest.raises(ConfigError, match=r"Write \[tools.list_files\]"):
        async with Room.open(project):
            pass


async def test_wrong_settings_do_not_hide_wrong_tools(make_project: MakeProject) -> None:
    project = make_project()
    (project / "brasstag.toml").write_text("[room]\nprofile = 'reckless'\n")
    (project / "tools").mkdir()
    (project / "tools" / "one.json").write_text('{"tool_id": "one", "colour": "red"}')
    accept(project)
    with pytest.raises(ConfigError) as caught:
        async with Room.open(project):
            pass
    assert "reckless" in str(caught.value)
    assert "colour" in str(caught.value)


async def test_a_failed_opening_lets_go_of_everything(make_project: MakeProject) -> None:
    project = make_project()
    (project / "brasstag.toml").write_text("nonsense")
    accept(project)
    for _ in range(3):
        with pytest.raises(ConfigError):
            async with Room.open(project):
                pass
    assert list((project / ".brasstag" / "boots").iterdir()) == []


async def test_a_project_copied_to_another_place_is_shown_to_a_person_only_once(
    make_project: MakeProject, tmp_path: Path
) -> None:
    import shutil

    project = make_project()
    async with Room.open(project) as room:
        await room.call("write_file", {"path": "a.md", "content": "a"})
    shutil.copytree(project, tmp_path / "copy")
    async with Room.open(tmp_path / "copy") as room:
        assert (await room.verify()).ok


async def test_a_key_that_is_gone_is_said_when_verifying(make_project: MakeProject, tmp_path: Path) -> None:
    import shutil

    project = make_project()
    async with Room.open(project) as room:
        await room.call("write_file", {"path": "a.md", "content": "a"})
    shutil.rmtree(tmp_path / "user")
    with pytest.raises(UntrustedError):
        async with Room.open(project):
            pass
    room_state = open_state(project)
    report = room_state.verify()
    room_state.close()
    assert report.ok
    assert any("is not on this machine" in line for line in report.unseen)


async def test_a_disk_that_is_full_fails_the_call_and_nothing_else(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("the room's database cannot be used: database or disk is full.")

    (room.workspace / "a.md").write_text("a")
    monkeypatch.setattr(room.store, "claim", full)
    outcome = await room.call("write_file", {"path": "b.md", "content": "b"})
    assert isinstance(outcome, brasstag.Failed)
    assert outcome.code is brasstag.Code.INTERNAL_ERROR
    assert not (room.workspace / "b.md").exists()
    monkeypatch.undo()
    assert isinstance(await room.call("write_file", {"path": "b.md", "content": "b"}), Done)


async def test_opening_a_room_says_nothing_in_the_log(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with Room.open(project) as room:
            await room.call("list_files", {})
    assert [record for record in caplog.records if record.name.startswith("brasstag")] == []
