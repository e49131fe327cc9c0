"""Characters that a reader cannot see, or takes for others: where they stand, and where they are innocent."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from brasstag.catalog.screen.automaton import occurs

_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_OVERRIDES = "\u202d\u202e"
_EMBEDDINGS = "\u202a\u202b\u202c\u2066-\u2069"
_BIDI_MARKS = "\u200e\u200f\u061c"
_ZERO_WIDTH = (
    "\u00ad\u034f\u180b-\u180e\u200b-\u200d\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\U0001d173-\U0001d17a"
)
_FILLERS = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_CONTROLS = "\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010fffd"

_UNSEEN = f"{_TAGS}{_SELECTORS}{_OVERRIDES}{_EMBEDDINGS}{_BIDI_MARKS}{_ZERO_WIDTH}{_FILLERS}{_PRIVATE}"
_SUSPECT = re.compile(f"[{_UNSEEN}{_CONTROLS}]+")
_KIND = re.compile(
    f"(?P<tags>[{_TAGS}]+)|(?P<selectors>[{_SELECTORS}]+\u200d?)|(?P<overrides>[{_OVERRIDES}]+)"
    f"|(?P<embeddings>[{_EMBEDDINGS}]+)|(?P<marks>[{_BIDI_MARKS}]+)|(?P<zero_width>[{_ZERO_WIDTH}]+)"
    f"|(?P<fillers>[{_FILLERS}]+)|(?P<controls>[{_CONTROLS}]+)|(?P<private>[{_PRIVATE}]+)"
)
_STACKED = re.compile("[\u0300-\u036f\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{4,}")
_CYRILLIC = "а-яА-ЯёЁѕЅіІјЈԁԛԝһ"
_MIXED = re.compile(f"[a-zA-Z][{_CYRILLIC}]|[{_CYRILLIC}][a-zA-Z]|[a-zA-Z][ονρικαυχετη](?=[a-zA-Z])")
_MAY_BE_SUSPECT = f"[{_UNSEEN}\\x00-\\x08\\x0b\\x0e-\\x1f\\x7f-\\x84\\x{{86}}-\\x{{9f}}]"
_MAY_BE_STACKED = r"\pM{4}"
_MAY_BE_MIXED = r"[a-zA-Z][\p{Greek}\p{Cyrillic}]|\p{Cyrillic}[a-zA-Z]"
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_FLAG = "\U0001f3f4"
_END_OF_FLAG = "\U000e007f"
_LONGEST_FLAG = 7
_DATA_RUN = 8
_JOINER = "\u200d"
_IDEOGRAPHS = (("\u3400", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"))
_JOINING = (("\u0600", "\u109f"), ("\u1780", "\u18af"), ("\ufb50", "\ufefe"), ("\ua840", "\uabff"))
_UNSPACED = (("\u0e00", "\u109f"), ("\u1780", "\u17ff"), ("\u2e80", "\u9fff"), ("\uff00", "\uffef"))
_PICTURES = (("\u2190", "\u2bff"), ("\U0001f000", "\U0001faff"), ("\u3030", "\u303d"), ("\ufe0f", "\ufe0f"))
_HANGUL = (("\u1100", "\u11ff"), ("\u3130", "\u318f"), ("\ua960", "\ua97f"), ("\uac00", "\ud7ff"))


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of suspect characters of one kind, with its neighbours; these are empty at the ends of the text."""

    letters: str
    before: str
    after: str
    has_right_to_left: bool


def suspect_characters(text: str, most: int) -> Iterator[tuple[str, int, int]]:
    """Yield the pattern, the start and the end of runs of characters that are not innocent, the first of each pattern."""
    data = text.encode(errors="replace")
    if occurs(_MAY_BE_SUSPECT, data) or _HALF_A_PAIR.search(text):
        yield from _unseen(text, most)
    for pattern, may_occur, expression in _SEEN:
        if occurs(may_occur, data):
            yield from ((pattern, *found.span()) for found in islice(expression.finditer(text), most))


def _unseen(text: str, most: int) -> Iterator[tuple[str, int, int]]:
    has_right_to_left = _RIGHT_TO_LEFT.search(text) is not None
    counts: Counter[str] = Counter()
    for start, end, kind in _runs(text):
        if counts[_STRICTEST[kind]] == most:
            continue
        before = text[start - 1] if start else ""
        pattern = _judged(kind, text[start:end], before, text[end : end + 1], has_right_to_left)
        if pattern is not None and counts[pattern] < most:
            counts[pattern] += 1
            yield pattern, start, end


def _runs(text: str) -> Iterator[tuple[int, int, str]]:
    for found in _SUSPECT.finditer(text):
        start, end = found.span()
        if end - start == 1:
            yield start, end, _kind(found[0])
            continue
        for part in _KIND.finditer(text, start, end):
            yield part.start(), part.end(), part.lastgroup or ""


@lru_cache(maxsize=1024)
def _kind(letter: str) -> str:
    found = _KIND.match(letter)
    return (found and found.lastgroup) or ""


@lru_cache(maxsize=4096)
def _judged(kind: str, letters: str, before: str, after: str, has_right_to_left: bool) -> str | None:
    return _JUDGES[kind](_Run(letters, before, after, has_right_to_left))


def _within(letter: str, blocks: tuple[tuple[str, str], ...]) -> bool:
    return any(first <= letter <= last for first, last in blocks)


def _tags(run: _Run) -> str | None:
    is_flag = run.before == _FLAG and run.letters.endswith(_END_OF_FLAG) and len(run.letters) <= _LONGEST_FLAG
    return None if is_flag else "tag_characters"


def _selectors(run: _Run) -> str | None:
    selectors = run.letters.rstrip(_JOINER)
    if len(selectors) > 1:
        return "variation_data"
    if selectors > "\uffff":
        return None if _within(run.before, _IDEOGRAPHS) else "variation_data"
    if run.letters.endswith(_JOINER) and not _within(run.after, _PICTURES):
        return "zero_width"
    is_plain_letter = (
        not run.before or run.before.isspace() or (run.before.isascii() and run.before.isalpha())
    )
    return "variation_stray" if is_plain_letter else None


def _embeddings(run: _Run) -> str:
    return "bidi_control_weak" if run.has_right_to_left else "bidi_control"


def _bidi_marks(run: _Run) -> str | None:
    return None if run.has_right_to_left else "bidi_control_weak"


def _zero_width(run: _Run) -> str | None:
    if len(run.letters) >= _DATA_RUN:
        return "zero_width_data"
    if _is_innocent(run):
        return None
    return "zero_width_in_word" if run.before.isalnum() and run.after.isalnum() else "zero_width"


def _is_innocent(run: _Run) -> bool:
    match run.letters:
        case "\u00ad":
            return run.before.isalpha() and run.after.isalpha()
        case "\ufeff":
            return not run.before
        case "\u200b":
            return _within(run.before, _UNSPACED) or _within(run.after, _UNSPACED)
        case "\u200d" if _within(run.before, _PICTURES):
            return _within(run.after, _PICTURES)
        case "\u200c" | "\u200d" | "\u180b" | "\u180c" | "\u180d" | "\u180e":
            return _within(run.before, _JOINING)
    return False


def _fillers(run: _Run) -> str | None:
    is_script = any(_within(one, _HANGUL) or _within(one, _JOINING) for one in (run.before, run.after))
    is_braille = any("\u2801" <= one <= "\u28ff" for one in (run.before, run.after))
    return None if is_script or is_braille else "invisible_filler"


def _always(pattern: str) -> Callable[[_Run], str | None]:
    return lambda _run: pattern


_JUDGES: dict[str, Callable[[_Run], str | None]] = {
    "tags": _tags,
    "selectors": _selectors,
    "overrides": _always("bidi_override"),
    "embeddings": _embeddings,
    "marks": _bidi_marks,
    "zero_width": _zero_width,
    "fillers": _fillers,
    "controls": _always("control_character"),
    "private": _always("private_use"),
}

_STRICTEST = {
    "tags": "tag_characters",
    "selectors": "variation_data",
    "overrides": "bidi_override",
    "embeddings": "bidi_control",
    "marks": "bidi_control_weak",
    "zero_width": "zero_width_in_word",
    "fillers": "invisible_filler",
    "controls": "control_character",
    "private": "private_use",
}
"""When enough of these were found, more characters of the kind cannot make it worse."""

_SEEN = (
    ("stacked_marks", _MAY_BE_STACKED, _STACKED),
    ("mixed_scripts", _MAY_BE_MIXED, _MIXED),
)
"""Patterns of characters that are seen, with a quick look that says where they cannot be."""
