"""What styles, numbers and relations of a DOCX document mean."""

import re
import zipfile
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError, fromstring

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"

_MOST_BYTES = 20_000_000
_HEADING = re.compile(r"heading ([1-9])")
_NAMED = {"title": ("heading", 1), "subtitle": ("heading", 2)}
_CODE = re.compile(r"html preformatted|source ?code|code( block)?|preformatted text|macro text")
_LIST = re.compile(r"list (?:bullet|number) ([2-5])")
_LONGEST_CHAIN = 12
_DEEPEST = 8


class Style(NamedTuple):
    """What a paragraph is: "heading", "quote", "code", or "" for ordinary text."""

    kind: str = ""
    level: int = 0


class Styles:
    """The styles of a document."""

    def __init__(self, box: zipfile.ZipFile) -> None:
        root = read_part(box, "word/styles.xml")
        found = root.iter(f"{W}style") if root is not None else ()
        self._styles = {style.get(f"{W}styleId") or "": style for style in found}
        self._known: dict[str, Style] = {}

    def of(self, paragraph: Element) -> Style:
        """Return what a paragraph is."""
        outline = value_of(paragraph, "pPr/outlineLvl")
        if outline.isdecimal() and int(outline) < 9:
            return Style("heading", int(outline) + 1)
        name = value_of(paragraph, "pPr/pStyle")
        if name not in self._known:
            self._known[name] = next(filter(None, map(_meant, self.chain(name))), Style())
        return self._known[name]

    def chain(self, name: str) -> list[Element]:
        """Return a style and those it is based on."""
        found: list[Element] = []
        while name in self._styles and len(found) < _LONGEST_CHAIN:
            found.append(self._styles[name])
            name = value_of(found[-1], "basedOn")
        return found


def _meant(style: Element) -> Style | None:
    name = value_of(style, "name").lower()
    if found := _HEADING.fullmatch(name):
        return Style("heading", int(found[1]))
    if name in _NAMED:
        return Style(*_NAMED[name])
    outline = value_of(style, "pPr/outlineLvl")
    if outline.isdecimal() and int(outline) < 9:
        return Style("heading", int(outline) + 1)
    if _CODE.fullmatch(name):
        return Style("code")
    return Style("quote", 1) if name.endswith("quote") or name == "quotations" else None


class Numbers:
    """The lists of a document, and how far each has counted."""

    def __init__(self, box: zipfile.ZipFile) -> None:
        root = read_part(box, "word/numbering.xml")
        self._levels: dict[str, dict[int, str]] = {}
        self._counts: dict[tuple[str, int], int] = {}
        if root is None:
            return
        kinds = {one.get(f"{W}abstractNumId") or "": _formats(one) for one in root.iter(f"{W}abstractNum")}
        for one in root.iter(f"{W}num"):
            self._levels[one.get(f"{W}numId") or ""] = kinds.get(value_of(one, "abstractNumId"), {})

    def next(self, paragraph: Element, styles: Styles) -> tuple[int, int | None] | None:
        """Return level and number of an item; None for a paragraph that is none."""
        name = value_of(paragraph, "pPr/pStyle")
        for place in (paragraph, *styles.chain(name)):
            which = value_of(place, "pPr/numPr/numId")
            if which:
                depth = value_of(place, "pPr/numPr/ilvl")
                level = min(_DEEPEST, int(depth)) if depth.isdecimal() else 0
                named = _LIST.fullmatch(value_of(place, "name").lower())
                level = max(level, int(named[1]) - 1) if named else level
                return self._counted(which, level)
        return None

    def _counted(self, which: str, level: int) -> tuple[int, int | None] | None:
        if which == "0" or (self._levels and which not in self._levels):
            return None
        if self._levels.get(which, {}).get(level, "bullet") in ("bullet", "none"):
            return level, None
        number = self._counts.get((which, level), 0) + 1
        self._counts[which, level] = number
        for deeper in range(level + 1, _DEEPEST + 1):
            self._counts.pop((which, deeper), None)
        return level, number


def _formats(abstract: Element) -> dict[int, str]:
    found = {}
    for level in abstract.findall(f"{W}lvl"):
        depth = level.get(f"{W}ilvl") or "0"
        if depth.isdecimal():
            found[int(depth)] = value_of(level, "numFmt")
    return found


def read_targets(box: zipfile.ZipFile) -> dict[str, str]:
    """Return where links and pictures lead, by the names the text uses for them."""
    root = read_part(box, "word/_rels/document.xml.rels")
    return {one.get("Id") or "": one.get("Target") or "" for one in (root if root is not None else ())}


def read_part(box: zipfile.ZipFile, name: str) -> Element | None:
    """Return a part of the container; None where it is missing or of no use."""
    try:
        if box.getinfo(name).file_size > _MOST_BYTES:
            return None
        return fromstring(box.read(name))  # noqa: S314 - in a process of its own, within its limits
    except (KeyError, ParseError):
        return None


def is_set(element: Element | None) -> bool:
    """Say whether a property is there, and not to say that something is not so."""
    return element is not None and element.get(f"{W}val") not in ("0", "false", "off")


def value_of(element: Element, path: str) -> str:
    """Return what an element below another one says; nothing where it is not there."""
    found = element.find("/".join(f"{W}{part}" for part in path.split("/")))
    return (found.get(f"{W}val") or "") if found is not None else ""
