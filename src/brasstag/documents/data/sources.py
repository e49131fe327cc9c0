"""The files a program was given, and which view shows which file."""

from dataclasses import dataclass
from pathlib import Path

from brasstag.words.errors import Code, ToolError


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of the module job, and the document it holds."""

    document: str
    path: Path
    recoded: str = ""
    """The encoding of the document, where the file is a copy of it in UTF-8."""
    evened: str = ""
    """What did not fit, where the file is a copy of it in which every line has as many values."""

    @property
    def ending(self) -> str:
        """The ending of its name that says what it is, without that of a compression."""
        return Path(self._plain).suffix.lower()

    @property
    def stem(self) -> str:
        """Its name without endings and directories."""
        return Path(self._plain).stem

    @property
    def is_packed(self) -> bool:
        """Whether it is compressed with gzip, as its name says."""
        return self._ends_packed and not (self.recoded or self.evened)

    @property
    def _ends_packed(self) -> bool:
        return self.document.lower().endswith(".gz")

    @property
    def _plain(self) -> str:
        return self.document[:-3] if self._ends_packed else self.document


@dataclass(frozen=True, slots=True)
class ViewSource:
    """What a view stands for."""

    relation: str
    """SQL that gives its rows."""
    sheet: str | None = None
    note: str = ""
    """What of the file is not in it, or was guessed."""
    is_stored: bool = False
    """Whether its rows are in a table of the database already, which is then shown itself."""


def not_a_table(table_file: TableFile, why: str) -> ToolError:
    """Return the error for a document without rows and columns."""
    return ToolError(
        Code.NOT_A_TABLE, f"{table_file.document} is not a table: {why}", {"document": table_file.document}
    )


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return f"'{text.replace(chr(39), chr(39) * 2)}'"


def identifier(name: str) -> str:
    """Return a name as SQL writes it."""
    return f'"{name.replace(chr(34), chr(34) * 2)}"'


def first_lines(count: int, is_what: str, are_what: str) -> str:
    """Return what is to be said of the first lines of a file, be it one or more."""
    return f"its first line {is_what}" if count == 1 else f"its first {count} lines {are_what}"
