"""What a model answered, as it can be kept: arguments that are read where they can be, and text that can be written."""

from collections.abc import Mapping
from typing import Any

from brasstag.toolkit.arguments.repair import read_arguments
from brasstag.words.errors import ToolError


def arguments_of(given: Any, cut_off: bool = False) -> Mapping[str, Any] | str:
    """Return arguments as an object where they are one, else the text as it came: the engine mends or refuses it.

    Missing arguments count as empty ones, unless the answer was cut off before they came.
    """
    if isinstance(given, Mapping):
        return given
    if not given:
        return "" if cut_off else {}
    if not isinstance(given, str):
        return f"a {type(given).__name__}, not an object"
    try:
        value, mended = read_arguments(given)
    except ToolError:
        return given
    return given if mended else value


def clean(text: str) -> str:
    """Return text that can be written anywhere: halves of surrogate pairs become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
