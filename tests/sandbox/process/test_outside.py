"""Files, processes and the kernel outside: none can be read, changed, seen, signalled or asked."""

import json
import os
import time
from pathlib import Path

from tests.sandbox.process.support import SECRET, Project


def refused(found: dict[str, str]) -> None:
    assert found
    assert not [name for name, what in found.items() if what.startswith("open")], found


def test_nothing_outside_can_be_read(confined: Project) -> None:
    (confined.data / "link").symlink_to("../outside/secret.txt")
    (confined.data / "absolute").symlink_to(confined.path / "outside" / "secret.txt")
    confined.own()
    found = confined.attack(
        """
        secret, runner = sys.argv[1], sys.argv[2]
        read = lambda path: open(path, "rb").read(200)
        attempt("secret", lambda: read(secret))
        attempt("passwd", lambda: read("/etc/passwd"))
        attempt("shadow", lambda: read("/etc/shadow"))
        attempt("relative link", lambda: read("link"))
        attempt("absolute link", lambda: read("absolute"))
        attempt("own link", lambda: (os.symlink(secret, "mine"), read("mine")))
        attempt("hard link", lambda: os.link(secret, "hard"))
        attempt("dots", lambda: read("../outside/secret.txt"))
        attempt("stat", lambda: os.stat(secret))
        attempt("stat home", lambda: os.stat(os.path.dirname(os.path.dirname(secret)) + "/scratch"))
        attempt("root", lambda: read("/root/.bashrc"))
        attempt("home", lambda: os.listdir("/home"))
        attempt("handle", lambda: syscall(304, -100, ctypes.create_string_buffer(64), 0))
        for part in ("environ", "root/etc/passwd", "cwd", "maps"):
            attempt("runner's " + part, lambda: read(f"/proc/{runner}/{part}"))
        attempt("first's root", lambda: read("/proc/1/root/etc/passwd"))
        """,
        str(confined.path / "outside" / "secret.txt"),
        str(confined.runner.pid),
    )
    refused(found)


def test_nothing_outside_can_be_changed(confined: Project) -> None:
    secret = confined.path / "outside" / "secret.txt"
    hard = confined.data / "hard"
    os.link(secret, hard)
    before = secret.stat()
    found = confined.attack(
        """
        secret = sys.argv[1]
        outside = os.path.dirname(secret)
        attempt("write", lambda: open(secret, "w").write("changed"))
        attempt("create", lambda: open(outside + "/new", "w").close())
        attempt("truncate", lambda: os.truncate(secret, 0))
        attempt("chmod", lambda: os.chmod(secret, 0o777))
        attempt("utime", lambda: os.utime(secret, (0, 0)))
        attempt("unlink", lambda: os.unlink(secret))
        attempt("rename out", lambda: (open("mine", "w").close(), os.rename("mine", outside + "/mine")))
        attempt("rename in", lambda: os.rename(secret, "stolen"))
        attempt("system", lambda: open("/usr/bin/planted", "w").close())
        attempt("system mode", lambda: os.chmod("/usr/bin/env", 0o777))
        attempt("root directory", lambda: open("/planted", "w").close())
        attempt("device directory", lambda: open("/dev/planted", "w").close())
        attempt("device", lambda: os.mknod("disk", 0o60600, os.makedev(254, 0)))
        # The same value again, so that the machine is as it was where this succeeds.
        setting = "/proc/sys/kernel/core_pattern"
        attempt("kernel setting", lambda: os.write(os.open(setting, os.O_WRONLY), open(setting, "rb").read()))
        attempt("sysrq", lambda: os.open("/proc/sysrq-trigger", os.O_WRONLY))
        attempt("own process", lambda: os.open("/proc/self/oom_score_adj", os.O_WRONLY))
        attempt("any of the kernel's", lambda: [
            place for place, _, files in os.walk("/proc/sys") for name in files
            if os.access(os.path.join(place, name), os.W_OK)][0])
        # Allowed, but it is the layer's own copy that changes.
        open("hard", "w").write("changed through a second name")
        os.chmod("hard", 0o777)
        """,
        str(secret),
        land=True,
    )
    refused(found)
    assert secret.read_text() == SECRET
    assert hard.read_text() == "changed through a second name"
    after = secret.stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert sorted(os.listdir(confined.path / "outside")) == ["secret.txt"]


def test_nothing_of_the_host_process_is_handed_down(confined: Project) -> None:
    held = Path(f"/proc/{confined.runner.pid}/fd/{confined.runner.left_open}")
    assert held.readlink() == Path("/")
    answer = confined.python(
        """
        print([open(f"/proc/{name}/environ", "rb").read() for name in os.listdir("/proc") if name.isdigit()])
        print(json.dumps({"environment": dict(os.environ), "descriptors": sorted(map(int, os.listdir("/proc/self/fd")))}))
        """,
        environment={"GIVEN": "by the call"},
    )
    assert SECRET not in answer["stdout"]
    assert "by the call" in answer["stdout"].splitlines()[0]
    told = json.loads(answer["stdout"].splitlines()[1])
    names = {name for name in told["environment"] if not name.startswith("GIT_")}
    assert names <= {"PATH", "HOME", "LANG", "TMPDIR", "PWD", "GIVEN", "LC_CTYPE"}
    assert told["environment"]["GIVEN"] == "by the call"
    # The fourth is the listing itself.
    assert told["descriptors"] == [0, 1, 2, 3]


def test_no_process_of_the_host_can_be_seen_or_signalled(confined: Project) -> None:
    found = confined.attack(
        """
        runner = int(sys.argv[1])
        listed = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        attempt("seen", lambda: 1 / (max(listed) > 50 or runner in listed))
        attempt("signal", lambda: os.kill(runner, 9))
        attempt("signal group", lambda: os.killpg(runner, 9))
        attempt("pidfd", lambda: os.pidfd_open(runner))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        # Everybody it can reach, which is itself and its like.
        attempt("all", lambda: os.kill(-1, signal.SIGTERM) or 1 / 0)
        """,
        str(confined.runner.pid),
    )
    refused(found)
    os.kill(confined.runner.pid, 0)


def test_the_kernel_refuses_what_could_lead_out(confined: Project) -> None:
    found = confined.attack(
        """
        buffer = ctypes.create_string_buffer(256)
        attempt("ptrace", lambda: syscall(101, 16, 1, 0, 0))
        attempt("process_vm_readv", lambda: syscall(310, 1, buffer, 0, buffer, 0, 0))
        attempt("unshare user", lambda: syscall(272, 0x10000000))
        attempt("unshare net", lambda: syscall(272, 0x40000000))
        attempt("clone user", lambda: syscall(56, 0x10000000 | 17, 0, 0, 0, 0) or os._exit(0))
        attempt("clone3", lambda: syscall(435, buffer, 88) or os._exit(0))
        attempt("setns", lambda: syscall(308, os.open("/proc/self/ns/net", 0), 0))
        attempt("mount", lambda: syscall(165, b"none", b"/tmp", b"tmpfs", 0, None))
        attempt("remount", lambda: syscall(165, None, b"/", None, 32, None))
        attempt("umount", lambda: syscall(166, b"/workspace", 2))
        attempt("pivot_root", lambda: syscall(155, b".", b"."))
        attempt("chroot", lambda: os.chroot("/tmp"))
        attempt("fsopen", lambda: syscall(430, b"tmpfs", 0))
        attempt("open_tree", lambda: syscall(428, -100, b"/", 1))
        attempt("keyctl", lambda: syscall(250, 0, -3, 0, 0, 0))
        attempt("add_key", lambda: syscall(248, b"user", b"x", b"y", 1, -3))
        attempt("bpf", lambda: syscall(321, 0, buffer, 64))
        attempt("perf", lambda: syscall(298, buffer, 0, -1, -1, 0))
        attempt("userfaultfd", lambda: syscall(323, 0))
        attempt("memfd", lambda: os.memfd_create("hidden"))
        attempt("shmget", lambda: syscall(29, 0, 4096, 0o1600))
        attempt("module", lambda: syscall(313, 0, b"", 0))
        attempt("reboot", lambda: syscall(169, 0xfee1dead, 672274793, 0))
        attempt("clock", lambda: time.clock_settime(time.CLOCK_REALTIME, 0))
        attempt("hostname", lambda: socket.sethostname("x"))
        attempt("TIOCSTI", lambda: __import__("fcntl").ioctl(0, 0x5412, b"x"))
        attempt("TIOCLINUX", lambda: __import__("fcntl").ioctl(0, 0x541C, b"x"))
        attempt("terminal", lambda: open("/dev/tty"))
        attempt("setuid", lambda: os.setuid(12345))
        attempt("setgroups", lambda: os.setgroups([]))
        """
    )
    refused(found)
    assert {found[name] for name in ("ptrace", "mount", "bpf", "keyctl", "TIOCSTI", "unshare user")} == {
        "EPERM"
    }
    assert {found["memfd"], found["shmget"], found["clone3"]} == {"ENOSYS"}


def test_other_doors_into_the_kernel_are_deadly(confined: Project) -> None:
    found = confined.attack(
        """
        import mmap
        def old_door():
            # mov eax, 20 (getpid of 32 bits); int 0x80; ret
            code = b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3"
            memory = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
            memory.write(code)
            ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
        found["control"] = str(child(lambda: None))
        found["x32"] = str(child(lambda: libc.syscall(0x40000000 + 39)))
        found["int 0x80"] = str(child(old_door))
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"):
            found[name] = status[name].strip()
        """
    )
    assert found["control"] == "0"
    assert found["x32"] == "-31"
    assert found["int 0x80"] in ("-31", "-11")
    assert {int(found[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")} == {0}
    assert (found["NoNewPrivs"], found["Seccomp"]) == ("1", "2")


def test_the_clock_of_the_machine_is_as_it_was(confined: Project) -> None:
    before = time.time()
    confined.attack("attempt('set', lambda: time.clock_settime(time.CLOCK_REALTIME, 1))")
    assert time.time() >= before
