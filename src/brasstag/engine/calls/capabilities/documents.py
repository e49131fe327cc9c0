"""DocumentAccess: what one call may know of documents; rules hide from it what they hide elsewhere."""

from collections.abc import Callable, Collection
from dataclasses import replace

from brasstag.documents.filters import Filter
from brasstag.documents.formats.kinds import kind_of
from brasstag.documents.library import Found, Library, Listed, held_by
from brasstag.documents.search.search import Query
from brasstag.documents.study.study import ContentToRead, content_of
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.paths import parse_path
from brasstag.store.contents.blobs import Blobs
from brasstag.store.contents.versions import Version
from brasstag.store.documents.select import Order
from brasstag.words.blocks import Blocks
from brasstag.words.canonical import sha256
from brasstag.words.documents import Content, Document
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import OPENED, digest_in, file_state
from brasstag.words.verdicts import Decision

Minds = Callable[[str], bool]
"""Says whether a rule objects to a read of a path."""

NOT_SEARCHED = (
    "documents that a rule asks about before they are read are not searched; "
    "load_to_context reads one by its path, and asks"
)


class DocumentAccess:
    """The access of one call to the library; what it is shown of a document counts as read."""

    def __init__(
        self,
        library: Library,
        blobs: Blobs,
        draft: Draft,
        hides: Minds,
        asks: Minds,
        kept: Collection[Decision] = (),
    ) -> None:
        """Take what rules hide and what they ask about, path by path, and how rules restrict this role at all."""
        self._library = library
        self._blobs = blobs
        self._draft = draft
        self._hides = hides
        self._asks = asks
        self._kept = kept

    def listing(self, asked: Filter, order: Order, limit: int, offset: int, *, seconds: float) -> Listed:
        """Return documents with what is known of each; where a rule asks about one, nothing of its content is shown."""
        listed = self._library.listing(asked, order, limit, offset, visible=self._is_visible, seconds=seconds)
        return replace(listed, documents=tuple(map(self._discreet, listed.documents)))

    def search(self, query: Query, seconds: float) -> Found:
        """Return the documents that match a query best, of those that may be read without asking a person.

        The other documents are not searched: to ask a person about a match would show that there is one.
        """
        found = self._library.search(
            query,
            visible=lambda path: not self._hides(path) and not self._asks(path),
            seconds=seconds,
            discreet=bool(self._kept),
        )
        self._draft.count_as_read([hit.document.path for hit in found.hits])
        if "ask" not in self._kept:
            return found
        return replace(found, incomplete="; ".join(filter(None, (found.incomplete, NOT_SEARCHED))))

    def named(self, path: str, seconds: float) -> Document:
        """Return a document that is there, by its one name."""
        where = self._canonical(path)
        self._library.refresher.refresh(seconds)
        return self._library.document(where)

    def open(self, path: str, version: str, most_bytes: int) -> Content:
        """Return what a document holds now, or what an earlier version of it held."""
        if version:
            return self._past(path, version, most_bytes)
        where = self._canonical(path)
        read = self._draft.read(where, most_bytes)
        digest = sha256(read.data)
        newest = self._newest(where, digest)
        if not self._blobs.has(digest):
            self._blobs.put(read.data)
        return Content(where, newest, digest, kind_of(where, read.data), read.data)

    def before(self, path: str, most_bytes: int) -> Content:
        """Return what the version before the present one held."""
        return self._past(path, "", most_bytes)

    def version(self, path: str, name: str) -> Version:
        """Return the version a name stands for; without a name, the one before the present state."""
        return self._version(self._known(path), name)

    def blocks(self, content: Content) -> Blocks:
        """Return a content in blocks."""
        return self._library.study.blocks(_item(content))

    def text(self, content: Content) -> str:
        """Return a content as a model reads it."""
        return self._library.study.text(_item(content))

    def kept(self, version: Version) -> bytes:
        """Return what a version held."""
        return content_of(self._blobs, held_by(version))

    def _visible(self, path: str) -> str:
        """Return where a path leads; a hidden path counts as no document, whether or not it exists."""
        where = self._draft.leads_to(path)
        if self._hides(parse_path(path)) or self._hides(where):
            raise _unknown(path)
        return where

    def _canonical(self, path: str) -> str:
        """Return the one name of a path that is there."""
        self._visible(path)
        return self._draft.canonical(path)

    def _known(self, path: str) -> str:
        """Return the one name of a path that is there, or was."""
        led_to = self._visible(path)
        where = led_to if self._draft.exists(path) else parse_path(path)
        self._library.look_at([where])
        return where

    def _version(self, where: str, name: str) -> Version:
        found = (
            self._library.version(where, name, visible=self._is_heard)
            if name
            else self._library.version_before(where, visible=self._is_heard)
        )
        self._draft.recall(found.path, OPENED)
        return found

    def _past(self, path: str, name: str, most_bytes: int) -> Content:
        """Return what a version held, and count it as seen: as the present state if it is, else as an earlier one."""
        where = self._known(path)
        version = self._version(where, name)
        content = self._opened(version, most_bytes)
        if self._library.versions(where)[-1].state == version.state and self._draft.exists(where):
            self._draft.read(where, most_bytes)
        else:
            self._draft.recall(where, version.state)
        return content

    def _opened(self, version: Version, most_bytes: int) -> Content:
        digest = held_by(version)
        told = f"version {version.version} of {shown(version.path)}"
        if version.state != file_state(digest):
            raise ToolError(Code.NOT_A_FILE, f"{told} is a link; choose another version")
        if version.size > most_bytes:
            raise ToolError(Code.TOO_LARGE, f"{told} has {version.size} bytes; at most {most_bytes} are read")
        data = content_of(self._blobs, digest)
        return Content(version.path, version.version, digest, kind_of(version.path, data), data)

    def _newest(self, where: str, digest: str) -> int:
        self._library.look_at([where])
        try:
            found = self._library.versions(where)[-1]
        except ToolError:
            # The path is ignored, so it has no versions; it can still be read.
            return 0
        return found.version if digest_in(found.state) == digest else found.version + 1

    def _discreet(self, document: Document) -> Document:
        if not self._asks(document.path):
            return document
        return replace(document, digest="", auto_summary=None, summary_by="", token_count=None, tokenizer="")

    def _is_visible(self, path: str) -> bool:
        return not self._hides(path)

    def _is_heard(self, path: str) -> bool:
        """Say whether the caller may know of versions at a path; where a rule asks about the path, it still asks."""
        if self._hides(path):
            return False
        if self._asks(path):
            self._draft.recall(path, OPENED)
        return True


def _item(content: Content) -> ContentToRead:
    return ContentToRead(content.digest, content.media_type, content.path)


def _unknown(path: str) -> ToolError:
    return ToolError(
        Code.FILE_NOT_FOUND, f"{shown(path)} is no document; list_documents names those there are"
    )
