"""Documents of an open room, for people and programs: what tools may do with them, without a call."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TypeVar

from brasstag.app.abstracts import Abstracts
from brasstag.documents.comparing import Comparison, compare
from brasstag.documents.filters import EVERYTHING, Filter
from brasstag.documents.indexing import Failures, Indexing, failures
from brasstag.documents.kinds import LINK, kind_of
from brasstag.documents.library import Found, Library, Listed, held_by
from brasstag.documents.reports import ScanReport
from brasstag.documents.searching import Query
from brasstag.documents.study import Item, content_of
from brasstag.documents.watching import Watch
from brasstag.documents.whole import History, WholeDocument
from brasstag.engine.threads import Threads
from brasstag.sandbox.workspace.paths import parse_path
from brasstag.store.books import Books
from brasstag.store.catalogue import Order
from brasstag.store.database import View
from brasstag.store.outbox import Event, events_since, newest_event
from brasstag.store.versions import Version, moved_to, tags_of
from brasstag.words.blocks import Blocks
from brasstag.words.documents import Content, Document
from brasstag.words.errors import ToolError
from brasstag.words.previews import digest_in, is_link

WAIT_SECONDS = 600.0
"""How long somebody who asks waits for files to be looked at that nobody has looked at before."""

SUMMED_AT_ONCE = 50

GLANCE_SECONDS = 0.25
"""How often somebody who listens to events looks for new ones."""

_T = TypeVar("_T")

log = logging.getLogger("brasstag")


class RoomDocuments:
    """The documents of an open room."""

    def __init__(
        self, library: Library, abstracts: Abstracts, watch: Watch, books: Books, threads: Threads
    ) -> None:
        self._library = library
        self._abstracts = abstracts
        self._watch = watch
        self._books = books
        self._threads = threads
        self._watching: asyncio.Task[None] | None = None

    def watch(self) -> None:
        """Notice what others change as it happens, from now on until the room closes; also what they changed before."""
        if self._watching is None:
            self._watching = asyncio.create_task(self._keep_watch())

    async def events(self, after: int | None = None) -> AsyncIterator[Event]:
        """Yield what happens to documents, from an event on, or from now on, for ever."""
        heard = await self._look(newest_event) if after is None else after
        while True:
            for event in await self._look(partial(events_since, seq=heard)):
                heard = event.seq
                yield event
            await asyncio.sleep(GLANCE_SECONDS)

    async def list(
        self,
        wanted: Filter = EVERYTHING,
        *,
        order: Order = "path",
        limit: int = 50,
        offset: int = 0,
    ) -> Listed:
        """Return documents, in order, with what is known of each; raise ToolError for a filter nobody understands."""
        rows = wanted.wanted()
        return await self._threads.run(
            lambda: self._library.listing(rows, wanted.glob, order, limit, offset, seconds=WAIT_SECONDS)
        )

    async def search(
        self, query: str, wanted: Filter = EVERYTHING, *, limit: int = 10, offset: int = 0
    ) -> Found:
        """Return the documents that say what is asked for, the best first; raise ToolError as ``list`` does."""
        asked = Query(query, wanted.wanted(), wanted.globs, limit, offset)
        return await self._threads.run(lambda: self._library.search(asked, seconds=WAIT_SECONDS))

    async def get(self, path: str) -> Document:
        """Return everything that is known of one document."""

        def look() -> Document:
            where = self._seen(path)
            return self._library.document(where)

        return await self._abstracts.summed_up(await self._threads.run(look))

    async def whole(self, path: str) -> WholeDocument:
        """Return one document with what it holds in blocks and every version of it."""
        document = await self.get(path)
        history = await self.history(path)
        try:
            return WholeDocument(document, history, await self.blocks(history.line[-1]))
        except ToolError as error:
            return WholeDocument(document, history, None, error)

    def require_summaries(self) -> None:
        """Raise ToolError where no model is set that sums documents up."""
        self._abstracts.require()

    async def sum_up(self) -> int:
        """Have every document summed up by the model that is set for that; return how many got a summary of it."""
        count = at = 0
        while True:
            listed = await self.list(limit=SUMMED_AT_ONCE, offset=at)
            for document in listed.documents:
                count += await self._abstracts.summed_up(document) is not document
            at += len(listed.documents)
            if not listed.more:
                return count

    async def versions(self, path: str) -> Sequence[Version]:
        """Return the line of what is, or was, at a path, oldest first, followed through its moves."""
        return await self._threads.run(lambda: self._library.versions(self._seen(path)))

    async def history(self, path: str) -> History:
        """Return every version of what is, or was, at a path, with where each went, and whether it is still kept."""

        def look() -> History:
            past = self._library.past(self._seen(path))
            versions = (*past.others, *past.line)
            digests = {digest for one in versions if (digest := digest_in(one.state))}
            kept = frozenset(filter(self._books.blobs.has, digests))
            with self._books.database.read() as view:
                return History(
                    past.line, past.others, moved_to(view, versions), kept, tags_of(view, versions)
                )

        return await self._threads.run(look)

    async def failures(self, most: int) -> Failures:
        """Return the documents of which there should be a text and is none, up to a number of them."""
        return await self._look(partial(failures, most=most))

    async def version(self, path: str, name: str = "") -> Version:
        """Return one version, by its number, as ``former/path@number``, or by how its digest begins; else the newest."""

        def look() -> Version:
            where = self._seen(path)
            return self._library.version(where, name) if name else self._library.versions(where)[-1]

        return await self._threads.run(look)

    async def version_before(self, version: Version) -> Version:
        """Return the newest version before another one that held something else."""
        return await self._threads.run(lambda: self._library.version_before(version.path, version.version))

    async def read(self, version: Version) -> bytes:
        """Return what a version held."""
        return await self._threads.run(content_of, self._books.blobs, held_by(version))

    async def blocks(self, version: Version) -> Blocks:
        """Return what a version held in blocks."""

        def study() -> Blocks:
            return self._library.study.blocks(self._item(version))

        return await self._threads.run(study)

    async def text(self, version: Version) -> str:
        """Return what a version held as a model reads it: a text as it is, all else as Markdown."""
        return await self._threads.run(lambda: self._library.study.text(self._item(version)))

    async def compare(self, older: Version, newer: Version | None) -> Comparison:
        """Return what differs between what two versions held; of what is gone by now, which is None, that is everything."""

        def look() -> Comparison:
            new = None if newer is None else self._content(newer)
            return compare(self._content(older), new, lambda one: self._library.study.text(_item(one)))

        return await self._threads.run(look)

    async def scan(self, *, rebuild: bool = False) -> ScanReport:
        """Look at the whole workspace now; with ``rebuild``, as if nothing of it had ever been indexed."""
        return await self._threads.run(lambda: self._library.scan(rebuild=rebuild))

    async def index(self) -> Indexing:
        """Convert and index everything that is waiting for it."""
        return await self._threads.run(self._library.indexer.index_pending, None)

    async def close(self) -> None:
        """Watch no longer."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])

    async def _keep_watch(self) -> None:
        def began() -> None:
            self._library.refresher.watched(True)
            self._library.refresher.begin()

        try:
            reason = await self._watch.run(began)
        finally:
            self._library.refresher.watched(False)
        log.info("the workspace is not watched: %s", reason)

    async def _look(self, look: Callable[[View], _T]) -> _T:
        return await self._threads.run(self._books.read, look)

    def _seen(self, path: str) -> str:
        where = parse_path(path)
        self._library.look_at([where])
        return where

    def _item(self, version: Version) -> Item:
        return _item(self._content(version))

    def _content(self, version: Version) -> Content:
        digest = held_by(version)
        data = content_of(self._books.blobs, digest)
        kind = LINK if is_link(version.state) else kind_of(version.path, data)
        return Content(version.path, version.version, digest, kind, data)


def _item(content: Content) -> Item:
    return Item(content.digest, content.media_type, content.path)
