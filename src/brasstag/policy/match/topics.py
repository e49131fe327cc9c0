"""What a pattern can be about, and which part of a call it is compared with.

A topic gives a call's items twice: ``items`` is everything a deny or ask looks at, any one of which is enough;
``coverings`` are the ways to cover the call: an allow has to match every item of one of them.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from brasstag.policy.globs import (
    Expression,
    Reading,
    literal_text,
    name_expression,
    path_expression,
    text_expression,
    words_expression,
)
from brasstag.policy.match.command_words import CommandWords, Likeness
from brasstag.policy.match.subjects import (
    Subject,
    is_plain_command,
    names_command,
    names_path,
    plain_path,
    word_lines,
)


class Matcher(Protocol):
    """Something that matches whole items."""

    def matches(self, text: str) -> bool:
        """Say whether it matches this item."""


class Topic(Protocol):
    """One thing a pattern can be about; equal topics are about the same."""

    def matcher(self, glob: str, reading: Reading) -> Matcher:
        """Return what holds a glob against this topic's items."""

    def items(self, subject: Subject) -> Sequence[str]:
        """Return everything of this topic in the call."""

    def coverings(self, subject: Subject) -> Iterator[Sequence[str]]:
        """Yield sets of items, each of which covers the call once all of it is matched; an empty one never does."""


@dataclass(frozen=True)
class WholeCall:
    """Every call of a tool: a pattern without a specifier."""

    def matcher(self, glob: str, reading: Reading) -> Expression:
        """Return a glob for names of tools."""
        return name_expression(glob, reading)

    def items(self, subject: Subject) -> Sequence[str]:
        """Return the tool; a pattern that was bound to it by whatever name matches it as ``*``."""
        return (subject.call.tool,)

    def coverings(self, subject: Subject) -> Iterator[Sequence[str]]:
        """Yield the tool."""
        yield self.items(subject)


@dataclass(frozen=True)
class Paths:
    """The paths a call names, touches, or holds as words of a command."""

    def matcher(self, glob: str, reading: Reading) -> Expression:
        """Return a path glob."""
        return path_expression(glob, reading)

    def items(self, subject: Subject) -> Sequence[str]:
        """Return every path, and every word that may be one."""
        return (*subject.paths, *subject.words_as_paths)

    def coverings(self, subject: Subject) -> Iterator[Sequence[str]]:
        """Yield every path."""
        yield subject.paths_to_cover


@dataclass(frozen=True)
class PathArgument(Paths):
    """An argument that holds paths."""

    argument: str

    def items(self, subject: Subject) -> Sequence[str]:
        """Return the paths in the argument."""
        return tuple(plain_path(value) for value in subject.values(self.argument))

    def coverings(self, subject: Subject) -> Iterator[Sequence[str]]:
        """Yield the paths in the argument."""
        yield self.items(subject)


@dataclass(frozen=True)
class CommandArgument:
    """An argument that holds a command or code, matched by whole words."""

    argument: str

    def matcher(self, glob: str, reading: Reading) -> Matcher:
        """Return a line of word globs."""
        if reading == "generous":
            words_expression(glob, reading)  # says what cannot be read
            return CommandWords(glob)
        exact = literal_text(glob)
        # Code that is given whole need not be a line of words.
        words = words_expression(glob, reading) if exact is None or is_plain_command(exact) else None
        return PlainCommand(words, exact)

    def items(self, subject: Subject) -> Sequence[str]:
        """Return each text as its words, one to a line, and once more as it was read."""
        return subject.command_lines(self.argument)

    def respelt(self, subject: Subject, matchers: Iterable[Matcher], least: Likeness) -> str | None:
        """Return a command that is as like as this to one that a matcher means, however it is spelt."""
        readings = subject.readings(self.argument)
        for matcher in matchers:
            if isinstance(matcher, CommandWords):
                for reading in readings:
                    found, on = matcher.likest(reading)
                    if found >= least:
                        return on
        return None

    def coverings(self, subject: Subject) -> Iterator[Sequence[str]]:
        """Yield the text as it was given; and the commands in it, where they are nothing but words."""
        whole = subject.whole(self.argument)
        if whole is not None:
            from brasstag.policy.shell.plain import plain_commands  # noqa: PLC0415 - most calls run nothing

            yield (whole,)
            yield tuple(shlex.join(words) for words in plain_commands(whole))


@dataclass(frozen=True)
class TextArgument:
    """Any other argument."""

    argument: str

    def matcher(self, glob: str, reading: Reading) -> Matcher:
        """Return a text glob."""
        return text_expression(glob, reading)

    def items(self, subject: Subject) -> Sequence[str]:
        """Return every text inside the argument."""
        return subject.values(self.argument)

    def coverings(self, subject: Subject) -> Iterator[Sequence[str]]:
        """Yield the argument as one text: JSON where it is not text itself."""
        whole = subject.whole(self.argument)
        yield () if whole is None else (whole,)


@dataclass(frozen=True)
class PlainCommand:
    """How an allow reads a command: the exact text, or nothing but words. Operators are never waved through."""

    words: Matcher | None
    exact: str | None

    def matches(self, text: str) -> bool:
        """Say whether the command is the exact text, or a single plain one and matched word by word."""
        if self.words is None or text == self.exact:
            return text == self.exact
        if is_plain_command(text):
            return self.words.matches(word_lines(text))
        from brasstag.policy.shell.plain import plain_commands  # noqa: PLC0415

        commands = plain_commands(text)
        lines = "".join(f"{word}\n" for word in commands[0]) if len(commands) == 1 else ""
        return bool(lines) and self.words.matches(lines)


WHOLE_CALL = WholeCall()
PATHS = Paths()


def argument_topic(argument: str) -> Topic:
    """Return how an argument of this name is read."""
    if names_path(argument):
        return PathArgument(argument)
    if names_command(argument):
        return CommandArgument(argument)
    return TextArgument(argument)
