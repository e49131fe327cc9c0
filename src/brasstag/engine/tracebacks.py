"""Tracebacks of tools: what the author of a tool has to know and its caller has not, kept in files by tag."""

import os
import re
import traceback
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

LONGEST = 100_000
"""Characters of one file; of a longer text the middle is left out."""
MOST_FILES = 200
"""How many are kept; the oldest go first."""
_MOST_FRAMES = 200
_MOST_NOTED = 100
"""How many errors may wait for their tag; those of a call that is only tried never get one."""

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|DATABASE_URL", re.IGNORECASE)
_SHORTEST_SECRET = 8
_SUFFIX = ".log"


@dataclass(slots=True)
class Tracebacks:
    """The folder of a room in which tracebacks are kept; without one nothing is."""

    folder: Path | None = None
    _noted: dict[str, str] = field(default_factory=dict)
    """Texts by the id of their call, until the call has its tag."""

    def note(self, call_id: str, text: str) -> None:
        """Hold a text until its call is recorded."""
        if self.folder is None:
            return
        self._noted[call_id] = text
        if len(self._noted) > _MOST_NOTED:
            with suppress(KeyError, RuntimeError, StopIteration):
                del self._noted[next(iter(self._noted))]

    def keep(self, call_id: str, tag: str | None) -> None:
        """Write what was noted of a call to the file of its tag; a call without a tag leaves nothing."""
        if not self._noted:
            return
        text = self._noted.pop(call_id, None)
        if text is None or tag is None or self.folder is None:
            return
        # The call has ended as it has ended; a full disk must not change that.
        with suppress(OSError):
            self._write(self.folder, tag, text)

    def read(self, tag: str) -> str | None:
        """Return the text of a tag; None where there is none."""
        if self.folder is None:
            return None
        try:
            return (self.folder / f"{tag}{_SUFFIX}").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def tags(self) -> list[str]:
        """Return the tags that have a file, the oldest first."""
        return [file.stem for file in _oldest_first(self.folder)] if self.folder is not None else []

    def forget(self, tags: Iterable[str]) -> None:
        """Remove the files of these tags."""
        for tag in tags:
            if self.folder is not None:
                (self.folder / f"{tag}{_SUFFIX}").unlink(missing_ok=True)

    def _write(self, folder: Path, tag: str, text: str) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(folder / f"{tag}{_SUFFIX}", flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        for old in _oldest_first(folder)[:-MOST_FILES]:
            old.unlink(missing_ok=True)


def traceback_text(error: BaseException) -> str:
    """Return the traceback of an error; its words are a stranger's, so they may be endless or a trap."""
    try:
        text = "".join(traceback.format_exception(error, limit=-_MOST_FRAMES))
    except Exception:  # noqa: BLE001 - an error that cannot be written out is told by its kind
        text = f"{type(error).__name__}: (it cannot be read)\n"
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters are left out …\n{text[-half:]}"


def without_secrets(text: str) -> str:
    """Return a text without the values of those variables of the environment that are named like secrets."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and value in text and _SECRET.search(name):
            text = text.replace(value, "***")
    return text


def _oldest_first(folder: Path) -> list[Path]:
    """Return the files; the id in a tag begins with its time."""
    return sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else []
