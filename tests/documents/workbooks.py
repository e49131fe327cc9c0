"""Workbooks for tests, written by hand: just enough of XLSX for a reader to find its cells."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

Cell = str | float | None
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]], *, calculated: bool = True) -> bytes:
    """Return a workbook with these sheets; a cell that begins with = is a formula, whose result, if any, is 7."""
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="r{number}"/>'
        for number, name in enumerate(sheets, start=1)
    )
    links = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in range(1, len(sheets) + 1)
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
    }
    for number, rows in enumerate(sheets.values(), start=1):
        parts[f"xl/worksheets/sheet{number}.xml"] = _sheet(rows, calculated)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return written.getvalue()


def _sheet(rows: Sequence[Sequence[Cell]], calculated: bool) -> str:
    lines = "".join(
        f'<row r="{number}">'
        + "".join(_cell(value, place, number, calculated) for place, value in enumerate(row))
        + "</row>"
        for number, row in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData></worksheet>'


def _cell(value: Cell, place: int, row: int, calculated: bool) -> str:
    where = f"{chr(ord('A') + place)}{row}"
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith("="):
        result = "<v>7</v>" if calculated else "<v></v>"
        return f'<c r="{where}"><f>{escape(value[1:])}</f>{result}</c>'
    if isinstance(value, str):
        return f'<c r="{where}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{where}"><v>{value}</v></c>'
