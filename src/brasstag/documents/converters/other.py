"""Convert pictures, links and unknown types: a block with type and size, without the content."""

from brasstag.documents.converters.writer import BlockWriter, Unreadable, in_one_line
from brasstag.documents.formats.pictures import picture_size


def picture(data: bytes, media_type: str, writer: BlockWriter) -> None:
    """Write what kind of picture it is, and how large."""
    size = picture_size(data, media_type)
    if size is None:
        raise Unreadable("CANNOT_CONVERT", f"it begins like {media_type}, but is no picture that can be read")
    writer.add("image", {}, media_type=media_type, width=size[0], height=size[1], size_bytes=writer.size)


def anything(_data: bytes, media_type: str, writer: BlockWriter) -> None:
    """Write that there is something, and what."""
    writer.add("reference", {}, media_type=media_type, size_bytes=writer.size)


def link(data: bytes, media_type: str, writer: BlockWriter) -> None:
    """Write where a link leads."""
    leads_to = in_one_line(data.decode(errors="replace"))
    writer.add("reference", {}, text=f"a link to {leads_to}", media_type=media_type, size_bytes=writer.size)
