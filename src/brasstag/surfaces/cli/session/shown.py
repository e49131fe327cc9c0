"""What this account was shown of each proposal last: a decision counts for that, and for nothing that came later."""

import json
from pathlib import Path

from filelock import FileLock

from brasstag.words.review.proposals import Proposal

_FILE = "shown.json"


def note_shown(folder: Path, proposal: Proposal) -> None:
    """Remember, in the room's folder of the user directory, the digest of a proposal that is printed now."""
    file = folder / _FILE
    with FileLock(f"{file}.lock"):
        known = _known(file)
        known[proposal.id] = proposal.digest
        temporary = file.with_suffix(".tmp")
        temporary.write_text(json.dumps(known))
        temporary.replace(file)


def shown_digest(folder: Path, proposal_id: str) -> str:
    """Return the digest of a proposal as it was shown last; empty where it never was."""
    return _known(folder / _FILE).get(proposal_id, "")


def _known(file: Path) -> dict[str, str]:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
