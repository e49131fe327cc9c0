"""Globs as expressions that match in linear time.

RE2 never backtracks, so no pattern and no path can stall a verdict. In every glob ``?`` is one character, ``[a-z]`` and
``[!a-z]`` are one of, or none of, a set, and nothing is an escape: ``[*]`` is a star. A slash is only ever matched by a
slash or by ``**``, except in names of tools, and generously in texts that are no paths.

A glob is read in one of two ways. Allow reads it literally. Deny and ask read it generously: letters match in either
case, and a pattern that matches a directory covers all that lies below it. So a pattern that is a little off refuses
too much rather than too little.

    pattern      literally                            generously
    drafts/x     drafts/x                             drafts/x and everything below
    drafts/      drafts and everything below          the same
    drafts/**    everything below drafts              drafts and everything below
    x.md         x.md at any depth                    x.md at any depth, and everything below
    /x.md        x.md at the root of the workspace    the same, and everything below
    .            the root of the workspace            the whole workspace
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

Reading = Literal["literal", "generous"]

LONGEST_GLOB = 4096

_OPERATORS = frozenset(";|&()<>{}`$,\"'\\")

_WILDCARDS = frozenset("*?[")
_SPECIAL = re.compile(r"(?![A-Za-z0-9_])[\x00-\x7f]")
_TOKEN = re.compile(
    r"(?P<stars>\*+)|(?P<any>\?)|\[(?P<negated>[!^]?)(?P<set>\]?[^\]]*)\]|(?P<letter>[A-Za-z0-9_.-]+|.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Dialect:
    """What wildcards mean in one kind of text, as pieces of an expression."""

    one: str
    """What ``?`` matches once, and ``*`` any number of times."""
    across: str
    """What ``**`` matches any number of times."""
    never: str
    """What a negated set never matches."""


_PATH = Dialect(one="[^/]", across="[^/]", never="/")
_TEXT = Dialect(one="[^/]", across=".", never="/")
_NAME = Dialect(one=".", across=".", never="")
_WORD = Dialect(one="[^/\\n]", across="[^\\n]", never="/\\n")


class RuleError(ValueError):
    """A rule, or a pattern in it, that cannot be read."""

    def __init__(self, what: str, mend: str) -> None:
        super().__init__(f"{what}. {mend}.")
        self.what = what
        self.mend = f"{mend}."


@dataclass(frozen=True)
class Expression:
    """A regular expression that is compiled when it is first used."""

    source: str
    generous: bool

    @cached_property
    def _compiled(self) -> Any:
        return _compiled(f"(?{'is' if self.generous else 's'})(?:{self.source})")

    @cached_property
    def _of_lines(self) -> Any:
        return _compiled(f"(?{'im' if self.generous else 'm'})^(?:{self.source})$")

    def may_match_a_line(self, lines: str) -> bool:
        """Say whether one of many texts, each on its own line, may match; False is certain, True is not."""
        try:
            return self._of_lines.search(lines) is not None
        except UnicodeEncodeError:
            return self._of_lines.search(_readable(lines)) is not None

    def matches(self, text: str) -> bool:
        """Say whether the whole text matches; half a surrogate pair is read as a replacement character."""
        try:
            return self._compiled.fullmatch(text) is not None
        except UnicodeEncodeError:
            return self._compiled.fullmatch(_readable(text)) is not None


def _readable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _compiled(source: str) -> Any:
    import re2  # noqa: PLC0415 - rules are read in many commands that never judge

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = 64 << 20  # many rules are joined into one expression
    return re2.compile(source, options)


def path_expression(glob: str, reading: Reading) -> Expression:
    """Translate a path glob; paths are relative to the workspace, without ``.`` and ``..``, the root is empty."""
    generous = reading == "generous"
    steps = _steps(_bounded(glob))
    anchored = glob.startswith("./") or "/" in glob.rstrip("/")
    everything_below = generous or glob.endswith("/")
    only_below = steps[-1:] == ["**"]
    while steps[-1:] == ["**"]:
        steps.pop()
    if not steps:
        return Expression(".*" if everything_below or only_below else "", generous)
    source = "" if anchored else "(?:.*/)?"
    source += "".join(_step(step) for step in steps[:-1]) + _name(steps[-1])
    if everything_below:
        source += "(?:/.*)?"
    elif only_below:
        source += "/.+"
    return Expression(source, generous)


def text_expression(glob: str, reading: Reading) -> Expression:
    """Translate a glob for any other text, such as an address: literally ``*`` stops at a slash, and ``**`` does not."""
    generous = reading == "generous"
    return Expression(_translated(_bounded(glob) if glob else "", _NAME if generous else _TEXT), generous)


@lru_cache(256)
def name_expression(glob: str, reading: Reading) -> Expression:
    """Translate a glob for the name of a tool, in which a slash is a letter like others."""
    return Expression(_translated(_bounded(glob), _NAME), reading == "generous")


def words_expression(glob: str, reading: Reading) -> Expression:
    """Translate a line of word globs for commands given as their words, one to a line, with empty lines between them.

    Generously the words may stand anywhere in one command, and ``nc`` is also ``/usr/bin/nc``; literally they are all
    there is. A word ``**`` is any number of words of one command.
    """
    words = _bounded(glob).split()
    if not words:
        raise RuleError("it names no word of a command", "Write one, such as rm")
    for word in words:
        if not _OPERATORS.isdisjoint(word):
            what = f"{word} holds an operator or a quote, and commands are cut into words there"
            raise RuleError(what, "Write the words on either side of it")
    generous = reading == "generous"
    source = "".join(_word(word, generous=generous) for word in words)
    return Expression(f"(?:.*\\n)?{source}.*" if generous else source, generous)


def word_expression(glob: str) -> Expression:
    """Translate one of these words by itself, read generously."""
    return Expression(_word(glob, generous=True).removesuffix("\\n"), generous=True)


def anywhere(*sources: str) -> Expression:
    """Join expressions into one that matches a text in which any of them is found."""
    return Expression(f".*(?:{'|'.join(sources)}).*", generous=False)


def escaped(text: str) -> str:
    """Return the glob that matches this text and nothing else."""
    return re.sub(r"[*?\[]", r"[\g<0>]", text)


def literal_text(glob: str) -> str | None:
    """Return the one text a glob matches, or None when it has wildcards."""
    text = ""
    for token in _tokens(glob):
        if token["letter"]:
            text += token["letter"]
        elif token["set"] and not token["negated"] and len(token["set"]) == 1:
            text += token["set"]
        else:
            return None
    return text


def _bounded(glob: str) -> str:
    if not glob:
        raise RuleError("a specifier is empty", "Leave out the parentheses to mean every call of the tool")
    if len(glob) > LONGEST_GLOB:
        raise RuleError(
            f"a specifier is longer than {LONGEST_GLOB} characters", "Use wildcards or several patterns"
        )
    try:
        glob.encode()
    except UnicodeEncodeError:
        raise RuleError(
            "a specifier holds half of a surrogate pair, which is not text", "Leave it out"
        ) from None
    return glob


def _steps(glob: str) -> list[str]:
    """Split a path glob into its steps; the root has none."""
    body = glob.removeprefix("./").removeprefix("/").removesuffix("/")
    if body in ("", "."):
        return []
    steps = body.split("/")
    if glob == "~" or glob.startswith("~/"):
        raise RuleError(f"{glob} begins at a home directory", "Patterns begin at the workspace")
    if not {"", ".", ".."}.isdisjoint(steps):
        raise RuleError(
            f"{glob} has an empty, . or .. step, which no path in the workspace has", "Leave it out"
        )
    if any("**" in step and step != "**" for step in steps):
        raise RuleError(f"{glob} has ** inside a name", "Write * there, or ** between slashes")
    return steps


def _step(step: str) -> str:
    return "(?:.*/)?" if step == "**" else f"{_name(step)}/"


def _name(step: str) -> str:
    return "[^/]+" if step == "*" else _translated(step, _PATH)  # a name is never empty


def _word(word: str, *, generous: bool) -> str:
    if word == "**":
        return "(?:[^\\n]+\\n)*"
    directory = "(?:[^\\n]*/)?" if generous and "/" not in word else ""
    return f"{directory}{_translated(word, _WORD)}\\n"


def _translated(glob: str, dialect: Dialect) -> str:
    if _WILDCARDS.isdisjoint(glob):
        return _quoted(glob)
    return "".join(_expression(token, dialect) for token in _tokens(glob))


def _expression(token: re.Match[str], dialect: Dialect) -> str:
    if token["stars"]:
        return f"{dialect.one if token['stars'] == '*' else dialect.across}*"
    if token["any"]:
        return dialect.one
    if token["letter"]:
        return _quoted(token["letter"])
    return _set(token["set"], dialect, negated=bool(token["negated"]))


def _tokens(glob: str) -> Iterator[re.Match[str]]:
    for token in _TOKEN.finditer(glob):
        if token["letter"] == "[":
            raise RuleError(f"{glob} has [ without ]", "Write [[] for the bracket itself")
        if token["set"] == "":
            raise RuleError(f"{glob} has an empty set", "Put letters between [ and ]")
        yield token


def _set(members: str, dialect: Dialect, *, negated: bool) -> str:
    """Translate the inside of ``[…]``; a slash is never a member, whatever a range spans."""
    spans = list(_without_slash(_spans(members)))
    if not spans:
        raise RuleError("it has a set of nothing but slashes", "A slash is matched only by a slash or by **")
    inside = "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in spans)
    # Case folding would take letters out of a negated set, and a generous reading must never match less.
    return f"(?-i:[^{dialect.never}{inside}])" if negated else f"[{inside}]"


def _spans(members: str) -> Iterator[tuple[int, int]]:
    index = 0
    while index < len(members):
        low = high = members[index]
        if members[index + 1 : index + 2] == "-" and index + 2 < len(members):
            high = members[index + 2]
            index += 2
        index += 1
        if low > high:
            raise RuleError(f"[{members}] has the range {low}-{high}, which runs backwards", "Turn it round")
        yield ord(low), ord(high)


def _without_slash(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    slash = ord("/")
    for low, high in spans:
        if low < slash:
            yield low, min(high, slash - 1)
        if high > slash:
            yield max(low, slash + 1), high


def _quoted(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\x{{{ord(found[0]):x}}}", text)
