"""Any failure as one paragraph that says what to do next, and its exit code."""

import errno
import os
import traceback

from brasstag.surfaces.cli.terminal.console import say
from brasstag.surfaces.cli.terminal.exits import Exit, exit_for_code
from brasstag.words.errors import BrasstagError, ConfigError, ToolError, with_hint
from brasstag.words.turns import ModelError

TRACEBACK_VARIABLE = "BRASSTAG_TRACEBACK"

_MAY_NOT = "Check its owner and your rights, or choose another place."
_FULL = "Free some space there and try again; no file was written in part."
_TAKEN = "Another file has this name; choose a different one."
_ADVICE = {
    errno.EACCES: _MAY_NOT,
    errno.EPERM: _MAY_NOT,
    errno.EROFS: _MAY_NOT,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EEXIST: _TAKEN,
    errno.EISDIR: _TAKEN,
    errno.ENOTDIR: _TAKEN,
    errno.ENOENT: "Check the path.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}


def tell(error: Exception) -> Exit:
    """Write the paragraph to standard error and return the exit code."""
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    say(paragraph(error), stderr=True)
    return exit_for_code(error.code) if isinstance(error, ToolError) else Exit.FAILED


def paragraph(error: Exception) -> str:
    """Say what went wrong, and what to do about it."""
    if isinstance(error, ConfigError):
        first, *more = map(str, error.problems)
        return "\n  ".join(["Correct all of this first:", first, *more]) if more else first
    if isinstance(error, ToolError | ModelError):
        return f"{error.code}: {with_hint(error.message, error.hint)}"
    if isinstance(error, BrasstagError):
        return with_hint(str(error), error.hint)
    if isinstance(error, OSError):
        return _about_system(error)
    if isinstance(error, RuntimeError) and "home directory" in str(error):
        # Neither pathlib nor platformdirs has a type of its own for this.
        return (
            "Your home directory is not known: HOME is not set, and the system has no entry for you. "
            "Set HOME, or BRASSTAG_USER_DIR to a directory that only you can write."
        )
    return (
        f"Brasstag failed because of a mistake of its own: {type(error).__name__}: {error}. "
        "`brasstag timeline show` shows what was done before. "
        f"Run the command again with {TRACEBACK_VARIABLE}=1 for the details, and please report them."
    )


def _about_system(error: OSError) -> str:
    where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "a file or the output"
    what = error.strerror or str(error)
    return f"{where}: {what}. {_ADVICE.get(error.errno or 0, 'Run `brasstag doctor` for more.')}"
