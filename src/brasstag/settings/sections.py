"""Section: the base of every table of the file, and the types of its fields."""

import math
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator

from brasstag.settings.problems import refusal
from brasstag.words.canonical import LARGEST_INTEGER


class Section(BaseModel):
    """One table of the file; an unknown key is a mistake, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    home: ClassVar[str]
    """How the section is written in the file."""


def _said(value: str) -> str:
    if not value.strip():
        raise refusal("says nothing", "Write a sentence.")
    return value


def _amount(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise refusal(f"is {value!r}, which is not a limit", "Write a number above zero.")
    return value


Sentence = Annotated[str, AfterValidator(_said)]
Count = Annotated[int, Field(strict=True, ge=1, le=LARGEST_INTEGER)]
Amount = Annotated[int | float, PlainValidator(_amount)]
