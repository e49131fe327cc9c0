"""Lines cut into pieces that fit the screen."""

from collections.abc import Iterator

CONTINUED = "⤷ "
"""What stands before each piece of a folded line but the first."""

_NARROWEST = 20


def folded(line: str, width: int) -> Iterator[str]:
    """Cut a line into pieces that fit, at spaces where there are some; all pieces together are the line.

    What the terminal breaks by itself begins at the left edge, where it could pose as a line of ours.
    """
    from rich.cells import cell_len, chop_cells

    line = line.expandtabs(8)
    if cell_len(line) <= width:
        yield line
        return
    width = max(width, _NARROWEST) - cell_len(CONTINUED)
    start = 0
    while start < len(line):
        piece = chop_cells(line[start : start + width], width)[0]
        if start + len(piece) < len(line) and (space := piece.rfind(" ")) > width // 2:
            piece = piece[: space + 1]
        yield piece
        start += len(piece)
