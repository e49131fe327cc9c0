"""write_file and edit_file: whole files, and exact replacements in them."""

import base64
import binascii
from typing import Any

from brasstag.documents.formats.kinds import kind_of
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.words.errors import Code, ToolError


@tool(execution_type="function")
def write_file(
    workspace: Draft,
    path: str,
    content: str,
    encoding: str = "utf-8",
    create_dirs: bool = True,
    mime_type: str | None = None,
    why_created: str = "",
) -> dict[str, Any]:
    """write_file"""
    data = content.encode() if encoding == "utf-8" else _decoded(content)
    existed = workspace.exists(path)
    workspace.write_bytes(path, data, create_dirs=create_dirs)
    summary = f"{'Replaced' if existed else 'Created'} {path}: {_measure(data)}"
    return {
        "path": path,
        "size": len(data),
        "size_bytes": len(data),
        "mime_type": mime_type or kind_of(path, data),
        "summary": f"{summary}. {why_created}".strip() if why_created else f"{summary}.",
    }


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
