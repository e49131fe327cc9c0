"""Pictures of a DOCX document: their types and sizes."""

import posixpath
import zipfile
from typing import Any

from brasstag.documents.formats.kinds import PICTURES, kind_of_bytes
from brasstag.documents.formats.pictures import picture_size

_MOST_OPENED = 500
_MOST_BYTES = 1 << 20
"""Of a picture, to find its size in."""


class Pictures:
    """Looks at pictures inside a container."""

    def __init__(self, box: zipfile.ZipFile) -> None:
        self._box = box
        self._opened = 0

    def described(self, target: str) -> dict[str, Any]:
        """Return type and size of a picture; nothing of one that is not in the container."""
        name = posixpath.normpath(posixpath.join("/word", target)).lstrip("/")
        self._opened += 1
        if not target or self._opened > _MOST_OPENED:
            return {}
        try:
            with self._box.open(name) as file:
                data = file.read(_MOST_BYTES)
            size_bytes = self._box.getinfo(name).file_size
        # Of the text of a document whose pictures are damaged nothing is missing.
        except (
            KeyError,
            zipfile.BadZipFile,
            EOFError,
            OSError,
            ValueError,
            NotImplementedError,
            RuntimeError,
        ):
            return {}
        kind = kind_of_bytes(data) or ""
        size = picture_size(data, kind) if kind in PICTURES else None
        width, height = size or (0, 0)
        return {"media_type": kind, "width": width, "height": height, "size_bytes": size_bytes}
