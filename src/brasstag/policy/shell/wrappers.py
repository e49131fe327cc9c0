"""Commands that run other commands: as words, as text to read, or as an unknown."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from brasstag.policy.shell.commands import UNSEEN, Command, Doubt, Language, Word, joined

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh"})
PYTHON = re.compile(r"python[0-9.]*|pypy[0-9.]*")

INTERPRETERS = frozenset(
    {"perl", "ruby", "node", "nodejs", "php", "lua", "tclsh", "deno", "bun", "Rscript", "osascript"}
)

_PROGRAM_FLAG = re.compile(r"-[A-Za-z]*[ceEmrp].*|--eval.*|--print.*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_CODE_FLAG = re.compile(r"-[A-Za-z]*c[A-Za-z]*")
_CLUSTER_WITH_CODE = re.compile(r"-[A-Za-z]*c")
_VALUED_FLAG = re.compile(r"[-+][A-Za-z]*[oO]|--rcfile|--init-file")
_STDIN = frozenset({"-", "/dev/stdin", "/proc/self/fd/0"})


@dataclass(frozen=True, slots=True)
class CommandText:
    """Code that a command is given to run."""

    label: str
    text: str
    language: Language = "bash"


@dataclass(frozen=True, slots=True)
class Words:
    """A command that stands in the words of another."""

    label: str
    words: tuple[Word, ...]


Inner = CommandText | Words | Doubt


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How to find the command behind a wrapper's own words."""

    valued: str = ""
    """Options that take the next word, with spaces between them."""
    operands: int = 0
    """Words before the command that are not options."""
    adds: bool = False
    """Whether the wrapper adds words of its own."""


_PLAIN = Wrapper()

WRAPPERS: Mapping[str, Wrapper] = {
    **dict.fromkeys(("nohup", "setsid", "builtin", "unbuffer", "chronic", "coproc", "caffeinate"), _PLAIN),
    **dict.fromkeys(
        ("busybox", "toybox", "catchsegv", "fakeroot", "dbus-run-session", "torsocks", "proxychains"), _PLAIN
    ),
    "env": Wrapper("-u --unset -C --chdir"),
    "time": Wrapper("-f --format -o --output"),
    "sudo": Wrapper("-u --user -g --group -h --host -p --prompt -C -D --chdir -R --chroot -r -t -T -U"),
    "doas": Wrapper("-u -C"),
    "pkexec": Wrapper("--user"),
    "runuser": Wrapper("-u --user -g --group -G -s --shell"),
    "timeout": Wrapper("-s --signal -k --kill-after", operands=1),
    "nice": Wrapper("-n --adjustment"),
    "ionice": Wrapper("-c --class -n --classdata"),
    "chrt": Wrapper("-T -P -D", operands=1),
    "taskset": Wrapper(operands=1),
    "numactl": Wrapper("-N -m -C -i"),
    "stdbuf": Wrapper("-i -o -e --input --output --error"),
    "command": _PLAIN,
    "exec": Wrapper("-a"),
    "xargs": Wrapper("-I -i -n -P -L -d -a -s -E --max-args --max-procs --delimiter --arg-file", adds=True),
    "strace": Wrapper("-o -e -p -s -u -E -a -O -S"),
    "ltrace": Wrapper("-o -e -p -s -u -a -l -n"),
    "perf": Wrapper("-e -o", operands=1),
    "valgrind": _PLAIN,
    "chroot": Wrapper("--userspec --groups", operands=1),
    "unshare": _PLAIN,
    "nsenter": Wrapper("-t --target"),
    "firejail": _PLAIN,
    "flock": Wrapper("-w --timeout -E", operands=1),
    "systemd-run": Wrapper("-p --property -u --unit --uid --gid"),
    "xvfb-run": Wrapper("-n -s -e -f -w"),
    "entr": _PLAIN,
    "uv run": Wrapper("--with --python -p --extra --group --env-file"),
    "poetry run": _PLAIN,
    "pipenv run": _PLAIN,
    "hatch run": _PLAIN,
    "rye run": _PLAIN,
    "bundle exec": _PLAIN,
    "npm exec": _PLAIN,
    "direnv exec": Wrapper(operands=1),
    "git bisect run": _PLAIN,
    "git submodule foreach": _PLAIN,
}
"""Commands whose later words are a command."""

_TEXT_OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(("su", "script", "flock", "runuser", "sg"), "-c --command --session-command"),
    "env": "-S --split-string",
}
"""Options of other commands whose value is a shell's text."""

_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_REMOTE = Wrapper("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", operands=1)
_WATCH = Wrapper("-n --interval")
_PARALLEL = Wrapper("-j --jobs -a --arg-file -I --delay --timeout --joblog --colsep -S --results", adds=True)


def inner(command: Command) -> Iterator[Inner]:
    """Yield what a command runs besides itself."""
    name = command.name
    if command.fed is not None and takes_code(command):
        yield from _fed_code(name, command.fed)
    if name in SHELLS:
        yield from _shell_code(command)
    if PYTHON.fullmatch(name):
        yield from _python_code(command)
    if name in _TEXT_OPTIONS:
        yield from _option_text(command, _TEXT_OPTIONS[name].split())
    if name in _OWN_WAYS:
        yield from _OWN_WAYS[name](command)
    for key in _keys(command):
        if key in WRAPPERS:
            yield from _wrapped(command, key)


def takes_code(command: Command) -> bool:
    """Say whether a shell or interpreter is given no program, so that it runs its input."""
    name = command.name
    if name in SHELLS:
        has_code, script = shell_operand(command)
        return not has_code and (script is None or script.text in _STDIN or "-s" in command.arguments)
    if name not in INTERPRETERS and not PYTHON.fullmatch(name):
        return False
    for argument in command.arguments:
        if argument in _STDIN:
            return True
        if _PROGRAM_FLAG.fullmatch(argument) or not argument.startswith("-"):
            return False
    return True


def shell_operand(command: Command) -> tuple[bool, Word | None]:
    """Return whether a shell is given code by ``-c``, and its first operand: that code, or else a script."""
    has_code = False
    skips = False
    for word in command.words[1:]:
        if skips:
            skips = False
        elif not word.text.startswith(("-", "+")) or word.text == "-":
            return has_code, word
        else:
            has_code = has_code or _CODE_FLAG.fullmatch(word.text) is not None
            skips = _VALUED_FLAG.fullmatch(word.text) is not None
    return has_code, None


def operands_after(command: Command, wrapper: Wrapper, start: int = 1) -> tuple[Word, ...]:
    """Return the words behind a wrapper's options, assignments and own operands."""
    words = command.words
    valued = wrapper.valued.split()
    index = start
    while index < len(words):
        text = words[index].text
        if text == "--":
            index += 1
            break
        if text in valued:
            index += 2
        elif (len(text) > 1 and text[0] == "-") or (words[index].literal and _ASSIGNMENT.match(text)):
            index += 1
        else:
            break
    return words[index + wrapper.operands :]


def _keys(command: Command) -> Iterator[str]:
    """Yield the name of a command alone and with the one or two words behind it."""
    texts = (command.name, *command.arguments[:2])
    yield from (" ".join(texts[:count]) for count in range(1, len(texts) + 1))


def _wrapped(command: Command, key: str) -> Iterator[Inner]:
    wrapper = WRAPPERS[key]
    words = operands_after(command, wrapper, len(key.split()))
    asks_only = key == "command" and not {"-v", "-V"}.isdisjoint(command.arguments[:1])
    if not words or asks_only or (key == "flock" and words[0].text == "-c"):
        return
    if len(words) == 1 and words[0].literal and " " in words[0].text:
        yield CommandText(key, words[0].text)  # such as git submodule foreach 'git pull'
    else:
        yield Words(key, (*words, UNSEEN) if wrapper.adds else words)


def _shell_code(command: Command) -> Iterator[Inner]:
    has_code, code = shell_operand(command)
    if has_code and code is not None:
        yield _text(f"{command.name} -c", code)


def _fed_code(name: str, fed: Word) -> Iterator[Inner]:
    if not fed.literal or name in INTERPRETERS:
        yield Doubt.FED_SHELL
    else:
        yield CommandText(f"{name} <<", fed.text, "bash" if name in SHELLS else "python")


def _python_code(command: Command) -> Iterator[Inner]:
    for index, word in enumerate(command.words[1:], 1):
        if not word.text.startswith("-"):
            return
        if word.text.startswith("-c") or _CLUSTER_WITH_CODE.fullmatch(word.text):
            glued = Word(word.text[2:], word.computed, word.pattern)
            code = (
                glued
                if word.text.startswith("-c") and glued.text
                else next(iter(command.words[index + 1 :]), None)
            )
            if code is not None:
                yield _text(f"{command.name} -c", code, "python")
            return


def _option_text(command: Command, options: list[str]) -> Iterator[Inner]:
    words = command.words
    for index in range(len(words)):
        for option in options:
            value, behind = _value(words, index, option)
            if value is None:
                continue
            label = f"{command.name} {option}"
            if command.name != "env":
                yield _text(label, value)
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
        return Word(word.text.removeprefix(glue), word.computed, word.pattern), index + 1
    return None, index


def _text(label: str, word: Word, language: Language = "bash") -> Inner:
    return CommandText(label, word.text, language) if word.literal else Doubt.COMPUTED_CODE


def _line(label: str, words: tuple[Word, ...]) -> Iterator[Inner]:
    if words:
        line = joined(words)
        yield Doubt.COMPUTED_CODE if line is None else CommandText(label, line)


def _trap(command: Command) -> Iterator[Inner]:
    words = operands_after(command, _PLAIN)
    if len(words) > 1 and words[0].text not in ("", "-"):
        yield _text("trap", words[0])


def _parallel(command: Command) -> Iterator[Inner]:
    words = operands_after(command, _PARALLEL)
    end = next((index for index, word in enumerate(words) if word.text.startswith(":::")), len(words))
    if words[:end]:
        line = joined(words[:end])
        if line is not None and "{" not in line:
            line += " {}"
        yield Doubt.COMPUTED_CODE if line is None else CommandText("parallel", line)


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
                yield Words(f"{command.name} {flag}", words[index:end])
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
    "parallel": _parallel,
    "find": _find,
    "fd": _find,
    "fdfind": _find,
}
