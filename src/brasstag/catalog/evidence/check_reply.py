"""Check a reply against what its task has seen and done; an empty list means that its evidence holds."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import re2

from brasstag.catalog.evidence.items import (
    CitedCall,
    Evidence,
    EvidenceFacts,
    EvidenceFault,
    EvidenceProblem,
    LineRef,
    NotSeen,
    Quote,
    ScopeScan,
    SeenText,
)
from brasstag.catalog.evidence.quote_text import FoldedLines, lines_with, stands_in_line
from brasstag.catalog.evidence.read_items import HOW_TO_WRITE, TAGS, ReadReply, read_items
from brasstag.catalog.evidence.tool_claims import claimed_tool_use

MOST_PROBLEMS = 20
"""How many problems of one reply are told."""
ABSENCE = "FILE_NOT_FOUND"
"""The one failure that is evidence itself: nothing is there."""

_FILE_WITH_LINE = re2.compile(r"[\pL\pN_./-]+\.[A-Za-z0-9]{1,8}:[0-9]+")
_LABELLED = re2.compile(
    r"^\s*(?:[-*]\s*)?(?:FINDING|ERROR|VERDICT|CONTRADICTION|RESULT|TOTAL|ISSUE)\b|\|.*\|"
)
"""Lines in which prompt tools report: a label in capitals, or a row with columns."""
_LONG_QUOTATION = re2.compile('["“„«「](?:[^"”“»」\\s]+\\s+){4,}[^"”“»」]+["”“»」]')


def check_reply(reply: Any, facts: EvidenceFacts) -> list[EvidenceProblem]:
    """Return what has to be mended in a reply before it counts, in the order of its lines."""
    read = read_items(reply)
    citations = _Citations(facts)
    found = chain(
        read.problems,
        _whole(read),
        _unproven_claims(read, facts),
        chain.from_iterable(_item(item, facts, citations) for item in read.items),
        _named_tags(read, facts),
    )
    # Where a quote does stand takes a look at every line, so no more is looked for than is told.
    return sorted(
        islice(dict.fromkeys(islice(found, 2 * MOST_PROBLEMS)), MOST_PROBLEMS), key=lambda one: one.line
    )


def _whole(read: ReadReply) -> Iterator[EvidenceProblem]:
    if read.no_claims is None:
        if not read.items and not read.problems:
            forms = "; ".join(HOW_TO_WRITE.values())
            says = f"the reply has no evidence; add at least one of these, on a line of its own: {forms}"
            yield EvidenceProblem(EvidenceFault.NO_EVIDENCE, 0, says)
        return
    after_all = "the reply says NO_CLAIMS, and {}; prove it instead of NO_CLAIMS, or leave it out"
    for item in read.items:
        yield EvidenceProblem(EvidenceFault.CLAIMS_AFTER_ALL, item.at, after_all.format("gives evidence"))
    if sum(len(line.split()) for line in read.prose) > MOST_WORDS_WITHOUT_CLAIMS:
        says = f"has more than {MOST_WORDS_WITHOUT_CLAIMS} words"
        yield EvidenceProblem(EvidenceFault.CLAIMS_AFTER_ALL, 0, after_all.format(says))
    for number, line in enumerate(read.prose, start=1):
        for what, pattern in _CLAIMS.items():
            if pattern.search(line):
                yield EvidenceProblem(EvidenceFault.CLAIMS_AFTER_ALL, number, after_all.format(what))


MOST_WORDS_WITHOUT_CLAIMS = 80
"""A longer reply says something about the work, and has to prove it."""
_CLAIMS = {
    "reports a finding": _LABELLED,
    "cites a line": _FILE_WITH_LINE,
    "quotes": _LONG_QUOTATION,
    "names a tag": TAGS,
}


def _unproven_claims(read: ReadReply, facts: EvidenceFacts) -> Iterator[EvidenceProblem]:
    for claim in claimed_tool_use("\n".join(read.prose), facts.tools):
        says = f'"{claim.words}" claims the use of a tool; put the tag of the call into the same line, or leave it out'
        yield EvidenceProblem(EvidenceFault.NO_RECEIPT, claim.line, says)


def _named_tags(read: ReadReply, facts: EvidenceFacts) -> Iterator[EvidenceProblem]:
    """Yield tags in the prose that no call has; what a known one proves there is for the reader to say."""
    for number, line in enumerate(read.prose, start=1):
        for tag in TAGS.findall(line):
            if facts.call_behind(tag) is None:
                yield _unknown_tag(tag, number)


def _item(item: Evidence, facts: EvidenceFacts, citations: "_Citations") -> Iterator[EvidenceProblem]:
    match item:
        case ScopeScan(tags=tags):
            for tag in tags:
                yield from _receipt(tag, item.at, facts, absence=True)
        case Quote() | LineRef():
            wrong = list(_receipt(item.tag, item.at, facts)) if item.tag else []
            yield from wrong or citations.check(item)


def _receipt(tag: str, at: int, facts: EvidenceFacts, *, absence: bool = False) -> Iterator[EvidenceProblem]:
    call = facts.call_behind(tag)
    if call is None:
        yield _unknown_tag(tag, at)
    elif call.removed:
        says = f"what {tag} recorded was removed by a person, so it proves nothing; cite another call"
        yield EvidenceProblem(EvidenceFault.TAG_REMOVED, at, says)
    elif why := _why_not(call, absence=absence):
        says = f"{tag} proves nothing: {why}; cite a call that looked and succeeded"
        yield EvidenceProblem(EvidenceFault.TAG_PROVES_NOTHING, at, says)


def _why_not(call: CitedCall, *, absence: bool) -> str:
    if not call.outcome:
        return f"it is not the end of the call of {call.tool or 'a tool'}"
    if call.outcome != "done" and not (absence and call.code == ABSENCE):
        return f"the call of {call.tool} ended as {call.code or call.outcome}"
    if absence and call.found:
        return f"the call of {call.tool} did find something, in {call.found} places"
    return "" if call.looks else f"{call.tool} looks at nothing"


def _unknown_tag(tag: str, at: int) -> EvidenceProblem:
    says = f"{tag} is no call of this task, or of one below it; cite the tag that a result names"
    return EvidenceProblem(EvidenceFault.UNKNOWN_TAG, at, says)


class _Citations:
    """Checks quotes and lines; each version of a file is looked up once."""

    def __init__(self, facts: EvidenceFacts) -> None:
        self._facts = facts
        self._seen: dict[tuple[str, str], SeenText | NotSeen] = {}
        self._folded: dict[tuple[str, str], FoldedLines] = {}

    def check(self, item: Quote | LineRef) -> Iterator[EvidenceProblem]:
        """Yield what is wrong with a citation."""
        version = item.path, item.tag
        if version not in self._seen:
            self._seen[version] = self._facts.seen_text(*version)
        seen = self._seen[version]
        if isinstance(seen, NotSeen):
            yield EvidenceProblem(seen.fault, item.at, seen.says)
            return
        yield from _missing_lines(item, seen)
        if isinstance(item, Quote) and item.line in seen.lines:
            yield from _misquoted(item, self._folded.setdefault(version, FoldedLines(seen.lines)))


def _missing_lines(item: Quote | LineRef, seen: SeenText) -> Iterator[EvidenceProblem]:
    first, last = (item.line, item.line) if isinstance(item, Quote) else (item.first, item.last)
    missing = next((number for number in range(first, last + 1) if number not in seen.lines), None)
    if missing is None:
        return
    if seen.whole:
        says = f"{item.path} has no line {missing}: the version you saw has {len(seen.lines)} lines"
        yield EvidenceProblem(EvidenceFault.NO_SUCH_LINE, item.at, says)
    else:
        says = f"{item.tag} did not show line {missing} of {item.path}; read it, and cite that call"
        yield EvidenceProblem(EvidenceFault.NOT_SEEN, item.at, says)


def _misquoted(item: Quote, lines: FoldedLines) -> Iterator[EvidenceProblem]:
    if stands_in_line(item.text, lines, item.line):
        return
    found = lines_with(item.text, lines)
    numbers = " and ".join(map(str, found))
    where = f"line {numbers} does" if len(found) == 1 else f"lines {numbers} do"
    mend = where if found else "no line you saw of it does. Copy the words exactly, whole words only"
    says = f"{item.path}:{item.line} does not hold this text; {mend}"
    yield EvidenceProblem(EvidenceFault.NOT_IN_LINE, item.at, says)
