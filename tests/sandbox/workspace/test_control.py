import os
from collections.abc import Callable
from pathlib import Path

import pytest

from brasstag.sandbox.workspace.control import ControlFiles
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.paths import ROOT
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.contents.blobs import Blobs
from brasstag.words.errors import Code
from tests.sandbox.support import fails, snapshot

NAMES = [".git", ".brasstag", "brasstag.toml", "pyvenv.cfg", ".venv", "venv", ".tox", ".nox"]

USES: list[Callable[[Draft, str], object]] = [
    lambda draft, path: draft.look(path),
    lambda draft, path: draft.exists(path),
    lambda draft, path: draft.read_bytes(path),
    lambda draft, path: list(draft.entries(path)),
    lambda draft, path: list(draft.open_files(path)),
    lambda draft, path: draft.write_bytes(path, b"x"),
    lambda draft, path: draft.make_directory(path),
    lambda draft, path: draft.remove(path, recursive=True),
    lambda draft, path: draft.move(path, "taken"),
    lambda draft, path: draft.move("plain.txt", path, overwrite=True),
]


@pytest.fixture
def draft(workspace: Workspace, data: Path) -> Draft:
    (data / "plain.txt").write_text("plain")
    return Draft(workspace, writable=True)


@pytest.mark.parametrize("name", [*NAMES, ".brasstag-call_1-0.old"])
@pytest.mark.parametrize("pattern", ["{}", "deep/er/{}", "{}/config", "./a/../{}"])
@pytest.mark.parametrize("case", [str.lower, str.upper, str.title], ids=["lower", "upper", "title"])
def test_control_files_are_known_by_name_at_any_depth_and_in_any_case(
    project: Path, name: str, pattern: str, case: Callable[[str], str]
) -> None:
    control = ControlFiles(project, project / "data")
    path = os.path.normpath(pattern.format(case(name)))
    assert control.covers(path)
    directory, _, last = path.rpartition("/")
    assert control.may_cover(directory or ROOT, ["a.txt", last, "z.txt"])


@pytest.mark.parametrize(
    "path",
    [".gitignore", ".github/x", "git", "my.git", "venv.txt", "a.venv", ".brasstagged", "tools", "x/tools"],
)
def test_names_that_only_resemble_them_are_not(project: Path, path: str) -> None:
    control = ControlFiles(project, project / "data")
    assert not control.covers(path)
    assert not control.may_cover("deep/er", ["a.txt", path.rpartition("/")[2]])


@pytest.mark.parametrize("name", [".g\u200cit", ".GI\ufeffT", "ｂrasstag.toml", ".g\u0131t/../.git"])
def test_letters_some_file_systems_take_for_the_same_do_not_help(project: Path, name: str) -> None:
    control = ControlFiles(project, project / "data")
    assert control.covers(os.path.normpath(name))
    assert control.may_cover(ROOT, ["é.txt", os.path.normpath(name)])


def test_the_projects_tools_are_control_files_where_the_workspace_holds_them(project: Path) -> None:
    whole = ControlFiles(project, project, (project / "keys",))
    assert whole.covers("tools/x.py")
    assert whole.covers("keys")
    assert whole.may_cover(ROOT, ["tools"])
    assert whole.may_cover(ROOT, ["keys"])
    assert whole.may_cover("tools", ["x.py"])
    assert not whole.may_cover("src", ["tools", "keys"])
    assert not whole.covers("src/tools/x.py")
    assert not whole.covers("keys2")


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("exists", [True, False])
def test_every_use_is_refused_in_the_same_words_whether_it_exists_or_not(
    draft: Draft, data: Path, use: Callable[[Draft, str], object], exists: bool
) -> None:
    if exists:
        (data / ".git").mkdir()
        (data / ".git" / "config").write_text("secret")
    before = snapshot(data)
    with fails(Code.CONTROL_FILE) as caught:
        use(draft, ".git/config")
    assert caught.value.message == (
        ".git/config is a control file or leads to one; tools can neither see nor change those. "
        "Use another path, or ask a person to do it."
    )
    assert not draft.preview().changes
    assert snapshot(data) == before


# Moves and removals, the last three, act on a link itself; for them "file" is no way to what it leads to.
WAYS = [(use, way) for use in USES for way in ("deep/link/config", "deep/../.git/config", "chain/config")]
WAYS += [(use, "file") for use in USES[:-3]]


@pytest.mark.parametrize(("use", "way"), WAYS)
def test_no_link_and_no_detour_leads_to_one(
    draft: Draft, data: Path, use: Callable[[Draft, str], object], way: str
) -> None:
    (data / ".git").mkdir()
    (data / ".git" / "config").write_text("secret")
    (data / "deep").mkdir()
    (data / "deep" / "link").symlink_to("../.git")
    (data / "file").symlink_to(".git/config")
    (data / "chain").symlink_to("deep/link")
    with fails(Code.CONTROL_FILE):
        use(draft, way)


def test_a_link_to_one_can_be_removed_but_not_read(draft: Draft, data: Path) -> None:
    (data / ".git").mkdir()
    (data / "link").symlink_to(".git/config")
    assert draft.look("link", follow=False).kind == "symlink"
    assert draft.remove("link") == ["link"]


@pytest.mark.parametrize("use", USES[:6])
def test_a_hard_link_to_one_is_one(
    draft: Draft, project: Path, data: Path, use: Callable[[Draft, str], object]
) -> None:
    (project / ".git" / "hooks").mkdir(parents=True)
    (project / ".git" / "hooks" / "pre-commit").write_text("secret")
    os.link(project / ".git" / "hooks" / "pre-commit", data / "innocent.txt")
    with fails(Code.CONTROL_FILE):
        use(draft, "innocent.txt")


def test_hard_links_to_toml_tools_and_state_are_not_listed_or_searched(
    draft: Draft, project: Path, data: Path
) -> None:
    (project / "tools").mkdir()
    (project / ".brasstag").mkdir(exist_ok=True)
    for index, path in enumerate(["brasstag.toml", "tools/mine.py", ".brasstag/state.db"]):
        (project / path).write_text("secret")
        os.link(project / path, data / f"{index}.txt")
    (data / "twin.txt").write_text("twin")
    os.link(data / "twin.txt", data / "other.txt")
    assert [entry.name for entry in draft.entries()] == ["other.txt", "plain.txt", "twin.txt"]
    assert {path: file.read() for path, file in draft.open_files(globs=["*t*"])} == {
        "other.txt": b"twin",
        "plain.txt": b"plain",
        "twin.txt": b"twin",
    }


def test_listings_and_searches_leave_them_out_without_a_word(draft: Draft, data: Path) -> None:
    for name in [*NAMES, ".BrassTag-x", "sub/.git", "sub/.env"]:
        (data / name).mkdir(parents=True)
        (data / name / "f").write_text("secret")
    (data / "sub" / "seen.txt").write_text("seen")
    found = [entry.path for entry in draft.entries(recursive=True, hidden=True)]
    assert found == ["plain.txt", "sub", "sub/.env", "sub/.env/f", "sub/seen.txt"]
    assert [path for path, _ in draft.open_files(hidden=True)] == ["plain.txt", "sub/.env/f", "sub/seen.txt"]
    assert draft.preview().notes == ()


@pytest.mark.parametrize("use", USES[:7])
@pytest.mark.parametrize("path", ["mine", "mine/bin/activate", "mine/new/file"])
def test_a_directory_that_holds_an_environment_is_one(
    draft: Draft, data: Path, use: Callable[[Draft, str], object], path: str
) -> None:
    (data / "mine" / "bin").mkdir(parents=True)
    (data / "mine" / "bin" / "activate").write_text("secret")
    (data / "mine" / "pyvenv.cfg").write_text("")
    with fails(Code.CONTROL_FILE):
        use(draft, path)
    assert [entry.name for entry in draft.entries()] == ["plain.txt"]


def test_a_workspace_that_is_itself_an_environment_can_be_used(draft: Draft, data: Path) -> None:
    (data / "pyvenv.cfg").write_text("")
    assert draft.read_text("plain.txt") == "plain"
    assert [entry.name for entry in draft.entries()] == ["plain.txt"]


@pytest.mark.parametrize("what", ["d/e/.git", "d/e/env/pyvenv.cfg", "d/.brasstag-call_9-0.old"])
def test_a_directory_that_holds_one_is_neither_removed_nor_moved(draft: Draft, data: Path, what: str) -> None:
    (data / what).parent.mkdir(parents=True)
    (data / what).write_text("")
    (data / "d" / "plain.txt").write_text("plain")
    with fails(Code.CONTROL_FILE):
        draft.remove("d", recursive=True)
    with fails(Code.CONTROL_FILE):
        draft.move("d", "f")
    assert draft.preview().changes == ()


def test_a_hard_link_is_judged_before_it_is_opened(project: Path, data: Path) -> None:
    """Opening and closing a database under another name would drop its owner's locks."""
    import fcntl

    (project / ".brasstag").mkdir()
    state = project / ".brasstag" / "state.db"
    state.write_text("state")
    os.link(state, data / "innocent.db")
    with state.open("r+") as held, Workspace(data, ControlFiles(project, data), Blobs(project)) as workspace:
        fcntl.lockf(held, fcntl.LOCK_EX)
        with fails(Code.CONTROL_FILE):
            Draft(workspace, writable=False).read_bytes("innocent.db")
        if (child := os.fork()) == 0:
            try:
                with state.open("r+") as other:
                    fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os._exit(3)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
