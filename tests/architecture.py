"""The rules of the code's layout, each as a function that names its offenders.

    .venv/bin/python -m tests.architecture

prints the offenders of today. `test_architecture.py` holds the list equal to what is found, so it only shrinks. Behind each
line of the list stands the reason why it may stay.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "brasstag"
OFFENDERS = Path(__file__).with_name("architecture_offenders.txt")

MOST_FILES = 15
WIDE_FOLDERS = {"engine/calls": 25, "surfaces/cli/commands": 25, "tools": 25}
"""Folders whose files are read in one order, or are one command or one family of tools each."""

COMMAND = re.compile(
    r"\bbrasstag (?:init|run|tasks|watch|answer|stop|resume|cost|worker|documents|memories|prompts|issues|call|undo"
    r"|undo-run|follow-up|changes"
    r"|approvals|permissions|timeline|logs|policy|tools|trust|doctor|gc|approvers|tokens|serve|demo)\b"
)
"""A command of ours; `test_architecture.py` compares it with the commands there are."""

OTHER_COMMAND = re.compile(
    r"\b(?:pipx?|pip3|uv|apt|apt-get|dnf|brew|npm|conda) (?:install|add|sync)\b|\bollama (?:pull|serve|run)\b"
    r"|\bexport [A-Z]\w*=|(?<!-)\b(?:with|add|use|name|by) `?--[a-z]"
)
"""A command or an option of another program, or an option of ours, which only a person at a terminal can use."""

MOST_FIELDS = 12
MOST_PARAMETERS = 6

METAPHORS = frozenset(
    {
        "Abstracts", "Audience", "Bench", "Books", "Boot", "Booth", "Carbon", "Card", "Diary", "Ear",
        "Errand", "Fittings", "Floor", "Happening", "Hunt", "Looked", "Lookout", "Minutes", "Mishap", "Paper",
        "Rack", "Round", "Rounds", "Shelf", "Shelve", "Shelved", "Shift", "Shop", "Sight", "Sights", "Standing",
        "Stands", "Suspects", "Tray", "Trouble", "Vault", "Watch",
    }
)  # fmt: skip
"""Names that a stranger cannot guess."""

PLAIN_WORDS = frozenset(
    {
        "boot",
        "card",
        "looked",
        "minutes",
        "round",
        "rounds",
        "shift",
        "sight",
        "standing",
        "stands",
        "trouble",
        "watch",
    }
)
"""Those of them that say nothing as the name of a class, but are plain words elsewhere."""

INVENTED = frozenset(word.lower() for word in METAPHORS) - PLAIN_WORDS

NOUNS_IN_ING = frozenset({"landing.py", "private_ranking.py", "spending.py"})

RIDDLES = re.compile(r"(?<![a-z])(nobody|somebody|whoever|anybody|everybody)(?![a-z])", re.IGNORECASE)
"""Words that hide who acts, in prose and in names."""

WRITERS = (
    "engine/calls/record.py",
    "engine/calls/ask.py",
    "engine/calls/approvals.py",
    "engine/graph/",
    "engine/recovery/",
)
STORE_VERBS = frozenset({"record", "claim", "settle", "ask", "decide"})

Rule = Callable[[], Iterator[str]]


@cache
def sources() -> dict[str, str]:
    """Return the text of every module, by its path inside the package."""
    return {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(ROOT.rglob("*.py"))
    }


def pages() -> dict[str, str]:
    """Return the text of every page for people, by its path inside the repository."""
    repository = ROOT.parent.parent
    files = (*repository.glob("*.md"), *(repository / "docs").rglob("*.md"))
    return {file.relative_to(repository).as_posix(): file.read_text(encoding="utf-8") for file in files}


@cache
def trees() -> dict[str, ast.Module]:
    """Return every module, parsed."""
    return {name: ast.parse(text) for name, text in sources().items()}


@cache
def doors() -> dict[str, list[str]]:
    """Return the names that each package offers at its front door, by package."""
    return {
        stub.parent.relative_to(ROOT).as_posix(): [
            one.name
            for line in ast.parse(stub.read_text(encoding="utf-8")).body
            if isinstance(line, ast.ImportFrom)
            for one in line.names
        ]
        for stub in sorted(ROOT.glob("*/__init__.pyi"))
    }


def modules() -> list[str]:
    """Return every module that is no folder's front door; migrations are named by their order."""
    return [name for name in sources() if not name.endswith("__init__.py") and "/migrations/" not in name]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def doubled_names() -> Iterator[str]:
    """Name the files that stand under the same name in two folders of the same name."""
    found = defaultdict(list)
    for name in modules():
        found["/".join(name.split("/")[-2:])].append(name)
    for names in found.values():
        if len(names) > 1:
            yield " and ".join(names)


def crowded_folders() -> Iterator[str]:
    """Name the folders with more files than a table of contents has lines."""
    for folder, count in Counter(map(_folder, modules())).items():
        if count > WIDE_FOLDERS.get(folder, MOST_FILES):
            yield folder


def gerunds() -> Iterator[str]:
    """Name the files whose name is a gerund."""
    for name in modules():
        file = name.rpartition("/")[2]
        if re.search(r"ing(_[a-z]+)?\.py$", file) and file not in NOUNS_IN_ING:
            yield name


def metaphors() -> Iterator[str]:
    """Name what is called by an invented picture: classes, functions, arguments, variables, and things on pages."""
    for name, tree in trees().items():
        yield from (f"{name} {named}" for named in invented_names(tree))
    for name, text in pages().items():
        if name.startswith("docs/"):
            prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
            yield from (f"{name} {word}" for word in _invented(re.findall(r"[a-z]+", prose.lower())))


def invented_names(tree: ast.Module) -> Iterator[str]:
    """Yield each name of a module that is an invented picture, or has one in it."""
    for node in ast.walk(tree):
        named = _named(node)
        is_class = isinstance(node, ast.ClassDef) and named.lstrip("_") in METAPHORS
        if is_class or _invented(named.lower().split("_")):
            yield named


def _named(node: ast.AST) -> str:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.id if isinstance(node, ast.Name) else node.attr
    return ""


def _invented(words: list[str]) -> list[str]:
    return [word for word in words if not INVENTED.isdisjoint((word, word.removesuffix("s")))]


def doubled_classes() -> Iterator[str]:
    """Name the classes that have the name of another class; a reader who meets one must not think of the other."""
    found = defaultdict(list)
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name.lstrip("_")].append(name)
    for class_name, names in found.items():
        if len(names) > 1:
            yield f"{class_name} in {' and '.join(names)}"


def riddles() -> Iterator[str]:
    """Name the modules and pages that hide who acts: they say nobody, somebody, whoever, anybody or everybody."""
    for name, text in (sources() | pages()).items():
        if RIDDLES.search(text):
            yield name


def undescribed() -> Iterator[str]:
    """Name the modules whose docstring does not begin with one line that ends the sentence."""
    for name in modules():
        first = (ast.get_docstring(trees()[name]) or "").split("\n\n")[0]
        if not first or "\n" in first or len(first) > 125:
            yield name


def writes_outside_store() -> Iterator[str]:
    """Name the modules outside store that open a write transaction."""
    for name, tree in trees().items():
        if not name.startswith("store/") and any(map(_opens_a_write, ast.walk(tree))):
            yield name


def _opens_a_write(node: ast.AST) -> bool:
    called = _called(node)
    return called == "writing" or (
        called in ("write", "rebuild", "add") and _receiver(node).endswith("database")
    )


def other_fences() -> Iterator[str]:
    """Name the modules that make fences of their own: the store makes those of a room, with its key."""
    for name, tree in trees().items():
        made = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
        if name != "store/store.py" and any(ast.unparse(node.func).endswith("Fences") for node in made):
            yield name


def doors_used_below() -> Iterator[str]:
    """Name the modules below surfaces that import from a front door: import rules do not see what stands behind it."""
    for name, package, offered in _door_imports():
        if package != "settings" and not name.startswith(("surfaces/", "testing/")):
            yield f"{name} {package}.{offered}"


def commands_in_messages() -> Iterator[str]:
    """Name the modules and configs whose texts name a command for people: agents have none; ``hint`` tells people."""
    for name, tree in trees().items():
        to_people = name.startswith(("surfaces/", "settings/", "testing/"))
        if not to_people and any(map(names_command, _texts(tree))):
            yield name
    for file in sorted(ROOT.rglob("*.json")):
        if names_command(file.read_text(encoding="utf-8")):
            yield file.relative_to(ROOT).as_posix()


def names_command(text: str) -> bool:
    """Say whether a text names a command that only people have."""
    return bool(COMMAND.search(text) or OTHER_COMMAND.search(text))


def _texts(node: ast.AST) -> Iterator[str]:
    """Return the texts in code, without docstrings, hints, and problems of files that only people write."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg == "hint":
                continue
            if isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) == "hint":
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if isinstance(child, ast.Call) and getattr(child.func, "id", "") == "Problem":
                continue
            if isinstance(child, ast.Constant) and isinstance(child.value, str) and field != "annotation":
                yield child.value
            elif isinstance(child, ast.AST):
                yield from _texts(child)


def unused_door_names() -> Iterator[str]:
    """Name what a front door offers although no other package takes it."""
    used = {(package, offered) for name, package, offered in _door_imports()}
    for package, names in doors().items():
        yield from (f"{package}.{name}" for name in names if (package, name) not in used)


def _door_imports() -> Iterator[tuple[str, str, str]]:
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                package = node.module.removeprefix("brasstag.")
                for one in node.names:
                    if one.name in doors().get(package, ()):
                        yield name, package, one.name


def other_writers() -> Iterator[str]:
    """Name the modules of the engine that write calls' entries, beside the ones that are there for it."""
    for name, tree in trees().items():
        if not name.startswith("engine/") or name.startswith(WRITERS):
            continue
        if any(
            _called(node) in STORE_VERBS and _receiver(node).endswith(("books", "store"))
            for node in ast.walk(tree)
        ):
            yield name


def desks_by_name() -> Iterator[str]:
    """Name the modules that compare a task's kind with "desk"; elsewhere a task says what it is."""
    for name, tree in trees().items():
        if name.startswith("store/tasks/"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and any(
                isinstance(side, ast.Constant) and side.value == "desk"
                for side in [node.left, *node.comparators]
            ):
                yield name
                break


def wide_classes() -> Iterator[str]:
    """Name the dataclasses with more fields than a reader can hold."""
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and _is_dataclass(node):
                fields = [line for line in node.body if isinstance(line, ast.AnnAssign)]
                if len(fields) > MOST_FIELDS:
                    yield f"{name} {node.name}"


def wide_functions() -> Iterator[str]:
    """Name the functions with too many parameters; tools and commands have as many as their callers may give."""
    for name, tree in trees().items():
        if name.startswith(("tools/", "surfaces/cli/")):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]
                if len([one for one in names if one not in ("self", "cls")]) > MOST_PARAMETERS:
                    yield f"{name} {node.name}"


def asserts() -> Iterator[str]:
    """Name the modules that assert what a type should prove."""
    for name, tree in trees().items():
        if any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
            yield name


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)


def _called(node: ast.AST) -> str:
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def _receiver(node: ast.AST) -> str:
    return (
        ast.unparse(node.func.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        else ""
    )


RULES: tuple[Rule, ...] = (
    doubled_names,
    crowded_folders,
    gerunds,
    metaphors,
    doubled_classes,
    riddles,
    undescribed,
    writes_outside_store,
    commands_in_messages,
    other_fences,
    doors_used_below,
    unused_door_names,
    other_writers,
    desks_by_name,
    wide_classes,
    wide_functions,
    asserts,
)


def offenders() -> list[str]:
    """Return every offender as `rule: name`."""
    return [f"{rule.__name__}: {name}" for rule in RULES for name in sorted(set(rule()))]


if __name__ == "__main__":
    print("\n".join(offenders()))
