"""A database that holds views of the given documents and can reach nothing else."""

import base64
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

import duckdb

from brasstag.documents.data.ragged import NotEven, evened
from brasstag.documents.data.readers import read_tables
from brasstag.documents.data.recode import NotUtf8, recoded, tells_of_encoding
from brasstag.documents.data.sources import TableFile, ViewSource, identifier, literal, not_a_table
from brasstag.documents.data.values import is_plain, plain_value, written_value
from brasstag.words.errors import Code, ToolError

_INLINE = Path("/tmp/documents")  # noqa: S108 - in the sandbox, on the module job's own file system
_LONGEST_MESSAGE = 1500
_SETTINGS_TOLD = "\n\n  file = "
"""Where, in what DuckDB says of a CSV file, the list of its settings begins."""
_NOT_IN_A_NAME = re.compile(r"\W+")
_DEFAULT_NAME = "data"
_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    # Else a name in SQL could mean a variable of this program.
    "python_enable_replacements": "false",
    "temp_directory": "",
}


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What a query may use. The limits of the module job are a little wider; they stop a DuckDB that exceeds these."""

    seconds: float
    memory_mb: int


@dataclass(frozen=True, slots=True)
class TableView:
    """A view, and which of the documents it shows."""

    document: int
    view: str
    source: ViewSource

    def as_json(self) -> dict[str, Any]:
        """Return ``{document, view, sheet, note}``."""
        told = {"sheet": self.source.sheet, "note": self.source.note}
        return {"document": self.document, "view": self.view, **told}


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query gave."""

    columns: list[tuple[str, str]]
    """Name and type of each."""
    rows: list[list[Any]]
    is_cut: bool
    """Whether there were more rows than were wanted."""


def table_files(documents: Sequence[Mapping[str, str]]) -> list[TableFile]:
    """Return the documents of a request: each is a file already, or comes with the request in base64."""
    _INLINE.mkdir(exist_ok=True)
    files = []
    for number, document in enumerate(documents):
        place = Path(document.get("file") or _INLINE / str(number))
        if "content" in document:
            place.write_bytes(base64.b64decode(document["content"]))
        files.append(TableFile(document["path"], place))
    return files


def _query_failed(words: str) -> ToolError:
    return ToolError(Code.QUERY_FAILED, words)


class Tables:
    """Documents, ready for SQL."""

    def __init__(self, files: Sequence[TableFile], allowance: QueryLimits, *, thorough: bool = False) -> None:
        """Make a view of each table, then cut off all other access; raise ToolError where a document is no table."""
        self._files = list(files)
        self._scratch = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
        self._allowance = allowance
        self._is_thorough = thorough
        self._connection = duckdb.connect(":memory:", config=dict(_CONFIG))
        self._connection.execute(f"SET memory_limit='{allowance.memory_mb}MB'")
        self.shown: list[TableView] = []
        for number in range(len(files)):
            # One by one: the next name must not be that of one before.
            for shown in self._show(number):
                self.shown.append(shown)
        paths = ", ".join(literal(str(table_file.path)) for table_file in self._files)
        self._connection.execute(f"SET allowed_paths=[{paths}]")
        self._connection.execute("SET enable_external_access=false")
        self._connection.execute("SET lock_configuration=true")

    def query(self, sql: str, most_rows: int) -> QueryResult:
        """Return at most so many rows of one SELECT; raise ToolError where it is none, or fails.

        Where a file is not what its beginning promised, all of it is looked at, and the query is run once more.
        """
        try:
            statement = self.select_in(sql)
            with self._said():
                return self._answer(statement, most_rows)
        except ToolError as error:
            misread = isinstance(error.__cause__, duckdb.ConversionException | duckdb.InvalidInputException)
            if self._is_thorough or not misread:
                raise
        thorough = Tables(self._files, self._allowance, thorough=True)
        answer = thorough.query(sql, most_rows)
        # The caller also needs what the second reading found out about the documents.
        self.shown = thorough.shown
        return answer

    def select_in(self, sql: str) -> str:
        """Return the one SELECT of a text, fit to stand in brackets; raise ToolError where there is anything else in it."""
        with self._said():
            if not self._is_select(sql):
                raise _not_a_select()
            # With a line of its own behind it: it may end with a comment.
            statement = f"{self._without_end(sql).strip()}\n"
            self._require_no_change(statement)
        return statement

    def _require_no_change(self, statement: str) -> None:
        # What DuckDB calls a SELECT may change things in its WITH, but only where it stands in no brackets.
        try:
            self._connection.sql(f"FROM ({statement})")
        except duckdb.BinderException as error:
            if "must be at the top level" in str(error):
                raise _not_a_select() from error
            raise

    def _is_select(self, sql: str) -> bool:
        statements = self._connection.extract_statements(sql)
        return len(statements) == 1 and statements[0].type == duckdb.StatementType.SELECT

    def _without_end(self, sql: str) -> str:
        """Leave out the semicolon that ends a statement, and any comment behind it."""
        for place in (place for place, character in enumerate(sql) if character == ";"):
            # One in a text or a comment parts it where neither half is whole.
            with suppress(duckdb.Error):
                if self._is_select(sql[:place]) and not self._connection.extract_statements(sql[place:]):
                    return sql[:place]
        return sql

    def _answer(self, statement: str, most_rows: int) -> QueryResult:
        with self._in_time():
            found = self._connection.sql(statement)
            columns = list(zip(found.columns, map(str, found.types), strict=True))
            wanted = (
                f"#{place}" if is_plain(kind) else f"to_json(#{place})"
                for place, (_, kind) in enumerate(columns, start=1)
            )
            fetched = found.limit(most_rows + 1).project(", ".join(wanted)).fetchall()
        rows = [
            [
                plain_value(value) if is_plain(kind) else written_value(value, kind)
                for value, (_, kind) in zip(row, columns, strict=True)
            ]
            for row in fetched[:most_rows]
        ]
        return QueryResult(columns, rows, len(fetched) > most_rows)

    def _show(self, number: int) -> Iterator[TableView]:
        with self._said(partial(not_a_table, self._files[number])), self._in_time():
            yield from self._readable(number)

    def _readable(self, number: int) -> Iterator[TableView]:
        """Yield the views of a document, written anew where DuckDB cannot read it as it is."""
        table_file = self._files[number]
        try:
            yield from self._views(number)
        except NotEven:
            self._files[number] = evened(table_file, self._scratch)
        except (NotUtf8, duckdb.InvalidInputException) as error:
            if table_file.recoded or not (isinstance(error, NotUtf8) or tells_of_encoding(error)):
                raise
            self._files[number] = recoded(table_file, self._scratch)
        else:
            return
        yield from self._readable(number)

    def _views(self, number: int) -> Iterator[TableView]:
        table_file = self._files[number]
        sources = list(read_tables(self._connection, table_file, thorough=self._is_thorough))
        if not sources:
            raise not_a_table(table_file, "none of its sheets holds anything")
        for source in sources:
            sheet = source.sheet if len(sources) > 1 else None
            name = self._name("_".join(filter(None, (table_file.stem, sheet))))
            self._connection.execute(
                f"ALTER TABLE {source.relation} RENAME TO {identifier(name)}"
                if source.is_stored
                else f"CREATE VIEW {identifier(name)} AS FROM {source.relation}"
            )
            yield TableView(number, name, source)

    def _name(self, stem: str) -> str:
        """Return a name for a view that needs no quotes, and that no other view has."""
        plain = _NOT_IN_A_NAME.sub("_", stem).strip("_").lower() or _DEFAULT_NAME
        plain = f"{_DEFAULT_NAME}_{plain}" if plain[0].isdigit() else plain
        found = self._connection.execute(
            "SELECT count(*) FROM duckdb_keywords() WHERE keyword_name = ? AND keyword_category <> 'unreserved'",
            [plain],
        ).fetchone()
        plain = f"{plain}_{_DEFAULT_NAME}" if found and found[0] else plain
        taken = {shown.view for shown in self.shown}
        number, name = 2, plain
        while name in taken:
            name, number = f"{plain}_{number}", number + 1
        return name

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        timer = Timer(self._allowance.seconds, self._connection.interrupt)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    @contextmanager
    def _said(self, failed: Callable[[str], ToolError] = _query_failed) -> Iterator[None]:
        """Turn what DuckDB raises into an error that says what to do next; ``failed`` makes one of its own words."""
        try:
            yield
        except duckdb.InterruptException as error:
            raise self._too_slow() from error
        except duckdb.OutOfMemoryException as error:
            raise self._too_large() from error
        except duckdb.Error as error:
            raise failed(self._told(error)) from error

    def _too_slow(self) -> ToolError:
        return ToolError(
            Code.TIMEOUT,
            f"the query took longer than {self._allowance.seconds:g} s; let it read or join less",
        )

    def _too_large(self) -> ToolError:
        return ToolError(
            Code.EXECUTION_ERROR,
            f"the query needs more than {self._allowance.memory_mb} MB of memory; let it hold less at a time",
        )

    def _told(self, error: Exception) -> str:
        """Return DuckDB's own words, which name documents instead of files."""
        words = str(error).split(_SETTINGS_TOLD)[0].strip()
        for table_file in self._files:
            words = words.replace(str(table_file.path), table_file.document)
        return words[:_LONGEST_MESSAGE]


def _not_a_select() -> ToolError:
    return ToolError(
        Code.INVALID_ARGUMENTS,
        "only one SELECT can be asked, and nothing can be changed; a PIVOT stands in its FROM, with the "
        "values it is over: FROM (PIVOT … ON … IN (…) USING …)",
    )
