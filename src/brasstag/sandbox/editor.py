"""A person's own editor on a temporary file; the saved text comes back."""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from brasstag.words.errors import Code, ToolError

_FALLBACKS = ("sensible-editor", "nano", "vi")


def edit_text(text: str, suffix: str) -> str:
    """Open ``text`` in $VISUAL or $EDITOR and return what was saved."""
    chosen = (
        os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, _FALLBACKS), None)
    )
    if chosen is None:
        raise ToolError(
            Code.NOT_SUPPORTED, "no editor was found; set EDITOR, or give the changed arguments as JSON"
        )
    with tempfile.TemporaryDirectory(prefix="brasstag-") as folder:
        file = Path(folder) / f"arguments{suffix}"
        file.write_text(text, encoding="utf-8")
        try:
            ended = subprocess.run([*shlex.split(chosen), str(file)], check=False)  # noqa: S603 - the person's own choice
        except OSError as error:
            raise ToolError(Code.NOT_SUPPORTED, f"{chosen} could not be started: {error.strerror}") from None
        if ended.returncode:
            raise ToolError(Code.CANCELLED, f"{chosen} ended with {ended.returncode}; nothing was approved")
        return file.read_text(encoding="utf-8")
