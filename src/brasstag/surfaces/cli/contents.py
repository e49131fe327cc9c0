"""Kept contents, by the states that name them."""

from typing import TYPE_CHECKING

from brasstag.words.previews import digest_in, is_file

if TYPE_CHECKING:
    from brasstag.store.blobs import Blobs


def kept_bytes(blobs: "Blobs", state: str) -> bytes | None:
    """Return the bytes of a file, or where a link leads; None where they are not kept."""
    digest = digest_in(state) or ""
    return blobs.get(digest) if blobs.has(digest) else None


def kept_text(blobs: "Blobs", state: str) -> bytes | None:
    """Return the bytes of a file, none of anything else; None where they are not kept."""
    # Where a link leads is no text of a file; the sentence about it says it.
    return kept_bytes(blobs, state) if is_file(state) else b""
