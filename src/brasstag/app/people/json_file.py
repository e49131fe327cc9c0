"""A small JSON file of the account that several processes may change: read whole, written whole, under a lock."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brasstag.settings.places import user_directory
from brasstag.words.errors import ConfigError, Problem


class AccountFile:
    """One object of JSON in the user directory, readable by this account alone."""

    def __init__(self, name: str, holds: str, mend: str) -> None:
        """Name the file, what it holds, and what to do where it cannot be read."""
        self._name = name
        self._holds = holds
        self._mend = mend

    @property
    def path(self) -> Path:
        """Where it lies; tests give each account a directory of its own."""
        return user_directory() / self._name

    def read(self) -> dict[str, Any]:
        """Return the object; an empty one where there is no file. Raises ConfigError for anything else."""
        try:
            found = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise self.damaged()
        return found

    def damaged(self) -> ConfigError:
        """Return the error for a file that does not hold what it should."""
        return ConfigError([Problem(str(self.path), "", f"does not hold {self._holds}", self._mend)])

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """Give the object to change; it is written where the block ends without an error."""
        from filelock import FileLock  # noqa: PLC0415 - only where the file changes

        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(f"{self.path}.lock"):
            found = self.read()
            yield found
            temporary = self.path.with_suffix(".tmp")
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(found, stream, indent=1)
            temporary.replace(self.path)
