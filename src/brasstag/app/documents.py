"""Documents of an open room for people and programs: what tools can do with them, without a call."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TypeVar

from brasstag.app.model_summaries import ModelSummaries
from brasstag.app.watch.room_events import RoomEvents
from brasstag.documents.filters import EVERYTHING, Filter
from brasstag.documents.formats.kinds import LINK, kind_of
from brasstag.documents.library import Found, History, Library, Listed, held_by
from brasstag.documents.reading.compare import Comparison, compare
from brasstag.documents.scan.report import ScanReport
from brasstag.documents.scan.watch import WorkspaceWatch
from brasstag.documents.search.index import Failures, Indexing, failures
from brasstag.documents.search.search import Query
from brasstag.documents.study.study import ContentToRead, content_of
from brasstag.sandbox.threads import Threads
from brasstag.sandbox.workspace.paths import parse_path
from brasstag.store.contents.versions import Version, moved_to, tags_of
from brasstag.store.database.base import View
from brasstag.store.documents.select import Order
from brasstag.store.events.sequence import Event, EventId
from brasstag.store.store import Store
from brasstag.words.blocks import Blocks
from brasstag.words.documents import Content, Document, WholeDocument
from brasstag.words.errors import ToolError
from brasstag.words.previews import digest_in, is_link

WAIT_SECONDS = 600.0
"""How long a caller waits while new files, which have not been looked at before, are looked at."""

SUMMED_AT_ONCE = 50

_T = TypeVar("_T")

log = logging.getLogger("brasstag")


class RoomDocuments:
    """The documents of an open room."""

    def __init__(
        self,
        library: Library,
        summaries: ModelSummaries,
        watch: WorkspaceWatch,
        store: Store,
        threads: Threads,
        events: RoomEvents,
    ) -> None:
        self._library = library
        self._events = events
        self._summaries = summaries
        self._watch = watch
        self._store = store
        self._threads = threads
        self._watching: asyncio.Task[None] | None = None

    def watch(self) -> None:
        """Notice changes by others until the room closes: those made before, and each new one when it happens."""
        if self._watching is None:
            self._watching = asyncio.create_task(self._keep_watch())

    async def events(self, after: EventId | None = None) -> AsyncIterator[Event]:
        """Yield the events of documents, without end, after an event or from now on; raise as ``Room.events`` does."""
        async for event in self._events.watch(after):
            if event.topic == "documents":
                yield event

    async def list(
        self,
        wanted: Filter = EVERYTHING,
        *,
        order: Order = "path",
        limit: int = 50,
        offset: int = 0,
    ) -> Listed:
        """Return documents, in order, with what is known of each; raise ToolError for a filter that is not valid."""
        return await self._threads.run(
            lambda: self._library.listing(wanted, order, limit, offset, seconds=WAIT_SECONDS)
        )

    async def search(
        self, query: str, wanted: Filter = EVERYTHING, *, limit: int = 10, offset: int = 0
    ) -> Found:
        """Return the documents whose text matches the query, the best first; raise ToolError as ``list`` does."""
        asked = Query(query, wanted.wanted(), wanted.globs, limit, offset)
        return await self._threads.run(lambda: self._library.search(asked, seconds=WAIT_SECONDS))

    async def get(self, path: str) -> Document:
        """Return everything that is known of one document."""

        def look() -> Document:
            where = self._seen(path)
            return self._library.document(where)

        return await self._summaries.summed_up(await self._threads.run(look))

    async def whole(self, path: str) -> WholeDocument:
        """Return one document with its content in blocks and all its versions."""
        document = await self.get(path)
        history = await self.history(path)
        content, problem = None, None
        try:
            content = (await self.blocks(history.line[-1])).as_json()
        except ToolError as error:
            problem = {"code": error.code.value, "message": error.message}
        known = {name: getattr(document, name) for name in Document.__slots__}
        return WholeDocument(
            **known, content_json=content, content_problem=problem, versions=tuple(history.as_json())
        )

    def require_summaries(self) -> None:
        """Raise ToolError where no model is set for summaries of documents."""
        self._summaries.require()

    async def sum_up(self) -> int:
        """Let the model that is set for summaries summarise every document; return how many got a summary."""
        count = at = 0
        while True:
            listed = await self.list(limit=SUMMED_AT_ONCE, offset=at)
            for document in listed.documents:
                count += await self._summaries.summed_up(document) is not document
            at += len(listed.documents)
            if not listed.more:
                return count

    async def versions(self, path: str) -> Sequence[Version]:
        """Return the versions of what is, or was, at a path, oldest first, also from before it was moved."""
        return await self._threads.run(lambda: self._library.versions(self._seen(path)))

    async def history(self, path: str) -> History:
        """Return every version of what is, or was, at a path: where it went, and whether it is still kept."""

        def look() -> History:
            past = self._library.past(self._seen(path))
            versions = (*past.others, *past.line)
            digests = {digest for one in versions if (digest := digest_in(one.state))}
            kept = frozenset(filter(self._store.blobs.has, digests))
            with self._store.database.read() as view:
                return History(
                    past.line, past.others, moved_to(view, versions), kept, tags_of(view, versions)
                )

        return await self._threads.run(look)

    async def failures(self, most: int) -> Failures:
        """Return up to a number of documents that should have a text and have none."""
        return await self._look(partial(failures, most=most))

    async def version(self, path: str, name: str = "") -> Version:
        """Return one version: by its number, ``former/path@number`` or the start of its digest; else the newest."""

        def look() -> Version:
            where = self._seen(path)
            return self._library.version(where, name) if name else self._library.versions(where)[-1]

        return await self._threads.run(look)

    async def version_before(self, version: Version) -> Version:
        """Return the newest version before another one that held something else."""
        return await self._threads.run(lambda: self._library.version_before(version.path, version.version))

    async def read(self, version: Version) -> bytes:
        """Return what a version held."""
        return await self._threads.run(content_of, self._store.blobs, held_by(version))

    async def blocks(self, version: Version) -> Blocks:
        """Return what a version held in blocks."""

        def study() -> Blocks:
            return self._library.study.blocks(self._item(version))

        return await self._threads.run(study)

    async def text(self, version: Version) -> str:
        """Return the content of a version as a model reads it: a text as it is, anything else as Markdown."""
        return await self._threads.run(lambda: self._library.study.text(self._item(version)))

    async def compare(self, older: Version, newer: Version | None) -> Comparison:
        """Return the differences between two versions; None stands for a deleted file, so everything differs."""

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
        """Stop watching the workspace."""
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
        return await self._threads.run(self._store.read, look)

    def _seen(self, path: str) -> str:
        where = parse_path(path)
        self._library.look_at([where])
        return where

    def _item(self, version: Version) -> ContentToRead:
        return _item(self._content(version))

    def _content(self, version: Version) -> Content:
        digest = held_by(version)
        data = content_of(self._store.blobs, digest)
        kind = LINK if is_link(version.state) else kind_of(version.path, data)
        return Content(version.path, version.version, digest, kind, data)


def _item(content: Content) -> ContentToRead:
    return ContentToRead(content.digest, content.media_type, content.path)
