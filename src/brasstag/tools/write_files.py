"""write_file and edit_file: whole files, and exact replacements in them."""

import base64
import binascii
import posixpath
import re
from contextlib import suppress
from html import unescape
from typing import Any
from urllib.parse import unquote

from brasstag.documents.formats.kinds import PICTURES, is_own_text, is_text_kind, kind_of
from brasstag.documents.formats.media_types import parse_media_type, require_fitting
from brasstag.documents.formats.pictures import picture_size
from brasstag.documents.formats.text import decoded
from brasstag.documents.render.render import RENDERED, render
from brasstag.documents.study.describe import describe_picture, describe_text
from brasstag.documents.study.summarize import summarise
from brasstag.sandbox.process.module_jobs import ModuleJobs
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.words.errors import Code, ToolError

_TAG = re.compile(r"<(?:script|style)\b[^<]*|<[^<>]*>", re.IGNORECASE)
"""What of a page is not said to its reader."""
_PICTURE = re.compile(r"!\[[^\]\n]*\]\(\s*<?([^)>\s:]+\.(?:png|jpe?g|gif))\b", re.IGNORECASE)
"""A picture in Markdown, and its address, which is a path."""
_MOST_PICTURES = 100
_MOST_PICTURE_BYTES = 10 << 20


@tool(execution_type="function")
def write_file(
    workspace: Draft,
    module_jobs: ModuleJobs,
    path: str,
    content: str,
    encoding: str = "utf-8",
    create_dirs: bool = True,
    mime_type: str | None = None,
    why_created: str = "",
) -> dict[str, Any]:
    """write_file"""
    said = parse_media_type(mime_type) if mime_type else ""
    data = content.encode() if encoding == "utf-8" else _decoded(content)
    where = workspace.leads_to(path)
    made = _meant(where, said) if encoding == "utf-8" else None
    if made is not None and kind_of(where, data) != made:
        data = render(module_jobs, content, made, _pictures(workspace, where, content))
    _require_no_text(where, data)
    if mime_type:
        require_fitting(mime_type, where, data)
    existed = workspace.exists(path)
    workspace.write_bytes(path, data, create_dirs=create_dirs, media_type=said)
    kind = said or kind_of(where, data)
    message = f"{'Replaced' if existed else 'Created'} {path}: {_measure(data)}"
    return {
        "path": path,
        "size": len(data),
        "size_bytes": len(data),
        "mime_type": kind,
        "summary": _summed_up(content, data, made or kind, encoding),
        "message": f"{message}. {why_created}".strip() if why_created else f"{message}.",
    }


def _meant(path: str, said: str) -> str | None:
    """Return the type of the file that a text is to be rendered into, by what its caller says or else by its name."""
    named = RENDERED.get(posixpath.splitext(path)[1].lower())
    if named is None:
        return said if said in RENDERED.values() else None
    if said and said != named:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"the name {path} stands for {named}, and {said} is another type; leave mime_type out to have the text"
            " made into such a file, or choose another name",
        )
    return named


def _pictures(workspace: Draft, path: str, text: str) -> dict[str, bytes]:
    """Return the pictures of the workspace that a text shows, by their addresses: beside the file, or from the root."""
    found: dict[str, bytes] = {}
    for target in list(dict.fromkeys(map(unquote, _PICTURE.findall(text))))[:_MOST_PICTURES]:
        for place in dict.fromkeys((posixpath.join(posixpath.dirname(path), target), target)):
            with suppress(ToolError):
                found[target] = workspace.read_bytes(place, _MOST_PICTURE_BYTES)
                break
    return found


def _require_no_text(path: str, data: bytes) -> None:
    """Raise ToolError for bytes that are a text under the name of a file that no text is."""
    named = RENDERED.get(posixpath.splitext(path)[1].lower())
    if named is not None and is_text_kind(kind := kind_of(path, data)):
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"the content is {kind}, and the name {path} stands for {named}; give the text with encoding utf-8 to have"
            " it made into such a file, or choose another name",
        )


def _summed_up(content: str, data: bytes, kind: str, encoding: str) -> str:
    """Return what the content says, as the document's own summary will: the text, or what the bytes are."""
    if kind in RENDERED.values() and encoding == "utf-8":
        return summarise(content)
    text = decoded(data) if is_text_kind(kind) else None
    if text is not None:
        return describe_text(text, kind) if is_own_text(kind) else summarise(unescape(_TAG.sub(" ", text)))
    size = picture_size(data, kind) if kind in PICTURES else None
    return describe_picture(kind, size) if size else f"{len(data)} bytes of {kind}."


@tool(execution_type="function")
def edit_file(
    workspace: Draft,
    limits: Limits,
    path: str,
    search_text: str,
    replace_text: str,
    expected_matches: int | None = None,
) -> dict[str, Any]:
    """edit_file"""
    text = workspace.read_text(path, limits.numbers["max_bytes"])
    matches = text.count(search_text)
    if not matches:
        raise ToolError(Code.TEXT_NOT_FOUND, f"Text not found in {path}{_hint(text, search_text)}")
    if expected_matches is not None and matches != expected_matches:
        raise ToolError(
            Code.MATCH_COUNT,
            f"the text occurs {matches} times in {path}, not {expected_matches}; give more of what surrounds it",
            {"matches": matches, "expected": expected_matches},
        )
    data = text.replace(search_text, replace_text, 1).encode()
    workspace.write_bytes(path, data)
    return {"path": path, "size": len(data), "matches": matches}


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolError(Code.INVALID_ARGUMENTS, f"content is not base64: {error}") from None


def _measure(data: bytes) -> str:
    if b"\0" in data:
        return f"{len(data)} bytes"
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return f"{lines} line{'' if lines == 1 else 's'}, {len(data)} byte{'' if len(data) == 1 else 's'}"


def _hint(text: str, search_text: str) -> str:
    if "\r\n" in text and search_text.replace("\r\n", "\n") in text.replace("\r\n", "\n"):
        return ": the file's lines end in CRLF; write them so in search_text"
    if " ".join(search_text.split()) in " ".join(text.split()):
        return ": it is there with other white space; read the file and copy it exactly"
    return ""
