"""Containers that would unpack to too much are refused before they are opened."""

import io
import zipfile

from brasstag.documents.converters.writer import Unreadable

MOST_UNPACKED = 300_000_000
"""Bytes of all parts together: more of them takes more memory than there is."""

# What office programs put an encrypted document into.
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def refuse_bomb(data: bytes) -> None:
    """Raise Unreadable for a container that is damaged, or says that it is too large inside."""
    if data.startswith(_OLE):
        raise Unreadable("CANNOT_CONVERT", "it is encrypted; save it without a password")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as box:
            unpacked = sum(part.file_size for part in box.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise Unreadable("CANNOT_CONVERT", f"its container is damaged: {error}") from None
    if unpacked > MOST_UNPACKED:
        raise Unreadable(
            "TOO_LARGE", f"it unpacks to {unpacked:,} bytes, and at most {MOST_UNPACKED:,} are read"
        )
