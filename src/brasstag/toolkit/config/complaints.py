"""Report several problems of a tool config at once; pydantic by itself allows one error for each model."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from brasstag.toolkit.arguments.sentences import did_you_mean, place
from brasstag.words.errors import Problem

_CARRIER = "complaints"


class Complaint(NamedTuple):
    """One thing wrong inside a model: the place below it, what, and how to mend it."""

    field: str
    what: str
    mend: str


def refuse(complaints: Sequence[Complaint]) -> None:
    """Raise, from inside a pydantic validator, every complaint at once; do nothing when there is none."""
    if complaints:
        raise refusal(*complaints)


def refusal(*complaints: Complaint) -> PydanticCustomError:
    """Return the error to raise from inside a pydantic validator."""
    summary = "; ".join(f"{field}: {what}" if field else what for field, what, _ in complaints)
    return PydanticCustomError(_CARRIER, "{summary}", {"summary": summary, "complaints": list(complaints)})


def problems_in(error: ValidationError, file: str, known: Sequence[str] = ()) -> list[Problem]:
    """Turn what pydantic found into Problems; ``known`` are the field names to suggest for an unknown one."""
    return [problem for detail in error.errors() for problem in _problems(detail, file, known)]


_WORDS: Mapping[str, tuple[str, str]] = {
    "missing": ("is missing", 'Add "{name}".'),
    "extra_forbidden": ("is not a field", "{close}"),
    "string_too_short": ("is empty", "Write what a reader needs to know."),
    "string_pattern_mismatch": ("{input!r} is not a usable name", "Use a name that matches {pattern}."),
    "literal_error": ("{input!r} is not known", "Use {expected}."),
    "enum": ("{input!r} is not known", "Use {expected}."),
}
"""By pydantic's type of error: what is wrong and how to mend it. Others keep pydantic's own words."""


def _problems(detail: ErrorDetails, file: str, known: Sequence[str]) -> list[Problem]:
    field = place([step for step in detail["loc"] if step != "[key]"])
    context: dict[str, Any] = detail.get("ctx", {})
    if detail["type"] == _CARRIER:
        return [
            Problem(file, ".".join(filter(None, (field, below))), what, mend)
            for below, what, mend in context["complaints"]
        ]
    own_words = detail["msg"].removeprefix("Value error, ")
    what, mend = _WORDS.get(detail["type"], (own_words[0].lower() + own_words[1:], "Correct it."))
    name = str(detail["loc"][-1]) if detail["loc"] else ""
    close = did_you_mean(name, known)
    words = {
        **context,
        "input": detail["input"],
        "name": name,
        "close": f'Rename it to "{close}".' if close else "Remove it, or correct its name.",
    }
    if detail["type"] in _WORDS:
        what, mend = what.format(**words), mend.format(**words)
    return [Problem(file, field, what, mend)]
