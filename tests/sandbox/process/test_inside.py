"""What honest programs do still works: git, tar, worker processes, event loops, packages, much memory."""

import base64
import subprocess

import pytest

from brasstag.sandbox.process.job import SCRIPT
from tests.sandbox.process.support import Project


def git(confined: Project, *words: str) -> None:
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "safe.directory=*"]
    subprocess.run(["git", *who, *words], cwd=confined.data, check=True, capture_output=True)


def test_git_reads_and_cannot_write(confined: Project) -> None:
    confined.write("a.txt", "one\n")
    git(confined, "init", "-q")
    git(confined, "add", ".")
    git(confined, "commit", "-qm", "first")
    confined.own()
    confined.write("a.txt", "two\n")
    answer = confined.run(
        "/bin/sh",
        "-c",
        "git status --short && git log --format=%s && git diff --stat && git commit -qam no; echo $?",
    )
    assert answer["stdout"].startswith(" M a.txt\nfirst\n"), answer
    assert answer["stdout"].endswith("\n128\n"), answer
    assert "Read-only file system" in answer["stderr"]
    assert answer["entries"] == []


@pytest.mark.parametrize(
    "attack",
    [
        "echo evil > .git/hooks/post-checkout",
        "mv .git elsewhere",
        "rm -rf .git",
        "mv .git/config .git/old; echo '[core] fsmonitor = evil' > .git/config",
        "mount --bind /tmp .git",
        "ln -sf /tmp/evil .git/HEAD",
        "chmod 777 .git/config",
    ],
)
def test_git_s_own_files_cannot_be_changed(confined: Project, attack: str) -> None:
    git(confined, "init", "-q")
    confined.own()
    before = sorted(
        (str(path), path.stat().st_mode, path.stat().st_mtime_ns) for path in confined.data.rglob("*")
    )
    answer = confined.run("/bin/sh", "-c", f"({attack}) && echo succeeded", land=True)
    assert "succeeded" not in answer["stdout"], answer
    after = sorted(
        (str(path), path.stat().st_mode, path.stat().st_mtime_ns) for path in confined.data.rglob("*")
    )
    assert after == before


def test_tar_packs_and_unpacks(confined: Project) -> None:
    confined.write("in/a.txt", "a")
    confined.write("in/run.sh", "#!/bin/sh", 0o755)
    confined.own()
    answer = confined.run(
        "/bin/sh", "-c", "tar czf t.tgz in && mkdir out && tar xzf t.tgz -C out && rm t.tgz", land=True
    )
    assert answer["made"] == [
        ["out", "creates"],
        ["out/in", "creates"],
        ["out/in/a.txt", "creates"],
        ["out/in/run.sh", "creates"],
    ], answer
    assert (confined.data / "out/in/run.sh").stat().st_mode & 0o777 == 0o755


def test_workers_event_loops_and_threads_run(confined: Project) -> None:
    confined.write(
        "work.py",
        """
import asyncio, multiprocessing, sys, threading, subprocess, tempfile, sqlite3

def square(number):
    return number * number

async def loop():
    process = await asyncio.create_subprocess_exec("echo", "from a child", stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    server = await asyncio.start_unix_server(lambda reader, writer: writer.close(), "/tmp/s")
    reader, writer = await asyncio.open_unix_connection("/tmp/s")
    assert await reader.read() == b""
    writer.close()
    server.close()
    return said.decode().strip()

if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool:
        print(pool.map(square, range(5)))
    spawned = multiprocessing.get_context("spawn").Process(target=square, args=(1,))
    spawned.start()
    spawned.join()
    print(spawned.exitcode, asyncio.run(loop()))
    threads = [threading.Thread(target=square, args=(2,)) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    with tempfile.TemporaryFile() as file:
        file.write(b"x")
    database = sqlite3.connect("/tmp/db")
    database.execute("create table t (x)")
    print(subprocess.run(["sort"], input="b\\na\\n", text=True, capture_output=True).stdout.split())
""",
    )
    confined.own()
    answer = confined.run("python", "-B", "work.py")
    assert answer["stdout"] == "[0, 1, 4, 9, 16]\n0 from a child\n['a', 'b']\n", answer
    assert answer["entries"] == []


def test_packages_of_the_project_s_environment_are_there(confined: Project) -> None:
    place = confined.data / ".venv"
    confined.runner.ask("environment", place=str(place))
    packages = next(place.glob("lib/python*/site-packages"))
    (packages / "ours.py").write_text("WORD = 'from the environment'")
    confined.own()
    answer = confined.run(
        "python", "-c", "import ours, sys; print(ours.WORD, sys.prefix); open(ours.__file__, 'a')"
    )
    assert answer["stdout"] == f"from the environment {place}\n", answer
    assert "Read-only file system" in answer["stderr"]


def test_numpy_works_on_two_hundred_megabytes(confined: Project) -> None:
    answer = confined.python(
        """
        import numpy
        held = numpy.ones((5000, 5000))
        held[::2] = 2.0
        print(held.nbytes // 10**6, int(held.sum()), int((held[:200] @ held[:, :200])[0, 0]))
        """
    )
    assert answer["stdout"] == "200 37500000 15000\n", answer
    assert answer["exit_code"] == 0


def test_a_script_is_a_file_nobody_can_write_however_long_it_is(confined: Project) -> None:
    code = f"# {'x' * 3_000_000}\ncat; echo ran; ls /confined; echo more >> {SCRIPT}; rm {SCRIPT}; mv /confined /tmp"
    for overlay in (True, False):
        answer = confined.run(
            "/bin/bash", SCRIPT, script=base64.b64encode(code.encode()).decode(), overlay=overlay
        )
        assert answer["stdout"] == "ran\ncode\n", answer
        assert answer["stderr"].count("Read-only file system") + answer["stderr"].count("busy") == 3, answer
        assert answer["entries"] == []
    assert "No such file" in confined.run("/bin/cat", SCRIPT)["stderr"]


def test_input_directory_and_exit_code_are_as_asked(confined: Project) -> None:
    confined.write("sub/x", "")
    confined.own()
    answer = confined.run("/bin/sh", "-c", "pwd; cat; exit 7", stdin=b"given \xff", directory="sub")
    assert answer["stdout"] == "/workspace/sub\ngiven \ufffd"
    assert answer["exit_code"] == 7
    killed = confined.run("/bin/sh", "-c", "kill -KILL $$")
    assert (killed["exit_code"], killed["ended_by"]) == (137, None)
    missing = confined.run("/usr/bin/no-such-program")
    assert missing["exit_code"] == 127
    assert "No such file" in missing["stderr"]


def test_a_read_only_job_sees_the_workspace_and_changes_nothing(confined: Project) -> None:
    confined.write("a.txt", "seen")
    confined.own()
    answer = confined.run("/bin/sh", "-c", "cat a.txt; echo no > b.txt", overlay=False)
    assert answer["stdout"] == "seen"
    assert "Read-only file system" in answer["stderr"]
    assert answer["confinement"]["overlay"] == "read-only"
    assert [path.name for path in confined.data.iterdir()] == ["a.txt"]


def test_every_result_says_what_it_was_confined_by(confined: Project) -> None:
    report = confined.run("/bin/true")["confinement"]
    assert list(report) == [
        "backend", "overlay", "net", "fs_read", "fs_write", "metadata", "proc", "mem", "pids", "disk",
    ]  # fmt: skip
    assert report["overlay"] == "overlay"
    assert report["net"] == "off"


def test_what_no_program_can_be_given_is_refused_with_a_reason(confined: Project) -> None:
    assert confined.run("/bin/echo", "a\0b")["code"] == "INVALID_ARGUMENTS"
    assert confined.run("/bin/true", environment={"A=B": "x"})["code"] == "INVALID_ARGUMENTS"
    assert confined.run("/bin/true", directory="missing")["code"] == "FILE_NOT_FOUND"
    assert confined.run("/bin/true", directory="../outside")["code"] == "INVALID_PATH"
    assert confined.run("/bin/echo", "x" * 300_000)["code"] == "TOO_LARGE"


def test_rights_taken_away_leave_nothing_behind(confined: Project) -> None:
    answer = confined.run("/bin/sh", "-c", "mkdir -p x/y/z; touch x/y/z/f; chmod 000 x/y/z x/y x")
    assert ["x/y/z/f", "file"] in answer["entries"]
    assert answer["left"] == []
