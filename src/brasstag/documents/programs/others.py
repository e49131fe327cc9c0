"""Pictures, and a word on anything else."""

from brasstag.documents.pictures import picture_size
from brasstag.documents.programs.paper import Paper, Unreadable, in_one_line


def picture(data: bytes, media_type: str, paper: Paper) -> None:
    """Write what kind of picture it is, and how large."""
    size = picture_size(data, media_type)
    if size is None:
        raise Unreadable("CANNOT_CONVERT", f"it begins like {media_type}, but is no picture that can be read")
    paper.add("image", {}, media_type=media_type, width=size[0], height=size[1], size_bytes=paper.size)


def anything(_data: bytes, media_type: str, paper: Paper) -> None:
    """Write that there is something, and what."""
    paper.add("reference", {}, media_type=media_type, size_bytes=paper.size)


def link(data: bytes, media_type: str, paper: Paper) -> None:
    """Write where a link leads."""
    leads_to = in_one_line(data.decode(errors="replace"))
    paper.add("reference", {}, text=f"a link to {leads_to}", media_type=media_type, size_bytes=paper.size)
