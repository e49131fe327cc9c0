"""What a tool may know of earlier calls: the changes behind a tag, so that they can be taken back."""

from brasstag.store.books import Books
from brasstag.store.ledger import changes_of
from brasstag.store.timeline import find_entry
from brasstag.store.versions import made_versions
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import Change


class History:
    """A narrow door to the books, handed to tools that ask for ``history``."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def changes_behind(self, tag: str) -> tuple[Change, ...]:
        """Return what the call changed that any of its entries, by their tags, belongs to, in the order it was done."""
        with self._books.database.read() as view:
            entry = find_entry(view, tag)
            if entry is None:
                raise ToolError(
                    Code.TAG_NOT_FOUND, f"no call has the tag {tag}; `brasstag timeline show` lists them"
                )
            if not made_versions(view, entry.call_id):
                raise ToolError(
                    Code.CANNOT_UNDO, f"the call behind {tag} changed nothing, so there is nothing to undo"
                )
            return changes_of(view, entry.call_id)
