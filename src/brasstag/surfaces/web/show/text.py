"""Text of models, tools, files and people: escaped, with every invisible character written out."""

import re
from typing import Any

from markupsafe import Markup, escape

from brasstag.surfaces.visible import visible

_MARKED = re.compile(r"⟨U\+[0-9A-F]{4,6}⟩")


def plain(value: Any) -> Any:
    """Return text for an attribute or a field that a person edits: escaped, and otherwise exactly as it is."""
    return escape(value)


def shown(value: Any) -> Any:
    """Return what a template prints for a value: text is escaped, and what cannot be seen in it is marked."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return "" if value is None else value
    written = visible(value)
    if written is value or written == value:
        return value
    return Markup(_MARKED.sub(lambda one: f'<span class="hidden-char">{one[0]}</span>', str(escape(written))))  # noqa: S704 - escaped
