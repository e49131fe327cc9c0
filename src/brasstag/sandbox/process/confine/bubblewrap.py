"""Confine with bubblewrap: namespaces for everything, a read-only system, no capabilities."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brasstag.sandbox.process.backend import Mounts, Wires
from brasstag.sandbox.process.interpreters import next_step
from brasstag.sandbox.process.job import FILES, PATH, SCRIPT, WORKSPACE, Job
from brasstag.sandbox.process.web_door import PROXY

HOME = "/tmp/home"  # noqa: S108 - a path inside, on a file system of the run's own

_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv", "--hostname", "confined",
)  # fmt: skip
# On systems that have merged them these are links into /usr; on others they are directories of their own.
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# What programs need to find libraries, fonts and each other; nothing here shows who uses the machine.
_SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/mime.types")
# The certificates by which programs verify servers; these places hold no private key.
_AUTHORITIES = (
    "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted",
)  # fmt: skip
# What the kernel tells root, even one without a single capability, about all of the machine.
_TELLING = tuple(
    f"/proc/{name}"
    for name in ("slabinfo", "timer_list", "vmallocinfo", "keys", "key-users", "sched_debug", "latency_stats")
)
# Programs agree on neither the letters nor on which of these they read.
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
# Looking at a repository must not change it: git would write into its index what it has seen of the files.
_GIT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "diff.autoRefreshIndex",
    "GIT_CONFIG_VALUE_0": "false",
}


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A bubblewrap on this machine."""

    program: Path
    version: str

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"bubblewrap {self.version}"

    def report(self, job: Job, hosts: Sequence[str] = ()) -> Mapping[str, str]:
        """Return what it guarantees."""
        return {
            "net": f"guarded: {', '.join(hosts)}" if hosts else "off",
            "fs_read": "the workspace, the system and the interpreter",
            "fs_write": "the workspace and a /tmp of its own" if job.overlay else "a /tmp of its own",
            "metadata": "hidden outside these",
            "proc": "its own processes only",
        }

    def command(self, job: Job, wires: Wires) -> list[str]:
        """Return the command line that runs a job."""
        return [
            str(self.program),
            *_NAMESPACES,
            # A job with a network is in one already, which has nothing in it but the door.
            *(() if job.network else ("--unshare-net",)),
            *_environment(job),
            *("--args", str(wires.options)),
            "--",
            *job.argv,
        ]

    def options(self, job: Job, mounts: Mounts, wires: Wires) -> list[str]:
        """Return what it is to put where, and what it is to listen to."""
        return [
            *(_system(job) if job.system != "none" else ()),
            *(_devices(job) if job.system == "whole" else ()),
            # Before the workspace, so that an interpreter that lies in it is seen at its own path, too.
            *(part for path in job.binds for part in _bound(path, mounts)),
            *_workspace(mounts),
            *(("--ro-bind-data", str(wires.script), SCRIPT) if job.script is not None else ()),
            *(part for name, path in job.files for part in ("--ro-bind", str(path), f"{FILES}/{name}")),
            *("--remount-ro", "/"),
            *("--chdir", os.path.normpath(f"{WORKSPACE}/{job.directory}")),
            *("--seccomp", str(wires.filter)),
            *("--json-status-fd", str(wires.status)),
            *("--block-fd", str(wires.gate)),
        ]


def _environment(job: Job) -> Iterator[str]:
    given = {"PATH": PATH, "HOME": HOME, "LANG": "C.UTF-8", "TMPDIR": "/tmp", **_GIT}  # noqa: S108
    if job.network:
        given |= dict.fromkeys(_PROXY_VARIABLES, PROXY)
    for name, value in (given | dict(job.environment)).items():
        yield from ("--setenv", name, value)


def _system(job: Job) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for place in _SYSTEM:
        if os.path.islink(place):
            yield from ("--symlink", os.readlink(place), place)
        else:
            yield from ("--ro-bind-try", place, place)
    for place in (*_SETTINGS, *(_AUTHORITIES if job.network else ())):
        yield from ("--ro-bind-try", place, place)


def _devices(job: Job) -> Iterator[str]:
    size = str(job.limits.temporary_bytes)
    # Read-only: to root, even one without a single capability, the kernel's settings in it are ordinary files to write.
    yield from ("--proc", "/proc")
    for place in filter(os.path.exists, _TELLING):
        yield from ("--ro-bind", os.devnull, place)
    yield from ("--remount-ro", "/proc", "--dev", "/dev")
    yield from ("--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
    yield from ("--size", size, "--tmpfs", "/tmp", "--dir", HOME)  # noqa: S108


def _bound(path: Path, mounts: Mounts) -> Iterator[str]:
    """Show a path of the host; a link stays one, as an interpreter finds its library by what it leads to."""
    if path.is_symlink():
        yield from ("--symlink", str(next_step(path)), str(path))
    else:
        yield from ("--ro-bind", mounts.source(str(path)), str(path))


def _workspace(mounts: Mounts) -> Iterator[str]:
    yield from ("--bind" if mounts.writable else "--ro-bind", mounts.workspace, WORKSPACE)
    for name in mounts.shown if mounts.writable else ():
        yield from ("--ro-bind", f"{mounts.workspace}/{name}", f"{WORKSPACE}/{name}")
