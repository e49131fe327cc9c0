"""What code hides from a look at its processes and its files counts all the same, and honest code is left alone."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from brasstag.sandbox.process.run import usage
from brasstag.sandbox.process.run.disk import WriteTotals, size_on_disk
from tests.sandbox.process.support import Project, until

MB = 1 << 20

LEADERLESS = """
import threading
def leave_to(work):
    # The first thread ends, and the process goes on under its number as a zombie.
    threading.Thread(target=work).start()
    time.sleep(0.1)
    libc.syscall(60, 0)
"""


def test_memory_of_a_process_whose_first_thread_has_ended_counts(confined: Project) -> None:
    answer = confined.python(
        LEADERLESS
        + """
def hold():
    time.sleep(0.3)
    held = [bytearray(b"x") * (10 << 20) for _ in range(10)]
    time.sleep(60)
leave_to(hold)
""",
        limits={"memory_bytes": 64 * MB, "wall_seconds": 20.0},
    )
    assert answer["ended_by"] == "memory", answer


def test_the_tables_of_mappings_count_as_memory(confined: Project) -> None:
    answer = confined.python(
        """
        libc.mmap.restype = ctypes.c_void_p
        size = 30 * 1024 << 21
        # Every page that is only read is the same empty one, but each 2 MB of them need a table.
        start = libc.mmap(None, ctypes.c_size_t(size), 1, 0x4022, -1, ctypes.c_long(0))
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), 15)
        for place in range(start, start + size, 1 << 21):
            ctypes.string_at(place, 1)
        print("120 MB of tables", flush=True)
        time.sleep(60)
        """,
        limits={"memory_bytes": 48 * MB, "wall_seconds": 20.0},
    )
    assert answer["ended_by"] == "memory", answer


def test_what_lies_in_pipes_counts_as_memory(confined: Project) -> None:
    answer = confined.python(
        """
        pipes = [os.pipe() for _ in range(500)]
        for _, end in pipes:
            os.set_blocking(end, False)
            os.write(end, bytes(1 << 16))
        time.sleep(60)
        """,
        limits={"memory_bytes": 24 * MB, "wall_seconds": 20.0},
    )
    assert answer["ended_by"] == "memory", answer


def test_nothing_is_kept_where_nobody_counts_it(confined: Project) -> None:
    found = confined.attack(
        """
        import fcntl, struct
        ready, told = os.pipe()
        other, end = os.pipe()
        with open("file", "wb") as file:
            file.write(b"some text")
        file = os.open("file", os.O_RDWR)
        text = ctypes.create_string_buffer(b"text")
        piece = (ctypes.c_void_p * 2)(ctypes.addressof(text), 4)
        attempt("vmsplice", lambda: syscall(278, told, piece, 1, 0))
        attempt("splice", lambda: os.splice(file, told, 4, offset_src=0))
        os.write(told, b"text")
        attempt("tee", lambda: syscall(276, ready, end, 4, 0))
        attempt("sendfile", lambda: os.sendfile(told, file, 0, 4))
        attempt("larger pipe", lambda: fcntl.fcntl(told, 1031, 1 << 20))
        attempt("fallocate", lambda: syscall(285, file, 0, ctypes.c_long(0), ctypes.c_long(1 << 20)))
        room = struct.pack("hhqqiI4i", 0, 0, 0, 1 << 20, 0, 0, 0, 0, 0, 0)
        for name, number in (("reserve", 0x40305828), ("reserve 64", 0x4030582A), ("zero", 0x40305839)):
            attempt(name, lambda: fcntl.ioctl(file, number, room))
        found["size"] = str(os.path.getsize("file"))
        """
    )
    unsupported = {"fallocate", "reserve", "reserve 64", "zero"}
    assert {found.pop(name) for name in unsupported} <= {"ENOTSUP", "EOPNOTSUPP"}
    assert found == {
        "vmsplice": "EINVAL",
        "splice": "EINVAL",
        "tee": "EINVAL",
        "sendfile": "EINVAL",
        "larger pipe": "EPERM",
        "size": "9",
    }


def test_programs_copy_and_reserve_in_the_ordinary_way_instead(confined: Project) -> None:
    confined.write("from", os.urandom(3 * MB))
    confined.own()
    python = confined.python(
        """
        import asyncio, filecmp, shutil
        shutil.copyfile("from", "to")
        with open("room", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 1 << 20)
        async def send():
            async def serve(reader, writer):
                with open("received", "wb") as file:
                    while piece := await reader.read(1 << 16):
                        file.write(piece)
                writer.close()
                done.set()
            done = asyncio.Event()
            server = await asyncio.start_unix_server(serve, "/tmp/socket")
            _, writer = await asyncio.open_unix_connection("/tmp/socket")
            with open("from", "rb") as file:
                await asyncio.get_running_loop().sendfile(writer.transport, file)
            writer.close()
            await done.wait()
            server.close()
        asyncio.run(send())
        print(filecmp.cmp("from", "to", False), filecmp.cmp("from", "received", False), os.path.getsize("room"))
        """
    )
    assert python["stdout"] == f"True True {MB}\n", python
    shell = confined.run(
        "/bin/sh",
        "-ec",
        "cat from | cat > to; cmp from to; cp from copied; tar cf - copied | tar xf - -C /tmp; cmp from /tmp/copied;"
        "git init -q /tmp/repository; cp from /tmp/repository; cd /tmp/repository; git add from; git gc -q; git fsck",
    )
    assert shell["exit_code"] == 0, shell


WRITING = """
piece = os.urandom(4 << 20)
def told(index):
    print((index + 1) * 4, flush=True)
    time.sleep(0.005)
def fill(file):
    for index in range(20):
        os.write(file, piece)
        told(index)
def nameless():
    file = os.open("gone", os.O_RDWR | os.O_CREAT)
    os.unlink("gone")
    return file
"""

HIDING = {
    "held by a mapping": """
libc.mmap.restype = ctypes.c_void_p
for index in range(20):
    file = nameless()
    os.write(file, b"x" * 4096)
    libc.mmap(None, ctypes.c_size_t(4096), 1, 2, file, ctypes.c_long(0))
    os.write(file, piece)
    os.close(file)
    told(index)
""",
    "on its way through a socket": """
ours, theirs = socket.socketpair()
for index in range(20):
    file = nameless()
    os.write(file, piece)
    socket.send_fds(ours, [b"x"], [file])
    os.close(file)
    told(index)
""",
    "deeper than a path can be long": """
for _ in range(25):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
fill(os.open("file", os.O_WRONLY | os.O_CREAT))
""",
    "in a directory nobody may read": """
os.mkdir("closed")
file = os.open("closed/file", os.O_WRONLY | os.O_CREAT)
os.chmod("closed", 0)
fill(file)
""",
    "in a process whose first thread has ended": LEADERLESS
    + """
def write():
    time.sleep(0.3)
    fill(nameless())
    time.sleep(60)
leave_to(write)
""",
    "in a process that forbids to be looked at": """
libc.prctl(4, 0, 0, 0, 0)
fill(nameless())
""",
}


@pytest.mark.parametrize("hiding", HIDING)
def test_what_is_written_where_no_name_leads_counts_as_disk(confined: Project, hiding: str) -> None:
    answer = confined.python(
        WRITING + HIDING[hiding] + "\ntime.sleep(60)", limits={"disk_bytes": 20 * MB, "wall_seconds": 20.0}
    )
    assert answer["ended_by"] == "disk", answer


def test_a_program_that_writes_much_and_keeps_little_is_left_alone(confined: Project) -> None:
    for _ in range(6):
        free = shutil.disk_usage(confined.path).free
        answer = confined.python(
            """
            file = os.open("rewritten", os.O_RDWR | os.O_CREAT)
            for index in range(60):
                os.pwrite(file, os.urandom(1 << 20), 0)
                os.fdatasync(file)
                with open("short-lived", "wb") as other:
                    other.write(os.urandom(1 << 20))
                os.unlink("short-lived")
            print("120 MB written", flush=True)
            """,
            limits={"disk_bytes": 16 * MB},
        )
        if free - shutil.disk_usage(confined.path).free < 8 * MB:
            # Else somebody beside it has filled the disk meanwhile, which tells nothing.
            break
    assert (answer["ended_by"], answer["stdout"]) == (None, "120 MB written\n"), answer


def test_processes_that_double_are_ended_while_others_hold_their_memory(confined: Project) -> None:
    answer = confined.python(
        """
        try:
            for _ in range(8):
                if os.fork() == 0:
                    os.write(1, b"x\\n")
        except OSError:
            os.write(1, b"refused\\n")
        while True:
            pass
        """,
        limits={"processes": 32, "wall_seconds": 10.0, "cpu_seconds": 60.0},
    )
    if answer["ended_by"] == "time":
        # To all but root the kernel refuses more of them.
        assert "refused" in answer["stdout"]
        assert answer["stdout"].count("x\n") <= 32
    else:
        assert answer["ended_by"] == "processes", answer


def test_what_an_ended_process_wrote_is_counted_though_nobody_waits_for_it(tmp_path: Path) -> None:
    code = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    with open(sys.argv[1], "wb") as file:
        file.write(os.urandom(3 << 20))
    os.write(1, b"written\\n")
    signal.pause()
signal.pause()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "file")], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"written\n"
            ledger = WriteTotals()
            found = usage.tree(process.pid, most=8)
            assert len(found) == 2
            assert ledger.total(usage.usage(found).faces) >= 3 * MB
            os.kill(found[1], signal.SIGKILL)
            until(lambda: usage.tree(process.pid, most=8) == [process.pid])
            assert ledger.total(usage.usage([process.pid]).faces) >= 3 * MB
        finally:
            process.kill()


def test_a_tree_deeper_than_a_path_can_be_long_is_measured_to_its_end(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(40):
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file = os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=here)
    os.write(file, os.urandom(MB))
    os.fsync(file)
    os.close(file)
    os.close(here)
    assert size_on_disk(str(tmp_path)) >= MB + 41 * 4096
