"""A Postgres of our own for tests: found on the machine, run in a scratch directory, ended with the tests."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

NOT_HERE = (
    "there are no Postgres server binaries on this machine: put initdb and postgres on PATH, "
    "or run `make test` as root, which installs Debian's package"
)
STARTS_WITHIN = 300.0
"""Seconds; on a busy machine a server that crashed may take long to recover."""


def find_binaries() -> Path | None:
    """Return the directory that holds initdb and postgres, or None."""
    places = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    if asked := shutil.which("pg_config"):
        told = subprocess.run([asked, "--bindir"], capture_output=True, text=True, check=False)
        places.append(Path(told.stdout.strip()))
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next(
        (place for place in places if (place / "initdb").is_file() and (place / "postgres").is_file()), None
    )


class Server:
    """One server, reached through a socket in its own directory; it flushes to disk as in earnest."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        # Directly below /tmp: the path of a socket may have a hundred characters and no more.
        self._folder = Path(tempfile.mkdtemp(prefix="bt-pg-", dir="/tmp"))
        # A room is a hundred files. They are made far quicker in memory, where `make test` keeps what tests write.
        self.data = Path(tempfile.mkdtemp(prefix="bt-pg-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
        self._said = (self._folder / "said").open("wb")
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = ThreadPoolExecutor(1, "postgres")
        if os.geteuid() == 0:
            for folder in (self._folder, self.data):
                os.chown(folder, *_another_user())
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        subprocess.run(
            _as_user(binaries / "initdb", "-D", self.data, *options),
            check=True,
            capture_output=True,
            cwd="/",
        )
        self.start()

    @property
    def url(self) -> str:
        """Where it is, as BRASSTAG_DATABASE_URL wants it."""
        return f"postgresql://postgres@/postgres?host={self._folder}"

    def start(self) -> None:
        """Start it, and return when it answers."""
        deadline = time.monotonic() + STARTS_WITHIN
        while not self._answers():
            if self._process is None or self._process.poll() is not None:
                # Children of one that was ended the hard way may hold its memory a little longer; then it tries again.
                # From one thread that stays: the server goes when the thread that started it does.
                self._process = self._thread.submit(self._spawn).result()
            if time.monotonic() > deadline:
                raise AssertionError(f"Postgres did not start: {(self._folder / 'said').read_text()}")
            time.sleep(0.02)

    def stop(self, *, immediate: bool = False) -> None:
        """End it: in order, or the hard way, as a crash would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT if immediate else signal.SIGINT)
        self._process.wait(STARTS_WITHIN)
        self._process = None

    def restart(self, *, immediate: bool = True) -> None:
        """End it and start it again."""
        self.stop(immediate=immediate)
        self.start()

    def execute(self, statement: str) -> None:
        """Run one statement as the server's own administrator."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def remove(self) -> None:
        """End it for good."""
        if self._process is not None:
            self.stop(immediate=True)
        self._said.close()
        self._thread.shutdown()
        for folder in (self._folder, self.data):
            shutil.rmtree(folder, ignore_errors=True)

    def _spawn(self) -> "subprocess.Popen[bytes]":
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self._folder,
            "fsync": "on",
            "max_connections": 200,
            "shared_buffers": "64MB",
            "max_wal_size": "128MB",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = _as_user(self._binaries / "postgres", "-D", self.data, *options)
        return subprocess.Popen(command, stdout=self._said, stderr=self._said, cwd="/")

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=60).close()
        except psycopg.OperationalError:
            return False
        return True


def _another_user() -> tuple[int, int]:
    """Return who the server runs as where we are root, which it refuses to be."""
    known = {user.pw_name: user for user in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    return user.pw_uid, user.pw_gid


def _as_user(*command: str | Path) -> list[str]:
    words = [str(word) for word in command]
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return words
    # Should these tests be killed, the server goes with them.
    drop = ["--pdeathsig", "QUIT"]
    if os.geteuid() == 0:
        user, group = _another_user()
        drop += ["--reuid", str(user), "--regid", str(group), "--clear-groups"]
    return [setpriv, *drop, "--", *words]
