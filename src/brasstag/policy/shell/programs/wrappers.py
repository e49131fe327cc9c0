"""Commands that run other commands: as words, as text to read, or as an unknown."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from brasstag.policy.shell.commands import UNSEEN, Command, Doubt, Word, joined
from brasstag.policy.shell.programs.inner import CommandText, Inner, Words, code_in
from brasstag.policy.shell.programs.options import behind_subcommands
from brasstag.policy.shell.programs.python_modules import PYTHON, python_code
from brasstag.policy.shell.programs.standard_input import (
    SHELLS,
    fed_code,
    runs_code,
    shell_operand,
    takes_code,
    unversioned,
)
from brasstag.policy.shell.programs.subscripts import evaluated_words
from brasstag.policy.shell.programs.wrapper_table import TEXT_OPTIONS, WRAPPER_KEYS, WRAPPERS, Wrapper

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")

_FILLED_IN = "{}"
_REPLACE = re.compile(r"(?:-I|-i|--replace=?)(?P<glued>.*)", re.DOTALL)
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_REMOTE = Wrapper("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", operands=1, text=True)
_WATCH = Wrapper("-n --interval", text=True)
_TRAP = Wrapper(text=True)
_PARALLEL = Wrapper(
    "-j --jobs -a --arg-file -I --delay --timeout --joblog --colsep -S --results", adds=True, text=True
)


def inner(command: Command) -> Iterator[Inner]:
    """Yield what a command runs besides itself."""
    name = command.name
    if command.fed is not None and takes_code(command):
        yield from fed_code(name, command.fed)
    if runs_code(name):
        yield from python_code(name, command.words) if PYTHON.fullmatch(name) else _shell_code(command)
    if name in TEXT_OPTIONS:
        yield from _option_text(command, TEXT_OPTIONS[name].split())
    if name in _OWN_WAYS:
        yield from _OWN_WAYS[name](command)
    for _, code in evaluated_words(command):
        yield Doubt.COMPUTED_CODE
        yield CommandText("subscript", code)
    for key in WRAPPER_KEYS.get(name, ()):
        start = behind_subcommands(command, key.split()[1:])
        if start is not None:
            yield from _wrapped(command, key, start)


def operands_after(command: Command, wrapper: Wrapper, start: int = 1) -> tuple[Word, ...]:
    """Return the words behind a wrapper's options, assignments and own operands."""
    words = command.words
    if wrapper.behind_dashes:
        dashes = (at for at in range(start, len(words)) if words[at].text == "--")
        return words[next(dashes, len(words)) + 1 :]
    valued = wrapper.valued.split()
    index = start
    while index < len(words):
        text = words[index].text
        if text == "--":
            index += 1
            break
        if text in valued:
            index += 2
        elif _is_option(text, wrapper) or (
            not wrapper.text and words[index].literal and _ASSIGNMENT.match(text)
        ):
            index += 1
        else:
            break
    return words[index + wrapper.operands :]


def _is_option(text: str, wrapper: Wrapper) -> bool:
    return text.startswith("-") and (len(text) > 1 or wrapper.dash)


def _wrapped(command: Command, key: str, start: int) -> Iterator[Inner]:
    wrapper = WRAPPERS[key]
    words = operands_after(command, wrapper, start)
    asks_only = key == "command" and not {"-v", "-V"}.isdisjoint(command.arguments[:1])
    if not words or asks_only or (key == "flock" and words[0].text == "-c"):
        return
    if words[0].text == "-" and key == "uv run":
        yield Words(key, (Word("python"), *words))
    elif len(words) == 1 and words[0].literal and " " in words[0].text:
        yield CommandText(key, words[0].text)  # such as git submodule foreach 'git pull'
    else:
        yield Words(key, (*_filled_in(words, _replaced(command)), UNSEEN) if wrapper.adds else words)


def _replaced(command: Command) -> str:
    """Return what xargs puts its input in place of."""
    for word, behind in zip(command.words[1:], (*command.words[2:], Word("")), strict=False):
        found = _REPLACE.fullmatch(word.text)
        if found and (word.computed or (word.text == "-I" and behind.computed)):
            return ""  # it may be any text
        if found:
            return found["glued"] or (behind.text if word.text == "-I" else _FILLED_IN)
    return _FILLED_IN


def _filled_in(words: tuple[Word, ...], mark: str) -> tuple[Word, ...]:
    """Return words, computed where another program puts something into them."""
    return tuple(replace(word, computed=True) if mark in word.text else word for word in words)


def _shell_code(command: Command) -> Iterator[Inner]:
    has_code, code = shell_operand(command)
    if has_code and code is not None and unversioned(command.name) in SHELLS:
        yield from code_in(f"{command.name} -c", code)


def _option_text(command: Command, options: list[str]) -> Iterator[Inner]:
    words = command.words
    for index in range(len(words)):
        for option in options:
            value, behind = _value(words, index, option)
            if value is None:
                continue
            label = f"{command.name} {option}"
            if command.name != "env":
                yield from code_in(label, value)
                continue
            # Whatever stands behind it are further words of that command, options too.
            yield from _line(label, (value, *words[behind:]))
            return


def _value(words: tuple[Word, ...], index: int, option: str) -> tuple[Word | None, int]:
    """Return an option's value, which is the next word or what is glued to it, and where it ends."""
    word = words[index]
    short = len(option) == 2
    if word.text == option or (short and re.fullmatch(rf"-[A-Za-z]*{option[1]}", word.text)):
        return (words[index + 1] if index + 1 < len(words) else None), index + 2
    glue = option if short else f"{option}="
    if word.text.startswith(glue):
        return replace(word, text=word.text.removeprefix(glue)), index + 1
    return None, index


def _line(label: str, words: tuple[Word, ...]) -> Iterator[Inner]:
    if words:
        yield from code_in(label, joined(words))


def _trap(command: Command) -> Iterator[Inner]:
    words = operands_after(command, _TRAP)
    if len(words) > 1 and words[0].text not in ("", "-"):
        yield from code_in("trap", words[0])


def _alias(command: Command) -> Iterator[Inner]:
    for word in command.words[1:]:
        if "=" in word.text:
            yield from code_in("alias", replace(word, text=word.text.partition("=")[2]))


def _parallel(command: Command) -> Iterator[Inner]:
    words = operands_after(command, _PARALLEL)
    end = next((index for index, word in enumerate(words) if word.text.startswith(":::")), len(words))
    if not words[:end]:
        # Without a command of its own it runs its input, or what stands behind the colons.
        inputs = [word for word in words[end:] if not word.text.startswith(":::")]
        if not inputs or "::::" in command.arguments:
            yield Doubt.FED_SHELL
        for word in inputs:
            yield from code_in("parallel", word)
    else:
        line = joined(words[:end])
        yield from code_in("parallel", line if "{" in line.text else replace(line, text=f"{line.text} {{}}"))


def _behind(*flags: str, program: tuple[Word, ...] = ()) -> Callable[[Command], Iterator[Inner]]:
    """Return what finds a command behind the first of these words, which may be given to another program."""

    def found(command: Command) -> Iterator[Inner]:
        places = (at for at, word in enumerate(command.words) if word.text in flags)
        words = command.words[next(places, len(command.words)) + 1 :]
        if words:
            yield Words(command.name, (*program, *words))

    return found


def _each_text(command: Command) -> Iterator[Inner]:
    for word in command.words[1:]:
        if not word.text.startswith("-"):
            yield from code_in(command.name, word)


def _find(command: Command) -> Iterator[Inner]:
    words = command.words
    index = 1
    while index < len(words):
        flag = words[index].text
        index += 1
        if flag in _FIND_RUNS:
            # All up to the end is one command: what looks like another of these in it is for that one to read.
            end = _find_end(words, index)
            if words[index:end]:
                yield Words(f"{command.name} {flag}", _filled_in(words[index:end], _FILLED_IN))
            index = end + 1


def _find_end(words: tuple[Word, ...], start: int) -> int:
    """Return where a command inside find ends: at ``;``, or at a ``+`` behind ``{}``."""
    for index in range(start, len(words)):
        text = words[index].text
        if text == ";" or (text == "+" and words[index - 1].text == "{}"):
            return index
    return len(words)


_OWN_WAYS: Mapping[str, Callable[[Command], Iterator[Inner]]] = {
    "eval": lambda command: _line("eval", command.words[1:]),
    "watch": lambda command: _line("watch", operands_after(command, _WATCH)),
    "ssh": lambda command: _line("ssh", operands_after(command, _REMOTE)),
    "trap": _trap,
    "alias": _alias,
    "parallel": _parallel,
    "hyperfine": _each_text,
    "pee": _each_text,
    **dict.fromkeys(
        ("xterm", "gnome-terminal", "konsole", "alacritty", "kitty", "foot", "urxvt"),
        _behind("-e", "-x", "--"),
    ),
    **dict.fromkeys(("nix", "guix"), _behind("-c", "--command", "--")),
    **dict.fromkeys(("pwsh", "powershell"), _behind("-c", "-Command", "-command", "--command")),
    "yarn": _behind("node", program=(Word("node"),)),
    "coverage": _behind("run", program=(Word("python"),)),
    "capsh": _behind("--", program=(Word("bash"),)),
    "find": _find,
    "fd": _find,
    "fdfind": _find,
}
