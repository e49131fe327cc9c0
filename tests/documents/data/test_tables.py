"""Tables as in a module job, here not confined: what DuckDB itself lets nobody do, and what it makes of files."""

import codecs
import gzip
from pathlib import Path
from typing import Any

import duckdb
import pytest

from brasstag.documents.data import recode
from brasstag.documents.data.sources import TableFile
from brasstag.documents.data.tables import QueryLimits, QueryResult, Tables
from brasstag.words.errors import Code, ToolError
from tests.documents.tongues import RUSSIAN
from tests.documents.workbooks import workbook

ALLOWANCE = QueryLimits(seconds=20, memory_mb=300)


def tables(folder: Path, files: dict[str, bytes | str], allowance: QueryLimits = ALLOWANCE) -> Tables:
    """Open files as a module job gets them: under names that say nothing."""
    given = []
    for number, (name, content) in enumerate(files.items()):
        place = folder / str(number)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        given.append(TableFile(name, place))
    return Tables(given, allowance)


def rows(folder: Path, name: str, content: bytes | str, sql: str) -> list[list[Any]]:
    return tables(folder, {name: content}).query(sql, 1000).rows


def refusal(folder: Path, name: str, content: bytes | str) -> ToolError:
    with pytest.raises(ToolError) as caught:
        tables(folder, {name: content})
    return caught.value


class TestNothingElseCanBeReached:
    @pytest.mark.parametrize(
        "sql",
        [
            "COPY sales TO '{folder}/out.csv'",
            "COPY sales TO '{folder}/0'",
            "ATTACH '{folder}/x.db'",
            "EXPORT DATABASE '{folder}/all'",
            "IMPORT DATABASE '{folder}'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET memory_limit = '10GB'",
            "SET enable_external_access = true",
            "RESET lock_configuration",
            "PRAGMA database_list",
            "PRAGMA memory_limit = '10GB'",
            "CALL pragma_version()",
            "CHECKPOINT",
            "BEGIN",
            "PREPARE p AS SELECT 1",
            "SET VARIABLE x = 1",
            "EXPLAIN ANALYZE SELECT 1",
            "CREATE TABLE t AS SELECT 1",
            "DROP VIEW sales",
            "INSERT INTO sales VALUES (1, 2)",
            "WITH x AS (COPY (SELECT 666 AS a) TO '{folder}/0' (FORMAT csv, USE_TMP_FILE false)) SELECT 1",
            "WITH x AS (INSERT INTO sales VALUES ('South', 9) RETURNING *) SELECT * FROM sales",
            "SELECT * FROM (WITH x AS (DELETE FROM sales RETURNING *) SELECT * FROM x)",
            "SELECT 1; DROP VIEW sales",
            "SELECT 1; SELECT 2",
            "PIVOT sales ON region USING sum(units)",
            "",
            "-- nothing",
        ],
    )
    def test_only_one_select_is_run(self, tmp_path: Path, sql: str) -> None:
        opened = tables(tmp_path, {"sales.csv": "region,units\nNorth,1\n"})
        before = sorted(tmp_path.iterdir())
        with pytest.raises(ToolError) as caught:
            opened.query(sql.format(folder=tmp_path), 10)
        assert caught.value.code is Code.INVALID_ARGUMENTS
        assert sorted(tmp_path.iterdir()) == before
        assert opened.query("SELECT units FROM sales", 10).rows == [[1]]

    def test_a_select_that_changes_a_workbook_on_the_way_is_none(self, tmp_path: Path) -> None:
        opened = tables(tmp_path, {"b.xlsx": workbook({"S": [["rev"], [4], [6]]})})
        with pytest.raises(ToolError) as caught:
            opened.query("WITH x AS (UPDATE b SET rev = 999 RETURNING *) SELECT sum(rev) FROM b", 10)
        assert caught.value.code is Code.INVALID_ARGUMENTS
        assert opened.query("SELECT sum(rev) FROM b", 10).rows == [[10.0]]

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT * FROM read_csv('{secret}')",
            "SELECT * FROM read_csv(['{folder}/0', '{secret}'])",
            "SELECT * FROM read_text('{secret}')",
            "SELECT * FROM read_blob('{secret}')",
            "SELECT * FROM read_json('{secret}')",
            "SELECT * FROM read_parquet('{secret}')",
            "SELECT * FROM parquet_metadata('{secret}')",
            "SELECT * FROM sniff_csv('{secret}')",
            "SELECT * FROM '{secret}'",
            "SELECT * FROM glob('{folder}/*')",
            "SELECT * FROM read_text('{folder}/../secret')",
            "SELECT * FROM read_text('/proc/self/environ')",
            "SELECT * FROM read_csv('https://example.org/a.csv')",
            "SELECT getenv('HOME')",
            "FROM query('DROP VIEW sales')",
            "FROM query('COPY sales TO ''{folder}/out.csv''')",
            "FROM enable_logging()",
            "SELECT * FROM tmp_path",
        ],
    )
    def test_a_select_reads_the_documents_and_nothing_beside_them(self, tmp_path: Path, sql: str) -> None:
        folder = tmp_path / "files"
        folder.mkdir()
        (tmp_path / "secret").write_text("password\ncorrect horse\n")
        opened = tables(folder, {"sales.csv": "region,units\nNorth,1\n"})
        with pytest.raises(ToolError) as caught:
            opened.query(sql.format(secret=tmp_path / "secret", folder=folder), 10)
        assert caught.value.code is Code.QUERY_FAILED
        assert "correct horse" not in caught.value.message
        assert [path.name for path in folder.iterdir()] == ["0"]

    def test_what_takes_too_long_is_interrupted(self, tmp_path: Path) -> None:
        opened = tables(tmp_path, {"a.csv": "x\n1\n"}, QueryLimits(seconds=0.5, memory_mb=300))
        for sql in (
            "SELECT count(*) FROM range(1000000000000)",
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT sum(n) FROM t",
        ):
            with pytest.raises(ToolError, match=r"took longer than 0\.5 s") as caught:
                opened.query(sql, 10)
            assert caught.value.code is Code.TIMEOUT

    def test_what_needs_too_much_memory_is_refused(self, tmp_path: Path) -> None:
        opened = tables(tmp_path, {"a.csv": "x\n1\n"}, QueryLimits(seconds=20, memory_mb=100))
        with pytest.raises(ToolError, match="more than 100 MB of memory") as caught:
            opened.query("SELECT list(range) FROM range(100000000)", 10)
        assert caught.value.code is Code.EXECUTION_ERROR

    def test_rows_without_end_are_cut_where_they_are_wanted_no_more(self, tmp_path: Path) -> None:
        found = tables(tmp_path, {"a.csv": "x\n1\n"}).query(
            "SELECT * FROM generate_series(1, 1000000000000)", 3
        )
        assert (found.rows, found.is_cut) == ([[1], [2], [3]], True)


class TestValues:
    @pytest.mark.parametrize(
        ("sql", "value"),
        [
            ("NULL", None),
            ("true", True),
            ("42", 42),
            ("9007199254740991", 9007199254740991),
            ("9007199254740993", "9007199254740993"),
            ("-170141183460469231731687303715884105727::HUGEINT", "-170141183460469231731687303715884105727"),
            ("1.10::DECIMAL(9, 2)", 1.1),
            ("3.00::DECIMAL(9, 2)", 3),
            ("12345678901234567.89::DECIMAL(20, 2)", "12345678901234567.89"),
            ("0.1::DOUBLE", 0.1),
            ("'nan'::DOUBLE", "NaN"),
            ("'inf'::DOUBLE", "Infinity"),
            ("'-inf'::FLOAT", "-Infinity"),
            ("DATE '2025-09-30'", "2025-09-30"),
            ("DATE 'infinity'", "infinity"),
            ("TIME '10:00:01.5'", "10:00:01.5"),
            ("TIMESTAMP '2025-09-30 10:00:00'", "2025-09-30T10:00:00"),
            ("TIMESTAMP_NS '2025-09-30 10:00:00.123456789'", "2025-09-30T10:00:00.123456789"),
            ("TIMESTAMPTZ '2025-09-30 10:00:00+02'", "2025-09-30T08:00:00+00:00"),
            ("INTERVAL '1 month 2 days'", "1 month 2 days"),
            ("'\\xAA\\x00'::BLOB", "qgA="),
            ("'101'::BIT", "101"),
            ("'a'::ENUM('a', 'b')", "a"),
            ("UUID '6f2c1d3e-0000-4000-8000-000000000000'", "6f2c1d3e-0000-4000-8000-000000000000"),
            ("[1, NULL, 9007199254740993]", [1, None, "9007199254740993"]),
            ("{'a': DATE '2025-01-01', 'b': [1.5]}", {"a": "2025-01-01", "b": [1.5]}),
            ("MAP {1: 'x'}", {"1": "x"}),
            ("{'n': 'nan'::DOUBLE}", {"n": "NaN"}),
            ("'{\"a\": [1, 2]}'::JSON", {"a": [1, 2]}),
            ("'a''b' || chr(10) || 'é😀'", "a'b\né😀"),
        ],
    )
    def test_each_is_json_that_says_the_same(self, tmp_path: Path, sql: str, value: Any) -> None:
        found = rows(tmp_path, "a.csv", "x\n1\n", f"SELECT {sql} AS v")
        assert found == [[value]]
        assert type(found[0][0]) is type(value)

    def test_rows_keep_the_order_they_were_asked_in(self, tmp_path: Path) -> None:
        text = "n,day\n" + "".join(f"{n},2025-01-{n % 28 + 1:02}\n" for n in range(50_000))
        found = tables(tmp_path, {"a.csv": text}).query("SELECT day, n FROM a ORDER BY n DESC", 500)
        assert [row[1] for row in found.rows] == list(range(49_999, 49_499, -1))


class TestFiles:
    @pytest.mark.parametrize(
        ("name", "content", "expected"),
        [
            ("a.csv", "x,y\n1,é\n", [[1, "é"]]),
            ("a.csv", b"\xef\xbb\xbfx,y\r\n1,b\r\n", [[1, "b"]]),
            ("a.csv", "x;y\n1;2,5\n2;3,5\n", [[1, "2,5"], [2, "3,5"]]),
            ("a.tsv", "x\ty\n1\t2\n", [[1, 2]]),
            ("a.txt", "x|y\n1|2\n", [[1, 2]]),
            ("a.csv", "x,y\n1,é\n".encode("utf-16"), [[1, "é"]]),
            ("a.csv", "x,y\n1,é\n".encode("latin-1"), [[1, "é"]]),
            ("a.csv.gz", gzip.compress(b"x,y\n1,2\n", mtime=0), [[1, 2]]),
            ("a.csv", "x\n1\n", [[1]]),
            ("a.csv", "x,y\n", []),
            ("a.json", '[{"x": 1, "y": "b"}, {"x": 2}]', [[1, "b"], [2, None]]),
            ("a.jsonl", '{"x": 1}\n{"x": 2}\n', [[1], [2]]),
            ("a.json", codecs.BOM_UTF8 + b'[{"x": 1}]', [[1]]),
        ],
    )
    def test_each_kind_becomes_rows(
        self, tmp_path: Path, name: str, content: bytes | str, expected: list[Any]
    ) -> None:
        assert rows(tmp_path, name, content, "FROM a") == expected

    def test_parquet_is_known_by_its_bytes(self, tmp_path: Path) -> None:
        with duckdb.connect() as maker:
            maker.execute(f"COPY (SELECT 1 AS x, DATE '2025-01-01' AS d) TO '{tmp_path}/p' (FORMAT parquet)")
        content = (tmp_path / "p").read_bytes()
        assert rows(tmp_path, "odd.name", content, "FROM odd") == [[1, "2025-01-01"]]

    def test_a_workbook_has_a_view_for_each_sheet(self, tmp_path: Path) -> None:
        sheets = {
            "Q3 2025": [["Region", "Units", "Code", "Code"], ["North", 3, "A1", 7], ["South", 4.5, 12, None]],
            "Empty": [],
            "More": [["x"], [1]],
        }
        opened = tables(tmp_path, {"plan/Budget.xlsx": workbook(sheets)})
        assert [(one.view, one.source.sheet) for one in opened.shown] == [
            ("budget_q3_2025", "Q3 2025"),
            ("budget_more", "More"),
        ]
        found = opened.query("FROM budget_q3_2025", 10)
        assert [name for name, _ in found.columns] == ["Region", "Units", "Code", "Code_1"]
        assert found.rows == [["North", 3.0, "A1", 7.0], ["South", 4.5, "12", None]]

    def test_a_workbook_with_one_sheet_is_named_after_its_file(self, tmp_path: Path) -> None:
        assert rows(tmp_path, "b.xlsx", workbook({"Tabelle1": [["x"], [1]]}), "FROM b") == [[1.0]]

    @pytest.mark.parametrize(
        ("name", "content", "why"),
        [
            ("a.csv", "", "it is empty"),
            ("a.csv", bytes(range(256)) * 4, "it is no text"),
            ("notes.md", "# Notes\n", "only CSV, TSV"),
            ("notes.txt", "Dear Ada\nall is well\n", "no character sets its columns apart"),
            ("a.json", '{"x": [1', "JSON"),
            ("a.parquet", b"PAR1 and nothing else", "arquet"),
            ("a.xlsx", b"PK\x03\x04 and nothing else", "cannot be read as a workbook"),
            ("a.xlsx", workbook({"Empty": []}), "none of its sheets holds anything"),
        ],
    )
    def test_what_is_no_table_is_told_with_the_document_and_the_reason(
        self, tmp_path: Path, name: str, content: bytes | str, why: str
    ) -> None:
        error = refusal(tmp_path, name, content)
        assert error.code is Code.NOT_A_TABLE
        assert error.message.startswith(f"{name} is not a table: ")
        assert why in error.message
        assert str(tmp_path) not in error.message

    def test_a_type_that_only_the_beginning_has_is_found_out(self, tmp_path: Path) -> None:
        text = "x\n" + "1\n" * 30_000 + "n/a\n"
        assert rows(tmp_path, "a.csv", text, "SELECT count(*), max(x) FROM a") == [[30_001, "n/a"]]

    def test_a_quote_further_down_still_quotes(self, tmp_path: Path) -> None:
        text = "n,name\n" + "".join(f"{n},x\n" for n in range(60_000)) + '60000,"Smith, ""Jo"""\n'
        assert rows(tmp_path, "a.csv", text, "SELECT name FROM a WHERE n = 60000") == [['Smith, "Jo"']]

    def test_a_single_line_that_is_left_out_is_told(self, tmp_path: Path) -> None:
        opened = tables(tmp_path, {"a.csv": "# of May\na,b\n1,2\n3,4\n"})
        assert (opened.shown[0].source.note or "").startswith("its first line ")

    def test_lines_that_are_left_out_are_told(self, tmp_path: Path) -> None:
        opened = tables(tmp_path, {"a.csv": "Report of May\n\na,b\n1,2\n3,4\n"})
        assert opened.shown[0].source.note == "its first 2 lines fit no table and are left out"

    @pytest.mark.parametrize(
        ("content", "price", "encoding"),
        [
            (b"item,price\ncoffee,5 \x80\n", "5 €", "cp1252"),
            (b"item,price\ncoffee,\x81\xe9\n", "\x81é", "latin-1"),
            ("item,price\ncoffee,5 €\n".encode("utf-16"), "5 €", "utf-16"),
            (codecs.BOM_UTF16_BE + "item,price\ncoffee,5 €\n".encode("utf-16-be"), "5 €", "utf-16"),
            ("item,price\ncoffee,5 €\n".encode("utf-32"), "5 €", "utf-32"),
        ],
    )
    @pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
    def test_other_encodings_are_read_and_told(
        self, tmp_path: Path, content: bytes, price: str, encoding: str, ending: str
    ) -> None:
        packed = gzip.compress(content) if ending == ".csv.gz" else content
        opened = tables(tmp_path, {f"a{ending}": packed})
        assert opened.query("SELECT item, price FROM a", 9).rows == [["coffee", price]]
        assert opened.shown[0].source.note == f"it is not UTF-8, and was read as {encoding}"

    def test_a_table_in_an_old_encoding_is_read_and_told(self, tmp_path: Path) -> None:
        words = RUSSIAN.split()
        content = "n,word\n" + "".join(f"{number},{word!r}\n" for number, word in enumerate(words))
        opened = tables(tmp_path, {"a.csv": content.replace("'", '"').encode("cp1251")})
        assert opened.query("SELECT word FROM a ORDER BY n", 99).rows == [[word] for word in words]
        assert opened.shown[0].source.note == "it is not UTF-8, and was read as cp1251"

    @pytest.mark.parametrize(
        "content", ['[{"x": "5 €"}]'.encode("cp1252"), '[{"x": "5 €"}]'.encode("utf-16")]
    )
    def test_so_is_json(self, tmp_path: Path, content: bytes) -> None:
        assert rows(tmp_path, "a.json", content, "FROM a") == [["5 €"]]

    @pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
    def test_what_is_not_utf_8_far_behind_the_beginning_is_read_too(self, tmp_path: Path, name: str) -> None:
        line = {"a.csv": '{},"{}"\n', "a.jsonl": '{{"n": {}, "x": "{}"}}\n'}[name]
        text = ("n,x\n" if name == "a.csv" else "") + "".join(line.format(n, "abc") for n in range(200_000))
        content = (text + line.format(200_000, "5 €")).encode("cp1252")
        opened = tables(tmp_path, {name: content})
        assert opened.query("SELECT x FROM a ORDER BY n DESC LIMIT 1", 9).rows == [["5 €"]]

    def test_what_is_too_large_to_be_written_anew_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recode, "MOST_RECODED", 1000)
        error = refusal(tmp_path, "a.csv", b"x,y\n" + b"1,\xe9\n" * 300)
        assert error.code is Code.TOO_LARGE
        assert "save it as UTF-8" in error.message

    def test_a_gzip_that_is_none_is_told(self, tmp_path: Path) -> None:
        assert "cannot be unpacked" in refusal(tmp_path, "a.csv.gz", b"x,y\n1,2\n").message

    def test_tables_are_shown_by_the_names_they_are_asked_by(self, tmp_path: Path) -> None:
        book = workbook({"Q3": [["x"], [1]], "Q4": [["x"], [2]]})
        opened = tables(tmp_path, {"Budget.xlsx": book, "a.csv": "x\n1\n"})
        assert opened.query("SHOW TABLES", 9).rows == [["a"], ["budget_q3"], ["budget_q4"]]
        assert opened.query("SELECT table_name FROM information_schema.tables", 9).rows == [
            ["budget_q3"],
            ["budget_q4"],
            ["a"],
        ]

    def test_formulas_without_results_are_told(self, tmp_path: Path) -> None:
        rows_of = {"S": [["x", "y"], [1, "=A2*2"]]}
        for calculated, is_told in ((False, True), (True, False)):
            opened = tables(tmp_path, {"a.xlsx": workbook(rows_of, calculated=calculated)})
            assert ("results were not saved" in opened.shown[0].source.note) == is_told

    def test_names_need_no_quotes_and_are_told_apart(self, tmp_path: Path) -> None:
        names = ["sales.csv", "old/Sales.csv", "2025 Q3.csv", "order.csv", "…csv.csv", "größe.csv"]
        opened = tables(tmp_path, dict.fromkeys(names, "x\n1\n"))
        views = [one.view for one in opened.shown]
        assert views == ["sales", "sales_2", "data_2025_q3", "order_data", "csv", "größe"]
        for view in views:
            assert opened.query(f"SELECT x FROM {view}", 1).rows == [[1]]

    def test_a_wrong_column_is_answered_with_those_that_are_meant(self, tmp_path: Path) -> None:
        with pytest.raises(ToolError, match='Candidate bindings: "region"') as caught:
            rows(tmp_path, "a.csv", "region,units\nNorth,1\n", "SELECT regon FROM a")
        assert caught.value.code is Code.QUERY_FAILED

    @pytest.mark.parametrize("sql", ["DESCRIBE a", "SUMMARIZE a", "SHOW TABLES"])
    def test_looking_around_is_a_select_too(self, tmp_path: Path, sql: str) -> None:
        found = tables(tmp_path, {"a.csv": "x\n1\n"}).query(sql, 10)
        assert isinstance(found, QueryResult)
        assert len(found.rows) == 1

    @pytest.mark.parametrize(
        ("sql", "expected"),
        [
            ("SELECT 1;", 1),
            ("SELECT 1; -- a; b", 1),
            ("SELECT 1 -- a;\n + 2", 3),
            ("SELECT ';' /* ; */ ;", ";"),
            (" \n SELECT 1 -- é", 1),
        ],
    )
    def test_semicolons_and_comments_change_nothing(self, tmp_path: Path, sql: str, expected: Any) -> None:
        assert rows(tmp_path, "a.csv", "x\n1\n", sql) == [[expected]]
