"""Filters of documents as typed, those that match nothing, and what was probably meant."""

import asyncio
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from brasstag.app import Room
    from brasstag.documents import Filter

_MOST_NAMED = 5


def closed(glob: str) -> str:
    """Return a glob whose sets are closed; a set without its closing bracket is a bad option."""
    from brasstag.documents import why_no_glob

    if reason := why_no_glob(glob):
        raise typer.BadParameter(reason)
    return glob


def filter_of(
    glob: str = "",
    tags: list[str] | None = None,
    mime_type: str = "",
    creator: str = "",
    task: str = "",
    changed_after: str = "",
    changed_before: str = "",
) -> "Filter":
    """Return what was asked for; a time without a zone is local, and one that cannot be read is a bad option."""
    from brasstag.documents import Filter
    from brasstag.words.times import read_moment

    try:
        after, before = (
            read_moment(given, local=True) if given else "" for given in (changed_after, changed_before)
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return Filter(glob, tuple(tags or ()), mime_type, creator, task, after, before)


async def with_whole_id(room: "Room", asked: "Filter") -> "Filter":
    """Return the filter with the whole id of its task, as people may type only its end; raise ToolError for no task."""
    from dataclasses import replace

    if not asked.task:
        return asked
    return replace(asked, task=(await room.task(asked.task)).id)


async def unfit(room: "Room", asked: "Filter") -> list[str]:
    """Name each filter that no document fits, and what might have been meant."""
    if not any((asked.mime_type, asked.tags, asked.creator, asked.task, asked.glob)):
        return []
    # There may be a hundred thousand rows to look through.
    return await asyncio.to_thread(_unfit, room, asked)


def _unfit(room: "Room", asked: "Filter") -> list[str]:
    from brasstag.sandbox import matcher
    from brasstag.store import Selection, list_documents

    rows = room.store.read(lambda view: list_documents(view, Selection()))
    types = {row.media_type for row in rows}
    told = [
        *_missing("no document is of type", _unknown_type(asked, types), types, _type_of(asked.mime_type)),
        *_missing("no document has the tag", asked.tags, {tag for row in rows for tag in row.tags}),
        *_missing(
            "no document was made by",
            [asked.creator],
            {
                by
                for row in rows
                for by in (row.created_by, row.updated_by, row.created_task, row.updated_task)
                if by
            },
        ),
    ]
    if asked.task and not any(asked.task in (row.created_task, row.updated_task) for row in rows):
        told.append(f"task {asked.task[-8:]} has made no document that is there")
    if asked.glob and not any(map(matcher(asked.globs), (row.path for row in rows))):
        told.append(f"no path matches {asked.glob}")
    return told


def _type_of(ending: str) -> str:
    """Return the media type of files with this ending, or nothing."""
    from mimetypes import guess_type

    from brasstag.documents import PLAIN, kind_of_text

    known = kind_of_text(f"x.{ending}")
    return known if known != PLAIN else guess_type(f"x.{ending}")[0] or ""


def _unknown_type(asked: "Filter", known: set[str]) -> list[str]:
    family = asked.wanted().family
    if family is not None and any(kind.startswith(family) for kind in known):
        return []
    return [asked.mime_type.rstrip("*")]


def _missing(sentence: str, asked: Iterable[str], known: set[str], meant: str = "") -> Iterator[str]:
    for one in asked:
        if one and one not in known:
            yield f"{sentence} {one}{f'; did you mean {meant}?' if meant else _meant(one, sorted(known))}"


def _meant(given: str, known: list[str]) -> str:
    folded = {value.casefold(): value for value in known}
    parts = [value for name, value in folded.items() if given.casefold() in name]
    near = parts or [folded[name] for name in get_close_matches(given.casefold(), folded, _MOST_NAMED)]
    if near:
        return f"; did you mean {', '.join(near[:_MOST_NAMED])}?"
    if len(known) == 1:
        return f"; all that there is here is {known[0]}"
    return f"; there are {', '.join(known)}" if 0 < len(known) <= _MOST_NAMED else ""
