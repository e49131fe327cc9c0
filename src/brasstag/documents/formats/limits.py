"""How much of a text the index gets, and the note on a document whose text is not whole there."""

from dataclasses import dataclass

NO_TEXT = "it is no text"
ONLY_A_LINK = "it is a link; what it leads to is in the index where that lies"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a file may be for what is done with it."""

    kept: int = 2_000_000_000
    """Bytes of the largest file whose contents are kept, so that they can be given back."""
    indexed: int = 6_000_000
    """Bytes of a text that are indexed."""

    def note(self, size: int, *, is_text: bool, is_converted: bool = False) -> str:
        """Return what the index lacks of a file of this size; nothing where it has all of it."""
        notes = []
        if is_text and not is_converted and size > self.indexed:
            notes.append(f"only its first {self.indexed:,} bytes are in the index")
        if not is_text and not is_converted:
            notes.append(NO_TEXT)
        if size > self.kept:
            notes.append(f"only contents of up to {self.kept:,} bytes are kept")
        return "; ".join(notes)
