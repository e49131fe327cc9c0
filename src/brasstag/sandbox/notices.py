"""Notices: tell a person that something waits, by a command or a web address of their choice."""

import json
import subprocess
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

PATIENCE_SECONDS = 10.0


def notify_command(command: Sequence[str], notice: Mapping[str, Any]) -> str | None:
    """Run a command with the notice as JSON on its standard input; return what went wrong, if anything did."""
    try:
        ended = subprocess.run(  # noqa: S603 - the command comes from a control file
            list(command),
            input=json.dumps(notice).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except OSError as error:
        return f"{command[0]} could not be started: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"{command[0]} took longer than {PATIENCE_SECONDS:g} s"
    if ended.returncode:
        return f"{command[0]} ended with {ended.returncode}: {ended.stderr.decode(errors='replace').strip()[:500]}"
    return None


def notify_webhook(address: str, notice: Mapping[str, Any]) -> str | None:
    """POST the notice as JSON; return what went wrong, if anything did. The address comes from a control file."""
    request = urllib.request.Request(  # noqa: S310 - settings accept http and https only
        address, json.dumps(notice).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS):  # noqa: S310
            return None
    except (OSError, ValueError) as error:
        return f"{address} could not be told: {error}"
