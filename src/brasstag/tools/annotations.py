"""tag_document and describe_document: annotations, written in the commit of the call's own entry."""

from collections.abc import Callable
from typing import Any

from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.tools.documents import DocumentLookup
from brasstag.words.errors import Code, ToolError

Annotate = Callable[[str], str]
"""Says that the call annotates what is at a path."""


@tool(execution_type="function")
def tag_document(
    annotate: Annotate,
    library: DocumentLookup,
    limits: Limits,
    path: str,
    add: list[str] | None = None,
    remove: list[str] | None = None,
) -> dict[str, Any]:
    """tag_document"""
    if not add and not remove:
        raise ToolError(Code.INVALID_ARGUMENTS, "say which tags to add or to remove")
    both = sorted(set(add or ()) & set(remove or ()))
    if both:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{both[0]!r} is to be added and removed; say one of them")
    document = library.named(path, limits.working_seconds)
    annotate(document.path)
    tags = dict.fromkeys((*document.tags, *(add or ())))
    return {"path": document.path, "tags": [tag for tag in tags if tag not in (remove or ())]}


@tool(execution_type="function")
def describe_document(
    annotate: Annotate, library: DocumentLookup, limits: Limits, path: str, description: str
) -> dict[str, Any]:
    """describe_document"""
    document = library.named(path, limits.working_seconds)
    annotate(document.path)
    return {"path": document.path, "description": description}
