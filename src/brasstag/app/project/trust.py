"""Trust: control files are loaded only as a person last accepted them.

The accepted copies lie in the user's own directory, beside the key of the room's seals: outside the project, where neither a
tool nor a pulled commit reaches them.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from brasstag.settings import SETTINGS_FILE, STATE_DIRECTORY, TOOLS_DIRECTORY, WIRES_FILE, parse_settings
from brasstag.words.canonical import sha256
from brasstag.words.errors import UntrustedError

_IGNORED = frozenset({"__pycache__"})


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A control file that is not what was accepted."""

    path: str
    accepted: bytes | None
    found: bytes | None

    @property
    def what(self) -> str:
        """How it changed, in one word."""
        if self.accepted is None:
            return "new"
        return "removed" if self.found is None else "changed"


class Trust:
    """What a person has accepted of one project's control files."""

    def __init__(self, project: Path, folder: Path) -> None:
        """``folder`` is the room's own place in the user's directory."""
        self._project = project
        self._folder = folder / "trusted"

    def changes(self) -> list[ChangedFile]:
        """Return every control file that differs from its accepted copy."""
        accepted, found = self._accepted(), control_files(self._project)
        return [
            ChangedFile(path, accepted.get(path), found.get(path))
            for path in sorted(accepted.keys() | found.keys())
            if accepted.get(path) != found.get(path)
        ]

    def require(self) -> None:
        """Stop unless everything is as accepted."""
        changed = self.changes()
        if changed:
            raise UntrustedError([f"{file.path} ({file.what})" for file in changed])

    def accept(self, changes: list[ChangedFile]) -> None:
        """Remember these changes as seen and accepted by a person."""
        accepted = self._accepted()
        for file in changes:
            if file.found is None:
                accepted.pop(file.path, None)
            else:
                accepted[file.path] = file.found
        blobs = self._folder / "files"
        blobs.mkdir(parents=True, exist_ok=True)
        for data in accepted.values():
            (blobs / sha256(data)).write_bytes(data)
        manifest = {path: sha256(data) for path, data in sorted(accepted.items())}
        self._write("manifest", manifest)
        for stale in blobs.iterdir():
            if stale.name not in manifest.values():
                stale.unlink()

    def answers(self) -> dict[str, str]:
        """Return what a person said of tools that leave open where they act, by version of the tool."""
        try:
            found = json.loads((self._folder / "effects.json").read_text())
        except (OSError, ValueError):
            # Nothing was said, or it cannot be read: such a tool acts outside, and a person is asked.
            return {}
        return {str(version): str(said) for version, said in found.items()} if isinstance(found, dict) else {}

    def remember(self, answers: Mapping[str, str]) -> None:
        """Keep what a person said of such tools, in place of what was kept before."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._write("effects", answers)

    def _write(self, name: str, content: Mapping[str, str]) -> None:
        temporary = self._folder / f"{name}.tmp"
        temporary.write_text(json.dumps(dict(content), indent=1))
        temporary.replace(self._folder / f"{name}.json")

    def _accepted(self) -> dict[str, bytes]:
        try:
            manifest = json.loads((self._folder / "manifest.json").read_text())
            return {path: (self._folder / "files" / digest).read_bytes() for path, digest in manifest.items()}
        except (OSError, ValueError):
            # Nothing was accepted, or it cannot be read: a person looks at everything again.
            return {}


def control_files(project: Path) -> dict[str, bytes]:
    """Return the files whose content decides what runs: settings, rules in Python, and the project's own tools."""
    candidates = [project / SETTINGS_FILE, project / WIRES_FILE]
    tools = project / TOOLS_DIRECTORY
    if tools.is_dir():
        candidates += [path for path in sorted(tools.rglob("*")) if not _IGNORED & set(path.parts)]
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in candidates if path.is_file()}


def add_rule_text(project: Path, folder: Path, rule: str) -> None:
    """Append a rule a person has just approved to the settings, and remember the file as accepted by them.

    Raises ConfigError, and leaves the file alone, where the rule does not fit what is there.
    """
    trust = Trust(project, folder)
    trust.require()
    # Where the name is a link, the file behind it is written, so that the link stays.
    file = (project / SETTINGS_FILE).resolve()
    before = file.read_bytes()
    text = f"{before.decode().rstrip()}\n\n{rule.strip()}\n"
    parse_settings(text)
    # This is a control file's name and a new file, so no tool can have put another file in its place.
    temporary = file.with_name(f"{STATE_DIRECTORY}-settings.tmp")
    temporary.unlink(missing_ok=True)
    with temporary.open("xb") as stream:
        stream.write(text.encode())
    shutil.copymode(file, temporary)
    temporary.replace(file)
    # Accept only what we wrote: another file may have changed in the meantime.
    trust.accept([ChangedFile(SETTINGS_FILE, before, text.encode())])
