"""Look up documents for commands, and print what was found."""

from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.actions.document_calls import no_document
from brasstag.surfaces.cli.actions.document_filters import unfit, with_whole_id
from brasstag.surfaces.cli.session.rooms import open_room
from brasstag.surfaces.cli.show.documents import print_content, print_document, print_documents, print_found
from brasstag.surfaces.cli.show.versions import print_difference, print_history
from brasstag.surfaces.cli.terminal.console import OutputName
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT

if TYPE_CHECKING:
    from brasstag.app import Room
    from brasstag.documents import Filter
    from brasstag.store import Order, Version
    from brasstag.surfaces.cli.commands.documents import Form
    from brasstag.words.documents import Document


async def list_documents(
    project: Path,
    output: OutputName | None,
    asked: "Filter",
    order: "Order",
    limit: int,
    offset: int,
) -> None:
    """Print the documents that are asked for."""
    async with open_room(project, "documents list") as room:
        asked = await with_whole_id(room, asked)
        listed = await room.documents.list(asked, order=order, limit=limit, offset=offset)
        unmet = [] if listed.documents else await unfit(room, asked)
    print_documents(listed, unmet, offset + len(listed.documents), output)


async def show_document(
    project: Path, output: OutputName | None, path: str, form: "Form | None", version: str
) -> None:
    """Print what is known of a document, or what it holds."""
    async with open_room(project, "documents show") as room:
        if form is not None or version:
            chosen = await room.documents.version(path, version)
            await print_content(room.documents, chosen, form or "source")
            return
        document = await _known(room, path)
        history = await room.documents.history(path)
    print_document(document, history, output)


async def search_documents(
    project: Path,
    output: OutputName | None,
    query: str,
    asked: "Filter",
    limit: int,
    offset: int,
) -> None:
    """Print the documents whose text matches the query."""
    async with open_room(project, "documents search") as room:
        asked = await with_whole_id(room, asked)
        found = await room.documents.search(query, asked, limit=limit, offset=offset)
        unmet = [] if found.hits else await unfit(room, asked)
    print_found(found, unmet, offset + len(found.hits), output)


async def compare_versions(
    project: Path, output: OutputName | None, path: str, other: str, old: str, new: str
) -> None:
    """Print what differs between two documents, or two versions of one."""
    async with open_room(project, "documents diff") as room:
        newer = await room.documents.version(other or path, new)
        older = await _older(room, path, other, old, newer)
        # A deleted document differs in everything; but a version that the user named must have a content.
        is_gone = newer.state == ABSENT and not new
        found = await room.documents.compare(older, None if is_gone else newer)
        went = await _went(room, newer) if newer.state == ABSENT else ""
    print_difference(older, newer, found, went, output)


async def _older(room: "Room", path: str, other: str, name: str, newer: "Version") -> "Version":
    if name or (other and other != path):
        return await room.documents.version(path, name)
    return await room.documents.version_before(newer)


async def tell_history(project: Path, output: OutputName | None, path: str) -> None:
    """Print every version of a document."""
    async with open_room(project, "documents history") as room:
        history = await room.documents.history(path)
    print_history(history, output)


async def _went(room: "Room", left: "Version") -> str:
    """Return the path that a document was moved to, from the version in which it left its old path."""
    history = await room.documents.history(left.path)
    return history.moved_to.get((left.path, left.version), "")


async def _known(room: "Room", path: str) -> "Document":
    """Return a document; where there is none, say how people can list the documents."""
    try:
        return await room.documents.get(path)
    except ToolError as error:
        if error.code is not Code.FILE_NOT_FOUND:
            raise
        raise ToolError(error.code, no_document(path)) from None
