"""Looking at documents: what the commands about them find, and have printed."""

from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.sandbox.workspace.errors import shown
from brasstag.surfaces.cli.console import OutputName
from brasstag.surfaces.cli.editions import Annals, print_annals, print_difference
from brasstag.surfaces.cli.filters import unfit, with_whole_id
from brasstag.surfaces.cli.papers import print_content, print_document, print_documents, print_found
from brasstag.surfaces.cli.rooms import open_room
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT

if TYPE_CHECKING:
    from brasstag.app.room import Room
    from brasstag.store.catalogue import Order, Wanted
    from brasstag.store.versions import Version
    from brasstag.surfaces.cli.documents import Form
    from brasstag.words.documents import Document


async def list_documents(
    project: Path,
    output: OutputName | None,
    asked: "Wanted",
    glob: str,
    order: "Order",
    limit: int,
    offset: int,
) -> None:
    """Print the documents that are asked for."""
    async with open_room(project, "documents list") as room:
        asked = with_whole_id(room, asked)
        listed = await room.documents.list(asked, glob=glob, order=order, limit=limit, offset=offset)
        unmet = [] if listed.documents else await unfit(room, asked, glob)
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
        annals = await _annals(room, path)
    print_document(document, annals, output)


async def search_documents(
    project: Path,
    output: OutputName | None,
    query: str,
    asked: "Wanted",
    glob: str,
    limit: int,
    offset: int,
) -> None:
    """Print the documents that say what is asked for."""
    async with open_room(project, "documents search") as room:
        asked = with_whole_id(room, asked)
        globs = [glob] if glob else []
        found = await room.documents.search(query, asked, globs=globs, limit=limit, offset=offset)
        unmet = [] if found.answer.hits else await unfit(room, asked, glob)
    print_found(found, unmet, offset + len(found.answer.hits), output)


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
        went = (await room.documents.moved_to([newer])).get((newer.path, newer.version), "")
    print_difference(older, newer, found, went, output)


async def _older(room: "Room", path: str, other: str, name: str, newer: "Version") -> "Version":
    if name or (other and other != path):
        return await room.documents.version(path, name)
    return await room.documents.version_before(newer)


async def tell_history(project: Path, output: OutputName | None, path: str) -> None:
    """Print every version of a document."""
    async with open_room(project, "documents history") as room:
        annals = await _annals(room, path)
    print_annals(annals, output)


async def _annals(room: "Room", path: str) -> Annals:
    past = await room.documents.past(path)
    versions = [*past.others, *past.line]
    went = await room.documents.moved_to(versions)
    return Annals(past, went, await room.documents.kept(versions), await room.documents.tags(versions))


async def _known(room: "Room", path: str) -> "Document":
    """Return a document; where there is none, say what people do to see those there are."""
    try:
        return await room.documents.get(path)
    except ToolError as error:
        if error.code is not Code.FILE_NOT_FOUND:
            raise
        said = f"{shown(path)} is no document; `brasstag documents list` names those there are"
        raise ToolError(error.code, said) from None
