"""Read every simple command of a text with its context; wrappers are opened, one inside the other."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from brasstag.policy.shell.commands import Command, CommandReading, Doubt, Doubtful, Language, Word
from brasstag.policy.shell.parse import CommandTooLarge, NotText, parse_bash
from brasstag.policy.shell.programs.inner import CommandText, Inner, Words
from brasstag.policy.shell.programs.subscripts import evaluated_code, evaluates, fills_in, holds_substitution
from brasstag.policy.shell.programs.wrappers import inner
from brasstag.policy.shell.python_code import read_python
from brasstag.policy.shell.spell import WORDS, spelled, spelled_words, text_of
from brasstag.policy.shell.unknowns import command_doubts, text_doubts

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 12
"""How many wrappers, substitutions and the like may stand inside each other."""
MOST_COMMANDS = 2_000
MOST_WORK = 300_000
"""How many letters and nodes are looked at; what stands in a wrapper is looked at once more for each around it."""

_READINGS_KEPT = 128
_SHOWN = 80

_LABELS = {
    "subshell": "subshell",
    "command_substitution": "substitution",
    "process_substitution": "process substitution",
}
_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})
_LOOSE = frozenset({"heredoc_body", "string", "expansion", "arithmetic_expansion"})
"""Nodes whose children need not hold every letter."""
_EVALUATING = frozenset({"variable_assignment", "unary_expression", "binary_expression", "test_command"})
_ARITHMETIC = frozenset({"subscript", "arithmetic_expansion", "compound_statement"})
"""Nodes in which quotes do not keep the shell from substituting; groups have no words of their own."""
_COMPARING = frozenset({b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge", b"-v", b"-R"})
"""Operators of ``[[`` that evaluate their operands."""
_QUOTED = frozenset({"raw_string", "ansi_c_string", "string"})
_TAKEN_IN = frozenset(
    {
        *_EVALUATING,
        *_ARITHMETIC,
        *_QUOTED,
        "expansion",
        "command_substitution",
        "test_operator",
        "c_style_for_statement",
    }
)
"""Nodes that matter by themselves, and are no commands."""
_ENVIRONMENT = re.compile(rb"[A-Z][A-Z0-9_]*\+?=")
_ESCAPED_IN_BACKQUOTES = re.compile(r"\\([`\\$])")
_NOTHING_LOST = re.compile(rb"\s|\\\n")
_LEADING_BRACES = re.compile(r"((?:^|[;|&(\n])[ \t]*)\{(?=[^\s{}]*,)")
_WRITING = re.compile(r">|>>|>\||&>|&>>|<>")


def read_commands(text: str) -> CommandReading:
    """Return every command of a bash text; it never fails, and says what it could not read."""
    return read_code(text, "bash")


@lru_cache(maxsize=_READINGS_KEPT)
def read_code(text: str, language: Language) -> CommandReading:
    """Return every command that a text in this language would run."""
    reader = _CommandReader()
    reader.read(text, language, _Context())
    reader.doubt_evaluated(text)
    doubts = (*reader.doubts, *text_doubts(reader.commands))
    return CommandReading(
        tuple(reader.commands), tuple(dict.fromkeys(doubts)), language, tuple(dict.fromkeys(reader.mentions))
    )


@dataclass(frozen=True, slots=True)
class _Context:
    """Where the reader is: what surrounds it, and what is handed to every command there."""

    place: tuple[str, ...] = ()
    piped: bool = False
    fed: Word | None = None
    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    more: tuple[Word, ...] = ()
    """Words of a command that stand behind its redirections."""

    def within(self, label: str) -> "_Context":
        return replace(self, place=(*self.place, label))

    def command(self, words: tuple[Word, ...], assigns: tuple[str, ...] = ()) -> Command:
        return Command(
            (*words, *self.more), self.place, self.piped, self.fed, assigns, self.reads, self.writes
        )


@dataclass
class _CommandReader:
    commands: list[Command] = field(default_factory=list)
    doubts: list[Doubtful] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    work: int = 0
    evaluates: bool = False
    """Whether the shell evaluates what a variable holds, somewhere."""
    quoted: "list[Node]" = field(default_factory=list)
    """Quoted texts outside of commands."""
    code: set[str] = field(default_factory=set)
    """Texts of commands that were read as code."""

    def read(self, text: str, language: Language, spot: _Context) -> None:
        """Read one text and all that stands inside it."""
        if not self._has_strength_for(len(text)):
            self._doubt(Doubt.TOO_LARGE, text)
            return
        if language != "bash":
            self._add_python(text, spot, has_coding=language == "python")
            return
        try:
            root = parse_bash(text)
        except CommandTooLarge:
            self._doubt(Doubt.TOO_LARGE, text)
        except NotText:
            self._doubt(Doubt.UNREADABLE, text)
        else:
            if root.has_error:
                self._doubt(Doubt.UNREADABLE, text)
                if _LEADING_BRACES.search(text):
                    # The parser takes {a,b} at the beginning of a command for a group.
                    self.read(_LEADING_BRACES.sub(r"\1''{", text), language, spot)
            self._walk(root, spot)

    def _add_python(self, text: str, spot: _Context, *, has_coding: bool) -> None:
        found = read_python(text, has_coding=has_coding)
        self.doubts += found.doubts
        self.mentions += found.mentions
        for shell_text in found.texts:
            self.read(shell_text, "bash", spot.within("python"))
        for command in found.commands:
            self._add(replace(command, place=(*spot.place, *command.place)))

    def _has_strength_for(self, work: int) -> bool:
        """Count some work, and say whether it may still be done; after the first no, the answer is always no."""
        self.work += work
        return self.work <= MOST_WORK and len(self.commands) <= MOST_COMMANDS

    def _doubt(self, doubt: Doubt, on: str) -> None:
        line = " ".join(on[: 2 * _SHOWN].split())
        shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
        self.doubts.append(Doubtful(doubt, shown.encode(errors="replace").decode()))

    def _walk(self, root: "Node", spot: _Context) -> None:
        """Visit every node in order, with our own stack: trees can be deeper than Python's recursion limit."""
        stack = [(root, spot)]
        while stack:
            node, here = stack.pop()
            if len(here.place) > DEEPEST:
                self._doubt(Doubt.TOO_DEEP, text_of(node))
            elif not self._has_strength_for(1):
                self._doubt(Doubt.TOO_LARGE, text_of(root))
                return
            else:
                stack += reversed(list(self._visit(node, here)))

    def _visit(self, node: "Node", spot: _Context) -> Iterator[tuple["Node", _Context]]:
        """Take in one node, and yield those to visit next."""
        kind = node.type
        if node.child_count and kind not in _LOOSE and _left_out(node) not in (b"", b"-"):
            self._doubt(Doubt.UNREADABLE, text_of(node))
        if kind in _COMMANDS:
            yield from self._command(node, spot)
        elif kind == "redirected_statement":
            yield from self._redirected(node, spot)
        elif kind == "pipeline":
            yield from _pipeline(node, spot)
        elif kind == "function_definition":
            yield from self._function(node, spot)
        else:
            if kind in _TAKEN_IN:
                self._take_in(node, kind, spot)
            if node.child_count:
                inside = _inside(node, kind, spot)
                for child in node.children:
                    if child.child_count or child.type in _TAKEN_IN:
                        yield child, inside

    def _take_in(self, node: "Node", kind: str, spot: _Context) -> None:
        """Take in a node that is no command: what it evaluates, assigns, quotes or reads."""
        if kind in _EVALUATING or kind in _ARITHMETIC:
            self._subscripts(node, spot)
        if kind == "variable_assignment":
            self._assignment(node, spot)
        elif kind == "expansion" and text_of(node).endswith("@P}"):
            self._doubt(Doubt.COMPUTED_CODE, text_of(node))
        elif kind == "command_substitution":
            self._bare_redirects(node, spot)
            self._nested_backquotes(node, spot)
        elif kind in _QUOTED:
            self.quoted.append(node)
        self.evaluates = self.evaluates or _evaluates(node, kind)

    def _command(self, node: "Node", spot: _Context) -> Iterator[tuple["Node", _Context]]:
        assigns: list[str] = []
        words: list[Node] = []
        here = spot
        for child in node.children:
            if child.type == "variable_assignment" and node.type == "command":
                assigns.append(spelled(child).text)
            elif child.type.endswith("_redirect"):
                here = _with_redirect(here, child)
            elif child.type != "$" and not _numbers_redirect(child):  # the $ of $"…"
                words.append(child)
        spelt = spelled_words(words, node.text or b"", node.start_byte)
        if spelt:
            self._add(here.command(spelt, tuple(assigns)))
        for child in node.children:
            # Most names are one word, in which there is nothing to find.
            if child.child_count and (child.type != "command_name" or child.children[0].child_count):
                yield child, spot

    def _redirected(self, node: "Node", spot: _Context) -> Iterator[tuple["Node", _Context]]:
        here = spot
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        for redirect in redirects:
            here = _with_redirect(here, redirect)
        bodies = [child for child in node.children if not child.type.endswith("_redirect")]
        if not bodies:
            self._add(here.command(()))
        yield from ((body, here) for body in bodies)
        yield from ((redirect, spot) for redirect in redirects)

    def _function(self, node: "Node", spot: _Context) -> Iterator[tuple["Node", _Context]]:
        name = node.child_by_field_name("name")
        called = text_of(name) if name is not None else ""
        self._add(Command((Word("function"), Word(called)), spot.place))
        yield from ((child, spot.within(f"function {called}")) for child in node.children if child != name)

    def _subscripts(self, node: "Node", spot: _Context) -> None:
        """Take in what runs where quoted text is taken for a variable or for arithmetic."""
        before = "x[" if node.type in _ARITHMETIC else ""
        for child in node.children:
            code = evaluated_code(before + spelled(child).text) if child.type in _QUOTED else ""
            if code:
                self._doubt(Doubt.COMPUTED_CODE, text_of(node))
                self.read(code, "bash", spot.within("subscript"))

    def doubt_evaluated(self, text: str) -> None:
        """Doubt a text that puts a quoted subscript with a substitution into a variable, and evaluates one."""
        if not (self.evaluates or any(map(evaluates, self.commands))):
            return
        words = (word for one in self.commands for word in (*one.words, *((one.fed,) if one.fed else ())))
        held = [word for word in (*words, *map(spelled, self.quoted)) if word.literal]
        if any(map(fills_in, self.commands)) or any(
            holds_substitution(word.text) and word.text not in self.code for word in held
        ):
            self._doubt(Doubt.COMPUTED_CODE, text)

    def _bare_redirects(self, node: "Node", spot: _Context) -> None:
        """Take in ``$(< file)``, which reads a file without any command."""
        for child in node.children:
            if child.type == "file_redirect":
                self._add(_with_redirect(spot, child).command(()))

    def _assignment(self, node: "Node", spot: _Context) -> None:
        value = node.child_by_field_name("value")
        if value is not None:
            self.mentions.append(spelled(value).text)
        if (
            _ENVIRONMENT.match(node.text or b"")
            and node.parent is not None
            and node.parent.type not in _COMMANDS
        ):
            self._add(Command((), spot.place, assigns=(spelled(node).text,)))

    def _nested_backquotes(self, node: "Node", spot: _Context) -> None:
        """Take in what stands between escaped backquotes: the shell takes the backslashes away, and reads it once more."""
        written = text_of(node)
        if written.startswith("`") and "\\`" in written:
            self.read(_ESCAPED_IN_BACKQUOTES.sub(r"\1", written[1:-1]), "bash", spot.within("substitution"))

    def _add(self, command: Command) -> None:
        """Take in a command and whatever it runs itself."""
        waiting = [command]
        while waiting:
            one = waiting.pop()
            if len(one.place) > DEEPEST:
                self._doubt(Doubt.TOO_DEEP, one.text)
                continue
            if not self._has_strength_for(sum(len(word.text) + 1 for word in one.words)):
                self._doubt(Doubt.TOO_LARGE, one.text)
                return
            self.commands.append(one)
            for doubt in command_doubts(one):
                self._doubt(doubt, one.text)
            waiting += reversed([more for found in inner(one) for more in self._opened(one, found)])

    def _opened(self, outer: Command, found: Inner) -> Iterator[Command]:
        match found:
            case Words(label, words):
                yield replace(outer, words=words, place=(*outer.place, label))
            case CommandText(label, text, language):
                self.code.add(text)
                self.read(text, language, _Context((*outer.place, label), outer.piped))
            case doubt:
                self._doubt(doubt, outer.text)


def _pipeline(node: "Node", spot: _Context) -> Iterator[tuple["Node", _Context]]:
    """Yield the members of a pipeline; a here-document before a pipe leaves its first member elsewhere."""
    first = node.children[0].type not in ("|", "|&")
    said: Word | None = None
    for child in node.children:
        if child.is_named:
            yield child, spot if first else replace(spot.within("pipe"), piped=True, fed=said)
            said = _said(child)
            first = False


def _said(node: "Node") -> Word | None:
    """Return what an echo or printf of plain words puts out; None where that is not known."""
    written = node.text or b""
    if node.type != "command" or not written.startswith((b"echo ", b"printf ")):
        return None
    words = spelled_words(node.children, written, node.start_byte)[1:]
    text = " ".join(word.text for word in words)
    is_plain = all(word.literal for word in words) and not text.startswith("-") and "\\" not in text
    if written.startswith(b"printf") and (len(words) != 1 or "%" in text):
        is_plain = False
    return Word(text) if is_plain else None


def _inside(node: "Node", kind: str, spot: _Context) -> _Context:
    """Return where the children of a node are; what stands in ``>(…)`` reads what is written into it."""
    if kind not in _LABELS:
        return spot
    inside = spot.within(_LABELS[kind])
    return replace(inside, piped=True) if node.children[0].type == ">(" else inside


def _evaluates(node: "Node", kind: str) -> bool:
    """Say whether the shell evaluates what a variable holds: as arithmetic, as the name of another, or as a subscript."""
    if kind in ("compound_statement", "expansion"):
        return (node.text or b"").startswith((b"((", b"${!"))
    if kind == "test_operator":
        return node.text in _COMPARING
    if kind == "subscript":
        index = node.child_by_field_name("index")
        return index is not None and index.type != "number"
    return kind in ("arithmetic_expansion", "c_style_for_statement")


def _numbers_redirect(node: "Node") -> bool:
    """Say whether a number is that of a redirection behind it, as in ``0<<< text``: the parser takes it for a word."""
    behind = node.next_sibling
    return (
        node.type == "number"
        and behind is not None
        and behind.type.endswith("_redirect")
        and behind.start_byte == node.end_byte
    )


def _with_redirect(spot: _Context, node: "Node") -> _Context:
    if node.type == "heredoc_redirect":
        return _with_document(spot, node)
    if node.type == "herestring_redirect":
        return replace(spot, fed=spelled(node.children[-1]))
    # The parser counts the words behind a file among its names; they are the command's.
    targets = node.children_by_field_name("destination")
    if not targets:
        return spot
    target = targets[0]
    spot = replace(spot, more=(*spot.more, *map(spelled, targets[1:])))
    if target.type == "process_substitution":
        return replace(spot, piped=True)
    operator = next((child.type for child in node.children if not child.is_named), "")
    if _WRITING.fullmatch(operator) or (operator == ">&" and target.type != "number"):
        return replace(spot, writes=(*spot.writes, spelled(target)))
    return replace(spot, reads=(*spot.reads, spelled(target))) if operator == "<" else spot


def _with_document(spot: _Context, node: "Node") -> _Context:
    """Take in a here-document, and what stands behind its ``<<``: redirections and more words."""
    fed = Word("")
    for child in node.children:
        if child.type == "heredoc_body":
            fed = Word(text_of(child), any(part.type != "heredoc_content" for part in child.children))
        elif child.type.endswith("_redirect"):
            spot = _with_redirect(spot, child)
        elif child.type in WORDS:
            spot = replace(spot, more=(*spot.more, spelled(child)))
    return replace(spot, fed=fed)


def _left_out(node: "Node") -> bytes:
    """Return the text of a node that is in none of its children; the parser skips some letters silently."""
    written = node.text or b""
    start = begin = node.start_byte
    gaps = b""
    for child in node.children:
        if child.start_byte > start:
            gaps += written[start - begin : child.start_byte - begin]
        start = child.end_byte
    return _NOTHING_LOST.sub(b"", gaps) if gaps and not gaps.isspace() else b""
