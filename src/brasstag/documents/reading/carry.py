"""Workspace files that travel with a task, a question or a result, within a budget of tokens."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from brasstag.documents.blocks.render import as_markdown
from brasstag.documents.formats.convert import Converted, NotConverted
from brasstag.documents.formats.kinds import CONVERTED, PICTURES
from brasstag.documents.formats.text import decoded
from brasstag.documents.reading.examine import READ_AT_ONCE, Examined, examine
from brasstag.documents.reading.extract import extract, how_to_load
from brasstag.documents.study.study import ContentToRead, Study
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.paths import parse_path
from brasstag.words.documents import Carried
from brasstag.words.errors import Code, ToolError

Keep = Callable[[bytes], str]
"""Puts bytes where they are found again under their digest, which it returns."""

LEAST_SUMMARY = 40
"""Tokens that every text which does not travel whole gets, whatever the budget."""
MOST_SUMMARY = 1_500

PATIENCE = 5.0
"""Seconds that one document may take to be converted before it travels."""
MOST_SECONDS = 15.0
"""Seconds for all of them, where the caller does not say."""
LARGEST_CONVERTED = 64_000_000
"""Bytes of the largest document that is converted before it travels."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """What is known of the agent that gets the documents."""

    budget: int
    """About how many tokens of documents it takes."""
    loads: bool = False
    """Whether it may read on with load_to_context."""
    role: str = ""
    """The role it reads them in; empty where it is a person."""


def carry(
    draft: Draft,
    paths: Sequence[str],
    receiver: Receiver,
    keep: Keep,
    study: Study | None = None,
    seconds: float = MOST_SECONDS,
) -> tuple[Carried, ...]:
    """Return files in the form in which the receiver gets them.

    Small files are given whole. Of each other file, as much is given as the budget leaves room for.

    Each path is carried once, in the order given; what a model can read only as something else is converted by ``study``,
    as far as there is time. Raises ToolError that names the first one which is missing, no file, or not readable; nothing
    is kept then.
    """
    found = [examine(draft, path) for path in dict.fromkeys(map(parse_path, paths))]
    if study is not None:
        found = list(_converted(draft, found, study, time.monotonic() + seconds))
    whole, share = _shared(found, receiver.budget)
    return tuple(
        _whole(draft, one, keep) if one.path in whole else _in_part(one, share, receiver) for one in found
    )


def _converted(draft: Draft, found: Sequence[Examined], study: Study, end: float) -> Iterator[Examined]:
    for one in found:
        if one.media_type not in CONVERTED:
            yield one
        elif one.size > LARGEST_CONVERTED:
            yield replace(
                one, failure=f"It has {one.size:,} bytes and is not converted yet.", is_waiting=True
            )
        else:
            kept = draft.keep(one.path)
            if kept.digest != one.digest:
                raise ToolError(Code.CHANGED, f"{one.path} changed while it was being read; call again")
            seconds = max(0.0, min(PATIENCE, end - time.monotonic()))
            (answer,) = study.blocks_of([ContentToRead(one.digest, one.media_type, one.path)], seconds)
            yield _with(one, answer)


def _with(one: Examined, answer: Converted) -> Examined:
    if isinstance(answer, NotConverted):
        if answer.code is Code.CANCELLED:
            return replace(one, failure="It is not converted yet.", is_waiting=True)
        return replace(one, failure=f"It could not be converted: {answer.code}: {answer.reason}")
    notes = "".join(f"\n({note})\n" for note in answer.notes)
    return one.converted(answer, as_markdown(answer) + notes)


def _shared(found: Sequence[Examined], budget: int) -> tuple[frozenset[str], int]:
    """Return the paths that travel whole, smallest first, and how many tokens each of the others gets."""
    candidates = sorted((one for one in found if one.is_readable), key=lambda one: one.weight)
    whole: set[str] = set()
    left = budget
    reserved = LEAST_SUMMARY * sum(one.weight > LEAST_SUMMARY for one in candidates)
    for one in candidates:
        if one.weight > LEAST_SUMMARY:
            reserved -= LEAST_SUMMARY
            if (one.is_text and one.size > READ_AT_ONCE) or one.weight + reserved > left:
                break
        # What is no longer than a summary of it is never summarised.
        whole.add(one.path)
        left -= one.weight
    others = len(candidates) - len(whole)
    share = left // others if others else 0
    return frozenset(whole), min(MOST_SUMMARY, max(LEAST_SUMMARY, share))


def _whole(draft: Draft, one: Examined, keep: Keep) -> Carried:
    if one.blocks is not None:
        return _carried(one, one.markdown)
    # The draft refuses a file that is not as it was when it was examined.
    data = draft.read_bytes(one.path, READ_AT_ONCE)
    if one.is_picture:
        keep(data)
        return _carried(one, image=True)
    return _carried(one, decoded(data) or "")


def _in_part(one: Examined, share: int, receiver: Receiver) -> Carried:
    if one.is_text or one.blocks is not None:
        # What may travel at once may also be loaded at once.
        text, how = extract(one, share, receiver.budget, loads=receiver.loads)
    elif one.is_picture:
        text, how = "A picture that the budget left no room for.", "hand it over with fewer documents"
    elif one.media_type in PICTURES:
        text, how = "A picture that is too large to be shown.", "make it smaller, then hand it over again"
    elif one.is_waiting:
        text, how = one.failure, how_to_load(one, receiver.budget, loads=receiver.loads)
    else:
        text, how = one.failure or "Data that is not text.", f"use a tool that reads {one.media_type}"
    return _carried(one, text, how)


def _carried(one: Examined, text: str = "", how: str = "", *, image: bool = False) -> Carried:
    return Carried(
        one.path,
        one.media_type,
        one.size,
        one.digest,
        one.tokens.tokens,
        text,
        complete=not how,
        how=how,
        image=image,
        tokenizer=one.tokens.tokenizer,
        note=one.note,
    )
