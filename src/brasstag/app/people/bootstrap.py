"""The first approver of an account where no person sits at a terminal, and the record that this happened."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from brasstag.app.people.approvers import add_approver, has_approvers, user_name
from brasstag.settings.places import user_directory
from brasstag.words.errors import Code, ToolError
from brasstag.words.times import stamp, utc_now

_FILE = "bootstrap.json"


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """One bootstrap: for whom, when, and by which account."""

    name: str
    at: str
    by: str

    @classmethod
    def read(cls, entry: object) -> Self:
        """Read one from the file; what cannot be read is empty, and stays a bootstrap that happened."""
        found: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
        return cls(*(str(found.get(key, "")) for key in ("name", "at", "by")))

    def as_json(self) -> dict[str, str]:
        """Return it as it is stored and printed."""
        return {"name": self.name, "at": self.at, "by": self.by}

    def __str__(self) -> str:
        if not self.at:
            return "an approver was made by a bootstrap; its record cannot be read"
        return f"{self.name} was made an approver by a bootstrap of the account {self.by} at {self.at}"


def bootstrap(name: str) -> str:
    """Give the first person a token, and return it; refuse where the user directory holds anything a person vouched for."""
    return add_approver(name, before=lambda: _record(name))


def bootstraps() -> list[Bootstrap]:
    """Return every bootstrap of this account, the oldest first."""
    try:
        found = json.loads(_file().read_bytes())
    except FileNotFoundError:
        return []
    except ValueError:
        found = None
    return [Bootstrap.read(entry) for entry in found] if isinstance(found, list) else [Bootstrap.read(None)]


def _record(name: str) -> None:
    """Write the bootstrap down before it happens: one that was cut off is named rather than forgotten."""
    if held := list(_held()):
        raise ToolError(
            Code.NOT_AN_APPROVER,
            f"a bootstrap makes only the first approver, and there is {' and '.join(held)} already",
            hint="run `brasstag approvers add NAME` at a terminal, or with the token of an approver",
        )
    done = [*bootstraps(), Bootstrap(name, stamp(utc_now()), user_name())]
    temporary = _file().with_suffix(".tmp")
    temporary.write_text(json.dumps([one.as_json() for one in done], indent=1), encoding="utf-8")
    temporary.replace(_file())


def _held() -> Iterator[str]:
    """Name what the user directory holds that a person has vouched for, or that a person may rely on."""
    if has_approvers():
        yield "an approver"
    for place, what in (("rooms", "a room"), ("projects", "an accepted project")):
        folder = user_directory() / place
        if folder.is_dir() and any(folder.iterdir()):
            yield what


def _file() -> Path:
    return user_directory() / _FILE
