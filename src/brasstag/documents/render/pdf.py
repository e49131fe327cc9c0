"""A PDF of blocks, set by Typst; the blocks are data to it, never markup."""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import typst

from brasstag.documents.render.pictures import pictures_of, unreadable
from brasstag.documents.render.runs import runs
from brasstag.words.errors import Code, ToolError

_TEMPLATE = "template.typ"
_ARCHIVE: Literal["a-2b"] = "a-2b"
"""The standard that refuses signs without a glyph. It wants a date too, so what is kept is made without it."""
_MOST_COLUMNS = 50
"""More would leave no room for a word on a page."""
_LACKING = re.compile(r"the text `\"(.+?)\"` could not be displayed")


def pdf(blocks: list[dict[str, Any]], given: Mapping[str, bytes]) -> bytes:
    """Return the blocks as a PDF; the same blocks give the same bytes. Raises ToolError where text would be lost."""
    with TemporaryDirectory() as folder:
        # The typesetter reads nothing but this folder, and pictures there under names that are not from the text.
        shown = {}
        for number, (target, picture) in enumerate(pictures_of(blocks, given).items()):
            name = f"{number}.{picture.ending}"
            Path(folder, name).write_bytes(picture.data)
            shown[target] = {"file": name, "width": picture.width}
        return _compiled(blocks, shown, Path(folder))


def _compiled(blocks: list[dict[str, Any]], shown: Mapping[str, Any], folder: Path) -> bytes:
    tables = [block for block in blocks if block["kind"] == "table"]
    widest = max((len(table.get("header") or table["rows"][0]) for table in tables), default=0)
    if widest > _MOST_COLUMNS:
        said = f"a table of {widest} columns is too wide for a page, which holds {_MOST_COLUMNS}; write .csv or .docx"
        raise ToolError(Code.TOO_LARGE, said)
    template = folder / _TEMPLATE
    template.write_bytes(files(__package__).joinpath(_TEMPLATE).read_bytes())
    inputs = {"blocks": json.dumps([_with_runs(block) for block in blocks]), "pictures": json.dumps(shown)}
    checked = inputs | {"checked": ""}
    try:
        typst.compile(template, root=folder, sys_inputs=checked, pdf_standards=[_ARCHIVE], timestamp=0)
    except typst.TypstError as error:
        if "decode image" in str(error):
            raise unreadable(error) from None
        lacking = dict.fromkeys(_LACKING.findall(str(error.diagnostic)))
        if not lacking:
            raise
        said = (
            f"no font here has {' '.join(list(lacking)[:20])}, so the PDF would lack it; install a font that does, or"
            " write .docx, whose reader brings its own fonts"
        )
        raise ToolError(Code.NOT_SUPPORTED, said) from None
    made: bytes = typst.compile(template, root=folder, sys_inputs=inputs, timestamp=0)
    return made


def _with_runs(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block whose texts are lists of runs; those of code and pictures have none."""
    if block["kind"] in ("code", "image"):
        return block
    made = dict(block)
    if "text" in block:
        made["text"] = list(runs(block["text"]))
    if "items" in block:
        made["items"] = [item | {"text": list(runs(item["text"]))} for item in block["items"]]
    if "header" in block:
        made["header"] = [list(runs(cell)) for cell in block["header"]]
    if "rows" in block:
        made["rows"] = [[list(runs(cell)) for cell in row] for row in block["rows"]]
    return made
