"""The program that renders: a text in Markdown on standard input, the file on standard output, both in JSON.

{"text", "media_type", "pictures": {target: base64}} → {"done": {"file": base64}}
"""

import base64
import importlib
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from brasstag.documents.converters.writer import BlockWriter, Full
from brasstag.documents.data.stdio import reply
from brasstag.words.errors import Code, ToolError

MODULES: Mapping[str, str] = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "word",
}
"""The module, and the function in it, that makes each kind of file."""

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufdd0-\ufdef\ufffe\uffff]")
"""Signs that no file can hold, such as those that colour a terminal, and the marks of runs."""


def render(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file that a request asks for; raise ToolError where not all of its text would be in it."""
    name = MODULES[request["media_type"]]
    try:
        from brasstag.documents.converters.markdown import markdown  # noqa: PLC0415 - it may not be installed
        from brasstag.documents.render.runs import marked_text  # noqa: PLC0415

        make = getattr(importlib.import_module(f"brasstag.documents.render.{name}"), name)
    except ModuleNotFoundError as error:
        said = (
            f"to make a PDF or Word file of text, install brasstag[render], which has {error.name}; or write the text"
            " as .md, or the file itself in base64"
        )
        raise ToolError(Code.NOT_SUPPORTED, said) from None
    writer = BlockWriter()
    with suppress(Full):
        markdown(_UNWRITABLE.sub("\ufffd", request["text"]).encode(), "text/markdown", writer, marked_text)
    if writer.truncated:
        said = f"the text is too long to become one file: {'; '.join(writer.notes)}. Write several files"
        raise ToolError(Code.TOO_LARGE, said)
    given = {target: base64.b64decode(data) for target, data in request.get("pictures", {}).items()}
    return {"file": base64.b64encode(make(writer.blocks, given)).decode()}


if __name__ == "__main__":
    reply(render)
