"""Notes on an import: what a skill says or holds beside a prompt tool, kept in the rationale."""

from collections.abc import Sequence

from brasstag.words.review.prompt_tools import MOST_IN_FIELD

_MOST_NAMED = 20


def with_notes(rationale: str, notes: Sequence[str], others: Sequence[str] = ()) -> str:
    """Return a rationale with notes, one on a line, as far as there is room for them."""
    if others:
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        notes = [*notes, f"Files that are not imported: {', '.join(others[:_MOST_NAMED])}{more}."]
    if not notes:
        return rationale
    text = "\n".join((rationale, *notes) if rationale.strip() else notes)
    if len(text) <= MOST_IN_FIELD:
        return text
    end = "\n(The rest of the notes is left out.)"
    return text[: MOST_IN_FIELD - len(end)] + end
