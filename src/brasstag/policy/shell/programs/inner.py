"""What a command runs besides itself: further words, text to read, or something that is not known."""

from collections.abc import Iterator
from dataclasses import dataclass

from brasstag.policy.shell.commands import Doubt, Language, Word


@dataclass(frozen=True, slots=True)
class CommandText:
    """Code that a command is given to run."""

    label: str
    text: str
    language: Language = "bash"


@dataclass(frozen=True, slots=True)
class Words:
    """A command that stands in the words of another."""

    label: str
    words: tuple[Word, ...]


Inner = CommandText | Words | Doubt


def code_in(label: str, word: Word, language: Language = "bash") -> Iterator[Inner]:
    """Yield code that a word holds; where a part of it is computed, the rest is read all the same."""
    if not word.literal:
        yield Doubt.COMPUTED_CODE
    yield CommandText(label, word.text, language)
