"""Carrying: workspace files as they travel with a task, a question or a result, within a budget of tokens."""

from collections.abc import Callable, Sequence

from brasstag.documents.examining import READ_AT_ONCE, Examined, examine
from brasstag.documents.extracts import extract
from brasstag.documents.kinds import PICTURES
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.paths import parse_path
from brasstag.words.documents import Carried

Keep = Callable[[bytes], str]
"""Puts bytes where they are found again under their digest, which it returns."""

LEAST_SUMMARY = 40
"""Tokens that every text which does not travel whole gets, whatever the budget."""
MOST_SUMMARY = 1_500


def carry(draft: Draft, paths: Sequence[str], budget_tokens: int, keep: Keep) -> tuple[Carried, ...]:
    """Return files as whoever receives them finds them: the small ones whole, of the rest what the budget leaves room for.

    Each path is carried once, in the order given. Raises ToolError that names the first one which is missing, no file,
    or not readable; nothing is kept then.
    """
    found = [examine(draft, path) for path in dict.fromkeys(map(parse_path, paths))]
    whole, share = _shared(found, budget_tokens)
    return tuple(
        _whole(draft, one, keep) if one.path in whole else _in_part(one, share, budget_tokens)
        for one in found
    )


def _shared(found: Sequence[Examined], budget: int) -> tuple[frozenset[str], int]:
    """Return the paths that travel whole, smallest first, and how many tokens each of the others gets."""
    candidates = sorted((one for one in found if one.is_text or one.is_picture), key=lambda one: one.tokens)
    whole: set[str] = set()
    left = budget
    reserved = LEAST_SUMMARY * sum(one.tokens > LEAST_SUMMARY for one in candidates)
    for one in candidates:
        if one.tokens > LEAST_SUMMARY:
            reserved -= LEAST_SUMMARY
            if one.size > READ_AT_ONCE or one.tokens + reserved > left:
                break
        # What is no longer than a summary of it is never summarised.
        whole.add(one.path)
        left -= one.tokens
    others = len(candidates) - len(whole)
    share = left // others if others else 0
    return frozenset(whole), min(MOST_SUMMARY, max(LEAST_SUMMARY, share))


def _whole(draft: Draft, one: Examined, keep: Keep) -> Carried:
    # The draft refuses a file that is not as it was when it was examined.
    data = draft.read_bytes(one.path, READ_AT_ONCE)
    if one.is_picture:
        keep(data)
        return _carried(one, image=True)
    return _carried(one, data.decode("utf-8-sig"))


def _in_part(one: Examined, share: int, budget: int) -> Carried:
    if one.is_text:
        # What may travel at once may also be loaded at once.
        text, how = extract(one, share, budget)
    elif one.is_picture:
        text, how = "A picture that the budget left no room for.", "hand it over with fewer documents"
    elif one.media_type in PICTURES:
        text, how = "A picture that is too large to be shown.", "make it smaller, then hand it over again"
    else:
        text, how = "Data that is not text.", f"use a tool that reads {one.media_type}"
    return _carried(one, text, how)


def _carried(one: Examined, text: str = "", how: str = "", *, image: bool = False) -> Carried:
    return Carried(
        one.path,
        one.media_type,
        one.size,
        one.digest,
        one.tokens,
        text,
        complete=not how,
        how=how,
        image=image,
    )
