"""search_code: text or RE2 expressions, line by line, over the workspace.

Where a confined ripgrep can be had, it says first which files are worth opening. What is found is always read from the
opened files, so the answer is the same with it and without.
"""

import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO, Literal

from brasstag.sandbox.process.ripgrep import FileSearch, Ripgrep
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.tools.search.lines import Matching
from brasstag.tools.search.query import compiled, is_expression, translated

NOTE = "The query stands nowhere as a text, so it was read as a regular expression; give regex to say which you mean."
FEW = 100
"""This many files are read faster than a program is started."""

_SNIFFED_BYTES = 8000
_CHUNK = 8 << 20
_SHARE_OF_RIPGREP = 0.5
"""The share of the time that ripgrep gets; the rest is for a search without it."""
_SUFFIX = re.compile(r"\*(\.[A-Za-z0-9_.-]+)")


@dataclass(slots=True)
class _Search:
    """One search in progress."""

    workspace: Draft
    matching: Matching
    largest: int
    deadline: float
    engine: Literal["ripgrep", "walk"] = "walk"
    searched: int = 0
    binary: int = 0
    too_large: int = 0
    truncated: Literal["results", "time"] | None = None

    def follow(self, ripgrep: Ripgrep, file_search: FileSearch, files: Iterable[str]) -> None:
        """Look into the files in which ripgrep has found something; into every one where it cannot say."""
        with ripgrep.started(file_search) as said:
            every = list(self._while_there_is_time(files))
            found = said.result()
        if found is None:
            self.look_into(every)
            return
        self.engine = "ripgrep"
        worth_opening = [path for path in every if found.covers(path)]
        others = set(every).difference(worth_opening)
        self.workspace.count_as_read(others)
        self.searched += len(others)
        self.look_into(worth_opening)

    @property
    def is_empty(self) -> bool:
        """Whether everything was looked into and nothing found."""
        elsewhere = self.binary or self.too_large
        return not self.matching.matches and not elsewhere and self.truncated is None

    def result(self) -> dict[str, Any]:
        """Return what the caller is told."""
        skipped = {
            "binary": self.binary,
            "too_large": self.too_large,
            "unreadable": self.workspace.skipped_count,
            "forbidden": self.workspace.hidden_count,
        }
        return {
            "matches": self.matching.matches,
            # Hidden files count as searched and empty: the number must not tell what is in them.
            "files_searched": self.searched + self.workspace.disguised_count,
            "skipped": skipped,
            "truncated": self.truncated,
            "engine": self.engine,
        }

    def _while_there_is_time(self, files: Iterable[str]) -> Iterator[str]:
        for path in files:
            yield path
            if time.monotonic() > self.deadline:
                self.truncated = "time"
                return

    def look_into(self, paths: Iterable[str]) -> None:
        """Look into every file, until there is enough or the time is over."""
        for path, file in self.workspace.open_each(paths):
            self.searched += 1
            if not self._look_into_one(path, file):
                self.truncated = "results"
                return
            if time.monotonic() > self.deadline:
                self.truncated = "time"
                return

    def _look_into_one(self, path: str, file: BinaryIO) -> bool:
        """Note what is found in a file that can be shown; return False once there is enough."""
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size > self.largest:
            self.too_large += self._occurs_in(file)
            return True
        data = file.read(self.largest)
        if b"\0" in data[:_SNIFFED_BYTES]:
            self.binary += self.matching.occurs_in(data)
            return True
        return self.matching.look_into(path, data)

    def _occurs_in(self, file: BinaryIO) -> bool:
        """Say whether a file of any size has a match; a line longer than a piece counts as several."""
        rest = b""
        while (piece := file.read(_CHUNK)) and time.monotonic() < self.deadline:
            lines, _, rest = (rest + piece).rpartition(b"\n")
            if len(rest) > _CHUNK:
                lines, rest = lines + b"\n" + rest, b""
            if self.matching.occurs_in(lines):
                return True
        return self.matching.occurs_in(rest)


@tool(execution_type="function")
def search_code(
    workspace: Draft,
    limits: Limits,
    ripgrep: Ripgrep | None,
    query: str,
    directory: str = ".",
    regex: bool | None = None,
    case_sensitive: bool = True,
    include: list[str] | None = None,
    exclude: list[str] | None = None,
    include_hidden: bool = False,
    context: int = 0,
    max_results: int = 200,
) -> dict[str, Any]:
    """search_code"""
    deadline = time.monotonic() + limits.working_seconds
    globs = [*(include or ()), *(f"!{glob}" for glob in exclude or ())]

    def search(as_regex: bool) -> _Search:
        found = _Search(
            workspace,
            Matching(
                compiled(query, as_regex, case_sensitive),
                context,
                max_results,
                limits.numbers["max_line_characters"],
                deadline,
            ),
            limits.numbers["max_file_bytes"],
            deadline,
        )
        files = workspace.files(directory, globs, include_hidden)
        first = list(islice(files, FEW))
        wanted = translated(query, as_regex, case_sensitive) if ripgrep and len(first) == FEW else None
        if ripgrep is None or wanted is None:
            found.look_into(chain(first, files))
        else:
            where = workspace.canonical(directory)
            seconds = max(deadline - time.monotonic(), 0) * _SHARE_OF_RIPGREP
            file_search = FileSearch(wanted, where, include_hidden, _suffixes(include or ()), seconds)
            found.follow(ripgrep, file_search, chain(first, files))
        return found

    found = search(regex or False)
    if regex is None and found.is_empty and is_expression(query, case_sensitive):
        workspace.count_anew()
        return search(True).result() | {"note": NOTE}
    return found.result()


def _suffixes(include: Sequence[str]) -> list[str]:
    """Return the ends of names that globs ask for; nothing where one of them asks for something else."""
    ends = [_SUFFIX.fullmatch(glob) for glob in include]
    return [end[1] for end in ends if end] if all(ends) else []
