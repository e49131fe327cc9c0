"""Approvers that root names for every account of a machine, for set-ups in which no person sits at a terminal.

Where the file lies is fixed in the code. A variable or an option could be set by a program that an agent runs, and such a
program would then name its own approvers.
"""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from brasstag.words.errors import ConfigError, Problem

_DIGEST = re.compile(r"[0-9a-f]{64}")
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FORM = 'Write [approvers.NAME] with token_sha256 = "the SHA-256 of the token, as 64 hexadecimal digits".'


@dataclass(frozen=True, slots=True)
class SystemApprovers:
    """The file, and who has to own it and every directory above it."""

    file: Path
    owner: int = 0
    top: Path = Path("/")
    """The highest directory that is looked at."""

    def read(self) -> dict[str, str]:
        """Return the digest of each person's token; nothing where there is no file.

        Raises ConfigError for a file that another account could have written, and for one that cannot be understood.
        """
        try:
            descriptor = os.open(self.file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            self._refuse(
                f"cannot be read: {error.strerror}",
                "Make it a file, not a link, that every account may read.",
            )
        with os.fdopen(descriptor, "rb") as stream:
            self._require_owned(os.fstat(descriptor))
            data = stream.read()
        return dict(self._people(data))

    def _require_owned(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            self._refuse("is not a file", "Make it one.")
        above = [place for place in self.file.parents if place.is_relative_to(self.top)]
        for place, status in ((self.file, found), *((place, place.stat()) for place in above)):
            if status.st_uid != self.owner:
                what = f"does not count, as {place} belongs to the account {status.st_uid}, not to root"
                self._refuse(what, f"Run `chown root:root {place}` as root, after a look at what it holds.")
            if status.st_mode & _OTHERS_WRITE:
                what = f"does not count, as other accounts than root may write {place}"
                self._refuse(what, f"Run `chmod go-w {place}` as root, after a look at what it holds.")

    def _people(self, data: bytes) -> Iterator[tuple[str, str]]:
        try:
            found = tomllib.loads(data.decode())
        except ValueError as error:
            self._refuse(f"is not TOML: {error}", _FORM)
        people = found.pop("approvers", {})
        if found or not isinstance(people, Mapping):
            self._refuse(f"holds {', '.join(found) or 'approvers that are no tables'}", _FORM)
        for name, entry in people.items():
            yield name, self._digest(name, entry)

    def _digest(self, name: str, entry: Any) -> str:
        given = entry if isinstance(entry, Mapping) else {}
        digest = given.get("token_sha256")
        if set(given) != {"token_sha256"} or not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            self._refuse(f"has no digest alone for {name!r}", _FORM)
        return digest

    def _refuse(self, what: str, mend: str) -> NoReturn:
        raise ConfigError([Problem(str(self.file), "", what, mend)])


SYSTEM = SystemApprovers(Path("/etc/brasstag/approvers.toml"))
