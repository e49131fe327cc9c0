"""The commands a text would run, as far as it can be read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Language = Literal["bash", "python", "python -c"]
"""What a text is read as: Python from a file has a coding line, which means nothing behind ``-c``."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    text: str
    """The text that the command sees; a computed word is kept as written, with the home directory as ``~``."""
    computed: bool = False
    """Only known when it runs: it holds a variable, a substitution or arithmetic."""
    pattern: bool = False
    """It holds wildcards that the shell replaces."""
    splits: bool = False
    """It is computed outside of quotes, so it may become several words, or none."""

    @property
    def literal(self) -> bool:
        """Whether the command sees exactly this text."""
        return not (self.computed or self.pattern)


UNSEEN = Word("…", computed=True, splits=True)
"""Words that no rule can see before it runs."""


class Doubt(StrEnum):
    """Why a text cannot be read with certainty; the value ends the sentence "it asks, because"."""

    UNREADABLE = "it cannot be read as code of its language"
    TOO_LARGE = "it is too long or too tangled to be read"
    TOO_DEEP = "commands are wrapped into each other too deeply to be read"
    COMPUTED_NAME = "the name of a command is computed"
    COMPUTED_CODE = "code that it runs is computed"
    COMPUTED_DELETION = "what it deletes is computed"
    FED_SHELL = "it feeds commands to a shell or interpreter"
    REDEFINED = "it gives a known command another meaning"
    SOURCED = "it takes in commands from another file"
    WRITTEN_FIRST = "it runs a file that it writes itself"


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A doubt, and the words that raised it."""

    doubt: Doubt
    on: str


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command."""

    words: tuple[Word, ...]
    place: tuple[str, ...] = ()
    """What it stands in, the outermost first: ``pipe``, ``substitution``, ``bash -c``, ``xargs`` and so on."""
    piped: bool = False
    """Whether its input comes from another command."""
    fed: Word | None = None
    """Text in the script that is its input."""
    assigns: tuple[str, ...] = ()
    """Variables that are set for it, as ``NAME=value``."""
    reads: tuple[Word, ...] = ()
    """Files that it is given as input."""
    writes: tuple[Word, ...] = ()
    """Files that its output goes to."""
    # Every rule looks at these, so they are found once.
    name: str = field(init=False, compare=False, repr=False)
    """The program, without its directory; empty where it is computed."""
    found: dict[Any, Any] = field(init=False, compare=False, repr=False)
    """What was found out about it, by who found it."""

    def __post_init__(self) -> None:
        words = self.words
        name = words[0].text.rpartition("/")[2] if words and words[0].literal else ""
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "found", {})

    @property
    def arguments(self) -> tuple[str, ...]:
        """The texts of its words but the first."""
        return tuple(word.text for word in self.words[1:])

    @property
    def text(self) -> str:
        """Its words on one line."""
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class CommandReading:
    """Everything that was read in one text."""

    commands: tuple[Command, ...] = ()
    doubts: tuple[Doubtful, ...] = ()
    language: Language = "bash"
    mentions: tuple[str, ...] = ()
    """Texts that code holds besides its commands: strings in Python, assignments in bash."""
    found: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """What rules found in it; one call is judged several times, and its reading is kept."""


def is_dynamic(word: Word) -> bool:
    """Say whether a word is filled in when the command runs; find, xargs and parallel fill in ``{}``."""
    return word.computed or "{}" in word.text


def joined(words: Iterable[Word]) -> Word:
    """Return words as one, with a space between two."""
    several = tuple(words)
    return Word(
        " ".join(word.text for word in several),
        any(word.computed for word in several),
        any(word.pattern for word in several),
        any(word.splits for word in several),
    )
