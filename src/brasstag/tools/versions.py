"""compare_documents and restore_document: compare documents or versions, restore an earlier version."""

import os
from collections.abc import Sequence
from typing import Any

from brasstag.documents.reading.compare import compare
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.tools.documents import DocumentLookup
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT, DIRECTORY, digest_in, is_link


@tool(execution_type="function")
def compare_documents(
    library: DocumentLookup,
    limits: Limits,
    path: str,
    other: str = "",
    version: str = "",
    other_version: str = "",
    context: int = 3,
) -> dict[str, Any]:
    """compare_documents"""
    most = limits.numbers["max_read_bytes"]
    is_one = not other or other == path
    old = library.before(path, most) if is_one and not version else library.open(path, version, most)
    new = library.open(other or path, other_version, most)
    found = compare(old, new, library.text, context)
    diff, is_cut = _within(found.lines, limits.numbers["max_diff_bytes"])
    return {
        "old": old.label,
        "new": new.label,
        "same": found.same,
        "form": found.form,
        "added": sum(line.startswith("+") for line in found.lines),
        "removed": sum(line.startswith("-") for line in found.lines),
        "diff": diff,
        "truncated": is_cut,
    }


@tool(execution_type="function")
def restore_document(
    workspace: Draft, library: DocumentLookup, path: str, version: str = ""
) -> dict[str, Any]:
    """restore_document"""
    found = library.version(path, version)
    if found.state in (ABSENT, DIRECTORY) or digest_in(found.state) is None:
        raise ToolError(
            Code.NOT_A_FILE,
            f"{path} was no file in version {found.version}; choose another version, or delete it with delete_file",
        )
    data = library.kept(found)
    if is_link(found.state):
        where = workspace.make_link(path, os.fsdecode(data))
    else:
        where = workspace.write_bytes(path, data, mode=found.mode)
    return {
        "path": where,
        "restored": f"{found.path}@{found.version}",
        "digest": digest_in(found.state),
        "size": len(data),
    }


def _within(lines: Sequence[str], most_bytes: int) -> tuple[str, bool]:
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line.encode(errors="replace")) + 1
        if size > most_bytes:
            return "\n".join(kept), True
        kept.append(line)
    return "\n".join(kept), False
