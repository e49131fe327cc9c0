"""What a container holds, from its first bytes; nothing that could grow is unpacked."""

import re
import zlib
from collections.abc import Iterator
from types import MappingProxyType

ZIP = "application/zip"

ZIP_ENTRY = b"PK\x03\x04"
_HEADER = 30
_MOST_ENTRIES = 64
_MOST_CONTENT = 262_144
_MIMETYPE = b"mimetype"
_CONTENTS = b"[Content_Types].xml"
_TYPE = re.compile(rb"[a-z]+/[a-z0-9.+-]{1,100}")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OFFICE = "application/vnd.openxmlformats-officedocument."
_DOCX = f"{_OFFICE}wordprocessingml.document"
_XLSX = f"{_OFFICE}spreadsheetml.sheet"
_PPTX = f"{_OFFICE}presentationml.presentation"
_OF_OFFICE = (_CONTENTS, b"docProps/", b"_rels/.rels")
# What the list of contents calls the main part, and the folder that part lies in.
_PARTS = (
    (b"wordprocessingml.document.main", b"word/", _DOCX),
    (b"spreadsheetml.sheet.main", b"xl/", _XLSX),
    (b"presentationml.presentation.main", b"ppt/", _PPTX),
)
_OLE_KINDS = MappingProxyType(
    {
        "doc": "application/msword",
        "docx": _DOCX,
        "msg": "application/vnd.ms-outlook",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": _PPTX,
        "xls": "application/vnd.ms-excel",
        "xlsx": _XLSX,
    }
)
"""Old office files are told apart by their names; new ones are in such a container only when they are encrypted."""
_OLE_ANY = "application/x-ole-storage"
CONTAINED = frozenset({ZIP, _OLE_ANY, *_OLE_KINDS.values()})
"""Types that only a container can be."""
_WORKBOOK = "Workbook".encode("utf-16-le")


def kind_in_zip(beginning: bytes) -> str | None:
    """Return what a zip container is by its first entries; None where it is no such container."""
    if not beginning.startswith(ZIP_ENTRY):
        return None
    names = []
    for at, name in _entries(beginning):
        if name == _MIMETYPE:
            told = _content(beginning, at, name).strip()
            return told.decode("ascii") if _TYPE.fullmatch(told) else ZIP
        listed = _content(beginning, at, name) if name == _CONTENTS else b""
        found = next((kind for mark, _, kind in _PARTS if mark in listed), None)
        if found:
            return found
        names.append(name)
    # Some programs write the list of contents last.
    is_office = any(name.startswith(_OF_OFFICE) for name in names)
    folders = (kind for _, folder, kind in _PARTS if any(name.startswith(folder) for name in names))
    return next(folders, ZIP) if is_office else ZIP


def kind_in_ole(beginning: bytes, ending: str) -> str | None:
    """Return what an old office container is; None where it is no such container."""
    if not beginning.startswith(OLE):
        return None
    if ending not in _OLE_KINDS and _WORKBOOK in beginning:
        return _OLE_KINDS["xls"]
    return _OLE_KINDS.get(ending, _OLE_ANY)


def _entries(beginning: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield place and name of the first entries; sizes are not believed, as many are written only behind the content."""
    at = 0
    for _ in range(_MOST_ENTRIES):
        length = int.from_bytes(beginning[at + 26 : at + 28], "little")
        yield at, beginning[at + _HEADER : at + _HEADER + length]
        at = beginning.find(ZIP_ENTRY, at + _HEADER)
        if at < 0:
            return


def _content(beginning: bytes, at: int, name: bytes) -> bytes:
    """Return the first bytes of an entry, unpacked, as far as they are in the beginning."""
    method = int.from_bytes(beginning[at + 8 : at + 10], "little")
    size = int.from_bytes(beginning[at + 18 : at + 22], "little")
    extra = int.from_bytes(beginning[at + 28 : at + 30], "little")
    start = at + _HEADER + len(name) + extra
    if method == 0:
        return beginning[start : start + min(size, 200)]
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(beginning[start:], _MOST_CONTENT)
    except zlib.error:
        return b""
