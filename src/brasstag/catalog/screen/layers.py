"""Layers: a text, what its encoded runs say, what the runs inside those say, to a limit of depth and of size."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from brasstag.catalog.screen.decoders import EncodedRun, UnescapedText, encoded_runs, unescaped

DEEPEST = 3
MOST_DECODED = 30_000
"""How many characters of decoded text are looked at for one field; half as much again as the longest field has."""

_BETWEEN = "\n\n"


@dataclass(frozen=True)
class TextLayer:
    """A text to look at, and where its pieces stand in the text it came from."""

    text: str
    locate: Callable[[int, int], tuple[int, int]]
    depth: int = 0
    encoding_at: Callable[[int], str] | None = None
    """Returns the pattern that reports what is found at a place; only of a decoded text."""


@dataclass(frozen=True, slots=True)
class EncodingReport:
    """An encoded run that is reported whatever it says."""

    pattern: str
    start: int
    end: int
    says: str = ""


def layers(text: str, report: Callable[[EncodingReport], None]) -> Iterator[TextLayer]:
    """Yield the text, then what is decoded from it; ``report`` is told of runs that a reviewer has to know of."""
    waiting = [TextLayer(text, lambda start, end: (start, end))]
    left = MOST_DECODED
    for layer in waiting:
        yield layer
        for inner in _inside(layer, report):
            if layer.depth == DEEPEST or len(inner.text) > left:
                report(EncodingReport("nested_encoding", *inner.locate(0, len(inner.text))))
            else:
                left -= len(inner.text)
                waiting.append(inner)


def _inside(layer: TextLayer, report: Callable[[EncodingReport], None]) -> Iterator[TextLayer]:
    plain = unescaped(layer.text)
    if plain is not None and plain.text:
        yield _unescaped_layer(layer, plain)
    runs = list(encoded_runs(layer.text))
    for run in runs if layer.depth == 0 else ():
        if run.says is None:
            report(EncodingReport("unreadable_run", run.start, run.end))
        elif run.is_words:
            report(EncodingReport("encoded_text", run.start, run.end, run.says))
    readable = [run for run in runs if run.says is not None]
    if readable:
        yield _decoded_layer(layer, readable)


def _unescaped_layer(layer: TextLayer, plain: UnescapedText) -> TextLayer:
    def locate(start: int, end: int) -> tuple[int, int]:
        return layer.locate(plain.origin(start)[0], plain.origin(end - 1)[1])

    def encoding_at(place: int) -> str:
        return layer.encoding_at(plain.origin(place)[0]) if layer.encoding_at else "escaped_payload"

    return TextLayer(plain.text, locate, layer.depth + 1, encoding_at)


def _decoded_layer(layer: TextLayer, runs: list[EncodedRun]) -> TextLayer:
    """Return what all runs say as one text: looking at each of a thousand runs would take a thousand times as long."""
    said = [run.says or "" for run in runs]
    starts = [0, *accumulate(len(text) + len(_BETWEEN) for text in said[:-1])]

    def run_at(place: int) -> EncodedRun:
        return runs[bisect_right(starts, place) - 1]

    def locate(start: int, end: int) -> tuple[int, int]:
        first, last = run_at(start), run_at(end - 1)
        return layer.locate(min(first.start, last.start), max(first.end, last.end))

    def encoding_at(place: int) -> str:
        run = run_at(place)
        return layer.encoding_at(run.start) if layer.encoding_at else run.pattern

    return TextLayer(_BETWEEN.join(said), locate, layer.depth + 1, encoding_at)
