"""Show a run: lines and a live tree at a terminal, lines in a file, JSON in a pipe."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

from brasstag.surfaces.cli.follow.events import Teller, as_json
from brasstag.surfaces.cli.show.task_tree import picture
from brasstag.surfaces.cli.terminal import streams
from brasstag.surfaces.cli.terminal.console import print_json, screen
from brasstag.surfaces.visible import visible

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from brasstag.app import Overview, RunEvent

_SPEECH_LINES = 3
_ROWS_LEFT = 6
"""How many rows of a terminal the picture leaves to what has happened."""


class Showing(Protocol):
    """A way to show a run."""

    def show(self, run_event: "RunEvent") -> None:
        """Show what has happened."""

    def stand(self, overview: "Overview") -> None:
        """Show where the tasks stand now."""

    def aside(self) -> AbstractContextManager[None]:
        """Step aside while a person reads and answers."""

    def close(self) -> None:
        """Show nothing more."""


class InJson:
    """One object a line."""

    def show(self, run_event: "RunEvent") -> None:
        """Print the object, at once: the program that reads it acts on it."""
        print_json(as_json(run_event))
        streams.output().flush()

    def stand(self, overview: "Overview") -> None:
        """Programs ask for that with ``brasstag tasks``."""

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Programs are asked nothing."""
        yield

    def close(self) -> None:
        """There is nothing to take down."""


class AsLines:
    """One line, or a few, for what has happened."""

    def __init__(self, top: str) -> None:
        self.teller = Teller(top)

    def show(self, run_event: "RunEvent") -> None:
        """Print the lines."""
        self.teller.tell(run_event)

    def stand(self, overview: "Overview") -> None:
        """What was printed stays as it is."""

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Printed lines need not step aside."""
        yield

    def close(self) -> None:
        """There is nothing to take down."""


class OnScreen(AsLines):
    """The same lines, and below them the tasks as they stand and what models are saying."""

    def __init__(self, top: str) -> None:
        super().__init__(top)
        self._live: Live | None = None
        self._overview: Overview | None = None
        self._speech: dict[str, tuple[str, str]] = {}
        """Who says what, by task."""

    def show(self, run_event: "RunEvent") -> None:
        """Print what was written down; hear what is being said."""
        task = run_event.task
        if run_event.retrying is not None or run_event.output is not None:
            super().show(run_event)
        elif run_event.entry is None:
            said = self._speech.get(task.id, (task.role, ""))[1]
            self._speech[task.id] = (task.role, said + run_event.text)
        else:
            self._speech.pop(task.id, None)
            super().show(run_event)
        self._draw()

    def stand(self, overview: "Overview") -> None:
        """Draw the tasks again."""
        self._overview = overview
        self._draw()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the picture down until the person has answered."""
        self.close()
        try:
            yield
        finally:
            self._draw()

    def close(self) -> None:
        """Take the picture down."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self) -> None:
        from rich.console import Group
        from rich.live import Live

        if self._live is None:
            self._live = Live(console=screen(), auto_refresh=False, transient=True, vertical_overflow="crop")
            self._live.start()
        self._live.update(Group(*self._rows()), refresh=True)

    def _rows(self) -> list["Text"]:
        from rich.text import Text

        width, height = screen().width, screen().height
        rows: list[Text] = []
        if self._overview is not None:
            rows = list(picture(self._overview, width, self.teller.doing))
        speech = [line for role, text in self._speech.values() for line in self._spoken(role, text, width)]
        most = max(height - _ROWS_LEFT - len(speech), 1)
        if len(rows) > most:
            rows = [*rows[-most:], Text(f"… and {len(rows) - most} tasks above", style="dim")]
        return [*rows, *speech]

    def _spoken(self, role: str, text: str, width: int) -> Iterator["Text"]:
        """Yield the newest lines of what a model is saying."""
        from rich.cells import chop_cells
        from rich.text import Text

        edge = f"  {role:<10} │ "
        room = max(width - len(edge), 10)
        newest = visible(text[-room * _SPEECH_LINES * 2 :]).strip("\n").split("\n")
        lines = [piece for line in newest for piece in chop_cells(line.expandtabs(4), room) or [""]]
        for line in lines[-_SPEECH_LINES:]:
            yield Text(f"{edge}{line}", style="dim")
