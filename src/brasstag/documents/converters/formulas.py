"""Formulas of a workbook that was saved without their results."""

import re
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

UNCALCULATED_TOLD = (
    "some cells of the workbook are formulas whose results were not saved with it, and are empty here; open it in a "
    "spreadsheet program and save it"
)
_SHEETS = "xl/worksheets/"
_UNCALCULATED = re.compile(rb"<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_CHUNK, _OVERLAP = 1 << 20, 1 << 15


def has_uncalculated(file: Path | BinaryIO) -> bool:
    """Say whether a workbook has formulas without results; whether it can be read at all, its reader says."""
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as box:
        return any(_lacks_results(box, name) for name in box.namelist() if name.startswith(_SHEETS))


def _lacks_results(box: zipfile.ZipFile, name: str) -> bool:
    before = b""
    try:
        with box.open(name) as part:
            while chunk := part.read(_CHUNK):
                if _UNCALCULATED.search(before + chunk):
                    return True
                before = chunk[-_OVERLAP:]
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, zlib.error):
        return False
    return False
