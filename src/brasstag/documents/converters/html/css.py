"""What the styles of a page hide, in style sheets and in tags, as far as it shows without a browser.

A selector is understood that is a tag, classes and an id, or some of these (``p``, ``.ad``, ``#menu``, ``p.ad.old``). What
any other one would hide, such as ``.a .b`` or ``.a:hover``, or a rule for screens of some sizes only, is seen; and so is an
element that such a rule may show again.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple

MOST_CHARACTERS = 500_000
"""Of all style sheets of a page together."""
MOST_RULES = 5_000
MOST_COMPARED = 500_000
"""How often a rule is compared with an element."""

# Style text in comments and in elements such as script and template is not a style sheet of the page.
_SHEET = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|noscript|template|textarea|title)\b.*?(?:</\1|\Z)"
    r"|<style\b(?P<given>[^<>]*)>(?P<sheet>.*?)(?:</style|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_GIVEN = re.compile(r"""\b(media|type)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))""", re.IGNORECASE)
_PIECE = re.compile(
    r"""(?P<aside>/\*.*?(?:\*/|\Z)|<!--|-->)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[{};]|[^{};"'/<]+|.""",
    re.DOTALL,
)
_PROPERTY = re.compile(r"(?:^|;)\s*(display|visibility)\s*:\s*([a-z-]+)\s*(!\s*important)?", re.IGNORECASE)
_HIDING = frozenset({("display", "none"), ("visibility", "hidden"), ("visibility", "collapse")})

_NAME = r"(?:[\w-]|\\.)+"
_PART = re.compile(rf"([.#]?)({_NAME})")
_SIMPLE = re.compile(rf"(?:{_NAME}|\*)?(?:[.#]{_NAME})*")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^][]*\]")
_STATE = re.compile(rf"(?<!\\):{_NAME}")
# Where words of a sheet itself would stand, and not the element.
_BESIDE = re.compile(r"(?<!\\):(?::|(?:before|after|first-line|first-letter)\b)", re.IGNORECASE)
_COMBINED = re.compile(r"[\s>+~]+")

_NO, _PERHAPS, _YES = range(3)
"""Whether a rule applies to a reader who sees the page on a screen."""
_AT_RULE = re.compile(r"@[\w-]+")
_VENDOR = re.compile(r"(?<=^@)-[a-z]+-")
# They hold no selectors; of what any other one holds, some may be heard.
_WITHOUT_SELECTORS = frozenset(
    {
        "@color-profile", "@counter-style", "@font-face", "@font-feature-values", "@font-palette-values", "@keyframes",
        "@page", "@position-try", "@property", "@view-transition", "@viewport",
    }
)  # fmt: skip
_NO_SCREENS = frozenset({"print", "speech", "aural", "braille", "embossed", "tty"})

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
"""In a style; one that is never closed ends with it."""

Weight = tuple[bool, bool, int, int, int, int]
"""Which of two rules wins: an important one, then the element's own, then the more specific one, then the later."""


class StyleVisibility(Enum):
    """What the styles say of an element."""

    GONE = auto()
    """The element is not seen, and nothing in it is seen."""
    VEILED = auto()
    """The element is not seen; elements in it may be shown again."""
    SHOWN = auto()
    """It may be seen also in what is veiled."""
    UNSAID = auto()
    """The element is seen where its parent is seen."""


class _StyleRule(NamedTuple):
    """What one selector says of one property."""

    parts: frozenset[str]
    """What an element has to have: ``p``, ``.class``, ``#id``."""
    name: str
    hides: bool
    weight: Weight


class _Selector(NamedTuple):
    parts: frozenset[str]
    is_simple: bool
    exactness: tuple[int, int, int]


class Sheets:
    """The style sheets of one page."""

    def __init__(self, page: str) -> None:
        self._rules: defaultdict[str, list[_StyleRule]] = defaultdict(list)
        self._count = 0
        self._compared = 0
        self.fall_short = False
        """Whether there was more of them than is read, or than is held against all elements."""
        left = MOST_CHARACTERS
        for found in _SHEET.finditer(page):
            sheet = found["sheet"] or ""
            self._read(sheet[:left], _holds_for(found["given"] or ""))
            self.fall_short = self.fall_short or len(sheet) > left
            left = max(0, left - len(sheet))

    def visibility(self, tag: str, given: Mapping[str, str | None]) -> StyleVisibility:
        """Say how an element is seen by its own style and by the rules that apply to it."""
        winning: dict[str, _StyleRule] = {}
        for rule in (*_own(given), *self._met_by(_parts_of(tag, given) if self._rules else set())):
            if rule.name not in winning or rule.weight > winning[rule.name].weight:
                winning[rule.name] = rule
        display, visibility = winning.get("display"), winning.get("visibility")
        if display and display.hides:
            return StyleVisibility.GONE
        if visibility:
            return StyleVisibility.VEILED if visibility.hides else StyleVisibility.SHOWN
        # What shows it may not have been looked at.
        return StyleVisibility.SHOWN if self._compared > MOST_COMPARED else StyleVisibility.UNSAID

    def _met_by(self, has: set[str]) -> list[_StyleRule]:
        met: list[_StyleRule] = []
        for part in has:
            for rule in self._rules.get(part, ()):
                self._compared += 1
                if self._compared > MOST_COMPARED:
                    # Of some rules only, one that hides could be heard and the one that shows again not.
                    self.fall_short = True
                    return []
                if rule.parts <= has:
                    met.append(rule)
        return met

    def _read(self, sheet: str, holds: int) -> None:
        for prelude, said, how in _rules_of(sheet, holds):
            told = list(_told(said))
            for selector in _selectors(prelude) if told else ():
                for name, hides, is_important in told:
                    self._add(selector, name, hides, is_important, how)

    def _add(self, selector: _Selector, name: str, hides: bool, is_important: bool, holds: int) -> None:
        if hides and not (selector.is_simple and holds == _YES):
            return
        self._count += 1
        if self._count > MOST_RULES:
            self.fall_short = True
            return
        # By the part that the fewest elements have: of tags, classes and ids the last in this order.
        rarest = max(selector.parts, key=lambda part: (part[0] == "#", part[0] == ".", part))
        weight = (is_important, False, *selector.exactness, self._count)
        self._rules[rarest].append(_StyleRule(selector.parts, name, hides, weight))


def _told(said: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield what is set, whether that hides, and whether it is important."""
    for name, value, last in _PROPERTY.findall(said):
        yield name.lower(), (name.lower(), value.lower()) in _HIDING, bool(last)


def _own(given: Mapping[str, str | None]) -> Iterator[_StyleRule]:
    """Yield what the tag of an element says by itself."""
    if style := given.get("style"):
        for place, (name, hides, is_important) in enumerate(_told(COMMENT.sub("", style))):
            yield _StyleRule(frozenset(), name, hides, (is_important, True, 0, 0, 0, place))


def _parts_of(tag: str, given: Mapping[str, str | None]) -> set[str]:
    """Return what a selector can name of an element."""
    parts = {"*", tag, *(f".{name}" for name in (given.get("class") or "").split())}
    if name := given.get("id"):
        parts.add(f"#{name}")
    return parts


def _holds_for(given: str) -> int:
    found = {name.lower(): "".join(values) for name, *values in _GIVEN.findall(given)}
    return _screens(found.get("media", "")) if found.get("type", "text/css").lower() == "text/css" else _NO


def _screens(query: str) -> int:
    """Say whether what holds for some media holds for screens."""
    parts = [part.strip().lower().removeprefix("only ") for part in query.split(",")]
    if any(part in ("", "all", "screen") for part in parts):
        return _YES
    return _NO if all(part.split()[0] in _NO_SCREENS for part in parts) else _PERHAPS


class _Open:
    """Something in braces, as far as it has been read."""

    def __init__(self, prelude: str, holds: int, *, is_rule: bool) -> None:
        self.prelude = prelude
        self.holds = holds
        self.is_rule = is_rule
        self.said: list[str] = []


def _rules_of(sheet: str, holds: int) -> Iterator[tuple[str, str, int]]:
    """Yield selectors, what is said of them, and whether that holds."""
    stack = [_Open("", holds, is_rule=False)]
    for found in _PIECE.finditer(sheet):
        piece, here = found[0], stack[-1]
        if piece == "{":
            stack.append(_opened(here))
        elif piece == "}":
            yield from _closed(stack)
        elif piece == ";" and not here.is_rule:
            here.said.clear()
        elif not found["aside"]:
            here.said.append(piece)
    # What is still open at the end is closed there.
    while len(stack) > 1:
        yield from _closed(stack)


def _opened(here: _Open) -> _Open:
    prelude = "".join(here.said).strip()
    if here.is_rule:
        # What rules in a rule are about cannot be told, and they may undo what it says.
        here.said.append(";")
        here.holds = min(here.holds, _PERHAPS)
        return _Open("", _NO, is_rule=True)
    here.said.clear()
    if not prelude.startswith("@"):
        return _Open(prelude, here.holds, is_rule=True)
    found = _AT_RULE.match(prelude)
    name = found[0].lower() if found else ""
    holds = _screens(prelude.removeprefix(found[0])) if found and name == "@media" else _PERHAPS
    if _VENDOR.sub("", name) in _WITHOUT_SELECTORS:
        holds = _NO
    return _Open("", min(here.holds, holds), is_rule=False)


def _closed(stack: list[_Open]) -> Iterator[tuple[str, str, int]]:
    if len(stack) > 1:
        ended = stack.pop()
        if ended.is_rule and ended.holds != _NO:
            yield ended.prelude, "".join(ended.said), ended.holds


def _selectors(prelude: str) -> Iterator[_Selector]:
    # In brackets there may be commas and spaces, which mean something else; one may lie in another.
    for _ in range(3):
        prelude = _BRACKETS.sub(":x", prelude)
    for one in map(str.strip, prelude.split(",")):
        last = _COMBINED.split(one)[-1]
        subject = _STATE.sub("", last)
        if not last or _BESIDE.search(last) or not _SIMPLE.fullmatch(subject):
            continue
        signs = [sign or "*" for sign, _ in _PART.findall(_STATE.sub(".x", one))]
        yield _Selector(
            frozenset(map(_part, _PART.findall(subject))) or frozenset({"*"}),
            subject == one,
            (signs.count("#"), signs.count("."), signs.count("*")),
        )


def _part(found: tuple[str, str]) -> str:
    sign, name = found
    name = re.sub(r"\\(.)", r"\1", name)
    return f"{sign}{name}" if sign else name.lower()
