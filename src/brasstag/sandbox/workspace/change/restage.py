"""Stage changes again that another draft of the same call made; their bytes are in the blobs."""

from collections.abc import Sequence

from brasstag.sandbox.workspace.change.trees import make_parents
from brasstag.sandbox.workspace.view.stage import GONE, Node
from brasstag.sandbox.workspace.view.view import View
from brasstag.store.contents.blobs import Blobs
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.previews import ABSENT, DIRECTORY, Change, digest_in, is_file


def stage_again(view: View, blobs: Blobs, changes: Sequence[Change]) -> None:
    """Stage what the Changes lead to, over whatever the disk holds now."""
    for change in changes:
        if change.after == ABSENT:
            if view.look(change.path) is not None:
                view.put(change.path, GONE)
            continue
        make_parents(view, change.path)
        view.put(change.path, _as_after(blobs, change))


def _as_after(blobs: Blobs, change: Change) -> Node:
    if change.after == DIRECTORY:
        return Node(DIRECTORY, mode=change.mode)
    digest = digest_in(change.after) or ""
    if is_file(change.after):
        return Node(change.after, change.size, change.mode, kept=True, media_type=change.media_type)
    try:
        return Node(change.after, change.size, data=blobs.get(digest), kept=True)
    except StoreError as error:
        raise ToolError(Code.CHANGED, f"what {change.path} should become is gone: {error}") from None
