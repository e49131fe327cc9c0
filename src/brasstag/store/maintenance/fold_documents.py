"""Compare what timelines and versions say of documents with the rows that tools show: makers, descriptions and tags.

A document that was moved took its description and tags along, or left them, by what a scan found on disk. So of paths
that moves connect, the rows may have what was said of any of them. All other rows have exactly what was said last.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, select

from brasstag.store.database.schema import documents, versions
from brasstag.store.documents.annotations import storable
from brasstag.store.documents.rows import DocumentRow, document_row
from brasstag.store.maintenance.fold_versions import Difference
from brasstag.words.previews import ABSENT

_VERSIONS = select(
    *(versions.c[name] for name in ("path", "version", "state", "size", "source", "by", "task_id", "at"))
)

DESCRIBES, TAGS = "describe_document", "tag_document"


@dataclass(frozen=True, slots=True, order=True)
class _Said:
    """What one call said of one path."""

    at: str
    path: str
    tool: str
    input: dict[str, Any] = field(compare=False)


@dataclass(slots=True)
class _ConnectedPaths:
    """Paths that moves connect: everything that was said of them, and all who made a version of them."""

    paths: set[str]
    said: list[_Said] = field(default_factory=list)
    makers: set[tuple[str, ...]] = field(default_factory=set)

    def take_in(self, other: "_ConnectedPaths") -> None:
        """Become one group with another."""
        self.paths |= other.paths
        self.said += other.said
        self.makers |= other.makers


@dataclass(slots=True)
class FoldedDocuments:
    """What the timelines tell of documents, entry by entry."""

    _said: list[_Said] = field(default_factory=list)

    def called(self, at: str, payload: dict[str, Any]) -> None:
        """Take into account what a call said of documents."""
        if payload.get("tool") not in (DESCRIBES, TAGS) or payload.get("outcome") != "done":
            return
        preview = payload.get("preview") or {}
        self._said += [
            _Said(at, path, payload["tool"], payload.get("input") or {})
            for path in preview.get("annotates", ())
        ]

    def differences(self, connection: Connection, *, are_words_told: bool) -> Iterator[Difference]:
        """Yield where and how rows differ; where calls were redacted, what was said of documents is not known."""
        groups: dict[str, _ConnectedPaths] = {}
        held: dict[tuple[str, int], tuple[Any, ...]] = {}
        for path, version, state, size, source, *maker in connection.execute(_VERSIONS):
            held[path, version] = (state, size, *maker)
            group = groups.get(path)
            if group is None:
                group = groups[path] = _ConnectedPaths({path})
            group.makers.add(tuple(maker))
            if source and source not in group.paths:
                group.take_in(groups.get(source) or _ConnectedPaths({source}))
                groups |= dict.fromkeys(group.paths, group)
        for said in sorted(self._said):
            groups.setdefault(said.path, _ConnectedPaths({said.path})).said.append(said)
        for row in connection.execute(select(documents).order_by(documents.c.path)):
            group = groups.get(row.path) or _ConnectedPaths({row.path})
            yield from _compare_makers(row, group, held.get((row.path, row.version)))
            if are_words_told:
                yield from _compare_words(document_row(row), group)


def _compare_makers(
    row: Row[Any], group: _ConnectedPaths, held: tuple[Any, ...] | None
) -> Iterator[Difference]:
    if held is None:
        yield row.path, f"its row names version {row.version}, which is not there"
        return
    state, size, *maker = held
    if row.state not in (state, ABSENT) or (row.state == state and row.size != size):
        yield row.path, f"its row holds something else than its version {row.version}"
    if [row.updated_by, row.updated_task, row.updated_at] != maker:
        yield row.path, f"its row names another maker of version {row.version}"
    if (row.created_by, row.created_task, row.created_at) not in group.makers:
        yield row.path, "its row names a creator that made no version of it"


def _compare_words(row: DocumentRow, group: _ConnectedPaths) -> Iterator[Difference]:
    if len(group.paths) == 1:
        descriptions, tags = [""], dict[str, None]()
        for said in group.said:
            if said.tool == DESCRIBES:
                descriptions = [_description(said)]
            else:
                tags |= dict.fromkeys(said.input.get("add") or ())
                tags = {name: None for name in tags if name not in (said.input.get("remove") or ())}
        is_tagged_so = row.tags == tuple(tags)
    else:
        descriptions = ["", *(_description(said) for said in group.said if said.tool == DESCRIBES)]
        is_tagged_so = {*row.tags} <= {name for said in group.said for name in said.input.get("add") or ()}
    if row.description not in descriptions:
        yield row.path, "its description is not what the timelines tell"
    if not is_tagged_so:
        yield row.path, "its tags are not what the timelines tell"


def _description(said: _Said) -> str:
    return storable(str(said.input.get("description", "")))
