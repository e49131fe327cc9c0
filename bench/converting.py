"""PDF, DOCX and XLSX into blocks, against markitdown, on the same files.

Ours is one errand a document: a new process, confined. The peer is measured twice: in a process that has it imported and
made ready, which is the best it can do and protects nobody from a bad file; and in a new process, as an errand is.
"""

import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from measuring import goal_at_least, line, ratio, title
from places import scratch

from brasstag import Room
from brasstag.app.project.create import create_project
from brasstag.documents.formats.convert import ConversionSource, Converter
from brasstag.documents.formats.kinds import kind_of
from brasstag.words.blocks import Blocks

_WORDS = (
    "harbour",
    "ledger",
    "measure",
    "winter",
    "copper",
    "signal",
    "ordinary",
    "margin",
    "pattern",
    "gather",
)
_ROUNDS = 3
_FRESH_ROUNDS = 2
_FRESH = "import sys; from markitdown import MarkItDown; MarkItDown().convert(sys.argv[1])"
_TABLE = re.compile(r"^\|(?: *:?-+:? *\|)+$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)


async def run() -> None:
    try:
        from markitdown import MarkItDown
    except ImportError:
        print("  markitdown is not installed; install the group `bench`")
        return
    with scratch() as folder:
        project = folder / "project"
        create_project(project)
        files = [make(folder) for make in (_pdf, _docx, _xlsx)]
        async with Room.open(project) as room:
            sandbox = room._runtime.sandbox
            assert sandbox is not None
            converter = Converter(sandbox)
            peer = MarkItDown()
            for file in files:
                _compare(
                    file, lambda path: _ours(converter, path), lambda path: peer.convert(path).text_content
                )


def _compare(file: Path, ours: Callable[[Path], Blocks], theirs: Callable[[Path], str]) -> None:
    blocks, markdown = ours(file), theirs(file)
    seconds: dict[str, list[float]] = {
        "ours": [],
        "markitdown": [],
        "ours again": [],
        "markitdown, a new process": [],
    }
    for _ in range(_ROUNDS):
        seconds["ours"].append(_timed(lambda: ours(file)))
        seconds["markitdown"].append(_timed(lambda: theirs(file)))
    for _ in range(_FRESH_ROUNDS):
        seconds["ours again"].append(_timed(lambda: ours(file)))
        seconds["markitdown, a new process"].append(_timed(lambda: _started(file)))
    title(f"{file.suffix[1:].upper()} of {file.stat().st_size // 1024} kB into blocks")
    for name in ("ours", "markitdown", "markitdown, a new process"):
        line(name, seconds[name])
    goal_at_least("markitdown / ours", ratio(seconds["markitdown"], seconds["ours"]), 5)
    new = ratio(seconds["markitdown, a new process"], seconds["ours again"])
    print(f"  markitdown, a new process / ours: {new:.2f}x")
    kinds = [block.kind for block in blocks.blocks]
    for what, found in (("heading", _HEADING), ("table", _TABLE)):
        count = kinds.count(what)
        theirs_found = len(found.findall(markdown))
        print(f"  {what}s found: {count}, by markitdown {theirs_found} (goal: at least as many)")
        assert count >= theirs_found, f"{file.name}: {what}s are missing"


def _started(file: Path) -> None:
    subprocess.run([sys.executable, "-c", _FRESH, str(file)], check=True)


def _timed(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _ours(converter: Converter, path: Path) -> Blocks:
    data = path.read_bytes()
    (found,) = converter.convert_many([ConversionSource("", kind_of(path.name, data), path.name, path)])
    assert isinstance(found, Blocks), found
    return found


def _sentence(chance: random.Random, length: int) -> str:
    return " ".join(chance.choices(_WORDS, k=length)).capitalize() + "."


def _pdf(folder: Path) -> Path:
    """Make 33 pages with 55 headings and 22 tables."""
    from fpdf import FPDF

    chance = random.Random(1)
    made = FPDF()
    made.set_auto_page_break(True, 15)
    for chapter in range(1, 12):
        made.add_page()
        made.set_font("helvetica", "B", 20)
        made.cell(0, 12, f"Chapter {chapter}: the {chance.choice(_WORDS)}", new_x="LMARGIN", new_y="NEXT")
        for section in range(1, 5):
            made.set_font("helvetica", "B", 14)
            made.cell(0, 10, f"Section {chapter}.{section}", new_x="LMARGIN", new_y="NEXT")
            made.set_font("helvetica", "", 11)
            for _ in range(3):
                made.multi_cell(0, 6, _sentence(chance, 110), new_x="LMARGIN", new_y="NEXT")
                made.ln(3)
            if section % 2 == 0:
                with made.table() as table:
                    for row in _rows(chance, 6):
                        table.row(row)
                made.ln(4)
    path = folder / "report.pdf"
    made.output(str(path))
    return path


def _docx(folder: Path) -> Path:
    """Make 61 headings and 20 tables."""
    import docx

    chance = random.Random(2)
    made = docx.Document()
    made.add_heading("The annual report", 0)
    for section in range(60):
        made.add_heading(f"Section {section}", 1 + section % 3)
        for _ in range(6):
            made.add_paragraph(_sentence(chance, 80))
        for _ in range(3):
            made.add_paragraph(_sentence(chance, 8), style="List Bullet")
        if section % 3 == 0:
            rows = _rows(chance, 12)
            table = made.add_table(len(rows), len(rows[0]))
            for cells, row in zip(table.rows, rows, strict=True):
                for cell, text in zip(cells.cells, row, strict=True):
                    cell.text = text
    path = folder / "report.docx"
    made.save(str(path))
    return path


def _xlsx(folder: Path) -> Path:
    """Make three sheets of 5,000 rows."""
    import openpyxl

    chance = random.Random(3)
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name in ("north", "south", "west"):
        sheet = made.create_sheet(name)
        sheet.append(["region", "quarter", "units", "price", "day"])
        for number in range(5_000):
            day = date(2024, 1 + number % 12, 1 + number % 28)
            sheet.append([chance.choice(_WORDS), f"Q{number % 4}", number, number / 8, day])
    path = folder / "sales.xlsx"
    made.save(path)
    return path


def _rows(chance: random.Random, count: int) -> list[list[str]]:
    body = [[chance.choice(_WORDS), f"Q{one % 4}", str(chance.randint(10, 999))] for one in range(count - 1)]
    return [["Region", "Quarter", "Sales"], *body]
