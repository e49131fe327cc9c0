"""No tool, argument, symlink or race changes or reveals a control file, even when the workspace is the project itself."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from brasstag import Done, Failed, Room
from brasstag.sandbox import syscalls
from brasstag.words.errors import Code
from tests.conftest import MakeProject, accept

SECRET = "only-control-files-hold-this"


@pytest.fixture
def whole_project(make_project: MakeProject) -> Path:
    """A project whose workspace is its own root, with a tool, a repository and an environment in it."""
    project = make_project(f"# {SECRET}\n", profile="trusted", workspace=".")
    (project / "tools").mkdir()
    (project / "tools" / "notes.txt").write_text(SECRET)
    for place in (".git/hooks", "sub/.git", ".venv/bin", "myenv/bin"):
        (project / place).mkdir(parents=True)
    (project / ".git" / "config").write_text(SECRET)
    (project / ".git" / "hooks" / "pre-commit").write_text(SECRET)
    (project / "sub" / ".git" / "config").write_text(SECRET)
    (project / "myenv" / "pyvenv.cfg").write_text(SECRET)
    (project / "myenv" / "bin" / "activate").write_text(SECRET)
    (project / "wires.py").write_text(
        f"from brasstag import RuleEngine\n\nengine = RuleEngine()  # {SECRET}\n"
    )
    (project / "chapter.md").write_text("Call me Ishmael.")
    accept(project)
    return project


TARGETS = [
    "brasstag.toml", "./brasstag.toml", "BRASSTAG.TOML", "x/../brasstag.toml", "tools", "tools/notes.txt", "tools/new.py",
    ".brasstag", ".brasstag/state.db", ".brasstag/new", ".git", ".git/config", ".git/hooks/pre-commit", ".GIT/config",
    "sub/.git/config", ".venv/bin/python", "myenv/bin/activate", "myenv/pyvenv.cfg", "sub/pyvenv.cfg",
    "wires.py", "Wires.PY", "link-to-wires", "link-to-toml", "link-to-git/config", "hard-link",
]  # fmt: skip


def fingerprint(project: Path) -> dict[str, bytes]:
    places = ("brasstag.toml", "wires.py", "tools", ".git", "sub/.git", ".venv", "myenv")
    files = [
        file
        for place in places
        for file in [project / place, *(project / place).rglob("*")]
        if file.is_file()
    ]
    return {str(file): file.read_bytes() for file in files}


def calls_on(target: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("read_file", {"path": target}),
        ("read_file", {"path": target, "encoding": "base64"}),
        ("list_files", {"path": target, "include_hidden": True}),
        ("search_code", {"query": SECRET, "directory": target, "include_hidden": True}),
        ("write_file", {"path": target, "content": "mine now"}),
        ("write_file", {"path": f"{target}/below", "content": "mine now"}),
        ("edit_file", {"path": target, "search_text": SECRET, "replace_text": "mine now"}),
        ("move_file", {"from": target, "to": "stolen"}),
        ("move_file", {"from": "chapter.md", "to": target, "overwrite": True}),
        ("delete_file", {"path": target, "recursive": True}),
    ]


@pytest.mark.parametrize("target", TARGETS)
async def test_no_tool_reads_or_changes_one(whole_project: Path, target: str) -> None:
    (whole_project / "link-to-toml").symlink_to("brasstag.toml")
    (whole_project / "link-to-wires").symlink_to("wires.py")
    (whole_project / "link-to-git").symlink_to(".git")
    os.link(whole_project / "tools" / "notes.txt", whole_project / "hard-link")
    before = fingerprint(whole_project)
    async with Room.open(whole_project) as room:
        for name, arguments in calls_on(target):
            outcome = await room.call(name, arguments)
            if isinstance(outcome, Done):
                # Links themselves may be moved and deleted; what they lead to may not.
                assert name in ("move_file", "delete_file", "list_files", "search_code", "write_file"), (
                    name,
                    outcome,
                )
            assert SECRET not in str(getattr(outcome, "value", "")), (name, arguments)
            assert fingerprint(whole_project) == before, (name, arguments)
        assert (await room.verify()).ok


async def test_listings_and_searches_do_not_know_of_them(whole_project: Path) -> None:
    os.link(whole_project / "brasstag.toml", whole_project / "innocent.md")
    async with Room.open(whole_project) as room:
        listed = await room.call("list_files", {"path": ".", "recursive": True, "include_hidden": True})
        assert isinstance(listed, Done)
        names = [entry["name"] for entry in listed.value["entries"]]
        assert [
            name
            for name in names
            if "git" in name or "env" in name or name.startswith(("tools", ".b", "bra", "wires"))
        ] == []
        found = await room.call("search_code", {"query": SECRET, "include_hidden": True})
        assert isinstance(found, Done)
        assert found.value["matches"] == []


async def test_a_directory_swapped_for_a_link_never_leads_to_one(whole_project: Path) -> None:
    """Somebody swaps a directory and a link to .git as fast as they can while tools read and write through it."""
    (whole_project / "d").mkdir()
    (whole_project / "d" / "config").write_text("harmless")
    (whole_project / "e").symlink_to(".git")
    before = fingerprint(whole_project)
    stop = threading.Event()

    def swap() -> None:
        here = os.open(whole_project, os.O_RDONLY)
        while not stop.is_set():
            syscalls.renameat2(here, b"d", here, b"e", syscalls.RENAME_EXCHANGE)
        os.close(here)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        async with Room.open(whole_project) as room:
            for number in range(60):
                for name, arguments in (
                    ("read_file", {"path": "d/config"}),
                    ("search_code", {"query": SECRET, "directory": "d"}),
                    ("write_file", {"path": "d/config", "content": f"harmless {number}"}),
                ):
                    outcome = await room.call(name, arguments)
                    assert SECRET not in str(getattr(outcome, "value", ""))
                    if isinstance(outcome, Failed):
                        assert outcome.code is not Code.EXECUTION_ERROR, outcome
    finally:
        stop.set()
        swapper.join()
    assert fingerprint(whole_project) == before


@pytest.mark.parametrize("command", ["echo evil >> wires.py", "rm wires.py", "echo x > y; mv y wires.py"])
async def test_code_does_not_change_the_rules_in_python(whole_project: Path, command: str) -> None:
    before = fingerprint(whole_project)
    async with Room.open(whole_project) as room:
        outcome = await room.call("shell", {"command": command})
        assert not isinstance(outcome, Done) or outcome.value["exit_code"] != 0
    assert fingerprint(whole_project) == before


async def test_code_does_not_make_rules_in_python_where_there_are_none(make_project: MakeProject) -> None:
    project = make_project(profile="trusted", workspace=".")
    async with Room.open(project) as room:
        outcome = await room.call("shell", {"command": "echo evil > wires.py"})
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.CONTROL_FILE
    assert not (project / "wires.py").exists()


async def test_changed_control_files_are_not_loaded_before_a_person_has_seen_them(
    whole_project: Path,
) -> None:
    from brasstag import UntrustedError

    toml = whole_project / "brasstag.toml"
    toml.write_text(toml.read_text().replace("trusted", "careful"))
    (whole_project / "tools" / "evil.py").write_text("raise SystemExit('loaded')")
    with pytest.raises(UntrustedError) as caught:
        async with Room.open(whole_project):
            pass
    assert caught.value.changed == ("brasstag.toml (changed)", "tools/evil.py (new)")


async def test_a_replaced_timeline_is_noticed_when_the_room_opens(whole_project: Path) -> None:
    import shutil

    from brasstag import UntrustedError

    shutil.rmtree(whole_project / ".brasstag")
    with pytest.raises(UntrustedError, match="replaced"):
        async with Room.open(whole_project):
            pass


async def test_control_files_that_are_links_are_protected_by_name_and_by_target(
    make_project: MakeProject,
) -> None:
    project = make_project(profile="trusted", workspace=".")
    (project / "conf").mkdir()
    (project / "brasstag.toml").rename(project / "conf" / "bt.toml")
    (project / "brasstag.toml").symlink_to("conf/bt.toml")
    (project / "src" / "tools").mkdir(parents=True)
    (project / "tools").symlink_to("src/tools")
    accept(project)
    async with Room.open(project) as room:
        for name, arguments in (
            ("read_file", {"path": "conf/bt.toml"}),
            ("write_file", {"path": "conf/bt.toml", "content": ""}),
            ("move_file", {"from": "tools", "to": "old"}),
            ("delete_file", {"path": "brasstag.toml"}),
            ("write_file", {"path": "src/tools/evil.py", "content": ""}),
            ("move_file", {"from": "src", "to": "elsewhere"}),
        ):
            outcome = await room.call(name, arguments)
            assert isinstance(outcome, Failed), (name, arguments)
            assert outcome.code is Code.CONTROL_FILE, outcome
