"""RTF: its text in paragraphs."""

import codecs
import re

from brasstag.documents.converters.writer import BlockWriter

_PIECE = re.compile(
    rb"(?P<bytes>(?:\\'[0-9a-fA-F]{2})+)|\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\(?P<sign>[^a-zA-Z])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)"
)
_ASIDE = frozenset(
    b"author bkmkend bkmkstart colortbl comment company fldinst filetbl fonttbl footer footerf footerl footerr "
    b"generator header headerf headerl headerr info listoverridetable listtable nonshppict object operator pict "
    b"revtbl rsidtbl stylesheet subject themedata title xmlnstbl".split()
)
"""Groups that hold no words of the text."""
_SAID = {
    b"par": "\n\n", b"sect": "\n\n", b"page": "\n\n", b"row": "\n\n", b"line": "\n", b"tab": "\t", b"cell": "\t",
    b"emdash": "\u2014", b"endash": "\u2013", b"lquote": "\u2018", b"rquote": "\u2019", b"ldblquote": "\u201c",
    b"rdblquote": "\u201d", b"bullet": "\u2022",
}  # fmt: skip
_SIGNS = {b"~": "\u00a0", b"_": "\u2011", b"\n": "\n\n", b"\r": "\n\n", b"\\": "\\", b"{": "{", b"}": "}"}
_DEEPEST = 1_000


def rtf(data: bytes, _media_type: str, writer: BlockWriter) -> None:
    """Write the paragraphs of an RTF document."""
    # What lies beyond the first 65,536 characters is written as two halves.
    said = "".join(_RtfReader().read(data)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    for text in said.split("\n\n"):
        writer.paragraph(text.replace("\t", " "), {})


class _RtfReader:
    """Goes through a document once; what a group sets ends with it."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._encoding = "cp1252"
        self._groups: list[tuple[bool, bool, int]] = []
        self._is_aside = False
        self._is_hidden = False
        self._stands_for = 1
        """How many characters behind one in Unicode say the same for readers that know none."""
        self._skips = 0

    def read(self, data: bytes) -> list[str]:
        """Return what it says."""
        for piece in _PIECE.finditer(data):
            kind = piece.lastgroup
            if kind == "brace":
                self._group(piece[0])
            elif kind == "bytes":
                self._decode(bytes.fromhex(piece[0].replace(b"\\'", b"").decode()))
            elif kind in ("word", "number"):
                self._obey(piece["word"], int(piece["number"]) if piece["number"] else None)
            elif kind == "sign":
                # A star marks a group for those readers only who know what it is.
                self._is_aside = self._is_aside or piece["sign"] == b"*"
                self._say(_SIGNS.get(piece["sign"], ""))
            else:
                self._decode(piece[0])
        return self._said

    def _group(self, brace: bytes) -> None:
        self._skips = 0
        if brace == b"{" and len(self._groups) < _DEEPEST:
            self._groups.append((self._is_aside, self._is_hidden, self._stands_for))
        elif brace == b"}" and self._groups:
            self._is_aside, self._is_hidden, self._stands_for = self._groups.pop()

    def _obey(self, word: bytes, number: int | None) -> None:
        if word == b"u" and number is not None:
            self._say(chr(number % 0x10000))
            self._skips = self._stands_for
        elif word == b"uc" and number is not None:
            self._stands_for = max(0, number)
        elif word == b"ansicpg" and number is not None:
            self._encoding = _known(f"cp{number}")
        elif word in _ASIDE:
            self._is_aside = True
        elif word in (b"v", b"deleted"):
            # The text is hidden, or a reviser has deleted it, until the same word comes with a 0.
            self._is_hidden = number != 0
        elif word == b"plain":
            self._is_hidden = False
        else:
            self._say(_SAID.get(word, ""))

    def _decode(self, data: bytes) -> None:
        skipped = min(self._skips, len(data))
        self._skips -= skipped
        self._say(data[skipped:].decode(self._encoding, "replace"))

    def _say(self, text: str) -> None:
        if not (self._is_aside or self._is_hidden):
            self._said.append(text)


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return "cp1252"
