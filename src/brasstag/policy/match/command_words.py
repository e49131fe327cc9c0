"""How a deny or ask means a command: the program, its subcommands and its options, however they are spelt.

``git push --force`` is meant by ``git -C . push origin --force``, too: options may stand between its words, and its own
options anywhere. A word that is only known when it runs may be any word, so such a command may be the one that is meant.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import cached_property

from brasstag.policy.globs import Expression, literal_text, word_expression, words_expression
from brasstag.policy.shell.commands import Command, CommandReading, Word, is_dynamic
from brasstag.policy.shell.programs.aliases import is_cut_short, option_names, respelt
from brasstag.policy.shell.programs.options import is_option, places
from brasstag.policy.shell.programs.standard_input import runs_code

_LONGEST_GLOB = 256
_MOST_STARTS = 8
_VERSION = re.compile(r"(?<=[A-Za-z+])-?[0-9][0-9.]*$")
_CLUSTER = re.compile(r"-[A-Za-z0-9]+")


class Likeness(IntEnum):
    """Whether a command is the one that a pattern means."""

    OTHER = 0
    MAYBE = 1
    SAME = 2


@dataclass(frozen=True)
class CommandWords:
    """A line of word globs, as a deny or ask reads it."""

    glob: str

    @cached_property
    def line(self) -> Expression:
        """What finds the words one behind the other, in whatever text."""
        return words_expression(self.glob, "generous")

    def matches(self, text: str) -> bool:
        """Say whether a text, its words one to a line, holds these words one behind the other."""
        return self.line.matches(text)

    @cached_property
    def _words(self) -> tuple["_MeantWord", ...]:
        return tuple(_MeantWord(word) for word in self.glob.split())

    def likest(self, reading: CommandReading) -> tuple[Likeness, str]:
        """Return how like the likest command of a reading is to this one, and its words; found once for each reading."""
        known: tuple[Likeness, str] | None = reading.found.get(self)
        if known is None:
            known = Likeness.OTHER, ""
            for command in reading.commands:
                found = self.likeness(command)
                if found > known[0]:
                    known = found, command.text
                if found is Likeness.SAME:
                    break
            reading.found[self] = known
        return known

    def likeness(self, command: Command) -> Likeness:
        """Say whether this is the command, by what was read of it."""
        first = self._words[0]
        if not command.words or first.text == "**" or first.is_option:
            return Likeness.OTHER
        if command.words[0].computed:
            return Likeness.MAYBE
        found = Likeness.OTHER
        if not command.words[0].literal or first.may_begin(command.name):
            found = max(self._compared(words) for words in _spellings(command.words))
        return found or self._behind(command.words)

    def _behind(self, words: Sequence[Word]) -> Likeness:
        """Say whether it may stand in the words of another command, which may be a wrapper that is not known."""
        first = self._words[0]
        starts = (
            [at for at in range(1, len(words)) if first.is_name_of(words[at])] if len(self._words) > 1 else []
        )
        is_there = len(starts) > _MOST_STARTS or any(
            self._compared(words[at:]) is Likeness.SAME for at in starts
        )
        return Likeness.MAYBE if is_there else Likeness.OTHER

    def _compared(self, words: Sequence[Word]) -> Likeness:
        found = self._words[0].program_likeness(words[0])
        if found:
            found = min(found, self._operands(words))
        if found:
            found = min(found, self._options(words))
        return found

    def _operands(self, words: Sequence[Word]) -> Likeness:
        """Compare its words that are no options, from left to right."""
        program = words[0].text.rpartition("/")[2]
        reached = {1}
        least = Likeness.OTHER
        anywhere = False
        for meant in self._words[1:]:
            if meant.text == "**":
                anywhere = True
            if meant.text == "**" or meant.is_option:
                continue
            following: set[int] = set()
            # Where it may stand anywhere, what is behind the first place is behind the others, too.
            for start in sorted(reached)[:1] if anywhere else reached:
                for at in range(start, len(words)) if anywhere else places(words, start, program):
                    found = meant.likeness(words[at])
                    if not found and meant.is_cut_short(program, words[at]):
                        found = Likeness.SAME
                    if found is Likeness.SAME:
                        following.add(at + 1)
                    elif found is Likeness.MAYBE:
                        least = found
                if any(words[at].splits for at in _values(words, start)):
                    least = Likeness.MAYBE  # it may become all that is missing
            reached, anywhere = following, False
        return Likeness.SAME if reached else least

    def _options(self, words: Sequence[Word]) -> Likeness:
        """Look for its options among those of the command."""
        given = _own_options(words)
        letters = {letter for word in given if _CLUSTER.fullmatch(word.text) for letter in word.text[1:]}
        found = Likeness.SAME
        for names in self._meant_options:
            if any(_CLUSTER.fullmatch(one.text) and letters.issuperset(one.text[1:]) for one in names):
                continue
            likely = max(
                (one.option_likeness(word) for word in given for one in names), default=Likeness.OTHER
            )
            found = min(found, likely)
        return found

    @cached_property
    def _meant_options(self) -> tuple[tuple["_MeantWord", ...], ...]:
        """Its options, each with all of its names."""
        program = self._words[0].text.lower()
        subcommand = next((word.text for word in self._words[1:] if not word.is_option), "")
        return tuple(
            tuple(map(_MeantWord, names))
            for word in self._words[1:]
            if word.is_option
            for names in option_names(program, subcommand, word.text)
        )


@dataclass(frozen=True)
class _MeantWord:
    """One word of a pattern."""

    text: str

    @cached_property
    def is_option(self) -> bool:
        return len(self.text) > 1 and self.text[0] == "-" and self.text != "--"

    @cached_property
    def _literal(self) -> str | None:
        text = literal_text(self.text)
        return None if text is None else text.lower()

    @cached_property
    def _expression(self) -> Expression:
        return word_expression(self.text)

    def may_begin(self, name: str) -> bool:
        """Say whether a program of this name can be the one that is meant; most are not."""
        literal = self._literal
        return literal is None or "/" in literal or name.lower().startswith(literal)

    def is_name_of(self, word: Word) -> bool:
        """Say whether a word is, letter for letter, the program that is meant."""
        return (
            word.literal
            and self._literal is not None
            and word.text.rpartition("/")[2].lower() == self._literal
        )

    def program_likeness(self, word: Word) -> Likeness:
        """Say whether a program is this one; ``pip3.12`` is pip."""
        found = self.likeness(word)
        if found or self._literal is None:
            return found
        unversioned = _VERSION.sub("", word.text.rpartition("/")[2]).lower()
        return Likeness.SAME if unversioned == self._literal else Likeness.OTHER

    def likeness(self, word: Word) -> Likeness:
        """Say whether a word of a command is this one."""
        if is_dynamic(word):
            return Likeness.MAYBE
        text = " ".join(word.text.split()).lower()
        if word.pattern:
            may = (
                self._literal is None
                or len(text) > _LONGEST_GLOB
                or fnmatchcase(self._literal, text.rpartition("/")[2])
            )
            return Likeness.MAYBE if may else Likeness.OTHER
        if self._literal is None:
            return Likeness.SAME if self._expression.matches(text) else Likeness.OTHER
        same = self._literal in (text, text.rpartition("/")[2])
        return Likeness.SAME if same else Likeness.OTHER

    def is_cut_short(self, program: str, word: Word) -> bool:
        """Say whether a program takes a word for this one because it begins like it."""
        return self._literal is not None and word.literal and is_cut_short(program, word.text, self._literal)

    def option_likeness(self, word: Word) -> Likeness:
        """Say whether an option of a command is this one, perhaps with a value, or cut short."""
        if self.text.startswith("--") and word.literal and len(word.text) > 2:
            name = word.text.partition("=")[0].lower()
            if name == self._literal:
                return Likeness.SAME
            if self._literal is not None and name.startswith("--") and self._literal.startswith(name):
                return Likeness.MAYBE
        return self.likeness(word)


def _spellings(words: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """Yield the words, and once more with each other name of a subcommand, and with ``git-push`` as ``git push``."""
    yield words
    yield from respelt(words)
    program, hyphen, subcommand = words[0].text.rpartition("/")[2].partition("-")
    if words[0].literal and hyphen and program and subcommand:
        apart = (Word(program), Word(subcommand), *words[1:])
        yield apart
        yield from respelt(apart)


def _values(words: Sequence[Word], start: int) -> Iterator[int]:
    """Yield the options behind a place, and what stands directly behind each: they may split."""
    at = start
    while at < len(words) and is_option(words[at]):
        yield at
        at += 1
        if at < len(words) and not is_option(words[at]):
            yield at
            at += 1


def _own_options(words: Sequence[Word]) -> list[Word]:
    """Return the words that may be options; an interpreter's end at its script."""
    behind = list(words[1:])
    if not runs_code(words[0].text.rpartition("/")[2]):
        return behind
    end = next((at for at, word in enumerate(behind) if word.literal and not is_option(word)), len(behind))
    return behind[:end]
