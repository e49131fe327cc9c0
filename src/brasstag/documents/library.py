"""The library: the documents of one workspace, found, listed, followed through their versions, or given whole."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brasstag.documents.filters import Filter
from brasstag.documents.formats.kinds import CONVERTED
from brasstag.documents.scan.refresh import Refresher
from brasstag.documents.scan.report import ScanReport
from brasstag.documents.scan.scanner import Scanner
from brasstag.documents.search.hits import Hit
from brasstag.documents.search.index import Indexer, item_of, spotted
from brasstag.documents.search.private_ranking import Discreet
from brasstag.documents.search.search import FullText, Query, Ranker, SearchResult, search
from brasstag.documents.study.study import ContentToRead, Study
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.globs import matcher
from brasstag.store.contents.versions import Past, Version, past, still_here
from brasstag.store.documents.conversions import Conversion, conversions_of
from brasstag.store.documents.rows import DocumentRow, row_at
from brasstag.store.documents.select import Order, list_documents
from brasstag.store.maintenance.rebuild_index import forget_index
from brasstag.store.store import Store
from brasstag.words.documents import WHOLE, Document
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT, digest_in

Visible = Callable[[str], bool]

STUDY_SECONDS = 2.0
"""How long a list may take to find out facts about its documents that no earlier call asked for."""
CONVERTING_SECONDS = 30.0
"""How long a search may convert documents, even where the caller would wait longer."""
LARGEST_STUDIED = 1_000_000
"""Bytes of the largest document that a list finds out about; asked about alone, larger ones are studied, too."""
SHORTEST_DIGEST = 6

NOT_WALKED = "not all files have been looked at yet; ask again in a while for the rest"


@dataclass(frozen=True, slots=True)
class Listed:
    """Documents that were asked for."""

    documents: tuple[Document, ...]
    more: bool
    incomplete: str | None = None
    """What the answer may lack."""


@dataclass(frozen=True, slots=True)
class Found:
    """Documents that say what was searched for, the best first."""

    hits: tuple[Hit, ...]
    more: bool
    incomplete: str | None = None


class Library:
    """Everything that is known of the documents of one workspace."""

    def __init__(self, store: Store, scanner: Scanner, study: Study) -> None:
        self.study = study
        self.indexer = Indexer(store, study, scanner.sizes)
        self.refresher = Refresher(scanner)
        self._store = store
        self._scanner = scanner

    def look_at(self, paths: Sequence[str]) -> None:
        """Look at some paths now."""
        self._scanner.scan(paths)

    def scan(self, *, rebuild: bool = False) -> ScanReport:
        """Look at the whole workspace now; with ``rebuild``, as if nothing of it had ever been indexed."""
        if rebuild:
            forget_index(self._store.database, CONVERTED)
        return self._scanner.scan_all()

    def document(self, path: str) -> Document:
        """Return everything that is known of one document."""
        row = self.row(path)
        return _document(row, self.study.facts(item_of(row), row.size))

    def text(self, path: str) -> str:
        """Return a document as a model reads it."""
        return self.study.text(item_of(self.row(path)))

    def sum_up(self, document: Document, summary: str, by: str) -> None:
        """Keep a text that ``by`` has written about a document's content as its summary."""
        self.study.sum_up(ContentToRead(document.digest, document.mime_type, document.path), summary, by)

    def row(self, path: str) -> DocumentRow:
        """Return what a scan wrote down of a document that is there; raise ToolError where there is none."""
        row = self._store.read(lambda view: row_at(view, path))
        if row is None or not row.is_there:
            raise ToolError(
                Code.FILE_NOT_FOUND, f"{shown(path)} is not a document; list_documents lists the documents"
            )
        return row

    def listing(
        self,
        asked: Filter,
        order: Order = "path",
        limit: int = 50,
        offset: int = 0,
        *,
        visible: Visible = lambda _path: True,
        seconds: float = 10.0,
    ) -> Listed:
        """Return documents, in order, with what is known of each; raise ToolError for a filter that is not valid."""
        wanted = asked.wanted()
        is_fresh = self.refresher.refresh(seconds)
        self.indexer.index_pending(STUDY_SECONDS)
        matches = matcher(asked.globs)

        def shows(path: str) -> bool:
            return matches(path) and visible(path)

        most = offset + limit + 1
        rows = self._store.read(
            lambda view: list_documents(view, wanted, order=order, limit=most, shows=shows)
        )
        page = rows[offset : offset + limit]
        return Listed(tuple(self._described(page)), len(rows) == most, None if is_fresh else NOT_WALKED)

    def search(
        self,
        query: Query,
        *,
        visible: Visible = lambda _path: True,
        seconds: float = 10.0,
        discreet: bool = False,
    ) -> Found:
        """Return what answers a query best; what has to be converted first is, as far as there is time.

        ``discreet`` is for those who must not learn what else there is, not even by the order of what they see.
        """
        ranker: Ranker = Discreet(visible) if discreet else FullText()
        end = time.monotonic() + seconds
        is_fresh = self.refresher.refresh(seconds / 2)
        self.indexer.index_pending(min(CONVERTING_SECONDS, end - time.monotonic()))
        answer = self._store.read(lambda view: search(view, query, visible=visible, rankers=(ranker,)))
        facts = self._facts_of([hit.document for hit in answer.hits])
        hits = [
            Hit(_document(hit.document, facts[hit.document.id]), hit.score, hit.snippet, hit.spot)
            for hit in (spotted(self.study, hit) for hit in answer.hits)
        ]
        return Found(tuple(hits), answer.has_more, _lacks(answer, is_fresh))

    def past(self, path: str, newest: int | None = None) -> Past:
        """Return everything a path has held, or had held up to one version."""
        found = self._store.read(lambda view: past(view, path, newest))
        if not found.line:
            raise ToolError(
                Code.FILE_NOT_FOUND, f"{shown(path)} has no versions; list_documents lists the documents"
            )
        return found

    def versions(self, path: str) -> Sequence[Version]:
        """Return every version of what is, or was, at a path, oldest first, followed through its moves."""
        return self.past(path).line

    def version(self, path: str, name: str, *, visible: Visible = lambda _path: True) -> Version:
        """Return the version named by its number, by a former path and the number there, or by how its digest begins.

        Of versions at paths that are not ``visible``, no name tells whether there are any.
        """
        found = self.past(path)
        known = (*found.others, *found.line)
        place = _place(name, path)
        # The last one that fits is meant, so what is on the line comes last.
        for one in reversed(known):
            # Its path first: whether a digest fits is for those to know who may see what it is of.
            is_meant = place in (None, (one.path, str(one.version))) and visible(one.path)
            if is_meant and (place or _begins_with(one, name)):
                return one
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"{shown(path)} has no version {name!r}; it has {_numbers(known, path)}, or name one by at least"
            f" {SHORTEST_DIGEST} characters of its digest, or one from before a move as former/path@number",
        )

    def version_before(
        self, path: str, number: int | None = None, *, visible: Visible = lambda _path: True
    ) -> Version:
        """Return the newest version before another one, or before the present one, that held something else.

        What was on the same line counts first, then what the path has held besides and has not gone on elsewhere.
        """
        found = self.past(path, number)
        *line, present = found.line
        others = self._store.read(lambda view: still_here(view, found.others))
        for one in (*reversed(line), *reversed(others)):
            if visible(one.path) and one.state != present.state and digest_in(one.state):
                return one
        raise ToolError(Code.INVALID_ARGUMENTS, f"{shown(path)} has no earlier version with another content")

    def close(self) -> None:
        """Stop looking at the workspace."""
        self.refresher.close()

    def _described(self, rows: Sequence[DocumentRow]) -> list[Document]:
        known = self._facts_of(rows)
        end = time.monotonic() + STUDY_SECONDS
        found: list[Document] = []
        for row in rows:
            facts = known[row.id]
            is_quick = row.size <= LARGEST_STUDIED and not row.pending
            if not facts.tokenizer and is_quick and time.monotonic() < end:
                facts = self.study.facts(item_of(row), row.size)
            found.append(_document(row, facts))
        return found

    def _facts_of(self, rows: Sequence[DocumentRow]) -> dict[int, Conversion]:
        """Return what was found out before about what documents hold, by the ids of their rows."""
        items = {row.id: item_of(row) for row in rows}
        digests = list(dict.fromkeys(item.digest for item in items.values()))
        key = self._store.sealer.key
        known = self._store.read(lambda view: conversions_of(view, key, digests))
        return {
            number: known.get((item.digest, item.media_type)) or Conversion(item.digest, item.media_type)
            for number, item in items.items()
        }


def _document(row: DocumentRow, facts: Conversion) -> Document:
    return Document(
        path=row.path,
        mime_type=row.media_type,
        size_bytes=row.size,
        digest=digest_in(row.state) or "",
        version=row.version,
        created_by=row.created_task or row.created_by,
        created_role=row.created_by if row.created_task else "",
        created_at=row.created_at,
        updated_by=row.updated_task or row.updated_by,
        updated_role=row.updated_by if row.updated_task else "",
        updated_at=row.updated_at,
        description=row.description,
        tags=row.tags,
        token_count=facts.tokens,
        tokenizer=facts.tokenizer,
        auto_summary=facts.summary if facts.summary_by else None,
        summary_by=facts.summary_by,
        indexed=("pending" if row.pending else row.note or WHOLE),
    )


def _lacks(answer: SearchResult, is_fresh: bool) -> str | None:
    said = [] if is_fresh else [NOT_WALKED]
    if answer.pending:
        are = "document is" if answer.pending == 1 else "documents are"
        said.append(f"{answer.pending} {are} not in the index yet; search again in a while")
    if answer.ignored:
        said.append(f"nothing was searched for {', '.join(answer.ignored)}")
    return "; ".join(said) or None


def held_by(version: Version) -> str:
    """Return the digest of what a version held; raise ToolError where it held nothing."""
    digest = digest_in(version.state)
    if digest is None:
        what = "its deletion" if version.state == ABSENT else "a directory"
        raise ToolError(
            Code.NOT_A_FILE,
            f"version {version.version} of {shown(version.path)} is {what}, by {version.by} at {version.at};"
            " choose another version",
        )
    return digest


def _place(name: str, path: str) -> tuple[str, str] | None:
    """Return the path and the number that name a version, or None where the name is one of a digest."""
    former, at, number = name.rpartition("@")
    is_number = at or (name.isdecimal() and len(name) < SHORTEST_DIGEST)
    return (former or path, number) if is_number else None


def _begins_with(version: Version, name: str) -> bool:
    return len(name) >= SHORTEST_DIGEST and (digest_in(version.state) or "").startswith(name.lower())


def _numbers(found: Sequence[Version], path: str) -> str:
    numbers = sorted(one.version for one in found if one.path == path)
    return (
        f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"only {numbers[0]}" if numbers else "none"
    )


@dataclass(frozen=True, slots=True)
class History:
    """Every version of what is, or was, at a path."""

    line: tuple[Version, ...]
    """The versions of what is there, followed through its moves, oldest first."""
    others: tuple[Version, ...]
    """What the path has held besides, oldest first."""
    moved_to: Mapping[tuple[str, int], str]
    """Where what was at a path went, by path and number of each version that says it has left."""
    kept: Collection[str]
    """The digests of contents that are still there."""
    tags: Mapping[str, str]
    """The tags of the calls that made versions, by the ids of those calls."""

    def is_kept(self, version: Version) -> bool | None:
        """Say whether what a version held is still there; None where it held nothing."""
        digest = digest_in(version.state)
        return None if digest is None else digest in self.kept

    def as_json(self) -> list[dict[str, Any]]:
        """Return every version as programs read it; those of the line come last, the newest at the end."""
        return [
            one.as_json()
            | {
                "tag": self.tags.get(one.call_id),
                "moved_to": self.moved_to.get((one.path, one.version)),
                "line": is_line,
                "kept": self.is_kept(one),
            }
            for versions, is_line in ((self.others, False), (self.line, True))
            for one in versions
        ]
