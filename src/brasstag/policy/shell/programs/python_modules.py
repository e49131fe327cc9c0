"""Python, and its modules that are given code or a script: ``python -m timeit``, ``python -m cProfile x.py``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from brasstag.policy.shell.commands import Word, joined
from brasstag.policy.shell.programs.inner import CommandText, Inner, Words, code_in
from brasstag.policy.shell.programs.options import option_values

PYTHON = re.compile(r"(?:[ib]|pt|I)?[pP]ython[0-9.]*|pypy[0-9.]*")

_STATEMENTS: Mapping[str, tuple[str, str]] = {
    "timeit": ("-s --setup", "-n --number -r --repeat -u --unit"),
    "pyperf": ("-s --setup", "-n -l -w -p -o --loops --values --warmups --processes --output"),
}
"""Modules whose operands are statements: the options that hold some as well, and those that take another value."""
_SCRIPTS: Mapping[str, str] = {
    **dict.fromkeys(("cProfile", "profile"), "-o --outfile -s --sort"),
    "pdb": "-c --command -p",
    "trace": "-f --file -C --coverdir --ignore-module --ignore-dir",
    "runpy": "",
    "debugpy": "--listen --connect --log-to",
    **dict.fromkeys(
        ("kernprof", "viztracer", "scalene", "pyinstrument", "memory_profiler"), "-o --output -r"
    ),
}
"""Modules that run a script, or with ``-m`` a module, behind their own options."""
_SESSIONS = frozenset({"code", "asyncio", "IPython", "ptpython", "bpython", "pdb", "idlelib"})
"""Modules that run their input."""
_CODE_OR_MODULE = re.compile(r"-[A-Zbdiqsuvx]*(?P<kind>[cm])(?P<glued>.*)", re.DOTALL)
_INTERACTIVE = re.compile(r"-[A-Zbdqsuvx]*i")
_VALUED = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_CONSOLES = frozenset({"shell", "dbshell", "console", "shell_plus"})
_INPUTS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/", "<(")


def takes_python(words: Sequence[Word]) -> bool:
    """Say whether Python runs its input."""
    index = 1
    while index < len(words):
        text = words[index].text
        if text == "-" or text.startswith(_INPUTS) or _INTERACTIVE.match(text):
            return True
        flag = _CODE_OR_MODULE.fullmatch(text)
        if flag:
            module = flag["glued"] or next((word.text for word in words[index + 1 : index + 2]), "")
            return flag["kind"] == "m" and module in _SESSIONS
        if not text.startswith("-"):
            return any(word.text in _CONSOLES for word in words[index + 1 : index + 2])
        index += 2 if text in _VALUED else 1
    return True


def python_code(name: str, words: tuple[Word, ...]) -> Iterator[Inner]:
    """Yield the code behind ``-c``, or the module behind ``-m`` as a command of its own, with what it runs."""
    index = 1
    while index < len(words) and words[index].text.startswith("-"):
        flag = _CODE_OR_MODULE.fullmatch(words[index].text)
        if flag:
            glued = replace(words[index], text=flag["glued"])
            behind = (*((glued,) if glued.text else ()), *words[index + 1 :])
            if behind and flag["kind"] == "c":
                yield from code_in(f"{name} -c", behind[0], "python -c")
            elif behind:
                yield Words(f"{name} -m", behind)
                yield from _of_module(f"{name} -m {behind[0].text}", behind)
            return
        index += 2 if words[index].text in _VALUED else 1


def _of_module(label: str, words: tuple[Word, ...]) -> Iterator[Inner]:
    module = words[0].text
    if module in _STATEMENTS:
        holding, valued = _STATEMENTS[module]
        statements = [
            *option_values(words, holding),
            *_behind_options(words, f"{holding} {valued}"),
        ]
        code = joined(statements)
        yield from code_in(
            label, replace(code, text="\n".join(word.text for word in statements)), "python -c"
        )
    elif module in _SCRIPTS:
        if module == "pdb":
            for given in option_values(words, "-c --command"):
                yield CommandText(label, given.text.removeprefix("!"), "python -c")
        run = _behind_options(words, _SCRIPTS[module])
        if run:
            yield Words(label, (Word("python"), *run))


def _behind_options(words: tuple[Word, ...], valued: str) -> tuple[Word, ...]:
    """Return the words of a module behind its own options; with ``-m`` they name another module."""
    index = 1
    while index < len(words) and words[index].text.startswith("-") and words[index].text not in ("-m", "-"):
        if words[index].text == "--":
            return words[index + 1 :]
        index += 2 if words[index].text in valued.split() else 1
    return words[index:]
