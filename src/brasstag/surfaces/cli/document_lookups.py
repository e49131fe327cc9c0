"""Looking at documents: what the commands about them find, and have printed."""

from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.console import OutputName
from brasstag.surfaces.cli.document_calls import no_document
from brasstag.surfaces.cli.document_output import print_content, print_document, print_documents, print_found
from brasstag.surfaces.cli.filters import unfit, with_whole_id
from brasstag.surfaces.cli.rooms import open_room
from brasstag.surfaces.cli.version_output import print_difference, print_history
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT

if TYPE_CHECKING:
    from brasstag.app.room import Room
    from brasstag.documents.filters import Filter
    from brasstag.store.catalogue import Order
    from brasstag.store.versions import Version
    from brasstag.surfaces.cli.documents import Form
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
        asked = with_whole_id(room, asked)
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
    """Print the documents that say what is asked for."""
    async with open_room(project, "documents search") as room:
        asked = with_whole_id(room, asked)
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
        # What is gone by now differs from what there was in all of it; a version that was named has to hold something.
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
    """Return where what was at a path went, as of the version that says it has left."""
    history = await room.documents.history(left.path)
    return history.moved_to.get((left.path, left.version), "")


async def _known(room: "Room", path: str) -> "Document":
    """Return a document; where there is none, say what people do to see those there are."""
    try:
        return await room.documents.get(path)
    except ToolError as error:
        if error.code is not Code.FILE_NOT_FOUND:
            raise
        raise ToolError(error.code, no_document(path)) from None
