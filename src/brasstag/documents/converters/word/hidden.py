"""Text of a DOCX document that is hidden by itself or by its style."""

from xml.etree.ElementTree import Element

from brasstag.documents.converters.word.styles import Styles, W, is_set, value_of
from brasstag.documents.converters.writer import BlockWriter

RUNS = frozenset({f"{W}r", "{http://schemas.openxmlformats.org/officeDocument/2006/math}r"})
"""Elements whose words are set alike."""


class Hidden:
    """Says which runs are hidden, and remembers in how many paragraphs there were such."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._known: dict[str, bool] = {}
        self.paragraphs = 0
        """Those with words that were left out."""

    def by_style(self, paragraph: Element) -> bool:
        """Say whether the style of a paragraph hides its words; that its mark is hidden hides nothing else."""
        return self._style_hides(value_of(paragraph, "pPr/pStyle"))

    def hides(self, run: Element, *, by_style: bool) -> bool:
        """Say whether a run is hidden that stands in a paragraph whose style hides words, or does not."""
        properties = run.find(f"{W}rPr")
        if properties is None:
            return by_style
        own = properties.find(f"{W}vanish")
        if own is not None:
            return is_set(own)
        style = properties.find(f"{W}rStyle")
        if style is None:
            return by_style
        # Styles of both kinds switch it: words that both of them hide are seen.
        return self._style_hides(style.get(f"{W}val") or "") != by_style

    def tell(self, writer: BlockWriter) -> None:
        """Say how much was left out."""
        if count := self.paragraphs:
            where = "a paragraph" if count == 1 else f"{count:,} paragraphs"
            writer.note(f"hidden words in {where}, which no reader of the document sees, are left out")

    def _style_hides(self, name: str) -> bool:
        if name not in self._known:
            said = (style.find(f"{W}rPr/{W}vanish") for style in self._styles.chain(name))
            self._known[name] = is_set(next((one for one in said if one is not None), None))
        return self._known[name]


def has_words(run: Element) -> bool:
    """Say whether there are any words in a run."""
    return any(one.text and one.text.strip() for one in run.iter(f"{W}t"))
