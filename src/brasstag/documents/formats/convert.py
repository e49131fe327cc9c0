"""Convert untrusted bytes into blocks, always confined; a failure concerns that document only."""

import json
import signal
import time
from collections.abc import Iterator, Sequence
from compileall import compile_dir
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from brasstag.sandbox.process.job import FILES, Ended, JobLimits, Ran
from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.sandbox.process.sandbox import Sandbox, Stop
from brasstag.words.blocks import FORM, Blocks, NotBlocks
from brasstag.words.errors import Code, ToolError

CONVERTER = f"{FORM}.4"
"""Which converters made a document's blocks; counted up when they would make others of the same bytes."""

LIMITS = JobLimits(
    wall_seconds=45.0,
    cpu_seconds=45.0,
    memory_bytes=1 << 30,
    processes=32,
    output_bytes=128 << 20,
    disk_bytes=16 << 20,
)
"""What one module job may use."""

TOGETHER_SECONDS = 15.0
"""How long several documents may take in one module job. The one that is being converted then is tried again alone."""
LONG_SECONDS = 3.0
"""So much of the processor's time a document may always take by itself, and more where its share of the time there is
is more; if it is not done then, it is slow."""
MOST_AT_ONCE = 64
MOST_BYTES_AT_ONCE = 32 << 20

_PROGRAM = "brasstag.documents.converters.convert"
_COMPILED = ("brasstag.documents.converters", "markdown_it", "mdurl", "pdf_oxide", "python_calamine")
_CODES = {code.value: code for code in (Code.CANNOT_CONVERT, Code.TOO_LARGE, Code.NOT_SUPPORTED)}
_ENDED: dict[Ended, tuple[Code, str]] = {
    "time": (Code.TIMEOUT, f"its conversion took longer than {LIMITS.wall_seconds:g} seconds"),
    "cpu": (Code.TIMEOUT, f"its conversion took longer than {LIMITS.cpu_seconds:g} seconds"),
    "memory": (Code.TOO_LARGE, f"its conversion needs more than {LIMITS.memory_bytes >> 20} MB of memory"),
    "output": (Code.TOO_LARGE, "its blocks are too large to keep"),
    "disk": (Code.TOO_LARGE, "its conversion needs more disk space than it may use"),
    "processes": (Code.CANNOT_CONVERT, "its converter started too many processes"),
    "cancelled": (Code.CANCELLED, "its conversion was cancelled"),
}
_KILLED = 128 + signal.SIGKILL
_NO_MEMORY = b"memory allocation of"
_PASSING = frozenset({Code.NOT_SUPPORTED, Code.CANCELLED, Code.BUSY})


@dataclass(frozen=True, slots=True)
class ConversionSource:
    """A document to convert."""

    digest: str
    media_type: str
    name: str
    content: bytes | Path
    """Its bytes, or a kept file that holds them."""

    @property
    def size(self) -> int:
        """Bytes of the whole document."""
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size


@dataclass(frozen=True, slots=True)
class NotConverted:
    """Why there are no blocks of a document."""

    code: Code
    reason: str

    @property
    def is_lasting(self) -> bool:
        """Whether the same bytes fail again; else it depends on what is installed, or on how busy the machine is."""
        return self.code not in _PASSING


NO_TIME = NotConverted(Code.CANCELLED, "there was no time to convert it yet; ask again")
SLOW = NotConverted(
    Code.CANCELLED, "to convert it takes longer than a search waits; a person may have it indexed"
)
"""Of a document that took all the time there was, though not all that it may take."""

Converted = Blocks | NotConverted


class Converter:
    """Converts documents in module jobs of one sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def convert_many(
        self, sources: Sequence[ConversionSource], stop: Stop | None = None, seconds: float = float("inf")
    ) -> list[Converted]:
        """Return the blocks of each document, or why there are none, in the order given.

        Blocks its thread, for as long as there is time. One module job converts several documents. Where one of them
        ends the job, the others are converted without it, and that one is tried again alone when all others are done.
        """
        compile_programs()
        end = time.monotonic() + seconds
        share = max(LONG_SECONDS, seconds / max(1, len(sources)))
        answers: dict[int, Converted] = {}
        pending = list(_batches(list(enumerate(sources))))
        while pending:
            batch = pending.pop(0)
            time_left = end - time.monotonic()
            if time_left <= 0:
                answers |= dict.fromkeys((place for place, _ in batch), NO_TIME)
                continue
            found, ended = self._run([source for _, source in batch], stop, time_left, share)
            answers |= {place: answer for (place, _), answer in zip(batch, found, strict=False)}
            left = batch[len(found) :]
            if ended is SLOW:
                answers[left[0][0]] = SLOW
                pending = [*([left[1:]] if left[1:] else ()), *pending]
            elif len(batch) == 1 or ended.code in _PASSING:
                answers |= {place: ended for place, _ in left}
            elif left:
                pending = [*([left[1:]] if left[1:] else ()), *pending, left[:1]]
        return [answers[place] for place in range(len(sources))]

    def _run(
        self, sources: Sequence[ConversionSource], stop: Stop | None, seconds: float, share: float
    ) -> tuple[list[Converted], NotConverted]:
        """Return the answers that came, and what is to be said of the document that no answer came to."""
        is_alone, is_waited_for = len(sources) == 1, seconds < float("inf")
        limits = replace(
            LIMITS,
            wall_seconds=min(LIMITS.wall_seconds if is_alone else TOGETHER_SECONDS, seconds),
            cpu_seconds=min(LIMITS.cpu_seconds, share),
        )
        try:
            ran = self._sandbox.run_module(_module_job(sources, limits), stop)
        except ToolError as error:
            return [], NotConverted(error.code, error.message)
        except OSError as error:
            return [], NotConverted(
                Code.CANNOT_CONVERT, f"its kept contents cannot be read: {error.strerror}"
            )
        lines = ran.stdout.split(b"\n")[:-1][: len(sources)]
        answers = [_read(line) for line in lines]
        # The kernel, too, ends a process that uses too much processor time, and sometimes it acts first.
        used_up = ran.ended_by == "cpu" or ran.exit_code == _KILLED
        if not is_waited_for or not (used_up or ran.ended_by == "time"):
            return answers, _ended(ran)
        # The first document of a module job had all of the job's time.
        if not answers and (used_up or limits.wall_seconds >= TOGETHER_SECONDS):
            return answers, SLOW
        return answers, NO_TIME if is_alone else _ended(ran)


@cache
def compile_programs() -> None:
    """Compile what converters import, once: installers may leave that undone, and a module job can keep nothing."""
    for name in _COMPILED:
        found = find_spec(name)
        place = Path(found.origin).parent if found and found.origin else None
        if place and not (place / "__pycache__").exists():
            compile_dir(place, quiet=2)


def _batches(sources: Sequence[tuple[int, ConversionSource]]) -> Iterator[list[tuple[int, ConversionSource]]]:
    batch: list[tuple[int, ConversionSource]] = []
    size = 0
    for place, source in sources:
        own = len(source.content) if isinstance(source.content, bytes) else 0
        if batch and (len(batch) >= MOST_AT_ONCE or size + own > MOST_BYTES_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append((place, source))
        size += own
    if batch:
        yield batch


def _module_job(sources: Sequence[ConversionSource], limits: JobLimits) -> ModuleJob:
    files: list[tuple[str, Path]] = []
    told: list[dict[str, Any]] = []
    given: list[bytes] = []
    for source in sources:
        file = ""
        if isinstance(source.content, bytes):
            given.append(source.content)
        else:
            name = str(len(files))
            files.append((name, source.content))
            file = f"{FILES}/{name}"
        told.append({"media_type": source.media_type, "size": source.size, "file": file})
    request = b"".join([json.dumps(told).encode(), b"\n", *given])
    return ModuleJob(_PROGRAM, request, tuple(files), limits)


def _read(line: bytes) -> Converted:
    """Read one answer; it comes from where the document was opened, so it is believed in nothing but its form."""
    try:
        told = json.loads(line)
        if isinstance(told, dict) and "code" in told:
            return NotConverted(_CODES[str(told["code"])], str(told.get("reason", ""))[:500])
        return Blocks.from_json(told)
    except (NotBlocks, ValueError, KeyError, RecursionError):
        return NotConverted(Code.CANNOT_CONVERT, "its converter answered with something that is no document")


def _ended(ran: Ran) -> NotConverted:
    # A library that asks for too much at once is refused by the kernel, and gives up with these words.
    ended_by: Ended | None = "memory" if _NO_MEMORY in ran.stderr else ran.ended_by
    if ended_by is not None:
        return NotConverted(*_ENDED[ended_by])
    return NotConverted(Code.CANNOT_CONVERT, f"its converter broke down (exit code {ran.exit_code})")
