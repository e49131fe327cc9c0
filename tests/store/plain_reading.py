"""What the words of a text are, and whether a phrase is in it, said in another way than the code says it."""

import re
import unicodedata
from collections.abc import Sequence


def naive_words(body: str) -> list[str]:
    plain = "".join(c for c in unicodedata.normalize("NFD", body.lower()) if c != "\u0301" and c != "\u0300")
    plain = unicodedata.normalize("NFC", plain.replace("\u0302", ""))
    plain = re.sub("[東京カรไ]", r" \g<0> ", plain)
    return re.findall(r"[^\W_]+", plain)


def naively_holds(body: str, phrase: Sequence[str], *, is_prefix: bool = False) -> bool:
    words = naive_words(body)
    size = len(phrase)
    for start in range(len(words) - size + 1):
        *before, last = words[start : start + size]
        if before == list(phrase[:-1]) and (last.startswith(phrase[-1]) if is_prefix else last == phrase[-1]):
            return True
    return False
