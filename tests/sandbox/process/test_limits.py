"""Memory, processes, disk, time and output end at their limits, and nothing survives a run."""

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.process.support import Project, Runner, running_with, until

MB = 1 << 20


def grown(answer: dict[str, Any]) -> int:
    """Return the last number a job said before it ended."""
    numbers = [int(word) for word in answer["stdout"].split() if word.isdigit()]
    return numbers[-1] if numbers else 0


def test_memory_of_one_process_ends_at_the_limit(confined: Project) -> None:
    answer = confined.python(
        """
        held = []
        while len(held) < 100:
            held.append(bytearray(os.urandom(1 << 20)) * 8)
            print(len(held) * 8, flush=True)
            time.sleep(0.01)
        """,
        limits={"memory_bytes": 128 * MB},
    )
    assert answer["ended_by"] == "memory", answer
    assert grown(answer) < 300


def test_memory_of_many_processes_counts_together(confined: Project) -> None:
    answer = confined.python(
        """
        ready, told = os.pipe()
        for index in range(40):
            if os.fork() == 0:
                held = bytearray(b"x") * (40 << 20)
                os.write(told, b"x")
                time.sleep(60)
            os.read(ready, 1)
            print((index + 1) * 40, flush=True)
            time.sleep(0.02)
        """,
        limits={"memory_bytes": 150 * MB},
    )
    assert answer["ended_by"] == "memory", answer
    assert grown(answer) < 1200


def test_pages_that_forks_share_count_once(confined: Project) -> None:
    answer = confined.python(
        """
        held = bytearray(b"x") * (100 << 20)
        children = [os.fork() for _ in range(1)]
        for _ in range(5):
            if children[-1] != 0:
                children.append(os.fork())
        time.sleep(0.5)
        if 0 not in children:
            print("all shared", flush=True)
        """,
        limits={"memory_bytes": 200 * MB},
    )
    assert (answer["ended_by"], answer["stdout"]) == (None, "all shared\n"), answer


def test_memory_nobody_has_mapped_in_counts_too(confined: Project) -> None:
    answer = confined.python(
        """
        import mmap
        shared = mmap.mmap(-1, 400 << 20)
        def fill():
            for index in range(0, len(shared), 4096):
                shared[index] = 1
        # A child fills it and goes: the pages stay, in no process's account.
        child(fill)
        print("filled", flush=True)
        time.sleep(60)
        """,
        limits={"memory_bytes": 200 * MB},
    )
    assert answer["ended_by"] == "memory", answer


def test_files_in_memory_end_at_their_size(confined: Project) -> None:
    found = confined.attack(
        """
        def fill(path):
            with open(path, "wb", buffering=0) as file:
                while True:
                    written = file.write(bytes(1 << 20))
                    if written < 1 << 20:
                        raise OSError(errno.ENOSPC, "")
        for place in ("/tmp/fill", "/dev/shm/fill", "/tmp/home/fill"):
            attempt(place, lambda: fill(place))
        found["tmp"] = str(os.statvfs("/tmp").f_blocks * os.statvfs("/tmp").f_frsize)
        """,
        limits={"temporary_bytes": 16 * MB},
    )
    assert found == {
        "/tmp/fill": "ENOSPC",
        "/dev/shm/fill": "ENOSPC",
        "/tmp/home/fill": "ENOSPC",
        "tmp": str(16 * MB),
    }


def test_a_fork_bomb_ends(confined: Project) -> None:
    mark = f"bomb-{confined.path.parent.name}-{confined.path.name}"
    answer = confined.python(
        """
        count = 1
        while True:
            try:
                if os.fork() == 0:
                    while True:
                        time.sleep(60)
                count += 1
                print(count, flush=True)
            except OSError:
                print("refused", flush=True)
                time.sleep(0.2)
        """,
        mark,
        limits={"processes": 32, "wall_seconds": 3.0},
    )
    assert answer["ended_by"] in ("processes", "time"), answer
    # The kernel does not count root's processes; only the watchdog does, as often as it gets to look.
    assert grown(answer) < 3000
    if answer["ended_by"] == "time":
        assert grown(answer) <= 32
        assert "refused" in answer["stdout"]
    assert running_with(mark) == []


def test_one_file_ends_at_its_limit_and_many_at_theirs(confined: Project) -> None:
    found = confined.attack(
        """
        def big():
            with open("big", "wb", buffering=0) as file:
                for _ in range(64):
                    file.write(bytes(1 << 20))
        attempt("big", big)
        found["size"] = str(os.path.getsize("big") >> 20)
        """,
        limits={"file_bytes": 8 * MB},
    )
    assert found == {"big": "EFBIG", "size": "8"}
    many = confined.python(
        """
        for index in range(1000):
            with open(f"file-{index}", "wb") as file:
                file.write(os.urandom(1 << 20))
            print(index, flush=True)
            time.sleep(0.001)
        """,
        limits={"disk_bytes": 32 * MB},
    )
    assert many["ended_by"] == "disk", many
    assert grown(many) < 500
    killed = confined.run("/bin/sh", "-c", "head -c 20M /dev/zero > big", limits={"file_bytes": 8 * MB})
    assert os.listdir(confined.data) == []
    assert killed["exit_code"] != 0


def test_names_and_nameless_files_count_as_disk(confined: Project) -> None:
    names = confined.python(
        "for index in range(100_000): open(f'name-{index}', 'w').close()", limits={"disk_bytes": 4 * MB}
    )
    assert names["ended_by"] == "disk", names["stderr"]
    nameless = confined.python(
        """
        file = open("gone", "wb", buffering=0)
        os.unlink("gone")
        for index in range(400):
            file.write(os.urandom(1 << 20))
            print(index, flush=True)
            time.sleep(0.002)
        time.sleep(60)
        """,
        limits={"disk_bytes": 32 * MB},
    )
    assert nameless["ended_by"] == "disk", nameless


def test_a_spin_that_ignores_every_signal_ends_in_time(confined: Project) -> None:
    mark = f"spin-{confined.path.parent.name}-{confined.path.name}"
    answer = confined.python(
        """
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        print("spinning", flush=True)
        while True:
            pass
        """,
        mark,
        limits={"wall_seconds": 1.0},
    )
    assert (answer["ended_by"], answer["exit_code"], answer["stdout"]) == ("time", None, "spinning\n")
    assert running_with(mark) == []


def test_processor_time_counts_over_all_processes(confined: Project) -> None:
    one = confined.python("while True: pass", limits={"cpu_seconds": 1.0, "wall_seconds": 30.0})
    assert one["ended_by"] == "cpu", one
    # Each stays below the limit alone, and is gone when the next comes.
    many = confined.python(
        """
        def burn():
            start = time.process_time()
            while time.process_time() - start < 0.4:
                pass
        for _ in range(20):
            child(burn)
        """,
        limits={"cpu_seconds": 1.0, "wall_seconds": 30.0},
    )
    assert many["ended_by"] == "cpu", many


DAEMON = """
mark, holds = sys.argv[1], sys.argv[2]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if holds == "nothing":
            os.closerange(0, 10)
        while True:
            time.sleep(60)
    os._exit(0)
print("started", flush=True)
if sys.argv[3] == "stays":
    time.sleep(60)
"""


@pytest.mark.parametrize("holds", ["nothing", "stdout"])
@pytest.mark.parametrize("parent", ["ends", "stays"])
def test_no_daemon_survives(confined: Project, holds: str, parent: str) -> None:
    mark = f"daemon-{confined.path.parent.name}-{confined.path.name}"
    answer = confined.python(DAEMON, mark, holds, parent, limits={"wall_seconds": 1.5})
    assert answer["stdout"] == "started\n", answer
    assert answer["ended_by"] == (None if parent == "ends" else "time")
    assert answer["milliseconds"] < 10_000
    assert running_with(mark) == []


def test_a_flood_of_output_is_cut_and_told_honestly(confined: Project) -> None:
    answer = confined.run("/bin/sh", "-c", "yes flood", limits={"output_bytes": 65536})
    assert answer["ended_by"] == "output"
    assert len(answer["stdout"]) == 65536
    assert answer["truncated"] == [True, False]
    exact = confined.run("/bin/sh", "-c", "printf 12345; printf 123456 >&2", limits={"output_bytes": 5})
    assert (exact["stdout"], exact["stderr"], exact["truncated"]) == ("12345", "12345", [False, True])
    assert exact["exit_code"] == 0


def test_the_runner_s_own_death_takes_everything_along(runner: Runner) -> None:
    mark = f"orphan-{runner.user}"
    doomed = Runner(runner.user)
    try:
        project = doomed.project()
        doomed.send(
            "run", project=str(project.path), argv=["python", "-c", "import time; time.sleep(300)", mark]
        )
        until(lambda: len(running_with(mark)) >= 3)
        doomed.kill()
        until(lambda: running_with(mark) == [])
        assert len(os.listdir(project.path / "scratch")) == 1
        # A process that is about to end still holds the lock of the directory for a moment.
        until(lambda: runner.ask("sweep", project=str(project.path)) == {"swept": 1})
        assert os.listdir(project.path / "scratch") == []
    finally:
        doomed.close()


def test_a_directory_without_a_lock_is_swept_too(confined: Project) -> None:
    # Its process was killed before it had made the lock, or after it had removed everything but the directory.
    scratch = confined.path / "scratch"
    (scratch / "run-killed").mkdir(parents=True)
    confined.own()
    assert confined.runner.ask("sweep", project=str(confined.path)) == {"swept": 1}
    assert os.listdir(scratch) == []


def test_what_still_runs_is_not_swept(confined: Project) -> None:
    confined.write("word", "wait")
    confined.own()
    script = "until grep go word; do sleep 0.05; done"
    confined.runner.send("run", project=str(confined.path), argv=["/bin/sh", "-c", script])
    until(lambda: any((confined.path / "scratch").glob("run-*/lock")))
    other = Runner(confined.runner.user)
    try:
        assert other.ask("sweep", project=str(confined.path)) == {"swept": 0}
    finally:
        other.close()
    confined.write("word", "go")
    assert confined.runner.answer()["stdout"] == "go\n"


def test_a_run_can_be_stopped_from_another_thread(confined: Project) -> None:
    mark = f"stop-{confined.path.parent.name}-{confined.path.name}"
    answer = confined.python(
        "print('stop me', flush=True); time.sleep(300)",
        mark,
        stop_at="stop me",
        limits={"wall_seconds": 60.0},
    )
    assert (answer["ended_by"], answer["stdout"]) == ("cancelled", "stop me\n")
    assert answer["milliseconds"] < 30_000
    assert running_with(mark) == []


def test_output_is_told_as_it_comes(confined: Project) -> None:
    answer = confined.python(
        """
        print("first", flush=True)
        time.sleep(0.3)
        print("second", file=sys.stderr, flush=True)
        """
    )
    assert answer["pieces"] == [["stdout", "first\n"], ["stderr", "second\n"]]


def test_many_runs_at_once_leave_nothing(confined: Project) -> None:
    confined.run("/bin/true")
    before = confined.runner.ask("census")
    answer = confined.runner.ask(
        "parallel", project=str(confined.path), argv=["/bin/sh", "-c", "echo $0; sleep 0.1"], count=24
    )
    assert answer["results"] == [f"{index}\n" for index in range(24)]
    assert os.listdir(confined.path / "scratch") == []
    until(lambda: confined.runner.ask("census") == before)


def test_an_ended_launcher_is_replaced(confined: Project) -> None:
    assert confined.run("/bin/true")["exit_code"] == 0
    launchers = [pid for pid in running_with("launcher.serve") if parent_of(pid) == confined.runner.pid]
    assert len(launchers) == 1
    with contextlib.suppress(ProcessLookupError):
        os.kill(launchers[0], signal.SIGKILL)
    assert confined.run("/bin/true")["exit_code"] == 0


def parent_of(pid: int) -> int:
    """Return the parent of a process; 0 where it has ended since it was listed, as those of other tests may."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
