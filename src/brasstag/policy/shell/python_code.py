"""The commands that Python code would start, as far as its calls spell them out."""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from brasstag.policy.shell.commands import UNSEEN, Command, CommandReading, Doubt, Doubtful, Word

LONGEST_CODE = 100_000
"""Characters of Python that are still read."""
NOT_PYTHON = Doubtful(Doubt.UNREADABLE, "Python code")
"""What is said of code that this Python cannot parse."""
_MOST_MENTIONS = 2_000
_LONGEST_MENTION = 4096

_SHELL_CALLS = frozenset(
    {
        "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput",
        "asyncio.create_subprocess_shell", "popen2.popen2", "pexpect.spawn", "pexpect.run",
    }
)  # fmt: skip
"""Calls whose first argument is a shell's text."""
_WORD_CALLS = frozenset(
    {
        "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
        "subprocess.Popen", "pty.spawn",
    }
)  # fmt: skip
"""Calls whose first argument is a list of words, or text where they say ``shell=True``."""
_SPREAD_CALLS = frozenset({"asyncio.create_subprocess_exec", "sh.Command"})
"""Calls whose arguments are the words."""
_EXEC_CALLS = ("os.exec", "os.spawn", "os.posix_spawn")
_READ_CALLS = frozenset(
    {
        "exec", "eval", "compile", "timeit.timeit", "timeit.repeat", "timeit.Timer", "cProfile.run", "cProfile.runctx",
        "profile.run", "profile.runctx", "pdb.run", "pdb.runeval", "bdb.run",
    }
)  # fmt: skip
"""Calls whose first argument is code, which is read where it is there as text."""
_CODE_CALLS = _READ_CALLS | {"__import__", "runpy.run_path", "runpy.run_module", "importlib.import_module"}
"""Calls whose first argument is code, or names it."""
_SAME_MODULES = {"posix.": "os.", "builtins.": "", "__builtins__.": ""}
_DEEPEST_CODE = 4
_RUNNING_MODULES = frozenset({"os", "subprocess", "pty", "builtins", "__builtins__", "posix"})
_IMPORTERS = frozenset({"__import__", "importlib.import_module"})
_MOST_STEPS = 8
_INTERPRETER = "sys.executable"
_DELETE_TREE = "shutil.rmtree"


@dataclass
class PythonCode:
    """What was found in Python code."""

    commands: list[Command] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """Commands given to a shell."""
    mentions: list[str] = field(default_factory=list)
    doubts: list[Doubtful] = field(default_factory=list)


def read_python(code: str, *, has_coding: bool = True) -> PythonCode:
    """Return what Python code would run; it never fails, and says what it could not read.

    Code that runs from a file is read from its bytes, as the interpreter does: a coding line or a byte order mark in it
    says what its letters are.
    """
    found = PythonCode()
    if len(code) > LONGEST_CODE:
        found.doubts.append(Doubtful(Doubt.TOO_LARGE, "Python code"))
        return found
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is not our code
            source = code.encode("utf-8", "surrogateescape") if has_coding else code
            nodes = list(ast.walk(ast.parse(source)))
        _Calls(found, dict(_imports(nodes))).read(nodes)
    except (SyntaxError, ValueError):
        found.doubts.append(NOT_PYTHON)
    except (RecursionError, MemoryError):
        found.doubts.append(Doubtful(Doubt.TOO_LARGE, "Python code"))
    return found


def is_unparsed(reading: CommandReading) -> bool:
    """Say whether Python code could not be parsed, so that nothing is known of it."""
    return not reading.commands and reading.doubts == (NOT_PYTHON,)


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield what each imported name stands for."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                yield (
                    one.asname or one.name.partition(".")[0],
                    one.name if one.asname else one.name.partition(".")[0],
                )
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                yield one.asname or one.name, f"{node.module}.{one.name}"


@dataclass
class _Calls:
    found: PythonCode
    imported: dict[str, str]
    depth: int = 0

    def read(self, nodes: list[ast.AST]) -> None:
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Attribute | ast.Name) and id(node) not in called:
                self._passed_on(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._mention(node.value)

    def _passed_on(self, node: ast.Attribute | ast.Name) -> None:
        """Doubt ``f = os.system``: no rule can see what it is called with later."""
        name = self._dotted(node)
        if name in _SHELL_CALLS | _WORD_CALLS | _SPREAD_CALLS or name in ("exec", "eval"):
            self.found.doubts.append(Doubtful(Doubt.COMPUTED_CODE, name))

    def _mention(self, text: str) -> None:
        if len(self.found.mentions) < _MOST_MENTIONS and 0 < len(text) <= _LONGEST_MENTION:
            self.found.mentions.append(text.encode(errors="replace").decode())

    def _call(self, node: ast.Call) -> None:
        name = self._dotted(node.func)
        first = node.args[0] if node.args else _keyword(node, "args")
        if name == "getattr" and first is not None and self._dotted(first) in _RUNNING_MODULES:
            self._chosen(node)
        elif name in _CODE_CALLS:
            text = _string(first)
            if text is not None and name in _READ_CALLS:
                self._code(text, node)
            elif first is not None and not isinstance(first, ast.Constant):
                self._doubt(Doubt.COMPUTED_CODE, node)
        elif name in _SHELL_CALLS or (name in _WORD_CALLS and _says_shell(node)):
            self._text(first, node)
        elif name in _WORD_CALLS:
            self._words(name, first, node)
        elif name in _SPREAD_CALLS:
            self._add(name, node.args, node)
        elif name.startswith(_EXEC_CALLS):
            self._executed(name, node)
        elif name == _DELETE_TREE and isinstance(first, ast.Constant):
            self._add(name, [ast.Constant("rm"), ast.Constant("-r"), first], node)

    def _code(self, text: str, node: ast.Call) -> None:
        """Read code that stands as a text in code."""
        if self.depth >= _DEEPEST_CODE:
            self._doubt(Doubt.TOO_DEEP, node)
            return
        try:
            nodes = list(ast.walk(ast.parse(text.lstrip())))
        except (SyntaxError, ValueError):
            self._doubt(Doubt.UNREADABLE, node)
            return
        _Calls(self.found, {**self.imported, **dict(_imports(nodes))}, self.depth + 1).read(nodes)

    def _chosen(self, node: ast.Call) -> None:
        """Doubt ``getattr(os, …)``, unless the name is there and starts nothing."""
        chosen = node.args[1] if len(node.args) > 1 else None
        text = _string(chosen)
        if (
            text is None
            or text in ("system", "popen", "run", "call", "Popen")
            or text.startswith(("exec", "spawn"))
        ):
            self._doubt(Doubt.COMPUTED_NAME, node)

    def _executed(self, name: str, node: ast.Call) -> None:
        """Read ``os.execv(path, args)`` and similar calls: the words are a list, or all further arguments."""
        lists = [one for one in node.args if isinstance(one, ast.List | ast.Tuple)]
        if lists:
            self._add(name, lists[0].elts, node)
        else:
            self._add(name, [one for one in node.args if self._word(one).literal] or node.args, node)

    def _text(self, first: ast.expr | None, node: ast.Call) -> None:
        if isinstance(first, ast.List | ast.Tuple) and first.elts:
            first = first.elts[0]
        text = _string(first)
        if text is None:
            self._doubt(Doubt.COMPUTED_CODE, node)
        else:
            self.found.texts.append(text)

    def _words(self, name: str, first: ast.expr | None, node: ast.Call) -> None:
        if isinstance(first, ast.List | ast.Tuple):
            self._add(name, first.elts, node)
        elif isinstance(first, ast.Constant):
            self._add(name, [first], node)
        elif (
            isinstance(first, ast.Call)
            and self._dotted(first.func) == "shlex.split"
            and _string(first.args[0])
        ):
            self.found.texts.append(_string(first.args[0]) or "")
        else:
            self._doubt(Doubt.COMPUTED_NAME, node)

    def _add(self, name: str, parts: list[ast.expr], node: ast.Call) -> None:
        words = tuple(self._word(part) for part in parts)
        if words:
            self.found.commands.append(Command(words, (name,)))
        else:
            self._doubt(Doubt.COMPUTED_NAME, node)

    def _word(self, node: ast.expr) -> Word:
        text = _string(node)
        if text is not None:
            return Word(text)
        if self._dotted(node) == _INTERPRETER:
            return Word("python")
        return UNSEEN

    def _doubt(self, doubt: Doubt, node: ast.Call) -> None:
        self.found.doubts.append(Doubtful(doubt, f"{self._dotted(node.func)}(…)"))

    def _dotted(self, node: ast.AST) -> str:
        """Return a name such as ``subprocess.run``, with what was imported put in; empty for anything else."""
        base, steps = _cut(node)
        if not isinstance(base, ast.Call):
            return self._joined(base, steps)
        module = _string(base.args[0]) if base.args else None
        return ".".join((module, *steps)) if module and self._joined(*_cut(base.func)) in _IMPORTERS else ""

    def _joined(self, base: ast.AST | None, steps: list[str]) -> str:
        if not isinstance(base, ast.Name):
            return ""
        name = ".".join((self.imported.get(base.id, base.id), *steps))
        module, dot, _ = name.partition(".")
        same = _SAME_MODULES.get(module + dot)
        return name if same is None else same + name.removeprefix(module + dot)


def _cut(node: ast.AST) -> tuple[ast.AST | None, list[str]]:
    """Return what a dotted name begins with, and its steps; None where it is longer than any that is known."""
    steps: list[str] = []
    while isinstance(node, ast.Attribute):
        steps.append(node.attr)
        node = node.value
        if len(steps) > _MOST_STEPS:
            return None, []
    return node, steps[::-1]


def _keyword(node: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in node.keywords if one.arg == name), None)


def _says_shell(node: ast.Call) -> bool:
    """Say whether a call goes through a shell, or may do so."""
    value = _keyword(node, "shell")
    spread = any(one.arg is None for one in node.keywords)
    return spread or (value is not None and not (isinstance(value, ast.Constant) and not value.value))


def _string(node: ast.AST | None) -> str | None:
    """Return the text of a literal, or of literals that are added up."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bytes):
            return node.value.decode(errors="replace")
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _string(node.left), _string(node.right)
        return None if left is None or right is None else left + right
    return None
