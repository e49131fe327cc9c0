"""A module job sees what it was given, and nothing else of the machine."""

import base64
import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.sandbox.process.sandbox import Sandbox
from brasstag.words.errors import Code, ToolError
from tests.sandbox.process.support import PRELUDE, SECRET, Project
from tests.sandbox.support import open_workspace

MB = 1 << 20
MODULE = "brasstag.documents.converters.convert"


def probe(project: Project, code: str, **asked: Any) -> dict[str, Any]:
    """Run code as a module job."""
    program = PRELUDE + textwrap.dedent(code)
    return project.runner.ask("module_job", project=str(project.path), module=MODULE, code=program, **asked)


def found(project: Project, code: str, **asked: Any) -> Any:
    """Run code that tells what it found as JSON."""
    answer = probe(project, code, **asked)
    assert answer.get("exit_code") == 0, answer
    return json.loads(answer["stdout"])


def test_a_module_job_stands_in_an_empty_directory_that_it_cannot_write_to(confined: Project) -> None:
    confined.write("novel.txt", "once")
    confined.own()
    told = found(
        confined,
        """
        attempt("write", lambda: open("made", "w"))
        print(json.dumps([os.getcwd(), os.listdir("."), found]))
        """,
    )
    assert told == ["/workspace", [], {"write": "EROFS"}]


def test_a_module_job_sees_neither_workspace_nor_secrets_nor_state_nor_home(confined: Project) -> None:
    confined.write("novel.txt", "once")
    state = confined.path / ".brasstag"
    state.mkdir()
    (state / "state.db").write_text(SECRET)
    confined.own()
    places = [
        confined.data / "novel.txt",
        confined.path / "outside" / "secret.txt",
        state / "state.db",
        confined.path / "scratch",
        Path("/etc/passwd"),
        Path("/home"),
    ]
    told = found(
        confined,
        f"""
        for place in {[str(place) for place in places]}:
            attempt(place, lambda: os.stat(place))
        print(json.dumps([found, dict(os.environ)]))
        """,
    )
    assert told[0] == {str(place): "ENOENT" for place in places}
    assert SECRET not in json.dumps(told[1])


def test_a_module_job_has_no_network(confined: Project) -> None:
    told = found(
        confined,
        """
        attempt("tcp", lambda: socket.create_connection(("127.0.0.1", 22), 1))
        print(json.dumps(found))
        """,
    )
    assert "open" not in told["tcp"]


def test_files_given_to_a_module_job_can_be_read_and_not_written(confined: Project) -> None:
    kept = confined.path / "kept"
    kept.write_bytes(b"kept contents")
    kept.chmod(0o666)
    confined.own()
    told = found(
        confined,
        """
        attempt("read", lambda: open("/files/one.bin").read())
        attempt("write", lambda: open("/files/one.bin", "r+"))
        attempt("remove", lambda: os.unlink("/files/one.bin"))
        attempt("beside", lambda: open("/files/two", "w"))
        attempt("mode", lambda: os.chmod("/files/one.bin", 0o777))
        print(json.dumps([os.listdir("/files"), found, sys.stdin.read()]))
        """,
        files={"one.bin": str(kept)},
        stdin=base64.b64encode(b"the request").decode(),
    )
    names, answers, request = told
    assert names == ["one.bin"]
    assert answers.pop("read") == "open: 'kept contents'"
    assert set(answers.values()) <= {"EROFS", "EBUSY"}, answers
    assert request == "the request"
    assert kept.read_bytes() == b"kept contents"


@pytest.mark.parametrize("name", ["../one", "a/b", "", ".", "..", ".hidden", "new\nline", "a\0"])
def test_a_file_is_handed_in_under_a_plain_name_only(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a file"):
        ModuleJob(MODULE, b"", ((name, Path("/dev/null")),)).job()


def test_only_modules_of_brasstag_run_as_module_jobs() -> None:
    with pytest.raises(ValueError, match="no module of Brasstag"):
        ModuleJob("json.tool", b"")


@pytest.mark.parametrize(
    ("limits", "code", "ended_by"),
    [
        ({"wall_seconds": 0.5}, "time.sleep(60)", "time"),
        ({"memory_bytes": 96 * MB}, "held = [bytearray(os.urandom(8 << 20)) for _ in range(100)]", "memory"),
        ({"output_bytes": 1000}, "while True: print('x' * 999)", "output"),
    ],
)
def test_a_limit_ends_a_module_job_and_leaves_nothing(
    confined: Project, limits: dict[str, float], code: str, ended_by: str
) -> None:
    answer = probe(confined, code, limits=limits)
    assert answer["ended_by"] == ended_by, answer
    assert answer["left"] == []


def test_the_module_is_found_wherever_brasstag_is_installed(confined: Project) -> None:
    answer = confined.runner.ask(
        "module_job", project=str(confined.path), module="brasstag.documents.formats.kinds"
    )
    assert (answer["exit_code"], answer["stderr"]) == (0, "")


def test_a_module_job_is_refused_where_nothing_confines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brasstag.sandbox.process.detect._PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "data").mkdir()
    with open_workspace(tmp_path) as workspace:
        sandbox = Sandbox(workspace, tmp_path / "data", tmp_path / "scratch")
        with pytest.raises(ToolError, match="bubblewrap is not installed") as caught:
            sandbox.run_module(ModuleJob(MODULE, b""))
    assert caught.value.code is Code.NOT_SUPPORTED
