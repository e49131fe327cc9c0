"""Letters and marks of other scripts that look like a Latin letter or an ASCII mark."""

_LETTERS = {
    "a": "аαɑᴀ",
    "b": "ьʙ",
    "c": "сϲᴄ",
    "d": "ԁɗᴅ",
    "e": "еєεҽᴇ",
    "f": "ғꜰ",
    "g": "ɡɢ",
    "h": "һнʜ",
    "i": "іιıɩɪ",
    "j": "јϳᴊ",
    "k": "кκᴋ",
    "l": "ӏʟ",
    "m": "мᴍ",
    "n": "пηɴ",
    "o": "оοσօᴏ",
    "p": "рρᴘ",
    "q": "ԛ",
    "r": "гʀ",
    "s": "ѕꜱ",
    "t": "тτᴛ",
    "u": "υսᴜ",
    "v": "ѵνᴠ",
    "w": "ԝωшᴡ",
    "x": "хχ",
    "y": "уγүʏ",
    "z": "ᴢ",
}
_MARKS = {
    "'": "‘’‚‛ʹʻʼʽ′´",
    '"': "“”„‟″«»",
    "-": "‐‑‒–—―−",
    "<": "‹〈⟨",
    ">": "›〉⟩",
    "|": "∣│┃",
    "/": "⁄∕",
    ":": "∶꞉",
    " ": "\u1680",
}

LOOK_ALIKES = {
    other: plain for table in (_LETTERS, _MARKS) for plain, others in table.items() for other in others
}
"""The plain character behind each look-alike; every key is folded to lower case already."""
