"""Charts: pictures that look the same every time.

Equal charts are equal bytes, whenever and wherever they are drawn, unless they need signs that only a font of
the machine has.
"""

import io
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from brasstag.documents.data.chart_spec import Chart
from brasstag.documents.data.fonts import BUNDLED, fonts_for
from brasstag.documents.data.labels import axis_text, columns_of, name_text, rounded, shortened

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COLOURS = ("#b08d57", "#35505f", "#8a4b33", "#6c7c4d", "#57486f", "#2f8577", "#8b8f94", "#dcc48a")
"""Brass, slate, copper, patina, plum, verdigris, iron and pale brass."""
_INK, _FAINT, _GRID, _BACKGROUND = "#23292e", "#616a72", "#e6e3dc", "#ffffff"
_STYLE: dict[str, Any] = {
    "font.size": 10.5,
    "text.color": _INK,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _FAINT,
    "axes.facecolor": _BACKGROUND,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": _FAINT,
    "ytick.color": _FAINT,
    "legend.frameon": False,
    "figure.facecolor": _BACKGROUND,
    "svg.hashsalt": "brasstag",
    # Text stays text, so that a chart can be searched.
    "svg.fonttype": "none",
    # What a name in the data says is never taken for a formula.
    "text.parse_math": False,
}
_DPI = 120
_WIDE, _HIGH = 9.0, 5.2
_TALLEST = 24.0
_TITLE_COLUMNS = 72
_ONE_LINE = 64
"""Characters of all names together that fit on a line."""
_FEW_BARS = 14
_FEW_POINTS = 40
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Picture:
    """What was drawn."""

    data: bytes
    width: int
    """In pixels."""
    height: int
    notes: list[str]
    """What of the chart cannot be seen in it."""


def draw(chart: Chart, form: str) -> Picture:
    """Draw a chart as PNG or SVG."""
    fonts = fonts_for(chart.words)
    style: Any = _STYLE | {"font.family": [BUNDLED, *fonts.families]}
    with mpl.rc_context(style), warnings.catch_warnings():
        # The notes tell the caller about missing glyphs in other words.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure, width, height = _figure(chart)
        written = io.BytesIO()
        told: dict[str, None] = dict.fromkeys(("Date", "Creator") if form == "svg" else ("Software",))
        figure.savefig(written, format=form, dpi=_DPI, metadata=told)
    # In an SVG text stays text, and the program that shows it has its own fonts.
    notes = [] if form == "svg" or not fonts.lacking else [_lacking_told(fonts.lacking)]
    data = _well_formed(written.getvalue()) if form == "svg" else written.getvalue()
    return Picture(data, round(width * _DPI), round(height * _DPI), notes)


def _well_formed(svg: bytes) -> bytes:
    """Return an SVG without the signs that no XML may hold, however they are written."""
    return _NOT_XML.sub("\ufffd", svg.decode()).encode()


def _lacking_told(lacking: str) -> str:
    return (
        f"no font here can draw {lacking[:_LISTED]}, so the chart shows boxes for that; write an .svg, which is drawn "
        "with the reader's fonts, or install a font that has these characters"
    )


def _figure(chart: Chart) -> tuple[Figure, float, float]:
    height = _HIGH
    if chart.lies:
        bars = len(chart.names) * max(1.0, 0.55 * len(chart.lines))
        height = min(max(_HIGH, 1.6 + 0.3 * bars), _TALLEST)
    figure = Figure(figsize=(_WIDE, height), layout="constrained")
    axes = figure.subplots()
    _DRAWN[chart.kind](axes, chart)
    if chart.title:
        axes.set_title(
            fill(chart.title, round(_TITLE_COLUMNS * len(chart.title) / columns_of(chart.title))),
            loc="left",
            fontsize=13.5,
            fontweight="bold",
            color=_INK,
            pad=14,
        )
    if len(chart.lines) > 1 and chart.kind != "pie":
        # Below the plot, where it covers nothing.
        handles, labels = axes.get_legend_handles_labels()
        named = [shortened(label) or "(none)" for label in labels]
        columns = 8 if sum(map(len, named)) <= _ONE_LINE else 3
        figure.legend(handles, named, loc="outside lower center", ncols=columns)
    return figure, _WIDE, height


def _bars(axes: Axes, chart: Chart) -> None:
    names = chart.names
    wide = 0.72 / len(chart.lines)
    for number, line in enumerate(chart.lines):
        values = dict(line.points)
        heights = [math.nan if values.get(name) is None else values[name] for name in names]
        shift = (number - (len(chart.lines) - 1) / 2) * wide
        places = [place + shift for place in range(len(names))]
        put = axes.barh if chart.lies else axes.bar
        bars = put(places, heights, wide * 0.94, color=_colour(number), label=line.name)
        if len(chart.lines) == 1 and len(names) <= _FEW_BARS:
            figures = rounded(heights)
            axes.bar_label(bars, [figures(one) for one in heights], padding=3, fontsize=9, color=_FAINT)
            axes.margins(x=0.1 if chart.lies else None, y=None if chart.lies else 0.1)
    _name_places(axes, chart)
    _label_axes(axes, chart)


def _name_places(axes: Axes, chart: Chart) -> None:
    places = list(range(len(chart.names)))
    if chart.lies:
        axes.set_yticks(places, chart.labels)
        axes.set_ylim(len(places) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
    else:
        _name_across(axes, places, chart.labels)
        axes.tick_params(axis="x", length=0)


def _lines(axes: Axes, chart: Chart) -> None:
    place = _placing(chart)
    few = max(len(line.points) for line in chart.lines) <= _FEW_POINTS
    for number, line in enumerate(chart.lines):
        points = line.points if chart.scale == "name" else sorted(_known(line.points))
        values = [math.nan if y is None else y for _, y in points]
        axes.plot(
            [place(x) for x, _ in points],
            values,
            color=_colour(number),
            linewidth=2,
            marker="o" if few else "",
            markersize=4.5,
            label=line.name,
        )
        if chart.kind == "area":
            axes.fill_between(
                [place(x) for x, _ in points], values, color=_colour(number), alpha=0.25, linewidth=0
            )
    if chart.kind == "area":
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0), max(high, 0))
    _scale_across(axes, chart)
    _label_axes(axes, chart)


def _dots(axes: Axes, chart: Chart) -> None:
    place = _placing(chart)
    for number, line in enumerate(chart.lines):
        known = [(place(x), y) for x, y in line.points if x is not None and y is not None]
        size = 28 if len(known) <= 500 else 10
        axes.scatter(
            [x for x, _ in known],
            [y for _, y in known],
            s=size,
            alpha=0.75,
            linewidth=0,
            color=_colour(number),
            label=line.name,
        )
    _scale_across(axes, chart)
    _label_axes(axes, chart)


def _pieces(axes: Axes, chart: Chart) -> None:
    points = [(x, y) for x, y in chart.lines[0].points if y]
    total = sum(y for _, y in points)
    figures = rounded([y for _, y in points])
    drawn = axes.pie(
        [y for _, y in points],
        colors=[_shade(number) for number in range(len(points))],
        startangle=90,
        counterclock=False,
        wedgeprops={"linewidth": 1.5, "edgecolor": _BACKGROUND, "width": 0.42},
    )
    # Beside it, where long names and thin slices have room.
    axes.legend(
        drawn[0],
        [f"{name_text(x)}\n{figures(y)} · {y / total:.1%}" for x, y in points],
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        fontsize=9.5,
        labelspacing=0.8,
    )


def _counts(axes: Axes, chart: Chart) -> None:
    values = [y for _, y in chart.lines[0].points if y is not None and math.isfinite(y)]
    bins = min(60, max(5, math.ceil(math.sqrt(len(values)))))
    axes.hist(values, bins=bins, color=_colour(0), edgecolor=_BACKGROUND, linewidth=0.8)
    axes.xaxis.set_major_formatter(_figures_along(axes.get_xlim()))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _label_axes(axes, chart)


_DRAWN: Mapping[str, Callable[[Axes, Chart], None]] = {
    "bar": _bars,
    "line": _lines,
    "area": _lines,
    "scatter": _dots,
    "pie": _pieces,
    "histogram": _counts,
}


def _placing(chart: Chart) -> Callable[[Any], Any]:
    """Return how a value of the x column becomes a place on the axis."""
    if chart.scale == "name":
        places = {name: place for place, name in enumerate(chart.names)}
        return lambda x: places[x]
    return float if chart.scale == "number" else datetime.fromisoformat


def _scale_across(axes: Axes, chart: Chart) -> None:
    if chart.scale == "name":
        labels = chart.labels
        step = math.ceil(len(labels) / 24)
        _name_across(axes, range(0, len(labels), step), labels[::step])
    elif chart.scale == "time":
        locator = AutoDateLocator()  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    else:
        axes.xaxis.set_major_formatter(_figures_along(axes.get_xlim()))


def _name_across(axes: Axes, places: Sequence[int], labels: Sequence[str]) -> None:
    axes.set_xticks(list(places), list(labels))
    if sum(map(len, labels)) > _ONE_LINE:
        axes.tick_params(axis="x", rotation=35)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")


def _figures_along(ends: Sequence[float]) -> FuncFormatter:
    said = axis_text(ends)
    return FuncFormatter(lambda value, _place: said(value))


def _label_axes(axes: Axes, chart: Chart) -> None:
    up = not chart.lies
    axis, ends = (axes.yaxis, axes.get_ylim()) if up else (axes.xaxis, axes.get_xlim())
    axis.set_major_formatter(_figures_along(ends))
    axes.grid(axis="y" if up else "x", color=_GRID, linewidth=0.9)
    axes.tick_params(axis="y" if up else "x", length=0)
    axes.spines["left" if up else "bottom"].set_visible(False)
    across, upward = (chart.x_label, chart.y_label) if up else (chart.y_label, chart.x_label)
    axes.set_xlabel(shortened(across, 80), labelpad=8)
    axes.set_ylabel(shortened(upward, 60), labelpad=8)


def _known(points: Sequence[tuple[Any, float | None]]) -> list[tuple[Any, float | None]]:
    return [(x, y) for x, y in points if x is not None]


def _shade(number: int) -> Any:
    """Return a colour of its own also for those that there is no more colour for."""
    return _colour(number) if number < len(_COLOURS) else (_colour(number), 0.5)


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]
