"""Runners of both kinds of user, and projects they own."""

import base64
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ORDINARY = 65534
REPOSITORY = Path(__file__).parents[3]
DRIVER = Path(__file__).with_name("driver.py")
SECRET = "the-secret-of-the-host"

USERS = ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]
STARTED = {"weak root": ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]}
"""What starts a runner whose user alone does not say what it may: in most containers root may not mount."""


class Runner:
    """A process that runs jobs for one user."""

    def __init__(self, user: str) -> None:
        self.user = user
        self.uid = ORDINARY if user == "ordinary" and os.geteuid() == 0 else os.geteuid()
        self.home = Path(tempfile.mkdtemp(prefix="runner-"))
        os.chown(self.home, self.uid, self.uid if os.geteuid() == 0 else -1)
        environment = {
            "PATH": os.environ["PATH"],
            "HOST_SECRET": SECRET,
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        words = ["serve"]
        if self.uid != os.geteuid():
            needed = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, REPOSITORY)}
            words = ["become", str(self.uid), str(self.home), *map(str, needed)]
        # A careless host: whoever inherits this descriptor can open every file of the machine. Its number is one that
        # nothing on the way puts another in the place of.
        root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        self.left_open = fcntl.fcntl(root, fcntl.F_DUPFD_CLOEXEC, 100)
        os.close(root)
        self._process = subprocess.Popen(
            [*STARTED.get(user, ()), sys.executable, str(DRIVER), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            pass_fds=[self.left_open],
        )
        self._count = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, command: str, **asked: Any) -> dict[str, Any]:
        self.send(command, **asked)
        return self.answer()

    def send(self, command: str, **asked: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"command": command, **asked}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the runner has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def project(self) -> "Project":
        self._count += 1
        return Project(self, self.home / f"project-{self._count}")

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait()
        os.close(self.left_open)
        subprocess.run(["chmod", "-R", "u+rwx", str(self.home)], check=False)
        subprocess.run(["rm", "-rf", str(self.home)], check=True)


@dataclass
class Project:
    """A project whose workspace is data/, owned by the runner's user."""

    runner: Runner
    path: Path

    def __post_init__(self) -> None:
        for place in (self.path, self.data, self.path / "scratch", self.path / "outside"):
            place.mkdir()
        self.write("../outside/secret.txt", SECRET)
        self.own()

    @property
    def data(self) -> Path:
        return self.path / "data"

    def write(self, name: str, text: str | bytes, mode: int = 0o644) -> Path:
        path = self.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)
        return path

    def own(self) -> None:
        """Give everything to the runner's user."""
        if os.geteuid() != 0:
            return
        for place, directories, files in os.walk(self.path):
            for name in (".", *directories, *files):
                os.chown(Path(place, name), self.runner.uid, self.runner.uid, follow_symlinks=False)

    def run(self, *argv: str, stdin: bytes = b"", **asked: Any) -> dict[str, Any]:
        return self.runner.ask(
            "run", project=str(self.path), argv=argv, stdin=base64.b64encode(stdin).decode(), **asked
        )

    def python(self, code: str, *arguments: str, **asked: Any) -> dict[str, Any]:
        return self.run("python", "-c", PRELUDE + textwrap.dedent(code), *arguments, **asked)

    def attack(self, code: str, *arguments: str, **asked: Any) -> dict[str, str]:
        """Run attacks and return, for each, what it got: "open" and what it says, or the error it met."""
        answer = self.python(textwrap.dedent(code) + "\nprint(json.dumps(found))", *arguments, **asked)
        assert answer.get("exit_code") == 0, answer
        found: dict[str, str] = json.loads(answer["stdout"].splitlines()[-1])
        return found


PRELUDE = """
import ctypes, errno, json, os, signal, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
found = {}
def attempt(name, work):
    try:
        found[name] = f"open: {work()!r}"
    except OSError as error:
        found[name] = errno.errorcode.get(error.errno, str(error))
    except Exception as error:
        found[name] = type(error).__name__
def syscall(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result
def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(70)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


def running_with(mark: str) -> list[int]:
    """Return the processes of this machine whose command line holds a mark."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if mark.encode() in Path("/proc", name, "cmdline").read_bytes():
                    found.append(int(name))
            except OSError:
                continue
    return found


def until(holds: Callable[[], bool], seconds: float = 240.0) -> None:
    """Wait for something that has to come true."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)
