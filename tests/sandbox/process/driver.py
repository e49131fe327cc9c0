"""A runner in a process of its own, as root or as an ordinary user: jobs in, one a line, and what came of them out.

Run as a script. As root it may be asked to become somebody else first; then it opens the way to Python, packages and this
repository with mounts of its own, because that user may not be able to reach them.
"""

import base64
import ctypes
import json
import os
import subprocess
import sys
import threading
from pathlib import Path


def become(uid: int, home: Path, *needed: Path) -> None:
    """Go on as another user, for whom these places are in reach where they are."""
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(
        source: Path | None, target: Path, kind: bytes | None, flags: int, options: bytes | None
    ) -> None:
        given = None if source is None else bytes(source)
        if libc.mount(given, bytes(target), kind, ctypes.c_ulong(flags), options):
            raise OSError(ctypes.get_errno(), f"{target} cannot be mounted")

    if libc.unshare(0x20000):
        raise OSError(ctypes.get_errno(), "no mount namespace")
    mount(None, Path("/"), None, (1 << 14) | (1 << 18), None)
    closed: dict[Path, list[Path]] = {}
    for place in needed:
        shut = [above for above in reversed(place.parents) if not above.stat().st_mode & 0o001]
        if shut:
            closed.setdefault(shut[0], []).append(place)
    for above, places in closed.items():
        kept = [home / f"kept-{index}" for index, _ in enumerate(places)]
        for place, aside in zip(places, kept, strict=True):
            aside.mkdir()
            mount(place, aside, None, (1 << 12) | (1 << 14), None)
        mount(None, above, b"tmpfs", 0, b"mode=755")
        for place, aside in zip(places, kept, strict=True):
            place.mkdir(parents=True)
            mount(aside, place, None, (1 << 12) | (1 << 14), None)
    os.chdir(home)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    os.execve(sys.executable, [sys.executable, __file__, "serve"], os.environ | {"HOME": str(home)})


def serve() -> None:
    for line in sys.stdin:
        try:
            answer = COMMANDS[(asked := json.loads(line))["command"]](asked)
        except Exception as error:
            answer = {
                "raised": type(error).__name__,
                "message": str(error),
                "code": getattr(error, "code", ""),
            }
            answer["details"] = dict(getattr(error, "details", {}))
        print(json.dumps(answer), flush=True)


def run(asked):
    from brasstag.sandbox.process.job import Job, JobLimits
    from brasstag.sandbox.process.sandbox import Sandbox, Stop, stage
    from brasstag.sandbox.workspace.change.apply import apply_changes
    from brasstag.sandbox.workspace.draft import Draft
    from brasstag.sandbox.workspace.hidden_from_code import FoundPath
    from tests.sandbox.process.guarded import door_for
    from tests.sandbox.support import open_workspace

    project = Path(asked["project"])
    door = door_for(asked["door"]) if "door" in asked else None
    with open_workspace(project) as workspace, Stop() as stop:
        sandbox = Sandbox(workspace, project / "data", project / "scratch")
        argv, binds = asked["argv"], ()
        if argv[0] == "python":
            python = sandbox.python()
            argv, binds = [python.program, *argv[1:]], python.binds
        job = Job(
            tuple(argv),
            asked.get("environment", {}),
            asked.get("directory", "."),
            base64.b64decode(asked.get("stdin", "")),
            JobLimits(**asked.get("limits", {})),
            asked.get("overlay", door is None),
            binds,
            network=door is not None,
            hidden=tuple(
                FoundPath.of(path, os.lstat(project / "data" / path)) for path in asked.get("hidden", ())
            ),
            script=base64.b64decode(asked["script"]) if "script" in asked else None,
        )
        pieces = []

        def tell(stream, data):
            pieces.append([stream, data.decode(errors="replace")])
            if asked.get("stop_at") and asked["stop_at"].encode() in data:
                threading.Thread(target=stop.pull).start()

        with sandbox.run(job, tell, stop, door) as work:
            ran, changes = work.ran, work.changes
            answer = {
                "stdout": ran.stdout.decode(errors="replace"),
                "stderr": ran.stderr.decode(errors="replace"),
                "truncated": [ran.stdout_truncated, ran.stderr_truncated],
                "exit_code": ran.exit_code,
                "ended_by": ran.ended_by,
                "milliseconds": ran.milliseconds,
                "confinement": dict(ran.confinement),
                "entries": [[one.path, one.kind] for one in changes.entries],
                "refusals": [[one.path, one.reason] for one in changes.refusals],
                "pieces": pieces[:100],
            }
            if door:
                answer |= door.passages.as_json()
            if asked.get("land"):
                draft = Draft(workspace, writable=True)
                stage(changes, draft)
        if asked.get("land"):
            draft.close()
            draft.persist()
            made = draft.preview().changes
            apply_changes(workspace, "call_test", made)
            answer["made"] = [[one.path, one.fact.value] for one in made]
    answer["left"] = os.listdir(project / "scratch")
    status = Path("/proc/self/status").read_text()
    answer["largest"] = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return answer


def swapped(asked):
    """Run a program for which paths were moved after what it must not see was listed, or after its layer was made."""
    from brasstag.sandbox.process.changes.layers import open_layer
    from brasstag.sandbox.process.detect import find_confinement
    from brasstag.sandbox.process.job import Job
    from brasstag.sandbox.process.run.job_run import run_job
    from brasstag.sandbox.workspace.hidden_from_code import FoundPath
    from tests.sandbox.process.guarded import door_for
    from tests.sandbox.support import open_workspace

    project = Path(asked["project"])
    data, scratch = project / "data", project / "scratch"
    door = door_for({"hosts": ["site.test"]}) if asked["footing"] == "snapshot" else None
    backend = find_confinement(data, scratch).backend
    hidden = tuple(FoundPath.of(path, os.lstat(data / path)) for path in asked["hidden"])
    walked = tuple(FoundPath.of(path, os.lstat(data / other)) for path, other in asked.get("walked", ()))
    job = Job(
        ("/bin/bash", "-c", asked["script"]),
        walked=walked,
        overlay=asked["footing"] == "overlay",
        network=door is not None,
        hidden=hidden,
    )

    def move(when):
        for one, other in asked["moves"] if asked["when"] == when else ():
            os.rename(data / one, data / other)

    with open_workspace(project) as workspace:
        move("listed")
        with open_layer(workspace, scratch, job) as layer:
            move("layer made")
            look = layer.require_unmoved
            layer.require_unmoved = lambda: (move("behind its gate"), look())
            ran = run_job(job, layer, backend, door=door)
    return {"stdout": ran.stdout.decode(), "footing": ran.confinement["overlay"], "exit_code": ran.exit_code}


def make_environment(asked):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", asked["place"]], check=True)
    return {}


def census(_asked):
    """What a leak would show in."""
    from brasstag.sandbox.process.confine.spawn import _current

    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "children": len(Path(f"/proc/{_current().pid}/task/{_current().pid}/children").read_text().split()),
        "threads": threading.active_count(),
    }


def parallel(asked):
    """Run many at once."""
    results = [None] * asked["count"]

    def one(index):
        try:
            results[index] = run(asked | {"argv": [*asked["argv"], str(index)]})["stdout"]
        except Exception as error:
            results[index] = repr(error)

    threads = [threading.Thread(target=one, args=(index,)) for index in range(asked["count"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"results": results}


def standing(asked):
    from brasstag.sandbox.process.detect import find_confinement

    os.environ["PATH"] = asked.get("path", os.environ["PATH"])
    found = find_confinement(Path(asked["project"], "data"), Path(asked["project"], "scratch"))
    return {
        "backend": found.backend and str(found.backend.program),
        "reason": found.reason,
        "mend": found.mend,
    }


def sweep(asked):
    from brasstag.sandbox.process.changes.layers import sweep_layers

    return {"swept": sweep_layers(Path(asked["project"], "scratch"))}


def call(asked):
    from tests.engine.counters import call

    return call(asked)


def raced(asked):
    """Make a call while others swap paths; from the last look before its code starts, they have to wait."""
    import fcntl

    from brasstag.sandbox.process.changes.layers import Layer
    from brasstag.sandbox.workspace.hidden_from_code import HiddenMoved
    from tests.engine.counters import call

    look = Layer.require_unmoved
    with Path(asked["lock"]).open() as lock:

        def look_alone(layer):
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                look(layer)
            except HiddenMoved:
                fcntl.flock(lock, fcntl.LOCK_UN)
                raise

        Layer.require_unmoved = look_alone
        try:
            return call(asked)
        finally:
            Layer.require_unmoved = look


def search(asked):
    from brasstag.sandbox.process.ripgrep import Ripgrep
    from brasstag.sandbox.process.sandbox import Sandbox
    from brasstag.sandbox.workspace.draft import Draft
    from brasstag.toolkit.config.config import Limits
    from brasstag.tools.search_code import search_code
    from tests.sandbox.support import open_workspace

    project = Path(asked["project"])
    limits = Limits(timeout_seconds=30, numbers={"max_file_bytes": 100_000, "max_line_characters": 500})
    with open_workspace(project) as workspace:
        ripgrep = Ripgrep(Sandbox(workspace, project / "data", project / "scratch"), lambda _break_off: None)
        fast, slow = (
            search_code(Draft(workspace, writable=False), limits, engine, asked["query"])
            for engine in (ripgrep, None)
        )
    return {"fast": fast, "slow": slow}


def module_job(asked):
    """Run a module job; code given takes the place of its module, and has all else a module job has."""
    from dataclasses import replace

    from brasstag.sandbox.process.job import JobLimits
    from brasstag.sandbox.process.module_job import ModuleJob
    from brasstag.sandbox.process.sandbox import Sandbox
    from tests.sandbox.support import open_workspace

    class Probe(ModuleJob):
        def job(self):
            job = super().job()
            module = job.argv.index("-m")
            return replace(job, argv=(*job.argv[:module], "-c", asked["code"]))

    project = Path(asked["project"])
    kind = Probe if "code" in asked else ModuleJob
    files = tuple((name, Path(path)) for name, path in asked.get("files", {}).items())
    with open_workspace(project) as workspace:
        sandbox = Sandbox(workspace, project / "data", project / "scratch")
        given = base64.b64decode(asked.get("stdin", ""))
        ran = sandbox.run_module(kind(asked["module"], given, files, JobLimits(**asked.get("limits", {}))))
    return {
        "stdout": ran.stdout.decode(errors="replace"),
        "stderr": ran.stderr.decode(errors="replace"),
        "exit_code": ran.exit_code,
        "ended_by": ran.ended_by,
        "left": os.listdir(project / "scratch"),
    }


COMMANDS = {
    "call": call,
    "module_job": module_job,
    "search": search,
    "sweep": sweep,
    "run": run,
    "swapped": swapped,
    "raced": raced,
    "environment": make_environment,
    "census": census,
    "parallel": parallel,
    "standing": standing,
}

if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        become(int(sys.argv[2]), *(Path(argument) for argument in sys.argv[3:]))
