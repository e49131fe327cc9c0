"""The size of a picture, read from its header; a file without a readable header is not a picture."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

LARGEST_SIDE = 65_535
"""Pixels. A header that says more is not taken for a picture, as no program could show it."""

Size = tuple[int, int]

_NO_SIZE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers of JPEG that stand alone."""
_FRAMES = frozenset({*range(0xC0, 0xD0)}) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG that begin a frame, which tells the size."""


def picture_size(data: bytes, media_type: str) -> Size | None:
    """Return width and height of a picture in pixels, or None where its header cannot be read or makes no sense."""
    size = _READ[media_type](data)
    return size if size and all(0 < side <= LARGEST_SIDE for side in size) else None


def _png(data: bytes) -> Size | None:
    if data[8:16] != b"\0\0\0\x0dIHDR" or len(data) < 33:
        return None
    return _big(data[16:20]), _big(data[20:24])


def _gif(data: bytes) -> Size | None:
    return (_little(data[6:8]), _little(data[8:10])) if len(data) > 13 else None


def _jpeg(data: bytes) -> Size | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        # A marker may be preceded by any number of 0xFF.
        at += 1 if marker == 0xFF else 2 if marker in _NO_SIZE else 2 + _big(data[at + 2 : at + 4])
    return None


def _webp(data: bytes) -> Size | None:
    kind = data[12:16]
    if len(data) < 30:
        return None
    if kind == b"VP8X":
        return _little(data[24:27]) + 1, _little(data[27:30]) + 1
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = _little(data[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF
    return None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


_READ: Mapping[str, Callable[[bytes], Size | None]] = MappingProxyType(
    {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
)
