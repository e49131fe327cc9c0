"""Errors of pydantic as problems a person can solve."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from brasstag.words.errors import Problem

_LONGEST_SHOWN = 60


def refusal(what: str, mend: str) -> PydanticCustomError:
    """Return the error a validator raises to say what is wrong and what to do about it."""
    return PydanticCustomError("refused", "{what}", {"what": what, "mend": mend})


def problems_in(error: ValidationError, file: str, homes: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    """Yield one Problem for each thing pydantic refused.

    ``homes`` gives the sections of each known setting, to name the right one for a misplaced or misspelt setting.
    """
    for details in error.errors(include_url=False):
        what, mend = _words(details, homes)
        yield Problem(file, dotted(details["loc"]), what, mend)


def dotted(place: tuple[str | int, ...]) -> str:
    """Return a place as a person writes it: ``rules[0].because``."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        elif not step.startswith(("<", "[")):  # pydantic's own marks of unions and keys, not in the file
            text += f".{step}" if text else step
    return text


def _words(details: ErrorDetails, homes: Mapping[str, tuple[str, ...]]) -> tuple[str, str]:
    match details["type"]:
        case "refused":
            context = details["ctx"]
            return context["what"], context["mend"]
        case "missing":
            return "is missing", "Add it."
        case "extra_forbidden":
            return "is not a setting", _way_home(details["loc"], details["input"], homes)
        case _:
            return f"is {_shown(details['input'])}", f"{details['msg']}."


def _way_home(place: tuple[str | int, ...], value: Any, homes: Mapping[str, tuple[str, ...]]) -> str:
    *above, name = map(str, place)
    near = [name] if name in homes else get_close_matches(name, homes, n=1)
    if not near:
        return "Remove it."
    # A setting of the same section is a better guess than one of the same name in another section.
    here = next((home for home in homes[near[0]] if above and home.startswith(f"[{above[0]}")), "")
    if isinstance(value, dict) and (here or not above):
        return f"Did you mean [{dotted((*above, near[0]))}]?"
    return f"Did you mean `{near[0]}` in {here or homes[near[0]][0]}?"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
