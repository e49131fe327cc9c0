"""Editors and pagers that are given commands: an editor's commands run programs, too."""

import re
from collections.abc import Callable, Iterator, Mapping

from brasstag.policy.shell.commands import Command

_VIM = frozenset(
    {
        "vim",
        "vi",
        "nvim",
        "view",
        "ex",
        "gvim",
        "rvim",
        "vimdiff",
        "nvimdiff",
        "gview",
        "rview",
        "evim",
        "vim.tiny",
        "vim.basic",
    }
)
_LINE_EDITORS = frozenset({"ed", "red", "ex"})
_EMACS = frozenset({"emacs", "emacsclient", "xemacs", "mg", "zile", "jove"})

_PLAIN_EX = re.compile(
    r":?(?:[%$.,\d]*(?:s/[^|!\\]*|[dpjy]\d*)|\d*|/[^|!]*|(?:w|q|x|wq|qa|wqa|wa|update|retab|noh|syntax (?:on|off))!?"
    r"|set? (?:no)?(?:nu|number|hls|hlsearch|ic|ignorecase|et|expandtab|bomb|cp|compatible|wrap)"
    r"|set? (?:ff|fileformat|ts|sw|tabstop|shiftwidth|fenc|fileencoding)=[\w-]+)"
)
"""Commands of vi that edit, look and save, and run nothing."""
_RUNS_IN_ED = re.compile(r"^[%$.,;+\-\d]*[ \t]?[erwf]?[ \t]?!|^[gv]/[^/\n]*/[^\n!]*!", re.MULTILINE)
_EMACS_RUNS = re.compile(
    r"--?(?:eval|execute|load|funcall|script|command)(?:=.*)?|-[elfx]|-[a-zA-Z]*e", re.DOTALL
)
_PLAIN_PAGER = re.compile(r"\+(?:\d+|[GgF]|/.*|\+.*)", re.DOTALL)


def runs_by_editor(command: Command) -> bool:
    """Say whether an editor or pager is given commands that may run others."""
    check = _CHECKS.get(command.name)
    return check is not None and check(command)


def _vim(command: Command) -> bool:
    if command.name in _LINE_EDITORS and _line_editor(command):
        return True
    arguments = command.arguments
    batch = any(re.fullmatch(r"-[a-zA-Z]*[es][a-zA-Z]*", one) for one in arguments)
    if batch and (command.piped or (command.fed is not None and not _all_plain(command.fed.text))):
        return True
    is_ex = command.name == "ex" or not {"-e", "-E"}.isdisjoint(arguments)
    scripts = ("-S", "-W", "-u", "-U") if is_ex else ("-S", "-s", "-W", "-u", "-U")
    return any(not _PLAIN_EX.fullmatch(one.strip()) for one in _ex_commands(arguments, scripts))


def _ex_commands(arguments: tuple[str, ...], scripts: tuple[str, ...]) -> Iterator[str]:
    """Yield the commands that options give; a file with commands cannot be read, so it is none of the plain ones."""
    for index, argument in enumerate(arguments):
        if argument.startswith("+"):
            yield argument[1:]
        elif argument == "--cmd" or re.fullmatch(r"-[a-zA-Z]*c", argument):
            yield from arguments[index + 1 : index + 2]
        elif argument in scripts and arguments[index + 1 : index + 2] not in (
            (),
            ("NONE",),
        ):
            yield f"source {argument}"
        elif argument.startswith("-c") or (argument.startswith("-S") and len(argument) > 2):
            yield argument[2:] if argument.startswith("-c") else "source"


def _all_plain(script: str) -> bool:
    return all(_PLAIN_EX.fullmatch(line.strip()) for line in script.splitlines())


def _line_editor(command: Command) -> bool:
    if command.fed is None:
        return command.piped
    return command.fed.computed or _RUNS_IN_ED.search(command.fed.text) is not None


def _emacs(command: Command) -> bool:
    return any(_EMACS_RUNS.fullmatch(argument) for argument in command.arguments)


def _pager(command: Command) -> bool:
    return any(
        (argument.startswith("+") and not _PLAIN_PAGER.fullmatch(argument))
        or argument.startswith(("-k", "--lesskey"))
        for argument in command.arguments
    )


def _manual(command: Command) -> bool:
    return any(argument.startswith(("-P", "--pager", "-H", "--html")) for argument in command.arguments)


def _has(*options: str) -> Callable[[Command], bool]:
    return lambda command: any(argument.partition("=")[0] in options for argument in command.arguments)


_CHECKS: Mapping[str, Callable[[Command], bool]] = {
    **dict.fromkeys(_LINE_EDITORS, _line_editor),
    **dict.fromkeys(_VIM, _vim),
    **dict.fromkeys(_EMACS, _emacs),
    **dict.fromkeys(("less", "more", "most", "pg"), _pager),
    "man": _manual,
    **dict.fromkeys(("nano", "pico", "rnano"), _has("-s", "--speller")),
    "kak": _has("-e", "-E", "-p"),
}
