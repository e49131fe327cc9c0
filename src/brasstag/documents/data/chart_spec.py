"""What a chart shows, before it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from brasstag.documents.data.labels import name_text

Kind = Literal["bar", "line", "area", "scatter", "pie", "histogram"]
Scale = Literal["name", "number", "time"]

_LONG_NAME = 12
_MANY_NAMES = 16
_FEW_NAMES = 4


@dataclass(frozen=True, slots=True)
class Series:
    """One series: a name, and its points."""

    name: str
    points: Sequence[tuple[Any, float | None]]


@dataclass(frozen=True, slots=True)
class Chart:
    """What a picture shows."""

    kind: Kind
    title: str
    x_label: str
    y_label: str
    scale: Scale
    """What its x values are."""
    lines: Sequence[Series]

    @property
    def names(self) -> list[Any]:
        """What stands on its x axis, in the order in which it comes up."""
        return list(dict.fromkeys(x for line in self.lines for x, _ in line.points))

    @property
    def labels(self) -> list[str]:
        """The same as a reader sees it."""
        return [name_text(name) for name in self.names]

    @property
    def words(self) -> str:
        """Everything in it that a font has to have signs for."""
        series = [line.name for line in self.lines]
        return " ".join((self.title, self.x_label, self.y_label, *self.labels, *series))

    @property
    def lies(self) -> bool:
        """Whether its bars lie: below upright ones, long or many names would run into each other."""
        labels = self.labels
        is_long = len(labels) > _FEW_NAMES and max(map(len, labels)) > _LONG_NAME
        return self.kind == "bar" and (is_long or len(labels) > _MANY_NAMES)
